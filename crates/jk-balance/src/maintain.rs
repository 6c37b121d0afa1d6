//! What happens to members between requests: decay, recovery, checks, and what the status page may do.

use std::time::{Duration, Instant};

use jk_config::{Activation, Method};

use crate::balancer::Balancer;
use crate::group::{Inner, Record};
use crate::health::{Health, Outcome};

/// A change of health, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    pub member: usize,
    pub from: Health,
    pub to: Health,
}

impl Balancer {
    /// To be called about once a second. Recovery is looked at each time; what mod_jk's global maintenance does, once every `maintain`.
    pub fn maintain(&self, now: Instant) -> Vec<Transition> {
        let mut state = self.state.lock();
        let before: Vec<Health> = self.places.iter().map(|place| state.health(*place)).collect();
        for member in 0..self.members.len() {
            self.recover_when_due(&mut state, member, now);
        }
        let last = *state.last_maintained.get_or_insert(now);
        let rounds = now.saturating_duration_since(last).as_secs() / self.spec.maintain.as_secs().max(1);
        if rounds > 0 {
            state.last_maintained = Some(now);
            self.maintain_globally(&mut state, u32::try_from(rounds).unwrap_or(u32::MAX), now);
        }
        let changed = before.into_iter().enumerate().map(|(member, from)| Transition {
            member,
            from,
            to: state.health(self.place(member)),
        });
        changed.filter(|transition| transition.from != transition.to).collect()
    }

    /// mod_jk's `reset`: state and counters of one member, or of all.
    pub fn reset(&self, member: Option<usize>, now: Instant) {
        let mut state = self.state.lock();
        for index in (0..self.members.len()).filter(|index| member.is_none_or(|only| only == *index)) {
            let place = self.place(index);
            state.set_health(place, Health::Idle, now);
            if let Some(hot) = state.hot.get_mut(place) {
                hot.load = 0;
            }
            if let Some(record) = state.members.get_mut(place) {
                record.counters.reset();
                let seen = std::mem::take(&mut record.seen);
                *record = Record { since: Some(now), seen, ..Record::new(record.counters.clone(), now) };
            }
        }
    }

    /// mod_jk's `recover`: a member in error may be tried now. False: it is not in error.
    pub fn recover(&self, member: usize, now: Instant) -> bool {
        let mut state = self.state.lock();
        let in_error = state.health(self.place(member)) == Health::Error;
        if in_error {
            self.to_recovery(&mut state, member, now);
        }
        in_error
    }

    /// A connect and a CPing of their own have decided what a broken exchange left open.
    pub fn confirm(&self, member: usize, is_up: bool, now: Instant) {
        if is_up {
            return;
        }
        let mut state = self.state.lock();
        let place = self.place(member);
        state.set_health(place, Health::Error, now);
        if let Some(record) = state.members.get_mut(place) {
            record.first_error.get_or_insert(now);
            record.last_error = Some((now, Outcome::ConnectFailed));
        }
    }

    /// An active health check's result. `rise` good ones in a row bring a member back, `fall` bad ones take it out.
    pub fn health_report(&self, member: usize, is_good: bool, (rise, fall): (u32, u32), now: Instant) {
        let mut state = self.state.lock();
        let place = self.place(member);
        let health = state.health(place);
        let Some(record) = state.members.get_mut(place) else { return };
        let (last, count) = record.checks_in_a_row;
        let count = if last == is_good { count.saturating_add(1) } else { 1 };
        record.checks_in_a_row = (is_good, count);
        let in_error = matches!(health, Health::Error | Health::Forced);
        if is_good && count >= rise && in_error {
            self.to_recovery(&mut state, member, now);
        } else if !is_good && count >= fall && !matches!(health, Health::Error) {
            record.first_error.get_or_insert(now);
            record.last_error = Some((now, Outcome::PingFailed));
            record.errors += 1;
            state.set_health(place, Health::Error, now);
        }
    }

    /// After a change of activation every load begins anew, so that a member that returns is not flooded.
    pub fn level_loads(&self) {
        let mut state = self.state.lock();
        if self.spec.method != Method::Busyness {
            for place in &self.places {
                if let Some(hot) = state.hot.get_mut(*place) {
                    hot.load = 0;
                }
            }
        }
    }

    fn recover_when_due(&self, state: &mut Inner, member: usize, now: Instant) {
        let place = self.place(member);
        if state.health(place) != Health::Error {
            return;
        }
        let failed =
            state.members.get(place).and_then(|record| record.last_error.map(|(at, _)| at).or(record.since));
        if failed.is_none_or(|at| now.saturating_duration_since(at) >= self.spec.recover_time) {
            self.to_recovery(state, member, now);
        }
    }

    fn to_recovery(&self, state: &mut Inner, member: usize, now: Instant) {
        let place = self.place(member);
        state.set_health(place, Health::Recover, now);
        let highest = self.places.iter().filter_map(|place| state.hot.get(*place)).map(|hot| hot.load).max();
        if self.spec.method != Method::Busyness
            && let Some(hot) = state.hot.get_mut(place)
        {
            hot.load = highest.unwrap_or(0);
        }
        if let Some(record) = state.members.get_mut(place) {
            record.reply_timeouts = 0;
            record.failures_in_a_row = 0;
        }
    }

    fn maintain_globally(&self, state: &mut Inner, rounds: u32, now: Instant) {
        for place in self.places.clone() {
            let health = state.health(place);
            let Some(record) = state.members.get_mut(place) else { continue };
            record.reply_timeouts = record.reply_timeouts.checked_shr(rounds).unwrap_or(0);
            let was_used = std::mem::take(&mut record.used_since_maintenance);
            if health == Health::Ok && !was_used {
                state.set_health(place, Health::Idle, now);
            }
        }
        self.decay(state, rounds);
        let all_down = self.places.iter().all(|place| state.health(*place) == Health::Error);
        if all_down {
            for place in &self.places {
                state.set_health(*place, Health::Forced, now);
            }
        }
    }

    fn decay(&self, state: &mut Inner, rounds: u32) {
        let usable_least = (0..self.members.len())
            .filter(|member| {
                self.members.get(*member).is_some_and(|packed| packed.activation == Activation::Active)
            })
            .filter_map(|member| state.hot.get(self.place(member)))
            .filter(|hot| hot.health.is_open())
            .map(|hot| hot.load)
            .min()
            .unwrap_or(0);
        for place in &self.places {
            let Some(hot) = state.hot.get_mut(*place) else { continue };
            hot.load = match self.spec.method {
                Method::Requests | Method::Sessions | Method::Traffic => {
                    hot.load.checked_shr(rounds).unwrap_or(0)
                }
                Method::Next => hot.load.saturating_sub(usable_least),
                Method::Busyness | Method::PowerOfTwo | Method::Latency => hot.load,
            };
        }
    }

    /// How long until the next global maintenance.
    pub(crate) fn to_maintenance(&self, state: &Inner, now: Instant) -> Duration {
        let last = state.last_maintained.unwrap_or(now);
        self.spec.maintain.saturating_sub(now.saturating_duration_since(last))
    }
}
