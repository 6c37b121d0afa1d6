//! The gateway at one instant, as plain data.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jk_balance::MemberView;
use jk_config::{Lock, MappingKind, MappingSpec, MemberSpec, Method, ReplyTimeout, Stickiness, Target};
use jk_status::{
    Activation, Ajp, Group, Listener, Mapping, Member, Options, Plain, Reload, StatusView, Totals,
};

use crate::control::{self, Control, Plan};
use crate::explain::target_name;
use crate::stats::BOUNDS;

/// Takes the view. Nothing here waits for a lock that requests hold for long.
pub(super) fn take(control: &Control, (server, port): (&str, u16), read_only: bool) -> StatusView {
    let gateway = control.gateway();
    let plan = gateway.plan();
    let now = Instant::now();
    let clock = Clock { now, unix: unix(SystemTime::now()) };
    let local = jiff::ZonedDateTime::now();
    let reload = control.last_reload();
    let mut groups: Vec<&std::sync::Arc<control::Group>> = plan.groups.values().collect();
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    let edits = control.edits();
    StatusView {
        server: server.to_owned(),
        port,
        now: clock.unix,
        datetime: local.strftime("%Y%m%d%H%M%S").to_string(),
        tz: local.strftime("%z").to_string(),
        software: concat!("jkgate/", env!("CARGO_PKG_VERSION")).to_owned(),
        uptime: gateway.stats.started.elapsed().as_secs(),
        config: control.path().map_or_else(|| "built in".to_owned(), |path| path.display().to_string()),
        generation: plan.generation,
        loaded_ago: plan.loaded_at.elapsed().unwrap_or_default().as_secs(),
        reload: Reload {
            ago: reload.at.elapsed().unwrap_or_default().as_secs(),
            by: reload.by,
            failed: reload.result.is_err(),
            lines: reload.result.unwrap_or_else(|lines| lines),
            good: reload.good,
            bad: reload.bad,
        },
        edits: edits
            .iter()
            .map(|edit| format!("{}.{}.{} = {}", edit.section, edit.name, edit.key, edit.value))
            .collect(),
        listeners: listeners(control),
        totals: totals(control),
        groups: groups.iter().filter(|group| !group.is_solo).map(|each| group(&plan, each, &clock)).collect(),
        workers: groups.iter().filter(|group| group.is_solo).map(|each| plain(&plan, each, &clock)).collect(),
        own_mappings: mappings(&plan, |target| {
            matches!(target, None | Some(Target::Status | Target::Metrics))
        }),
        options: options(control, &plan, read_only),
    }
}

/// The configuration under mod_jk's property names; secrets are left out.
pub(super) fn dump(control: &Control) -> Vec<(String, String)> {
    let plan = control.gateway().plan();
    let mut pairs = Vec::new();
    let mut list: Vec<String> = plan.config.groups().keys().map(ToString::to_string).collect();
    list.extend(plan.groups.values().filter(|group| group.is_solo).map(|group| group.name.to_string()));
    pairs.push(("worker.list".to_owned(), list.join(",")));
    for group in plan.config.groups().values() {
        let name = &group.name;
        let members: Vec<&str> = group.members.iter().map(|member| member.worker.as_str()).collect();
        pairs.push((format!("worker.{name}.type"), "lb".to_owned()));
        pairs.push((format!("worker.{name}.balance_workers"), members.join(",")));
        for member in &group.members {
            pairs.extend(member_properties(member));
        }
    }
    for worker in plan.config.workers().values() {
        let (host, port) = host_port(&worker.address);
        pairs.push((format!("worker.{}.type", worker.name), "ajp13".to_owned()));
        pairs.push((format!("worker.{}.host", worker.name), host));
        pairs.push((format!("worker.{}.port", worker.name), port.to_string()));
    }
    pairs
}

/// What is not as it is by default.
fn member_properties(member: &MemberSpec) -> Vec<(String, String)> {
    let usual = MemberSpec::new(member.worker.clone());
    let activation = match member.activation {
        jk_config::Activation::Active => "active",
        jk_config::Activation::Disabled => "disabled",
        jk_config::Activation::Stopped => "stopped",
    };
    let redirect = member.redirect.as_ref().map(ToString::to_string).unwrap_or_default();
    let properties = [
        (member.activation != usual.activation, "activation", activation.to_owned()),
        (member.lbfactor != usual.lbfactor, "lbfactor", member.lbfactor.to_string()),
        (member.route != usual.route, "route", member.route.to_string()),
        (member.distance != usual.distance, "distance", member.distance.to_string()),
        (member.domain != usual.domain, "domain", member.domain.clone().unwrap_or_default()),
        (member.redirect != usual.redirect, "redirect", redirect),
    ];
    let unusual = properties.into_iter().filter(|(is_unusual, ..)| *is_unusual);
    unusual.map(|(_, key, value)| (format!("worker.{}.{key}", member.worker), value)).collect()
}

struct Clock {
    now: Instant,
    unix: u64,
}

impl Clock {
    fn unix_of(&self, at: Instant) -> u64 {
        self.unix.saturating_sub(self.now.saturating_duration_since(at).as_secs())
    }
}

fn unix(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn listeners(control: &Control) -> Vec<Listener> {
    let one = |front: &std::sync::Arc<crate::front::Front>| {
        let spec = front.spec.load();
        Listener {
            name: spec.name.clone(),
            address: front.local.map_or_else(|| spec.address.to_string(), |local| local.to_string()),
            open: u64::try_from(front.stats.open.load(Relaxed)).unwrap_or(0),
            accepted: front.stats.accepted.load(Relaxed),
            full: front.stats.full.load(Relaxed),
        }
    };
    control.fronts().iter().map(one).collect()
}

fn totals(control: &Control) -> Totals {
    let gateway = control.gateway();
    let stats = &gateway.stats;
    let served = stats.served();
    let bounds =
        BOUNDS.iter().map(|micros| Duration::from_micros(*micros).as_secs_f64()).chain([f64::INFINITY]);
    Totals {
        by_class: served.by_class,
        under_way: served.under_way,
        retries: stats.retries.load(Relaxed),
        sessions_lost: stats.sessions_lost.load(Relaxed),
        refused: stats.refused.load(Relaxed),
        log_dropped: gateway.access_log.dropped(),
        durations: bounds.zip(served.buckets).collect(),
        duration_sum: Duration::from_micros(served.micros).as_secs_f64(),
    }
}

fn options(control: &Control, plan: &Plan, read_only: bool) -> Options {
    let spec = plan.config.status();
    Options {
        read_only,
        css: spec.css.clone(),
        prefix: spec.prefix.clone(),
        ns: spec.ns.clone(),
        xmlns: spec.xmlns.clone(),
        doctype: spec.doctype.clone(),
        good: spec.good.clone(),
        bad: spec.bad.clone(),
        token: control.gateway().stats.token.clone(),
    }
}

fn group(plan: &Plan, group: &control::Group, clock: &Clock) -> Group {
    let view = group.balancer.view(clock.now);
    let spec = &group.spec;
    let members = group.members.iter().zip(&spec.members).zip(view.members);
    let members: Vec<Member> =
        members.map(|((worker, own), seen)| member(worker, own, &seen, clock)).collect();
    Group {
        name: group.name.to_string(),
        sticky: spec.stickiness != Stickiness::Off,
        sticky_force: spec.stickiness == Stickiness::Force,
        retries: spec.retries,
        retry_interval: millis(spec.retry_interval),
        recover_time: spec.recover_time.as_secs(),
        error_escalation_time: spec.error_escalation_time.as_secs(),
        max_reply_timeouts: spec.max_reply_timeouts.unwrap_or(0),
        method: method(spec.method).to_owned(),
        lock: if spec.lock == Lock::Optimistic { "Optimistic" } else { "Pessimistic" }.to_owned(),
        to_maintenance: view.to_maintenance.as_secs(),
        maintain: spec.maintain.as_secs(),
        reset_at: members.iter().map(|member| member.ajp.reset_at).min().unwrap_or(clock.unix),
        waiting: group.queue.waiting.load(Relaxed),
        members,
        mappings: mappings(plan, |target| matches!(target, Some(Target::Group(name)) if *name == spec.name)),
    }
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Requests => "Request",
        Method::Sessions => "Sessions",
        Method::Traffic => "Traffic",
        Method::Busyness => "Busyness",
        Method::Next => "Next",
        Method::PowerOfTwo => "PowerOfTwo",
        Method::Latency => "Latency",
    }
}

fn member(worker: &control::Worker, own: &MemberSpec, seen: &MemberView, clock: &Clock) -> Member {
    let micros =
        |time: Option<Duration>| time.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let recover =
        seen.to_recover.map_or(0, |left| u64::try_from(left.as_millis().div_ceil(1000)).unwrap_or(0));
    let latencies = seen.latency.total.iter().enumerate();
    Member {
        ajp: ajp(worker, seen, clock),
        activation: match seen.activation {
            jk_config::Activation::Active => Activation::Active,
            jk_config::Activation::Disabled => Activation::Disabled,
            jk_config::Activation::Stopped => Activation::Stopped,
        },
        state: seen.health.text(),
        since: seen.since.map(|since| clock.now.saturating_duration_since(since).as_secs()),
        lbfactor: own.lbfactor.get(),
        route: own.route.to_string(),
        redirect: own.redirect.as_ref().map(ToString::to_string).unwrap_or_default(),
        domain: own.domain.clone().unwrap_or_default(),
        distance: own.distance,
        mult: seen.lb_mult,
        value: seen.lb_value,
        sessions: seen.sessions,
        sessions_lately: seen.sessions_lately,
        recover_min: recover,
        recover_max: recover,
        p50: micros(seen.latency.p50),
        p90: micros(seen.latency.p90),
        p99: micros(seen.latency.p99),
        latencies: latencies
            .filter(|(index, _)| index % 8 == 7)
            .map(|(index, _)| {
                let from = index - 7;
                let count = seen.latency.total.get(from..=index).unwrap_or_default().iter().sum();
                let is_last = index + 1 == jk_balance::N_BUCKETS;
                (if is_last { f64::INFINITY } else { jk_balance::bucket_bound(index).as_secs_f64() }, count)
            })
            .collect(),
        latency_sum: seen.latency.sum.as_secs_f64(),
    }
}

fn ajp(worker: &control::Worker, seen: &MemberView, clock: &Clock) -> Ajp {
    let channel = &worker.spec.channel;
    let pool = worker.pool.view();
    let maybe = |time: Option<Duration>| time.map_or(0, millis);
    let (host, port) = host_port(&worker.spec.address);
    Ajp {
        name: worker.name.to_string(),
        host,
        port,
        address: worker.spec.address.to_string(),
        pool_timeout: channel.pool_timeout.map_or(0, |time| time.as_secs()),
        ping_timeout: maybe(channel.prepost_ping.or(channel.connect_ping)),
        connect_timeout: maybe(channel.connect_ping),
        prepost_timeout: maybe(channel.prepost_ping),
        reply_timeout: maybe(channel.reply_timeout),
        ping_interval: channel.interval_ping.map_or(0, |ping| ping.every.as_secs()),
        // mod_jk's default for a worker's own tries, which scripts expect to see; here each member is tried at most once.
        retries: 2,
        recovery_options: worker.spec.recovery.0,
        busy_limit: worker.spec.busy_limit.map_or(0, std::num::NonZeroU32::get),
        max_packet_size: u64::try_from(channel.max_packet_size).unwrap_or(0),
        elected: seen.elected,
        errors: seen.errors,
        client_errors: seen.client_errors,
        reply_timeouts: seen.reply_timeouts,
        transferred: seen.transferred,
        read: seen.read,
        busy: seen.busy,
        max_busy: seen.max_busy,
        connected: pool.open,
        max_connected: pool.max_open,
        idle: pool.idle,
        waiting: pool.waiting,
        reset_at: clock.unix_of(seen.reset_at),
        error_at: seen.first_error.map(|at| clock.unix_of(at)),
        last_error: worker.trouble.last().map(|(at, what)| (unix(at), what)),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn plain(plan: &Plan, group: &control::Group, clock: &Clock) -> Plain {
    let view = group.balancer.view(clock.now);
    let (Some(worker), Some(seen)) = (group.members.first(), view.members.first()) else {
        return Plain::default();
    };
    Plain {
        ajp: ajp(worker, seen, clock),
        state: seen.health.text(),
        mappings: mappings(
            plan,
            |target| matches!(target, Some(Target::Worker(name)) if *name.as_str() == *group.name),
        ),
    }
}

fn host_port(address: &jk_config::WorkerAddress) -> (String, u16) {
    match address {
        jk_config::WorkerAddress::Tcp { host, port } => (host.clone(), *port),
        jk_config::WorkerAddress::Unix(path) => (path.display().to_string(), 0),
    }
}

fn mappings(plan: &Plan, wanted: impl Fn(Option<&Target>) -> bool) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    let mut add = |server: &str, specs: &[MappingSpec]| {
        let of = |spec: &&MappingSpec| match &spec.kind {
            MappingKind::Map(target) | MappingKind::Exclude(Some(target)) => wanted(Some(target)),
            MappingKind::Exclude(None) => wanted(None),
        };
        all.extend(specs.iter().filter(of).map(|spec| mapping(server, spec)));
    };
    add("", plan.config.mappings());
    for host in plan.config.hosts() {
        let name = host
            .names
            .first()
            .map(|name| name.name.clone().unwrap_or_else(|| "*".to_owned()))
            .unwrap_or_default();
        add(&name, &host.mappings);
    }
    all
}

fn mapping(server: &str, spec: &MappingSpec) -> Mapping {
    let options = &spec.options;
    let of = |activation: jk_config::Activation| {
        let named = options.activation.iter().filter(move |(_, wanted)| **wanted == activation);
        named.map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(",")
    };
    let statuses = options.fail_on_status.iter().flatten();
    Mapping {
        server: server.to_owned(),
        uri: spec.pattern.clone(),
        excludes: matches!(spec.kind, MappingKind::Exclude(_)),
        enabled: spec.enabled,
        source: spec.origin.clone(),
        target: match &spec.kind {
            MappingKind::Map(target) | MappingKind::Exclude(Some(target)) => target_name(target).to_owned(),
            MappingKind::Exclude(None) => "*".to_owned(),
        },
        reply_timeout: match options.reply_timeout {
            None => -1,
            Some(ReplyTimeout::Never) => 0,
            Some(ReplyTimeout::After(limit)) => i64::try_from(limit.as_millis()).unwrap_or(i64::MAX),
        },
        sticky_ignore: options.sticky_ignore,
        stateless: options.stateless,
        fail_on_status: statuses
            .map(|status| format!("{}{}", if status.soft { "-" } else { "" }, status.code))
            .collect::<Vec<_>>()
            .join(","),
        active: of(jk_config::Activation::Active),
        disabled: of(jk_config::Activation::Disabled),
        stopped: of(jk_config::Activation::Stopped),
        use_server_errors: options.use_server_errors.unwrap_or(0),
    }
}
