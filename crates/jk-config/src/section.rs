//! Sections whose keys are read one by one, with nothing to look up elsewhere.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::fields::{At, Fields, Zero, listen_address, route};
use crate::name::{GroupName, WorkerName};
use crate::problem::Problems;
use crate::spec::*;
use crate::users::User;

pub(crate) fn channel(fields: &Fields<'_>, p: &mut Problems) -> ChannelSettings {
    let defaults = ChannelSettings::default();
    let never = |value: ReplyTimeout| match value {
        ReplyTimeout::Never => None,
        ReplyTimeout::After(time) => Some(time),
    };
    let ping_timeout = fields.duration("ping_timeout", Duration::from_secs(1), Zero::Refused, p);
    let modes =
        fields.parsed("ping_mode", p, |mode| {
            let modes = crate::key::PING_MODES;
            modes.iter().copied().find(|known| *known == mode).ok_or_else(|| {
                format!("expected \"{}\"; mod_jk's C, P and I are these", modes.join("\", \""))
            })
        });
    let has = |mode: &str| {
        if fields.has("ping_mode") { modes.iter().any(|at| at.value == mode) } else { mode != "interval" }
    };
    let wait = |key: &str, mode: &str, p: &mut Problems| {
        fields.maybe_duration(key, p).or_else(|| has(mode).then_some(ping_timeout))
    };
    let every = fields.duration("ping_interval", Duration::from_secs(100), Zero::Refused, p);
    ChannelSettings {
        pool_size: fields.number("ajp13", "connection_pool_size", defaults.pool_size, p),
        pool_minsize: fields.number("ajp13", "connection_pool_minsize", defaults.pool_minsize, p),
        pool_timeout: fields.or_never("connection_pool_timeout", p).map_or(defaults.pool_timeout, never),
        acquire_timeout: fields.duration("acquire_timeout", defaults.acquire_timeout, Zero::Refused, p),
        acquire_queue: fields.number("ajp13", "acquire_queue", defaults.acquire_queue, p),
        socket_connect_timeout: fields.duration(
            "socket_connect_timeout",
            defaults.socket_connect_timeout,
            Zero::Refused,
            p,
        ),
        connect_ping: wait("connect_timeout", "connect", p),
        prepost_ping: wait("prepost_timeout", "prepost", p),
        prepost_idle: fields.duration("prepost_idle", defaults.prepost_idle, Zero::Allowed, p),
        interval_ping: has("interval").then_some(IntervalPing { every, timeout: ping_timeout }),
        keepalive: fields.flag("socket_keepalive", defaults.keepalive, p),
        reply_timeout: fields.or_never("reply_timeout", p).map_or(defaults.reply_timeout, never),
        send_timeout: fields.duration("send_timeout", defaults.send_timeout, Zero::Refused, p),
        max_packet_size: fields.size("max_packet_size", 8192..65537, defaults.max_packet_size, p),
    }
}

pub(crate) fn member(
    fields: &Fields<'_>,
    worker: WorkerName,
    busy_limit: Option<NonZeroU32>,
    p: &mut Problems,
) -> MemberSpec {
    let defaults = MemberSpec::new(worker);
    let first =
        |name: &str, p: &mut Problems| fields.parsed(name, p, route).into_iter().next().map(|at| at.value);
    let route = first("route", p).unwrap_or(defaults.route);
    let domain = fields.text("domain", p).map(|at| at.value).filter(|domain| !domain.is_empty());
    let from_route = route.as_str().split_once('.').map(|(domain, _)| domain.to_owned());
    MemberSpec {
        lbfactor: NonZeroU32::new(fields.number("ajp13", "lbfactor", 1, p)).unwrap_or(defaults.lbfactor),
        distance: fields.number("ajp13", "distance", 0, p),
        domain: domain.or(from_route),
        redirect: first("redirect", p),
        activation: fields
            .choice(
                "activation",
                &[
                    ("active", Activation::Active),
                    ("disabled", Activation::Disabled),
                    ("stopped", Activation::Stopped),
                ],
                p,
            )
            .unwrap_or(defaults.activation),
        busy_limit,
        route,
        worker: defaults.worker,
    }
}

pub(crate) fn group_spec(fields: &Fields<'_>, name: GroupName, p: &mut Problems) -> GroupSpec {
    let defaults = GroupSpec::new(name);
    let methods = [
        ("requests", Method::Requests),
        ("sessions", Method::Sessions),
        ("traffic", Method::Traffic),
        ("busyness", Method::Busyness),
        ("next", Method::Next),
        ("power_of_two", Method::PowerOfTwo),
        ("latency", Method::Latency),
    ];
    let stickiness =
        match (fields.flag("sticky_session", true, p), fields.flag("sticky_session_force", false, p)) {
            (false, _) => Stickiness::Off,
            (true, false) => Stickiness::Prefer,
            (true, true) => Stickiness::Force,
        };
    let recover_time = fields.duration("recover_time", defaults.recover_time, Zero::Refused, p);
    let cookie_path = fields.text("session_cookie_path", p).map_or_else(|| "/".to_owned(), |at| at.value);
    GroupSpec {
        method: fields.choice("method", &methods, p).unwrap_or(defaults.method),
        stickiness,
        session_cookie: fields.text("session_cookie", p).map_or(defaults.session_cookie, |at| at.value),
        session_path: fields
            .text("session_path", p)
            .map_or(defaults.session_path, |at| bare_parameter(&at.value)),
        set_session_cookie: fields
            .flag("set_session_cookie", false, p)
            .then_some(RouteCookie { path: cookie_path }),
        retries: fields.number("lb", "retries", defaults.retries, p),
        retry_interval: fields.duration("retry_interval", defaults.retry_interval, Zero::Allowed, p),
        recover_time,
        error_escalation_time: fields.duration("error_escalation_time", recover_time / 2, Zero::Allowed, p),
        max_reply_timeouts: fields.maybe_number("lb", "max_reply_timeouts", p),
        maintain: fields
            .duration("maintain", defaults.maintain, Zero::Refused, p)
            .max(Duration::from_secs(1)),
        slow_start: fields.maybe_duration("slow_start", p),
        retry_budget: fields.number("lb", "retry_budget", defaults.retry_budget, p),
        outlier_failures: NonZeroU32::new(fields.number(
            "lb",
            "outlier_failures",
            defaults.outlier_failures.map_or(0, NonZeroU32::get),
            p,
        )),
        queue: QueueSpec {
            size: fields.number("lb", "queue", defaults.queue.size, p),
            timeout: fields.duration("queue_timeout", defaults.queue.timeout, Zero::Refused, p),
        },
        forward_uri: forward_uri(fields, p).unwrap_or(defaults.forward_uri),
        lock: fields
            .choice("lock", &[("optimistic", Lock::Optimistic), ("pessimistic", Lock::Pessimistic)], p)
            .unwrap_or(defaults.lock),
        unavailable: defaults.unavailable,
        name: defaults.name,
        members: Vec::new(),
    }
}

pub(crate) fn forward_uri(fields: &Fields<'_>, p: &mut Problems) -> Option<ForwardUri> {
    let forms =
        [("proxy", ForwardUri::Proxy), ("unparsed", ForwardUri::Unparsed), ("escaped", ForwardUri::Escaped)];
    fields.choice("forward_uri", &forms, p)
}

/// `users` is what `users_file` names.
pub(crate) fn status(fields: &Fields<'_>, users: Option<Vec<User>>, p: &mut Problems) -> StatusSpec {
    let defaults = StatusSpec::default();
    let none_if_dash = |at: At<String>| if at.value == "-" { String::new() } else { at.value };
    StatusSpec {
        readable_from: fields.networks("readable_from", LOOPBACK, p),
        writable_from: fields.networks("writable_from", LOOPBACK, p),
        get_updates_from: fields.networks("get_updates_from", &[], p),
        read_only: fields.flag("read_only", false, p),
        user: fields.texts("user", p).into_iter().map(|at| at.value).collect(),
        users,
        user_case_insensitive: fields.flag("user_case_insensitive", false, p),
        css: fields.text("css", p).map(|at| at.value),
        prefix: fields.text("prefix", p).map_or(defaults.prefix, |at| at.value),
        ns: fields.text("ns", p).map_or(defaults.ns, none_if_dash),
        xmlns: fields.text("xmlns", p).map_or(defaults.xmlns, none_if_dash),
        doctype: fields.text("doctype", p).map(|at| at.value),
        good: fields.text("good", p).map(|at| at.value),
        bad: fields.text("bad", p).map(|at| at.value),
    }
}

pub(crate) fn admin(fields: &Fields<'_>, p: &mut Problems) -> AdminSpec {
    let address = fields.parsed("address", p, |text| {
        if text == "off" {
            return Ok(None);
        }
        match listen_address(text)? {
            ListenAddress::Tcp(address) if !address.ip().is_loopback() => {
                Err("the admin channel is for this machine only: a unix socket or a loopback address"
                    .to_owned())
            }
            address @ (ListenAddress::Tcp(_) | ListenAddress::Unix(_)) => Ok(Some(address)),
        }
    });
    let address = address.into_iter().next().map_or_else(|| AdminSpec::default().address, |at| at.value);
    AdminSpec { address }
}

pub(crate) fn access_log(fields: &Fields<'_>, p: &mut Problems) -> AccessLogSpec {
    let defaults = AccessLogSpec::default();
    let target = fields.text("target", p).map(|at| match at.value.as_str() {
        "off" => LogTarget::Off,
        "stdout" => LogTarget::Stdout,
        path => LogTarget::File(path.into()),
    });
    let formats = [
        ("common", AccessLogFormat::Common),
        ("combined", AccessLogFormat::Combined),
        ("json", AccessLogFormat::Json),
    ];
    AccessLogSpec {
        target: target.unwrap_or(defaults.target),
        format: fields.choice("format", &formats, p).unwrap_or(defaults.format),
        queue: usize::try_from(fields.number("access_log", "queue", 8192, p)).unwrap_or(8192),
    }
}

pub(crate) fn log(fields: &Fields<'_>, p: &mut Problems) -> LogSpec {
    LogSpec {
        filter: fields.text("filter", p).map_or_else(|| "info".to_owned(), |at| at.value),
        json: fields.choice("format", &[("text", false), ("json", true)], p).unwrap_or(false),
    }
}

pub(crate) fn process(fields: &Fields<'_>, p: &mut Problems) -> ProcessSpec {
    let defaults = ProcessSpec::default();
    ProcessSpec {
        threads: fields.maybe_number("process", "threads", p).and_then(NonZeroU32::new),
        cpu_affinity: fields.flag("cpu_affinity", defaults.cpu_affinity, p),
        shutdown_delay: fields.duration("shutdown_delay", defaults.shutdown_delay, Zero::Allowed, p),
        drain_timeout: fields.duration("drain_timeout", defaults.drain_timeout, Zero::Allowed, p),
    }
}

pub(crate) fn bare_parameter(text: &str) -> String {
    text.trim_start_matches(';').trim_end_matches('=').to_owned()
}

/// Who may reach the status page unless the file says otherwise.
pub(crate) const LOOPBACK: &[&str] = &["127.0.0.0/8", "::1/128"];
