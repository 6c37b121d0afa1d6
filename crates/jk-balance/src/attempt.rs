//! A request on its way to a member. Whatever becomes of it, the member is told, once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jk_config::{Activation, MemberSpec, Method};

use crate::balancer::Balancer;
use crate::counters::{Traffic, WorkerCounters};
use crate::group::{Inner, Record};
use crate::health::{Health, Outcome};
use crate::pick::EWMA_SECONDS;

/// Dropping it means that the client left: nothing is said about the member, and a probe is given back.
#[derive(Debug)]
pub struct Attempt {
    /// `None` once it is settled.
    balancer: Option<Arc<Balancer>>,
    member: usize,
    activation: Activation,
    /// The counters that the request was counted in; a reload may have given the member new ones.
    counters: Arc<WorkerCounters>,
    is_probe: bool,
    adds: u64,
}

/// What is fixed about an attempt when it begins.
pub(crate) struct Elected {
    pub(crate) member: usize,
    pub(crate) activation: Activation,
    pub(crate) counters: Arc<WorkerCounters>,
    pub(crate) is_probe: bool,
    /// What the request added to the member's load.
    pub(crate) adds: u64,
}

impl Attempt {
    pub(crate) fn new(balancer: Arc<Balancer>, elected: Elected) -> Self {
        let Elected { member, activation, counters, is_probe, adds } = elected;
        counters.enter();
        Self { balancer: Some(balancer), member, activation, counters, is_probe, adds }
    }

    #[must_use]
    pub fn member(&self) -> usize {
        self.member
    }

    #[must_use]
    pub fn spec(&self) -> Option<&MemberSpec> {
        self.balancer.as_ref().and_then(|balancer| balancer.spec.members.get(self.member))
    }

    /// The member's activation for this request.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Says how it ended. `latency` is the time to the reply's head, or to the failure.
    pub fn settle(mut self, outcome: Outcome, moved: Traffic, latency: Duration, now: Instant) {
        let Some(balancer) = self.balancer.take() else { return };
        let mut state = balancer.state.lock();
        self.leave(&balancer, &mut state, moved);
        let place = balancer.place(self.member);
        if let Some(record) = state.members.get_mut(place) {
            note(record, outcome, latency, now);
        }
        judge(&balancer, &mut state, self.member, outcome, now);
    }

    /// Takes the request off the member's load.
    fn leave(&self, balancer: &Balancer, state: &mut Inner, moved: Traffic) {
        self.counters.leave(moved);
        let Some(hot) = state.hot.get_mut(balancer.place(self.member)) else { return };
        match balancer.spec.method {
            Method::Busyness => hot.load = hot.load.saturating_sub(self.adds),
            Method::Traffic => {
                let bytes = moved.to_worker.saturating_add(moved.from_worker);
                hot.load = hot.load.saturating_add(bytes.saturating_mul(self.adds));
            }
            Method::Requests | Method::Sessions | Method::Next | Method::PowerOfTwo | Method::Latency => {}
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let Some(balancer) = self.balancer.take() else { return };
        let mut state = balancer.state.lock();
        self.leave(&balancer, &mut state, Traffic::default());
        let place = balancer.place(self.member);
        // The next request may try the member at once: nothing was learnt.
        if self.is_probe
            && let Some(hot) = state.hot.get_mut(place)
            && hot.health == Health::Probe
        {
            hot.health = Health::Recover;
        }
    }
}

/// Counters and latencies.
fn note(record: &mut Record, outcome: Outcome, latency: Duration, now: Instant) {
    use std::sync::atomic::Ordering::Relaxed;
    match outcome {
        Outcome::Served => {
            record.failures_in_a_row = 0;
            record.latency.record(latency, now);
            let sample = latency.as_secs_f64() * 1e9;
            let age = record.ewma_at.map_or(f64::MAX, |at| now.saturating_duration_since(at).as_secs_f64());
            let keep = (-age / EWMA_SECONDS).exp();
            // A peak counts at once, relief only with time.
            record.ewma =
                if sample > record.ewma { sample } else { record.ewma * keep + sample * (1.0 - keep) };
            record.ewma_at = Some(now);
        }
        Outcome::ClientAborted => {
            record.counters.client_errors.fetch_add(1, Relaxed);
        }
        Outcome::Stale => {}
        Outcome::FailOnStatus { .. }
        | Outcome::ReplyTimeout
        | Outcome::Busy
        | Outcome::ConnectFailed
        | Outcome::PingFailed
        | Outcome::Broken
        | Outcome::Protocol => {
            record.counters.errors.fetch_add(1, Relaxed);
            if outcome == Outcome::ReplyTimeout {
                record.reply_timeouts = record.reply_timeouts.saturating_add(1);
                record.all_reply_timeouts += 1;
            }
            if matches!(outcome, Outcome::Broken | Outcome::Protocol | Outcome::ReplyTimeout) {
                record.failures_in_a_row = record.failures_in_a_row.saturating_add(1);
            }
            if outcome != Outcome::Busy && outcome != (Outcome::FailOnStatus { soft: true }) {
                record.last_error = Some((now, outcome));
            }
        }
    }
}

/// What an outcome makes of the member (mod_jk: the state table of `service` in `jk_lb_worker.c`).
fn judge(balancer: &Balancer, state: &mut Inner, member: usize, outcome: Outcome, now: Instant) {
    let place = balancer.place(member);
    let was = state.health(place);
    let on_trial = matches!(was, Health::Probe | Health::Forced | Health::Recover);
    let Some(record) = state.members.get(place) else { return };
    let too_many_in_a_row =
        balancer.spec.outlier_failures.is_some_and(|limit| record.failures_in_a_row >= limit.get());
    let too_many_timeouts =
        balancer.spec.max_reply_timeouts.is_some_and(|limit| record.reply_timeouts > limit);
    // One failure and then silence is no trend: only the next one tells that they go on.
    let broken_for = now.saturating_duration_since(record.first_error.unwrap_or(now));
    let goes_on = broken_for >= balancer.spec.error_escalation_time;
    let failed = match outcome {
        Outcome::Served => return mark_good(balancer, state, place, was, now),
        Outcome::FailOnStatus { soft: true } => return mark_good(balancer, state, place, was, now),
        // The member was reached, or nothing is known; a trial goes back to where it was.
        Outcome::ClientAborted | Outcome::Stale => {
            if was == Health::Probe {
                state.set_health(place, Health::Recover, now);
            }
            return;
        }
        Outcome::Busy => {
            if was != Health::Error {
                let full_at = record.counters.busy.load(std::sync::atomic::Ordering::Relaxed);
                if let Some(record) = state.members.get_mut(place) {
                    record.full_at = full_at;
                }
                state.set_health(
                    place,
                    if was == Health::Probe { Health::Recover } else { Health::Busy },
                    now,
                );
            }
            return;
        }
        Outcome::FailOnStatus { soft: false } | Outcome::ConnectFailed | Outcome::PingFailed => true,
        Outcome::ReplyTimeout if too_many_timeouts || too_many_in_a_row || on_trial => true,
        Outcome::ReplyTimeout => return,
        Outcome::Broken | Outcome::Protocol => too_many_in_a_row || goes_on || on_trial,
    };
    if let Some(record) = state.members.get_mut(place) {
        record.errors += 1;
        record.first_error.get_or_insert(now);
    }
    if failed {
        state.set_health(place, Health::Error, now);
    }
}

fn mark_good(balancer: &Balancer, state: &mut Inner, place: usize, was: Health, now: Instant) {
    let returns = matches!(was, Health::Probe | Health::Forced | Health::Recover | Health::Error);
    state.set_health(place, Health::Ok, now);
    if let Some(record) = state.members.get_mut(place) {
        record.first_error = None;
        if returns && balancer.spec.slow_start.is_some() {
            record.returned = Some(now);
        }
    }
}
