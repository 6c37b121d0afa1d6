//! Counters of the whole gateway. Relaxed atomics: people and scripts read them, nothing decides by them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::ticket::Facts;

pub(crate) struct Stats {
    pub(crate) started: Instant,
    pub(crate) started_at: SystemTime,
    /// Requests by the hundreds of their status; the first is for clients that left before one was sent.
    pub(crate) by_class: [AtomicU64; 6],
    pub(crate) under_way: AtomicU64,
    pub(crate) retries: AtomicU64,
    /// Sessions that another member than theirs had to serve.
    pub(crate) sessions_lost: AtomicU64,
    /// Requests that matched no mapping, or were refused before one was looked for.
    pub(crate) refused: AtomicU64,
    pub(crate) buckets: [AtomicU64; BOUNDS.len() + 1],
    pub(crate) micros: AtomicU64,
    /// Readers of the status page's event stream.
    pub(crate) viewers: AtomicU64,
    /// What forms of the status page carry; new in every run.
    pub(crate) token: String,
    next_id: AtomicU64,
}

/// 128 bits of the standard library's own per-process randomness.
fn random_token() -> String {
    use std::hash::{BuildHasher, Hasher};
    let word = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

/// Upper ends of the duration histogram, in seconds.
pub(crate) const BOUNDS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

impl Stats {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            started_at: SystemTime::now(),
            by_class: Default::default(),
            under_way: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            sessions_lost: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            buckets: Default::default(),
            micros: AtomicU64::new(0),
            viewers: AtomicU64::new(0),
            token: random_token(),
            next_id: AtomicU64::new(0),
        }
    }

    pub(crate) fn count(&self, facts: &Facts, duration: Duration) {
        self.under_way.fetch_sub(1, Relaxed);
        let class = facts.status.map_or(0, |status| usize::from(status.as_u16() / 100));
        if let Some(counter) = self.by_class.get(class) {
            counter.fetch_add(1, Relaxed);
        }
        let seconds = duration.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        if let Some(counter) = self.buckets.get(bucket) {
            counter.fetch_add(1, Relaxed);
        }
        self.micros.fetch_add(u64::try_from(duration.as_micros()).unwrap_or(0), Relaxed);
    }

    /// Different for every request of every run.
    pub(crate) fn request_id(&self) -> String {
        let run = self.started_at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        format!("{:x}-{:x}", run & 0xFFFF_FFFF, self.next_id.fetch_add(1, Relaxed))
    }
}
