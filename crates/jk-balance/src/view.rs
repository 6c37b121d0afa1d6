//! A group as it stands at one instant, for people and scripts.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use jk_config::Activation;

use crate::balancer::Balancer;
use crate::health::{Health, Outcome};
use crate::histogram::Latency;

#[derive(Debug, Clone)]
pub struct GroupView {
    pub members: Vec<MemberView>,
    pub to_maintenance: Duration,
}

#[derive(Debug, Clone)]
pub struct MemberView {
    pub activation: Activation,
    pub health: Health,
    /// When the present health began; `None`: it never changed.
    pub since: Option<Instant>,
    pub lb_mult: u64,
    pub lb_value: u64,
    pub sessions: u64,
    pub errors: u64,
    pub reply_timeouts: u64,
    pub elected: u64,
    pub client_errors: u64,
    pub busy: u32,
    pub max_busy: u32,
    pub transferred: u64,
    pub read: u64,
    /// Of the present series of errors.
    pub first_error: Option<Instant>,
    pub last_error: Option<(Instant, Outcome)>,
    /// Until the next try; `None` unless in error.
    pub to_recover: Option<Duration>,
    pub sessions_lately: u64,
    pub last_session: Option<Instant>,
    pub reset_at: Instant,
    pub latency: Latency,
}

impl Balancer {
    #[must_use]
    pub fn view(&self, now: Instant) -> GroupView {
        let mut state = self.state.lock();
        let to_maintenance = self.to_maintenance(&state, now);
        let mut members = Vec::with_capacity(self.members.len());
        for (packed, place) in self.members.iter().zip(&self.places) {
            let (Some(hot), Some(record)) = (state.hot.get(*place).copied(), state.members.get_mut(*place))
            else {
                continue;
            };
            let failed = record.last_error.map(|(at, _)| at).or(record.since);
            let to_recover = (hot.health == Health::Error).then(|| {
                let age = failed.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
                self.spec.recover_time.saturating_sub(age)
            });
            members.push(MemberView {
                activation: packed.activation,
                health: hot.health,
                since: record.since,
                lb_mult: packed.mult,
                lb_value: hot.load,
                sessions: record.sessions,
                errors: record.errors,
                reply_timeouts: record.all_reply_timeouts,
                elected: record.counters.elected.load(Relaxed),
                client_errors: record.counters.client_errors.load(Relaxed),
                busy: record.counters.busy.load(Relaxed),
                max_busy: record.counters.max_busy.load(Relaxed),
                transferred: record.counters.transferred.load(Relaxed),
                read: record.counters.read.load(Relaxed),
                first_error: record.first_error,
                last_error: record.last_error,
                to_recover,
                sessions_lately: record.seen.estimate(now),
                last_session: record.seen.last_seen(),
                reset_at: record.reset_at,
                latency: record.latency.read(now),
            });
        }
        GroupView { members, to_maintenance }
    }
}
