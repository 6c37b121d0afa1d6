//! Counters of the whole gateway. Relaxed atomics: people and scripts read them, nothing decides by them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::ticket::Facts;

pub(crate) struct Stats {
    pub(crate) started: Instant,
    pub(crate) started_at: SystemTime,
    shards: Vec<Shard>,
    pub(crate) retries: AtomicU64,
    /// Sessions that another member than theirs had to serve.
    pub(crate) sessions_lost: AtomicU64,
    /// Requests that matched no mapping, or were refused before one was looked for.
    pub(crate) refused: AtomicU64,
    /// Readers of the status page's event stream.
    pub(crate) viewers: AtomicU64,
    /// What forms of the status page carry; new in every run.
    pub(crate) token: String,
    next_id: AtomicU64,
}

/// One core's counters, on cache lines of their own: each is written by that core's thread only.
#[derive(Default)]
#[repr(align(128))]
struct Shard {
    begun: AtomicU64,
    /// By the hundreds of the status; the first is for clients that left before one was sent.
    by_class: [AtomicU64; 6],
    buckets: [AtomicU64; BUCKETS],
    micros: AtomicU64,
}

/// All cores' counters added up.
#[derive(Debug, Default)]
pub(crate) struct Served {
    pub(crate) by_class: [u64; 6],
    pub(crate) under_way: u64,
    /// By [`BOUNDS`], and what is above.
    pub(crate) buckets: [u64; BUCKETS],
    pub(crate) micros: u64,
}

/// 128 bits of the standard library's own per-process randomness.
fn random_token() -> String {
    use std::hash::{BuildHasher, Hasher};
    let word = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

/// Upper ends of the duration histogram, in microseconds.
pub(crate) const BOUNDS: [u64; 12] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000,
];

const BUCKETS: usize = BOUNDS.len() + 1;

/// One writer a counter, so a plain load and store will do.
fn add(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(by), Relaxed);
}

impl Stats {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            started: Instant::now(),
            started_at: SystemTime::now(),
            shards: std::iter::repeat_with(Shard::default).take(threads.max(1)).collect(),
            retries: AtomicU64::new(0),
            sessions_lost: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            viewers: AtomicU64::new(0),
            token: random_token(),
            next_id: AtomicU64::new(0),
        }
    }

    /// A request has come.
    pub(crate) fn begin(&self) {
        if let Some(shard) = self.shard() {
            add(&shard.begun, 1);
        }
    }

    /// It is over; on the core on which it began.
    pub(crate) fn count(&self, facts: &Facts, duration: Duration) {
        let Some(shard) = self.shard() else { return };
        let class = facts.status.map_or(0, |status| usize::from(status.as_u16() / 100));
        if let Some(counter) = shard.by_class.get(class) {
            add(counter, 1);
        }
        let micros = u64::try_from(duration.as_micros()).unwrap_or(0);
        let bucket = BOUNDS.iter().position(|bound| micros <= *bound).unwrap_or(BOUNDS.len());
        if let Some(counter) = shard.buckets.get(bucket) {
            add(counter, 1);
        }
        add(&shard.micros, micros);
    }

    pub(crate) fn served(&self) -> Served {
        let mut sum = Served::default();
        let mut begun = 0;
        for shard in &self.shards {
            begun += shard.begun.load(Relaxed);
            for (sum, counter) in sum.by_class.iter_mut().zip(&shard.by_class) {
                *sum += counter.load(Relaxed);
            }
            for (sum, counter) in sum.buckets.iter_mut().zip(&shard.buckets) {
                *sum += counter.load(Relaxed);
            }
            sum.micros += shard.micros.load(Relaxed);
        }
        sum.under_way = begun.saturating_sub(sum.by_class.iter().sum());
        sum
    }

    fn shard(&self) -> Option<&Shard> {
        self.shards.get(jk_channel::current_core())
    }

    /// Different for every request of every run.
    pub(crate) fn request_id(&self) -> String {
        let run = self.started_at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        format!("{:x}-{:x}", run & 0xFFFF_FFFF, self.next_id.fetch_add(1, Relaxed))
    }
}
