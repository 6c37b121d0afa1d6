//! How many retries a group may make, so that a dying group is not hammered by its own gateway.

use std::time::{Duration, Instant};

/// Retries as a share of requests, with a floor for quiet groups. Windows of ten seconds.
#[derive(Debug, Default)]
pub(crate) struct RetryBudget {
    began: Option<Instant>,
    requests: u64,
    retries: u64,
}

impl RetryBudget {
    pub(crate) fn note_request(&mut self, now: Instant) {
        self.turn(now);
        self.requests += 1;
    }

    /// Takes one retry if there is one left. `percent` of the window's requests, but at least [`FLOOR`].
    pub(crate) fn take(&mut self, percent: u32, now: Instant) -> bool {
        self.turn(now);
        let allowed = (self.requests * u64::from(percent) / 100).max(FLOOR);
        if self.retries >= allowed {
            return false;
        }
        self.retries += 1;
        true
    }

    fn turn(&mut self, now: Instant) {
        let began = *self.began.get_or_insert(now);
        if now.saturating_duration_since(began) >= WINDOW {
            (self.began, self.requests, self.retries) = (Some(now), 0, 0);
        }
    }
}

const WINDOW: Duration = Duration::from_secs(10);
const FLOOR: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_requests_and_never_less_than_the_floor() {
        let begin = Instant::now();
        let mut budget = RetryBudget::default();
        assert_eq!((0..20).filter(|_| budget.take(20, begin)).count(), 10);
        for _ in 0..1000 {
            budget.note_request(begin);
        }
        assert_eq!((0..1000).filter(|_| budget.take(20, begin)).count(), 190);
        assert!(budget.take(20, begin + WINDOW));
    }
}
