//! A hundred thousand requests through members that come and go, chosen by the balancer and, beside it, by a model that is as plain as can be.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jk_balance::{Ask, Balancer, GroupState, Outcome, Picked, Traffic, Tried};
use jk_config::{GroupName, GroupSpec, MemberSpec, WorkerName};

const FACTORS: [u32; 5] = [1, 2, 3, 1, 2];
const REQUESTS: usize = 100_000;
const STEP: Duration = Duration::from_millis(10);
const RECOVER: Duration = Duration::from_secs(5);
const MAINTAIN: Duration = Duration::from_secs(60);
/// Requests that are under way at once.
const UNDER_WAY: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Good,
    Error,
    MayBeTried,
    BeingTried,
    Forced,
}

/// What the documents say, without a thought for speed.
struct Model {
    health: Vec<Health>,
    failed: Vec<Duration>,
    load: Vec<u64>,
    next: usize,
    maintained: Option<Duration>,
}

impl Model {
    fn new() -> Self {
        let n = FACTORS.len();
        Self {
            health: vec![Health::Good; n],
            failed: vec![Duration::ZERO; n],
            load: vec![0; n],
            next: 0,
            maintained: None,
        }
    }

    fn choose(&mut self, session: Option<usize>, tried: &[usize]) -> Option<usize> {
        let n = FACTORS.len();
        let mut usable: Vec<usize> = (0..n)
            .filter(|m| !matches!(self.health[*m], Health::Error | Health::BeingTried) && !tried.contains(m))
            .collect();
        // Somebody may be being tried at this moment; that is no reason to force the others. With nobody left, all in error are forced.
        if usable.is_empty() {
            usable = (0..n).filter(|m| self.health[*m] == Health::Error && !tried.contains(m)).collect();
            for member in &usable {
                self.health[*member] = Health::Forced;
            }
        }
        let member = match session.filter(|member| usable.contains(member)) {
            Some(member) => member,
            None => {
                let turn = |member: usize| (member + n - self.next.min(n) % n) % n;
                let best = *usable.iter().min_by_key(|member| (self.load[**member], turn(**member)))?;
                self.next = best + 1;
                best
            }
        };
        if self.health[member] == Health::MayBeTried {
            self.health[member] = Health::BeingTried;
        }
        // The least common multiple of all factors is six.
        self.load[member] += u64::from(6 / FACTORS[member]);
        Some(member)
    }

    fn ended(&mut self, member: usize, is_up: bool, now: Duration) {
        self.health[member] = if is_up { Health::Good } else { Health::Error };
        if !is_up {
            self.failed[member] = now;
        }
    }

    fn second(&mut self, now: Duration) {
        for member in 0..FACTORS.len() {
            if self.health[member] == Health::Error && now - self.failed[member] >= RECOVER {
                self.health[member] = Health::MayBeTried;
                self.load[member] = *self.load.iter().max().unwrap();
            }
        }
        if now - *self.maintained.get_or_insert(now) >= MAINTAIN {
            self.maintained = Some(now);
            self.load.iter_mut().for_each(|load| *load /= 2);
            if self.health.iter().all(|health| *health == Health::Error) {
                self.health.fill(Health::Forced);
            }
        }
    }
}

/// Up and down by turns, for random times.
struct Flapping {
    random: u64,
    is_up: bool,
    until: Duration,
}

impl Flapping {
    fn at(&mut self, now: Duration) -> bool {
        while now >= self.until {
            self.is_up = !self.is_up;
            let longest = if self.is_up { 40_000 } else { 15_000 };
            self.until += Duration::from_millis(1000 + draw(&mut self.random) % longest);
        }
        self.is_up
    }
}

fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// One request: what was chosen so far, and the attempt that is under way.
struct Request {
    session: Option<usize>,
    tried: Tried,
    tried_by_model: Vec<usize>,
    picked: Picked,
}

fn balancer(begin: Instant) -> Arc<Balancer> {
    let mut spec = GroupSpec::new(GroupName::new("lb").unwrap());
    spec.recover_time = RECOVER;
    spec.error_escalation_time = RECOVER / 2;
    spec.maintain = MAINTAIN;
    for (member, factor) in FACTORS.iter().enumerate() {
        let mut own = MemberSpec::new(WorkerName::new(&format!("m{member}")).unwrap());
        own.lbfactor = NonZeroU32::new(*factor).unwrap();
        spec.members.push(own);
    }
    let counters: Vec<_> = FACTORS.iter().map(|_| Arc::default()).collect();
    Arc::new(Balancer::new(Arc::new(spec), GroupState::new(), &counters, begin))
}

#[test]
fn the_balancer_does_what_a_plain_model_does() {
    let begin = Instant::now();
    let balancer = balancer(begin);
    let mut model = Model::new();
    let mut members: Vec<Flapping> = (0..5u64)
        .map(|member| Flapping {
            random: member * 7919 + 1,
            is_up: true,
            until: Duration::from_secs(5 + member),
        })
        .collect();
    let mut random = 42;
    let mut under_way: VecDeque<Request> = VecDeque::new();
    let (mut served, mut retried, mut refused, mut sticky) = ([0u32; 5], 0u32, 0u32, 0u32);
    let mut now = Duration::ZERO;
    for n in 0..REQUESTS {
        now += STEP;
        if n.is_multiple_of(100) {
            balancer.maintain(begin + now);
            model.second(now);
        }
        let session = draw(&mut random);
        let session = session.is_multiple_of(2).then(|| usize::try_from(session / 2 % 5).unwrap());
        match choose(&balancer, &mut model, (session, Tried::default(), Vec::new()), begin + now) {
            Some(request) => under_way.push_back(request),
            None => refused += 1,
        }
        while under_way.len() > UNDER_WAY {
            let Request { session, mut tried, mut tried_by_model, picked } = under_way.pop_front().unwrap();
            let member = picked.attempt.member();
            let is_up = members[member].at(now);
            let outcome = if is_up { Outcome::Served } else { Outcome::ConnectFailed };
            picked.attempt.settle(outcome, Traffic::default(), STEP, begin + now);
            model.ended(member, is_up, now);
            if is_up {
                served[member] += 1;
                sticky += u32::from(session == Some(member));
                continue;
            }
            retried += 1;
            tried.add(member);
            tried_by_model.push(member);
            match choose(&balancer, &mut model, (session, tried, tried_by_model), begin + now) {
                Some(request) => under_way.push_back(request),
                None => refused += 1,
            }
        }
    }
    // It was worth it: everybody served, much was tried again, and sessions found their members.
    assert!(served.iter().all(|served| *served > 2000), "{served:?}");
    assert!(retried > 500 && sticky > 20_000, "{retried} {sticky} {refused}");
    assert_eq!(served.iter().sum::<u32>() + refused + u32::try_from(under_way.len()).unwrap(), 100_000);
}

/// Both choose, and must choose the same.
fn choose(
    balancer: &Arc<Balancer>,
    model: &mut Model,
    (session, tried, tried_by_model): (Option<usize>, Tried, Vec<usize>),
    now: Instant,
) -> Option<Request> {
    let route = session.map(|member| format!("m{member}"));
    let routes: Vec<&str> = route.as_deref().into_iter().collect();
    let ask = Ask {
        routes: &routes,
        has_session: session.is_some(),
        stateless: false,
        activation: None,
        tried: &tried,
    };
    let picked = balancer.pick(&ask, now).ok();
    let expected = model.choose(session, &tried_by_model);
    assert_eq!(picked.as_ref().map(|picked| picked.attempt.member()), expected, "{:?}", model.health);
    picked.map(|picked| Request { session, tried, tried_by_model, picked })
}
