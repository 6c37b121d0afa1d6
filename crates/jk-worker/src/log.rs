//! What a worker saw, and a way to wait until it has.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::codec::Request;

/// Everything that happened, in order.
#[derive(Debug, Default)]
pub struct Log {
    events: Mutex<Vec<Event>>,
    changed: Notify,
}

/// Channels are numbered from 1 in the order of their connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Connected {
        channel: usize,
    },
    Pinged {
        channel: usize,
    },
    Requested {
        channel: usize,
        request: Box<Request>,
    },
    /// A body packet with this many data bytes; 0: the end of the body.
    Body {
        channel: usize,
        len: usize,
    },
    /// Bytes that a real Tomcat would misread.
    Malformed {
        channel: usize,
        why: String,
    },
    Gone {
        channel: usize,
        how: Gone,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// The gateway closed.
    Closed,
    /// The gateway reset.
    Reset,
    /// The worker itself ended it.
    ByWorker,
}

impl Log {
    pub(crate) fn add(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        self.changed.notify_waiters();
    }

    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        let pick = |event| match event {
            Event::Requested { request, .. } => Some(*request),
            _ => None,
        };
        self.events().into_iter().filter_map(pick).collect()
    }

    #[must_use]
    pub fn n_connects(&self) -> usize {
        self.events().iter().filter(|event| matches!(event, Event::Connected { .. })).count()
    }

    #[must_use]
    pub fn n_open(&self) -> usize {
        let gone = self.events().iter().filter(|event| matches!(event, Event::Gone { .. })).count();
        self.n_connects() - gone
    }

    #[must_use]
    pub fn n_pings(&self) -> usize {
        self.events().iter().filter(|event| matches!(event, Event::Pinged { .. })).count()
    }

    /// Sizes of all body packets.
    #[must_use]
    pub fn bodies(&self) -> Vec<usize> {
        let pick = |event| match event {
            Event::Body { len, .. } => Some(len),
            _ => None,
        };
        self.events().into_iter().filter_map(pick).collect()
    }

    /// Waits until `holds`; the test fails after ten seconds.
    ///
    /// # Panics
    ///
    /// When it does not come true.
    pub async fn wait_for(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if holds(self) {
                    return;
                }
                changed.await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(10), wait).await.is_err() {
            panic!("never came true: {what}; the worker saw {:#?}", self.events());
        }
    }
}
