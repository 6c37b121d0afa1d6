//! Latencies of the last minutes: buckets that grow by a quarter of a power of two, in five windows of a minute.

use std::time::{Duration, Instant};

/// Buckets from 64 µs to about 18 minutes.
pub const N_BUCKETS: usize = 96;

#[derive(Debug)]
pub(crate) struct Histogram {
    windows: [[u32; N_BUCKETS]; WINDOWS],
    current: usize,
    turned: Option<Instant>,
    /// Since the start or the last reset, for metrics.
    total: [u64; N_BUCKETS],
    sum: Duration,
}

/// What a histogram says, at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    /// Of the last five minutes; `None`: nothing was served then.
    pub p50: Option<Duration>,
    pub p90: Option<Duration>,
    pub p99: Option<Duration>,
    /// Counts since the start by bucket; [`bucket_bound`] is a bucket's upper end.
    pub total: Vec<u64>,
    pub sum: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            windows: [[0; N_BUCKETS]; WINDOWS],
            current: 0,
            turned: None,
            total: [0; N_BUCKETS],
            sum: Duration::ZERO,
        }
    }
}

impl Histogram {
    pub(crate) fn record(&mut self, latency: Duration, now: Instant) {
        self.turn(now);
        let bucket = bucket(latency);
        if let Some(count) = self.windows.get_mut(self.current).and_then(|window| window.get_mut(bucket)) {
            *count = count.saturating_add(1);
        }
        if let Some(count) = self.total.get_mut(bucket) {
            *count += 1;
        }
        self.sum += latency;
    }

    pub(crate) fn read(&mut self, now: Instant) -> Latency {
        self.turn(now);
        let mut recent = [0u64; N_BUCKETS];
        for window in &self.windows {
            for (sum, count) in recent.iter_mut().zip(window) {
                *sum += u64::from(*count);
            }
        }
        let percentile = |percent: u64| {
            let all: u64 = recent.iter().sum();
            let rank = (all * percent).div_ceil(100);
            let mut seen = 0;
            recent.iter().position(|count| {
                seen += count;
                rank > 0 && seen >= rank
            })
        };
        let at = |percent| percentile(percent).map(bucket_bound);
        Latency { p50: at(50), p90: at(90), p99: at(99), total: self.total.to_vec(), sum: self.sum }
    }

    fn turn(&mut self, now: Instant) {
        let turned = *self.turned.get_or_insert(now);
        let minutes = now.saturating_duration_since(turned).as_secs() / 60;
        if minutes == 0 {
            return;
        }
        self.turned = Some(now);
        for _ in 0..minutes.min(WINDOWS as u64) {
            self.current = (self.current + 1) % WINDOWS;
            if let Some(window) = self.windows.get_mut(self.current) {
                *window = [0; N_BUCKETS];
            }
        }
    }
}

/// Upper end of a bucket.
#[must_use]
pub fn bucket_bound(bucket: usize) -> Duration {
    let power = u32::try_from(bucket / 4).unwrap_or(0).min(40);
    let quarter = u64::try_from(bucket % 4).unwrap_or(0) + 5;
    Duration::from_micros((FIRST << power) * quarter / 4)
}

fn bucket(latency: Duration) -> usize {
    let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
    if micros <= FIRST {
        return 0;
    }
    let power = micros.ilog2() - FIRST.ilog2();
    let base = FIRST << power;
    let quarter = (micros - base) * 4 / base;
    let bucket = u64::from(power) * 4 + quarter;
    usize::try_from(bucket).unwrap_or(N_BUCKETS).min(N_BUCKETS - 1)
}

const FIRST: u64 = 64;

const WINDOWS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_lies_in_its_bucket() {
        for micros in [0, 1, 63, 64, 65, 80, 100, 1000, 12345, 999_999, 60_000_000] {
            let at = bucket(Duration::from_micros(micros));
            assert!(bucket_bound(at) >= Duration::from_micros(micros), "{micros}");
            assert!(at == 0 || bucket_bound(at - 1) <= Duration::from_micros(micros), "{micros}");
        }
    }

    #[test]
    fn percentiles_are_of_the_last_minutes() {
        let begin = Instant::now();
        let mut histogram = Histogram::default();
        assert_eq!(histogram.read(begin).p50, None);
        for millis in 1..=100 {
            histogram.record(Duration::from_millis(millis), begin);
        }
        let read = histogram.read(begin);
        let near = |found: Option<Duration>, millis: u64| {
            let found = found.unwrap().as_millis();
            assert!(found >= u128::from(millis) && found <= u128::from(millis) * 5 / 4, "{found} {millis}");
        };
        near(read.p50, 50);
        near(read.p90, 90);
        near(read.p99, 99);
        let later = histogram.read(begin + Duration::from_secs(400));
        assert_eq!(later.p99, None);
        assert_eq!(later.total.iter().sum::<u64>(), 100);
    }
}
