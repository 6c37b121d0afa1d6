//! The balancer under a virtual clock.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use jk_balance::{
    Ask, Balancer, GroupState, Health, How, NoMember, Outcome, Picked, Traffic, Tried, WorkerCounters,
};
use jk_config::{Activation, GroupName, GroupSpec, MemberSpec, Method, Route, Stickiness, WorkerName};

struct Rig {
    balancer: Arc<Balancer>,
    counters: Vec<Arc<WorkerCounters>>,
    now: Instant,
}

fn member(name: &str, change: impl FnOnce(&mut MemberSpec)) -> MemberSpec {
    let mut spec = MemberSpec::new(WorkerName::new(name).unwrap());
    change(&mut spec);
    spec
}

fn members(names: &[&str]) -> Vec<MemberSpec> {
    names.iter().map(|name| member(name, |_| {})).collect()
}

impl Rig {
    fn new(members: Vec<MemberSpec>, change: impl FnOnce(&mut GroupSpec)) -> Self {
        Self::over(members, change, GroupState::new(), Instant::now())
    }

    fn over(
        members: Vec<MemberSpec>,
        change: impl FnOnce(&mut GroupSpec),
        state: Arc<GroupState>,
        now: Instant,
    ) -> Self {
        let mut spec = GroupSpec::new(GroupName::new("lb").unwrap());
        spec.members = members;
        change(&mut spec);
        let counters: Vec<Arc<WorkerCounters>> = spec.members.iter().map(|_| Arc::default()).collect();
        Self { balancer: Arc::new(Balancer::new(Arc::new(spec), state, &counters, now)), counters, now }
    }

    fn ask(&self, routes: &[&str], tried: &Tried) -> Result<Picked, NoMember> {
        let ask = Ask { routes, has_session: !routes.is_empty(), stateless: false, activation: None, tried };
        self.balancer.pick(&ask, self.now)
    }

    fn pick(&self) -> Picked {
        self.ask(&[], &Tried::default()).unwrap()
    }

    fn index(&self, name: &str) -> usize {
        self.balancer.spec().members.iter().position(|member| member.worker.as_str() == name).unwrap()
    }

    fn name(&self, member: usize) -> String {
        self.balancer.spec().members[member].worker.to_string()
    }

    fn settle(&self, picked: Picked, outcome: Outcome) -> usize {
        let member = picked.attempt.member();
        picked.attempt.settle(outcome, Traffic::default(), Duration::from_millis(1), self.now);
        member
    }

    /// One request of a session, or of none, that is served.
    fn serve(&self, routes: &[&str]) -> String {
        match self.ask(routes, &Tried::default()) {
            Ok(picked) => self.name(self.settle(picked, Outcome::Served)),
            Err(why) => format!("{why:?}"),
        }
    }

    /// Ends one attempt at a member in a certain way, without a trace at the others.
    fn end(&self, name: &str, outcome: Outcome) {
        let mut tried = Tried::default();
        loop {
            let picked = self.ask(&[], &tried).unwrap();
            if picked.attempt.member() == self.index(name) {
                self.settle(picked, outcome);
                return;
            }
            tried.add(self.settle(picked, Outcome::Stale));
        }
    }

    fn health(&self, name: &str) -> Health {
        self.balancer.view(self.now).members[self.index(name)].health
    }

    fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += Duration::from_secs(1);
            self.balancer.maintain(self.now);
        }
    }

    fn sequence(&self, n: usize) -> String {
        (0..n).map(|_| self.serve(&[])).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn equal_members_take_turns() {
    assert_eq!(Rig::new(members(&["a", "b"]), |_| {}).sequence(6), "a b a b a b");
    assert_eq!(Rig::new(members(&["a", "b", "c"]), |_| {}).sequence(6), "a b c a b c");
}

#[test]
fn distance_beats_load() {
    let rig = Rig::new(vec![member("near", |_| {}), member("far", |member| member.distance = 1)], |_| {});
    assert_eq!(rig.sequence(5), "near near near near near");
    rig.end("near", Outcome::ConnectFailed);
    assert_eq!(rig.sequence(3), "far far far");
}

#[test]
fn sessions_stay_and_the_first_known_route_decides() {
    let rig = Rig::new(members(&["n1", "n2"]), |_| {});
    for _ in 0..5 {
        assert_eq!(rig.serve(&["n2"]), "n2");
        assert_eq!(rig.serve(&["gone", "n1"]), "n1");
    }
    assert_eq!(rig.ask(&["n2"], &Tried::default()).unwrap().how, How::Sticky);
    let lost = rig.ask(&["gone"], &Tried::default()).unwrap();
    assert!(lost.session_lost && lost.how == How::Balanced);
}

#[test]
fn redirect_domain_and_standby() {
    let route = |name: &str| Route::new(name);
    let domain = Some("d1".to_owned());
    let rig = Rig::new(
        vec![
            member("a", |m| m.redirect = route("c")),
            member("b", |m| m.domain.clone_from(&domain)),
            member("c", |m| m.domain.clone_from(&domain)),
        ],
        |_| {},
    );
    rig.end("a", Outcome::ConnectFailed);
    let redirected = rig.ask(&["a"], &Tried::default()).unwrap();
    assert_eq!((redirected.how, rig.name(redirected.attempt.member())), (How::Redirect, "c".to_owned()));
    rig.end("b", Outcome::ConnectFailed);
    let same_domain = rig.ask(&["b"], &Tried::default()).unwrap();
    assert_eq!((same_domain.how, rig.name(same_domain.attempt.member())), (How::Domain, "c".to_owned()));
    // A route that is no member's may name a domain before its dot.
    assert_eq!(rig.serve(&["d1.somebody"]), "c");
    // Hot standby: disabled, named by a redirect, used when nobody else is left.
    let standby = Rig::new(
        vec![
            member("main", |m| m.redirect = route("spare")),
            member("spare", |m| m.activation = Activation::Disabled),
        ],
        |_| {},
    );
    assert_eq!(standby.sequence(3), "main main main");
    standby.end("main", Outcome::ConnectFailed);
    assert_eq!(
        (standby.sequence(2), standby.serve(&["main"])),
        ("spare spare".to_owned(), "spare".to_owned())
    );
}

#[test]
fn force_allows_nobody_else() {
    let rig = Rig::new(members(&["a", "b"]), |group| group.stickiness = Stickiness::Force);
    assert_eq!((rig.serve(&["a"]), rig.serve(&["gone"])), ("a".to_owned(), "StickyForced".to_owned()));
    rig.end("a", Outcome::ConnectFailed);
    assert_eq!((rig.serve(&["a"]), rig.serve(&[])), ("StickyForced".to_owned(), "b".to_owned()));
}

#[test]
fn activation() {
    let rig =
        |activation| Rig::new(vec![member("a", |m| m.activation = activation), member("b", |_| {})], |_| {});
    let disabled = rig(Activation::Disabled);
    assert_eq!((disabled.sequence(3), disabled.serve(&["a"])), ("b b b".to_owned(), "a".to_owned()));
    let stopped = rig(Activation::Stopped);
    assert_eq!((stopped.sequence(3), stopped.serve(&["a"])), ("b b b".to_owned(), "b".to_owned()));
    let alone = Rig::new(vec![member("a", |m| m.activation = Activation::Disabled)], |_| {});
    assert_eq!((alone.serve(&[]), alone.serve(&["a"])), ("NoneActive".to_owned(), "a".to_owned()));
    // A mapping's own activation counts for its requests only.
    let both = Rig::new(members(&["a", "b"]), |_| {});
    let own = BTreeMap::from([(WorkerName::new("a").unwrap(), Activation::Stopped)]);
    for _ in 0..4 {
        let ask = Ask {
            routes: &["a"],
            has_session: true,
            stateless: false,
            activation: Some(&own),
            tried: &Tried::default(),
        };
        assert_eq!(both.settle(both.balancer.pick(&ask, both.now).unwrap(), Outcome::Served), 1);
    }
    assert_eq!(both.serve(&["a"]), "a");
}

/// Each row: what ends the attempt, and the health it leaves.
#[test]
fn outcomes_and_what_they_make_of_a_member() {
    let rows = [
        (Outcome::Served, Health::Ok),
        (Outcome::ClientAborted, Health::Idle),
        (Outcome::Stale, Health::Idle),
        (Outcome::FailOnStatus { soft: true }, Health::Ok),
        (Outcome::FailOnStatus { soft: false }, Health::Error),
        (Outcome::ConnectFailed, Health::Error),
        (Outcome::PingFailed, Health::Error),
        (Outcome::Broken, Health::Idle),
        (Outcome::Protocol, Health::Idle),
        (Outcome::ReplyTimeout, Health::Idle),
    ];
    for (outcome, health) in rows {
        let rig = Rig::new(members(&["a", "b"]), |_| {});
        rig.end("a", outcome);
        assert_eq!(rig.health("a"), health, "{outcome:?}");
    }
    let rig = Rig::new(members(&["a", "b"]), |group| group.max_reply_timeouts = Some(1));
    rig.end("a", Outcome::ReplyTimeout);
    assert_eq!(rig.health("a"), Health::Idle);
    rig.end("a", Outcome::ReplyTimeout);
    assert_eq!(rig.health("a"), Health::Error);
    for outcome in [Outcome::Broken, Outcome::Protocol, Outcome::ReplyTimeout] {
        let rig = Rig::new(members(&["a", "b"]), |group| group.outlier_failures = NonZeroU32::new(3));
        for end in [outcome, outcome, Outcome::Served, outcome, outcome] {
            rig.end("a", end);
            assert_ne!(rig.health("a"), Health::Error);
        }
        rig.end("a", outcome);
        assert_eq!(rig.health("a"), Health::Error, "{outcome:?}");
    }
}

#[test]
fn a_suspect_is_taken_out_only_by_its_own_silence() {
    let rig = Rig::new(members(&["a", "b"]), |_| {});
    rig.end("a", Outcome::Broken);
    rig.balancer.confirm(0, true, rig.now);
    assert_eq!(rig.health("a"), Health::Idle);
    rig.balancer.confirm(0, false, rig.now);
    assert_eq!(rig.health("a"), Health::Error);
}

/// A page that breaks its exchange, or is slow, in the quiet of the night: that one visitor takes the member from nobody.
#[test]
fn a_single_failure_and_then_silence_takes_nobody_out() {
    for outcome in [Outcome::Broken, Outcome::Protocol, Outcome::ReplyTimeout] {
        let mut rig = Rig::new(members(&["a", "b"]), |_| {});
        rig.end("a", outcome);
        rig.pass(300);
        assert_eq!(rig.health("a"), Health::Idle, "{outcome:?}");
    }
}

#[test]
fn failures_that_go_on_without_a_success_between_them_escalate() {
    let after = |first: Outcome, between: Option<Outcome>, second: Outcome| {
        let mut rig = Rig::new(members(&["a", "b"]), |group| {
            group.error_escalation_time = Duration::from_secs(30);
        });
        rig.end("a", first);
        rig.pass(29);
        between.into_iter().for_each(|between| rig.end("a", between));
        assert_ne!(rig.health("a"), Health::Error);
        rig.pass(1);
        rig.end("a", second);
        rig.health("a") == Health::Error
    };
    assert!(after(Outcome::Broken, None, Outcome::Broken));
    assert!(after(Outcome::Broken, Some(Outcome::Broken), Outcome::Protocol));
    assert!(!after(Outcome::Broken, Some(Outcome::Served), Outcome::Broken));
    assert!(!after(Outcome::Broken, None, Outcome::ReplyTimeout));
    assert!(!after(Outcome::ReplyTimeout, None, Outcome::Broken));
    let rig = Rig::new(members(&["a", "b"]), |group| group.error_escalation_time = Duration::ZERO);
    rig.end("a", Outcome::Broken);
    assert_eq!(rig.health("a"), Health::Error);
}

#[test]
fn one_probe_at_a_time_and_none_is_lost() {
    let mut rig = Rig::new(members(&["a", "b"]), |group| group.recover_time = Duration::from_secs(10));
    rig.end("a", Outcome::ConnectFailed);
    rig.pass(9);
    assert_eq!(rig.health("a"), Health::Error);
    rig.pass(1);
    assert_eq!(rig.health("a"), Health::Recover);
    let until_probe = |rig: &Rig| loop {
        let picked = rig.pick();
        if picked.attempt.member() == 0 {
            return picked;
        }
        rig.settle(picked, Outcome::Served);
    };
    // The client leaves: the next request may try at once.
    let probe = until_probe(&rig);
    assert_eq!(rig.health("a"), Health::Probe);
    for _ in 0..10 {
        assert_eq!(rig.serve(&[]), "b");
    }
    drop(probe);
    assert_eq!(rig.health("a"), Health::Recover);
    // It fails: the clock starts anew.
    rig.settle(until_probe(&rig), Outcome::Broken);
    assert_eq!(rig.health("a"), Health::Error);
    rig.pass(9);
    assert_eq!(rig.health("a"), Health::Error);
    rig.pass(1);
    rig.settle(until_probe(&rig), Outcome::Served);
    assert_eq!(rig.health("a"), Health::Ok);
}

#[test]
fn when_all_are_down_each_gets_one_chance_a_request() {
    let rig = Rig::new(members(&["a", "b", "c"]), |_| {});
    for name in ["a", "b", "c"] {
        rig.end(name, Outcome::ConnectFailed);
    }
    let mut tried = Tried::default();
    for _ in 0..3 {
        let picked = rig.ask(&[], &tried).unwrap();
        tried.add(rig.settle(picked, Outcome::ConnectFailed));
    }
    assert_eq!(rig.ask(&[], &tried).unwrap_err(), NoMember::AllDown);
    // One returns: the next request finds it.
    let mut tried = Tried::default();
    loop {
        let picked = rig.ask(&[], &tried).unwrap();
        if picked.attempt.member() == 1 {
            rig.settle(picked, Outcome::Served);
            break;
        }
        tried.add(rig.settle(picked, Outcome::ConnectFailed));
    }
    assert_eq!(rig.health("b"), Health::Ok);
}

#[test]
fn a_member_that_returns_is_not_flooded() {
    let mut rig = Rig::new(members(&["a", "b"]), |group| group.recover_time = Duration::from_secs(5));
    rig.end("a", Outcome::ConnectFailed);
    rig.sequence(1000);
    rig.pass(5);
    let shares = rig.sequence(20).matches('a').count();
    assert!((9..=11).contains(&shares), "{shares}");
}

#[test]
fn slow_start_comes_back_by_and_by() {
    let mut rig = Rig::new(members(&["a", "b"]), |group| {
        group.recover_time = Duration::from_secs(1);
        group.slow_start = Some(Duration::from_secs(100));
        group.maintain = Duration::from_secs(1000);
    });
    rig.end("a", Outcome::ConnectFailed);
    rig.pass(1);
    while rig.serve(&[]) != "a" {}
    let share = |rig: &Rig| rig.sequence(200).matches('a').count();
    let early = share(&rig);
    assert!(early < 40, "{early}");
    rig.pass(50);
    let half = share(&rig);
    assert!(half > early && half < 90, "{half}");
    rig.pass(60);
    assert!((99..=101).contains(&share(&rig)));
}

#[test]
fn busy_limit_and_busyness() {
    let limit = |limit| move |member: &mut MemberSpec| member.busy_limit = NonZeroU32::new(limit);
    let limited = Rig::new(vec![member("a", limit(2)), member("b", limit(1))], |_| {});
    let held: Vec<Picked> = (0..3).map(|_| limited.pick()).collect();
    assert_eq!(limited.ask(&[], &Tried::default()).unwrap_err(), NoMember::AllBusy);
    drop(held);
    assert!(limited.ask(&[], &Tried::default()).is_ok());
    let rig = Rig::new(members(&["a", "b"]), |group| group.method = Method::Busyness);
    let slow = rig.pick();
    for _ in 0..10 {
        assert_ne!(rig.settle(rig.pick(), Outcome::Served), slow.attempt.member());
    }
}

#[test]
fn maintenance_halves_loads_and_marks_the_idle() {
    let mut rig = Rig::new(members(&["a", "b"]), |_| {});
    rig.pass(1);
    rig.sequence(100);
    let loads = |rig: &Rig| {
        rig.balancer.view(rig.now).members.iter().map(|member| member.lb_value).collect::<Vec<_>>()
    };
    assert_eq!(loads(&rig), [50, 50]);
    rig.pass(60);
    assert_eq!((loads(&rig), rig.health("a")), (vec![25, 25], Health::Ok));
    rig.pass(60);
    assert_eq!(rig.health("a"), Health::Idle);
}

#[test]
fn a_reload_keeps_what_stays_and_forgets_what_goes() {
    let (state, now) = (GroupState::new(), Instant::now());
    let make = |names: &[&str]| Rig::over(members(names), |_| {}, Arc::clone(&state), now);
    make(&["a", "b"]).end("a", Outcome::ConnectFailed);
    let after = make(&["a", "c"]);
    assert_eq!((after.health("a"), after.health("c")), (Health::Error, Health::Idle));
    assert_eq!(make(&["c"]).serve(&[]), "c");
    assert_eq!(make(&["a", "c"]).health("a"), Health::Idle);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn shares_are_exact(factors in proptest::collection::vec(1u32..7, 1..6), rounds in 1u32..6) {
            let factor = |at: usize| NonZeroU32::new(factors[at]).unwrap();
            let specs = (0..factors.len()).map(|at| member(&format!("m{at}"), |m| m.lbfactor = factor(at))).collect();
            let rig = Rig::new(specs, |_| {});
            let mut counts = vec![0u32; factors.len()];
            for _ in 0..factors.iter().sum::<u32>() * rounds {
                counts[rig.settle(rig.pick(), Outcome::Served)] += 1;
            }
            let expected: Vec<u32> = factors.iter().map(|factor| factor * rounds).collect();
            prop_assert_eq!(counts, expected);
        }

        /// Random requests, outcomes, departures and time: what must always hold.
        #[test]
        fn invariants(steps in proptest::collection::vec((0u8..12, 0usize..5, any::<bool>()), 1..400), method in 0usize..7) {
            let methods = [Method::Requests, Method::Sessions, Method::Traffic, Method::Busyness, Method::Next, Method::PowerOfTwo, Method::Latency];
            let mut rig = Rig::new(members(&["m0", "m1", "m2", "m3", "m4"]), |group| {
                group.method = methods[method];
                group.recover_time = Duration::from_secs(3);
                group.error_escalation_time = Duration::from_secs(1_000_000);
            });
            let mut held: Vec<Picked> = Vec::new();
            for (what, at, sticky) in steps {
                match what {
                    0..=5 => {
                        let route = format!("m{at}");
                        let routes: &[&str] = if sticky { &[&route] } else { &[] };
                        let open: Vec<bool> = rig.balancer.view(rig.now).members.iter().map(|member| member.health.is_open()).collect();
                        let full = rig.balancer.view(rig.now).members.iter().any(|member| member.health == Health::Busy);
                        if let Ok(picked) = rig.ask(routes, &Tried::default()) {
                            let member = picked.attempt.member();
                            prop_assert!(open[member] || full || open.iter().all(|open| !open), "a member in error was chosen while another is usable");
                            prop_assert!(!sticky || !open[at] || member == at, "stickiness was broken");
                            held.push(picked);
                        }
                    }
                    6..=9 if !held.is_empty() => {
                        let picked = held.swap_remove(at % held.len());
                        let outcomes = [Outcome::Served, Outcome::ConnectFailed, Outcome::Broken, Outcome::ReplyTimeout, Outcome::Busy];
                        rig.settle(picked, outcomes[(usize::from(what) + at) % 5]);
                    }
                    10 if !held.is_empty() => drop(held.swap_remove(at % held.len())),
                    _ => rig.pass(1),
                }
            }
            held.clear();
            for counters in &rig.counters {
                prop_assert_eq!(counters.busy.load(Relaxed), 0);
            }
            // No probe is lost: in time everybody may be tried again.
            rig.pass(4);
            prop_assert!(rig.balancer.view(rig.now).members.iter().all(|member| !matches!(member.health, Health::Probe | Health::Error)));
        }
    }
}
