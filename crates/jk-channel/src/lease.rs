//! A channel on loan.

use std::sync::Arc;
use std::time::Instant;

use crate::channel::Channel;
use crate::pool::Pool;

/// A channel on loan from its pool. Dropping it closes the channel; only `give_back` returns it.
pub struct Lease {
    /// The seat in the pool; `None` once it was given back.
    seat: Option<Arc<Pool>>,
    /// `None` while a connect is under way.
    channel: Option<Box<Channel>>,
    reused: bool,
}

impl Lease {
    pub(crate) fn new(pool: Arc<Pool>, channel: Box<Channel>) -> Self {
        Self { seat: Some(pool), channel: Some(channel), reused: true }
    }

    /// The seat in the pool without a channel: a connect that is under way.
    pub(crate) fn seat(pool: Arc<Pool>) -> Self {
        Self { seat: Some(pool), channel: None, reused: false }
    }

    pub(crate) fn fill(&mut self, channel: Channel) {
        self.channel = Some(Box::new(channel));
    }

    /// True when the channel carried a request before, so that the worker may have closed it unseen.
    #[must_use]
    pub fn is_reused(&self) -> bool {
        self.reused
    }

    pub(crate) fn channel(&mut self) -> Option<&mut Channel> {
        self.channel.as_deref_mut()
    }

    pub(crate) fn pool(&self) -> Option<&Arc<Pool>> {
        self.seat.as_ref()
    }

    /// Returns the channel for the next request. Only after END_RESPONSE with the reuse flag, with nothing owed on either side.
    pub(crate) fn give_back(mut self, now: Instant) {
        let Some(mut channel) = self.channel.take() else { return };
        let Some(pool) = self.seat.take() else { return };
        channel.timer.quiet();
        channel.idle_since = now;
        channel.proven = now;
        pool.put(channel);
    }

    /// Returns an unused or just pinged channel without making it look used.
    pub(crate) fn give_back_unused(mut self) {
        if let (Some(channel), Some(pool)) = (self.channel.take(), self.seat.take()) {
            pool.put(channel);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let channel = self.channel.take();
        if let Some(pool) = self.seat.take() {
            // Closed first, so that the count of open channels is never below the truth.
            drop(channel);
            pool.vacate();
        }
    }
}
