//! The choice itself, in mod_jk's order: the session's member, its stand-ins, then the method's choice, then the hot standby.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use jk_config::{Activation, Method, Stickiness};

use crate::balancer::{Ask, Balancer, How, NoMember, has_room};
use crate::group::Inner;
use crate::health::Health;

pub(crate) struct Chosen {
    pub(crate) member: usize,
    pub(crate) how: How,
}

pub(crate) fn choose(
    balancer: &Balancer,
    state: &mut Inner,
    ask: &Ask<'_>,
    now: Instant,
) -> Result<Chosen, NoMember> {
    let look = Look { balancer, ask };
    let force = balancer.spec.stickiness == Stickiness::Force;
    if balancer.members.len() == 1 && look.is_usable(state, 0) {
        return Ok(Chosen { member: 0, how: How::Sticky });
    }
    if balancer.spec.stickiness != Stickiness::Off {
        for route in ask.routes {
            if let Some(chosen) = look.by_route(state, route, force) {
                return Ok(chosen);
            }
        }
        if force && ask.has_session {
            return Err(NoMember::StickyForced);
        }
    }
    if let Some(member) = look.by_value(state, now) {
        return Ok(Chosen { member, how: How::Balanced });
    }
    look.standby(state).ok_or_else(|| look.why_nobody(state))
}

struct Look<'a> {
    balancer: &'a Balancer,
    ask: &'a Ask<'a>,
}

impl Look<'_> {
    fn indexes(&self) -> std::ops::Range<usize> {
        0..self.balancer.members.len()
    }

    fn is_open(&self, state: &Inner, member: usize) -> bool {
        let place = self.balancer.places.get(member).copied().unwrap_or(usize::MAX);
        state.hot.get(place).is_some_and(|hot| hot.health.is_open())
            && (self.ask.tried.is_empty() || !self.ask.tried.contains(member))
            && has_room(self.balancer, state, member)
    }

    /// For a new choice.
    fn is_usable(&self, state: &Inner, member: usize) -> bool {
        self.is_open(state, member) && self.balancer.activation(member, self.ask) == Activation::Active
    }

    /// For a session of its own: a disabled member still serves those.
    fn is_usable_sticky(&self, state: &Inner, member: usize) -> bool {
        self.is_open(state, member) && self.balancer.activation(member, self.ask) != Activation::Stopped
    }

    /// mod_jk: `find_bysession_route`.
    fn by_route(&self, state: &Inner, route: &str, force: bool) -> Option<Chosen> {
        let of =
            |route: &str| self.balancer.spec.members.iter().position(|member| member.route.as_str() == route);
        let Some(own) = of(route) else {
            // Not a member's route: what stands before its dot may be a domain.
            let domain = route.split('.').next().filter(|domain| !domain.is_empty())?;
            return self.in_domain(state, domain);
        };
        if self.is_usable_sticky(state, own) {
            return Some(Chosen { member: own, how: How::Sticky });
        }
        if force {
            return None;
        }
        let spec = self.balancer.member_spec(own)?;
        if let Some(redirect) = &spec.redirect {
            let member = of(redirect.as_str())?;
            return self.is_usable_sticky(state, member).then_some(Chosen { member, how: How::Redirect });
        }
        self.in_domain(state, spec.domain.as_deref()?)
    }

    /// The nearest and least loaded usable member of a replication group.
    fn in_domain(&self, state: &Inner, domain: &str) -> Option<Chosen> {
        let members = self.indexes().filter(|member| {
            self.is_usable(state, *member)
                && self.balancer.member_spec(*member).and_then(|spec| spec.domain.as_deref()) == Some(domain)
        });
        let member = members.min_by_key(|member| (self.distance(*member), self.load(state, *member)))?;
        Some(Chosen { member, how: How::Domain })
    }

    /// mod_jk: `find_best_byvalue`, and the two methods that it lacks.
    fn by_value(&self, state: &mut Inner, now: Instant) -> Option<usize> {
        match self.balancer.spec.method {
            Method::PowerOfTwo => self.two_at_random(state),
            Method::Latency => self.least_latency(state, now),
            Method::Requests | Method::Sessions | Method::Traffic | Method::Busyness | Method::Next => {
                self.least_load(state)
            }
        }
    }

    /// From the one after the last chosen, round; equal loads take turns. Distance beats load.
    fn least_load(&self, state: &mut Inner) -> Option<usize> {
        let begin = state.next.min(self.balancer.members.len());
        let mut best: Option<(usize, u32, u64)> = None;
        for member in (begin..self.balancer.members.len()).chain(0..begin) {
            let (distance, load) = (self.distance(member), self.load(state, member));
            let is_better = match best {
                None => true,
                Some((_, near, _)) if distance != near => distance < near,
                Some((_, _, least)) => load < least && !self.ask.stateless,
            };
            if is_better && self.is_usable(state, member) {
                best = Some((member, distance, load));
            }
        }
        let (member, ..) = best?;
        state.next = member + 1;
        Some(member)
    }

    fn nearest(&self, state: &Inner) -> Vec<usize> {
        let usable: Vec<usize> = self.indexes().filter(|member| self.is_usable(state, *member)).collect();
        let near = usable.iter().map(|member| self.distance(*member)).min();
        usable.into_iter().filter(|member| Some(self.distance(*member)) == near).collect()
    }

    fn two_at_random(&self, state: &mut Inner) -> Option<usize> {
        let near = self.nearest(state);
        let draw = |state: &mut Inner| {
            let at = state.random() >> 33;
            near.get(usize::try_from(at).unwrap_or(0) % near.len().max(1)).copied()
        };
        let (first, second) = (draw(state)?, draw(state)?);
        Some(if self.busyness(state, second) < self.busyness(state, first) { second } else { first })
    }

    /// Peak EWMA: expected wait is the recent latency times the requests already there.
    fn least_latency(&self, state: &Inner, now: Instant) -> Option<usize> {
        let near = self.nearest(state);
        let begin = state.next.min(near.len());
        let cost = |member: &usize| {
            let record = state.members.get(self.balancer.place(*member));
            record.map_or(f64::MAX, |record| {
                let age = record.ewma_at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
                // What was slow long ago is worth another look.
                let decayed = record.ewma * (-age / EWMA_SECONDS).exp();
                (decayed + 1.0) * self.busyness(state, *member)
            })
        };
        near.iter().cycle().skip(begin).take(near.len()).copied().min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Requests under way, this one included, for one unit of weight.
    fn busyness(&self, state: &Inner, member: usize) -> f64 {
        let busy = state
            .members
            .get(self.balancer.place(member))
            .map_or(0, |record| record.counters.busy.load(Relaxed));
        let factor = self.balancer.member_spec(member).map_or(1, |spec| spec.lbfactor.get());
        (f64::from(busy) + 1.0) / f64::from(factor)
    }

    /// mod_jk: `find_failover_worker`. The first member with a redirect names the stand-in.
    fn standby(&self, state: &Inner) -> Option<Chosen> {
        let redirect = self.balancer.spec.members.iter().find_map(|member| member.redirect.as_ref())?;
        let chosen = self.by_route(state, redirect.as_str(), false)?;
        Some(Chosen { how: How::Failover, ..chosen })
    }

    fn why_nobody(&self, state: &Inner) -> NoMember {
        let active =
            self.indexes().filter(|member| self.balancer.activation(*member, self.ask) == Activation::Active);
        let mut healths = active
            .filter(|member| !self.ask.tried.contains(*member))
            .map(|member| (state.health(self.balancer.place(member)), has_room(self.balancer, state, member)))
            .peekable();
        if self.indexes().all(|member| self.balancer.activation(member, self.ask) != Activation::Active) {
            return NoMember::NoneActive;
        }
        if healths.any(|(health, room)| health == Health::Busy || (health.is_open() && !room)) {
            return NoMember::AllBusy;
        }
        NoMember::AllDown
    }

    fn distance(&self, member: usize) -> u32 {
        self.balancer.members.get(member).map_or(u32::MAX, |packed| packed.distance)
    }

    fn load(&self, state: &Inner, member: usize) -> u64 {
        let place = self.balancer.places.get(member).copied().unwrap_or(usize::MAX);
        state.hot.get(place).map_or(u64::MAX, |hot| hot.load)
    }
}

/// A full member is open again once a request has left it.
pub(crate) fn free_the_full(balancer: &Balancer, state: &mut Inner) {
    for place in &balancer.places {
        let is_full = state.hot.get(*place).is_some_and(|hot| hot.health == Health::Busy);
        if is_full
            && let (Some(hot), Some(record)) = (state.hot.get_mut(*place), state.members.get(*place))
            && record.counters.busy.load(Relaxed) < record.full_at.max(1)
        {
            hot.health = Health::Ok;
        }
    }
}

/// Everybody is in error: all get another chance (mod_jk: `force_recovery`). False: there was nobody to force.
pub(crate) fn force_recovery(balancer: &Balancer, state: &mut Inner, ask: &Ask<'_>, now: Instant) -> bool {
    let mut forced = false;
    for member in 0..balancer.members.len() {
        let place = balancer.place(member);
        if state.health(place) == Health::Error && !ask.tried.contains(member) {
            state.set_health(place, Health::Forced, now);
            forced = true;
        }
    }
    forced
}

/// What one request adds to a member's load now: its share, and more of it while the member is starting slowly.
pub(crate) fn load_of_one(balancer: &Balancer, state: &mut Inner, member: usize, now: Instant) -> u64 {
    let mult = balancer.members.get(member).map_or(1, |packed| packed.mult);
    let Some(ramp) = balancer.spec.slow_start else { return mult };
    let Some(record) = state.members.get_mut(balancer.place(member)) else { return mult };
    let Some(returned) = record.returned else { return mult };
    let age = now.saturating_duration_since(returned);
    if age >= ramp {
        record.returned = None;
        return mult;
    }
    // From a tenth of its share to all of it.
    let share = (age.as_secs_f64() / ramp.as_secs_f64()).max(0.1);
    // Loads are far below 2^52, and the quotient is positive.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let slowed = (mult as f64 / share) as u64;
    slowed
}

/// Adds a chosen request to its member's load, as the method counts.
pub(crate) fn charge(balancer: &Balancer, state: &mut Inner, (member, adds): (usize, u64), is_new: bool) {
    let counts = match balancer.spec.method {
        Method::Requests | Method::Busyness => true,
        Method::Sessions | Method::Next => is_new,
        Method::Traffic | Method::PowerOfTwo | Method::Latency => false,
    };
    if counts && let Some(hot) = state.hot.get_mut(balancer.place(member)) {
        hot.load = hot.load.saturating_add(adds);
    }
}

/// How long a latency is remembered.
pub(crate) const EWMA_SECONDS: f64 = 10.0;
