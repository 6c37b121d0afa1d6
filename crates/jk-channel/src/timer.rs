//! A deadline that costs next to nothing while it does not fire.
//!
//! Arming and disarming a timer for each packet would take the timer wheel's lock twice a packet. Instead one sleep stays armed
//! across packets and exchanges; when it fires early it is moved to where the deadline is by then.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

#[derive(Default)]
pub(crate) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    since: Option<Instant>,
}

impl Timer {
    /// Something happened: the silence is over.
    pub(crate) fn quiet(&mut self) {
        self.since = None;
    }

    /// Ready when there has been silence for `limit` since the first call after [`Timer::quiet`], or since `now` if the caller knows it.
    pub(crate) fn poll_silence(
        &mut self,
        cx: &mut Context<'_>,
        limit: Duration,
        now: Option<Instant>,
    ) -> Poll<()> {
        let since = *self.since.get_or_insert_with(|| now.unwrap_or_else(Instant::now));
        let Some(due) = since.checked_add(limit) else { return Poll::Pending };
        let due = tokio::time::Instant::from_std(due);
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        loop {
            // A sleep armed for later than the deadline would fire too late.
            if sleep.deadline() > due {
                sleep.as_mut().reset(due);
            }
            match sleep.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) if sleep.deadline() >= due => return Poll::Ready(()),
                Poll::Ready(()) => sleep.as_mut().reset(due),
            }
        }
    }

    /// A sleep belongs to one runtime; a channel that moves leaves it behind.
    pub(crate) fn forget(&mut self) {
        self.sleep = None;
        self.since = None;
    }
}
