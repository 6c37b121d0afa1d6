//! A group of one plan: its settings, and the state that outlives it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use jk_config::{Activation, GroupSpec, MemberSpec, Stickiness, WorkerName};

use crate::attempt::{Attempt, Elected};
use crate::counters::WorkerCounters;
use crate::group::{GroupState, Inner};
use crate::health::Health;
use crate::pick;

/// Chooses members. Cheap to make; made anew for each plan.
#[derive(Debug)]
pub struct Balancer {
    pub(crate) spec: Arc<GroupSpec>,
    pub(crate) state: Arc<GroupState>,
    /// By member index: its place in the state.
    pub(crate) places: Vec<usize>,
    pub(crate) members: Vec<Packed>,
}

/// What choosing needs of a member's settings, packed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed {
    pub(crate) distance: u32,
    pub(crate) activation: Activation,
    /// mod_jk's `lb_mult`: what one request adds to the member's load.
    pub(crate) mult: u64,
    pub(crate) busy_limit: u32,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Routes of the request's session ids, in order.
    pub routes: &'a [&'a str],
    /// The request has a session id, with a route or without.
    pub has_session: bool,
    pub stateless: bool,
    /// The mapping's own activations.
    pub activation: Option<&'a BTreeMap<WorkerName, Activation>>,
    /// Members that failed this request.
    pub tried: &'a Tried,
}

/// Members that this request has tried.
#[derive(Debug, Clone, Default)]
pub struct Tried {
    indexes: Vec<usize>,
}

/// A member for a request.
#[derive(Debug)]
pub struct Picked {
    pub attempt: Attempt,
    pub how: How,
    /// The group's own routing cookie is due, if the settings want one.
    pub set_cookie: bool,
    /// The session belongs to a member that cannot serve it.
    pub session_lost: bool,
}

/// Why this member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Sticky,
    Redirect,
    Domain,
    Balanced,
    /// The stand-in of members that are all away.
    Failover,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMember {
    /// Every member is in error, or was tried by this request.
    AllDown,
    AllBusy,
    /// The session's own member is away and `sticky_session_force` allows no other.
    StickyForced,
    /// None is active.
    NoneActive,
}

impl Balancer {
    /// `counters` in the order of `spec.members`.
    #[must_use]
    pub fn new(
        spec: Arc<GroupSpec>,
        state: Arc<GroupState>,
        counters: &[Arc<WorkerCounters>],
        now: Instant,
    ) -> Self {
        let named: Vec<_> = spec
            .members
            .iter()
            .zip(counters)
            .map(|(member, own)| (member.worker.clone(), Arc::clone(own)))
            .collect();
        let places = state.lock().enlist(&named, now);
        let multiple = spec.members.iter().map(|member| u64::from(member.lbfactor.get())).fold(1, lcm);
        let members = spec
            .members
            .iter()
            .map(|member| Packed {
                distance: member.distance,
                activation: member.activation,
                mult: (multiple / u64::from(member.lbfactor.get())).max(1),
                busy_limit: member.busy_limit.map_or(u32::MAX, std::num::NonZeroU32::get),
            })
            .collect();
        Self { spec, state, places, members }
    }

    #[must_use]
    pub fn spec(&self) -> &Arc<GroupSpec> {
        &self.spec
    }

    /// Chooses a member (mod_jk: `get_most_suitable_worker`).
    pub fn pick(self: &Arc<Self>, ask: &Ask<'_>, now: Instant) -> Result<Picked, NoMember> {
        let mut state = self.state.lock();
        if ask.tried.is_empty() {
            state.budget.note_request(now);
        }
        pick::free_the_full(self, &mut state);
        let chosen = match pick::choose(self, &mut state, ask, now) {
            // Nobody is usable: whoever was given up gets another chance, once each in this request.
            Err(NoMember::AllDown) if pick::force_recovery(self, &mut state, ask, now) => {
                pick::choose(self, &mut state, ask, now)
            }
            chosen => chosen,
        }?;
        Ok(self.elect(&mut state, &chosen, ask, now))
    }

    /// Whether the group may make one more retry now; takes it.
    #[must_use]
    pub fn may_retry(&self, now: Instant) -> bool {
        self.state.lock().budget.take(self.spec.retry_budget, now)
    }

    /// Keeps count of the sessions that live on a member.
    pub fn note_session(&self, member: usize, hash: u64, now: Instant) {
        let mut state = self.state.lock();
        if let Some(record) = self.places.get(member).and_then(|place| state.members.get_mut(*place)) {
            record.seen.note(hash, now);
        }
    }

    /// The member that `pick` would take now, without taking it; for explanations.
    pub fn preview(&self, ask: &Ask<'_>, now: Instant) -> Result<(usize, How), NoMember> {
        let mut state = self.state.lock();
        let next = state.next;
        let chosen = pick::choose(self, &mut state, ask, now);
        state.next = next;
        chosen.map(|chosen| (chosen.member, chosen.how))
    }

    pub(crate) fn activation(&self, member: usize, ask: &Ask<'_>) -> Activation {
        let own = self.members.get(member).map_or(Activation::Stopped, |packed| packed.activation);
        match ask.activation {
            Some(replaced) if !replaced.is_empty() => self
                .spec
                .members
                .get(member)
                .and_then(|spec| replaced.get(&spec.worker))
                .copied()
                .unwrap_or(own),
            _ => own,
        }
    }

    pub(crate) fn place(&self, member: usize) -> usize {
        self.places.get(member).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn member_spec(&self, member: usize) -> Option<&MemberSpec> {
        self.spec.members.get(member)
    }

    fn elect(
        self: &Arc<Self>,
        state: &mut Inner,
        chosen: &pick::Chosen,
        ask: &Ask<'_>,
        now: Instant,
    ) -> Picked {
        let place = self.place(chosen.member);
        let was = state.health(place);
        let is_probe = was == Health::Recover;
        if is_probe {
            state.set_health(place, Health::Probe, now);
        }
        let adds = pick::load_of_one(self, state, chosen.member, now);
        let is_new = !ask.has_session && !ask.stateless;
        pick::charge(self, state, (chosen.member, adds), is_new);
        let mut counters = None;
        if let Some(record) = state.members.get_mut(place) {
            counters = Some(Arc::clone(&record.counters));
            record.used_since_maintenance = true;
            if is_new || self.spec.stickiness == Stickiness::Off {
                record.sessions += 1;
            }
        }
        let wanted_sticky = self.spec.stickiness != Stickiness::Off && !ask.routes.is_empty();
        Picked {
            attempt: Attempt::new(
                Arc::clone(self),
                Elected {
                    member: chosen.member,
                    activation: self.activation(chosen.member, ask),
                    counters: counters.unwrap_or_default(),
                    is_probe,
                    adds,
                },
            ),
            how: chosen.how,
            set_cookie: chosen.how != How::Sticky && self.members.len() > 1,
            session_lost: wanted_sticky && chosen.how != How::Sticky,
        }
    }
}

impl Tried {
    pub fn add(&mut self, member: usize) {
        self.indexes.push(member);
    }

    #[must_use]
    pub fn contains(&self, member: usize) -> bool {
        self.indexes.contains(&member)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.indexes.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }
}

impl How {
    /// A fixed word for the access log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sticky => "sticky",
            Self::Redirect => "redirect",
            Self::Domain => "domain",
            Self::Balanced => "balanced",
            Self::Failover => "failover",
        }
    }
}

/// Of load factors; capped, so that no product of odd factors can overflow a load.
fn lcm(a: u64, b: u64) -> u64 {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    (a / gcd(a, b).max(1)).saturating_mul(b).min(1 << 40)
}

/// Whether `busy_limit` leaves room.
pub(crate) fn has_room(balancer: &Balancer, state: &Inner, member: usize) -> bool {
    let limit = balancer.members.get(member).map_or(0, |packed| packed.busy_limit);
    limit == u32::MAX
        || state
            .members
            .get(balancer.place(member))
            .is_some_and(|record| record.counters.busy.load(Relaxed) < limit)
}
