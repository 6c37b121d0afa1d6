//! Counters of a worker, shared by all groups it is a member of (mod_jk: the AJP worker's shared record).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Relaxed atomics: they are read by people, never for decisions but for `busy`.
#[derive(Debug, Default)]
pub struct WorkerCounters {
    /// Requests under way.
    pub busy: AtomicU32,
    pub max_busy: AtomicU32,
    /// Attempts sent here.
    pub elected: AtomicU64,
    pub errors: AtomicU64,
    pub client_errors: AtomicU64,
    /// Bytes to and from the worker, AJP framing included.
    pub transferred: AtomicU64,
    pub read: AtomicU64,
}

/// Bytes of one attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    pub to_worker: u64,
    pub from_worker: u64,
}

impl WorkerCounters {
    pub(crate) fn enter(&self) {
        let busy = self.busy.fetch_add(1, Relaxed) + 1;
        self.elected.fetch_add(1, Relaxed);
        if busy > self.max_busy.load(Relaxed) {
            self.max_busy.fetch_max(busy, Relaxed);
        }
    }

    pub(crate) fn leave(&self, moved: Traffic) {
        self.transferred.fetch_add(moved.to_worker, Relaxed);
        self.read.fetch_add(moved.from_worker, Relaxed);
        self.busy.fetch_sub(1, Relaxed);
    }

    /// mod_jk's `reset`: everything but what is under way.
    pub fn reset(&self) {
        self.max_busy.store(self.busy.load(Relaxed), Relaxed);
        for counter in [&self.elected, &self.errors, &self.client_errors, &self.transferred, &self.read] {
            counter.store(0, Relaxed);
        }
    }
}
