//! The effective values of a configuration, section by section, under the names of [`crate::KEYS`].

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::Config;
use crate::name::Route;
use crate::spec::*;
use crate::text::{activation_text, duration, forward_text, list, method_text, quoted};
use crate::unit::show_size;

/// A key and its value as TOML; `None`: it is not set and has no default.
pub(crate) type Row = (&'static str, Option<String>);

fn never(time: Option<Duration>) -> String {
    time.map_or_else(|| quoted("never"), duration)
}

fn statuses(list: &[FailStatus]) -> String {
    let one = |status: &FailStatus| format!("{}{}", if status.soft { "-" } else { "" }, status.code);
    format!("[{}]", list.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn size(bytes: usize) -> String {
    quoted(&show_size(bytes))
}

pub(crate) fn listener(spec: &ListenerSpec) -> Vec<Row> {
    let scheme = |scheme| quoted(if scheme == Scheme::Https { "https" } else { "http" });
    vec![
        ("address", Some(quoted(&spec.address.to_string()))),
        ("backlog", Some(spec.backlog.to_string())),
        ("header_timeout", Some(duration(spec.header_timeout))),
        ("idle_timeout", Some(duration(spec.idle_timeout))),
        ("max_header_size", Some(size(spec.max_header_size))),
        ("max_headers", Some(spec.max_headers.to_string())),
        ("max_connections", Some(spec.max_connections.to_string())),
        ("scheme", spec.scheme.map(scheme)),
        ("trusted_proxies", Some(list(&spec.trusted_proxies))),
    ]
}

pub(crate) fn group(spec: &GroupSpec) -> Vec<Row> {
    vec![
        ("method", Some(quoted(method_text(spec.method)))),
        ("sticky_session", Some((spec.stickiness != Stickiness::Off).to_string())),
        ("sticky_session_force", Some((spec.stickiness == Stickiness::Force).to_string())),
        ("session_cookie", Some(quoted(&spec.session_cookie))),
        ("session_path", Some(quoted(&spec.session_path))),
        ("set_session_cookie", Some(spec.set_session_cookie.is_some().to_string())),
        ("session_cookie_path", spec.set_session_cookie.as_ref().map(|cookie| quoted(&cookie.path))),
        ("retries", Some(spec.retries.to_string())),
        ("retry_interval", Some(duration(spec.retry_interval))),
        ("recover_time", Some(duration(spec.recover_time))),
        ("error_escalation_time", Some(duration(spec.error_escalation_time))),
        ("max_reply_timeouts", spec.max_reply_timeouts.map(|limit| limit.to_string())),
        ("maintain", Some(duration(spec.maintain))),
        ("slow_start", spec.slow_start.map(duration)),
        ("retry_budget", Some(spec.retry_budget.to_string())),
        ("outlier_failures", Some(spec.outlier_failures.map_or(0, NonZeroU32::get).to_string())),
        ("queue", Some(spec.queue.size.to_string())),
        ("queue_timeout", Some(duration(spec.queue.timeout))),
        ("forward_uri", Some(quoted(forward_text(spec.forward_uri)))),
        ("lock", Some(quoted(if spec.lock == Lock::Optimistic { "optimistic" } else { "pessimistic" }))),
    ]
}

/// Without the page, of which only the content is kept.
pub(crate) fn unavailable(spec: &Unavailable) -> Vec<Row> {
    vec![("status", Some(spec.status.to_string())), ("retry_after", spec.retry_after.map(duration))]
}

pub(crate) fn worker(config: &Config, spec: &WorkerSpec) -> Vec<Row> {
    let groups = config.groups().values();
    let own = groups.filter(|group| group.members.iter().any(|member| member.worker == spec.name));
    let mut rows = vec![
        ("address", Some(quoted(&spec.address.to_string()))),
        ("group", Some(list(own.map(|group| &group.name)))),
    ];
    rows.extend(config.solo.get(&spec.name).map(member).unwrap_or_default());
    rows.extend(channel(&spec.channel));
    rows.extend([
        ("method_by_name", Some(spec.method_by_name.to_string())),
        ("busy_limit", Some(spec.busy_limit.map_or(0, NonZeroU32::get).to_string())),
        ("fail_on_status", Some(statuses(&spec.fail_on_status))),
        ("recovery_options", Some(spec.recovery.0.to_string())),
    ]);
    rows
}

fn member(spec: &MemberSpec) -> Vec<Row> {
    vec![
        ("route", Some(quoted(spec.route.as_str()))),
        ("lbfactor", Some(spec.lbfactor.to_string())),
        ("distance", Some(spec.distance.to_string())),
        ("domain", spec.domain.as_deref().map(quoted)),
        ("redirect", spec.redirect.as_ref().map(Route::as_str).map(quoted)),
        ("activation", Some(quoted(activation_text(spec.activation)))),
    ]
}

fn channel(spec: &ChannelSettings) -> Vec<Row> {
    let modes = [
        ("connect", spec.connect_ping.is_some()),
        ("prepost", spec.prepost_ping.is_some()),
        ("interval", spec.interval_ping.is_some()),
    ];
    let modes = modes.into_iter().filter(|(_, is_on)| *is_on).map(|(mode, _)| mode);
    vec![
        ("connection_pool_size", Some(spec.pool_size.to_string())),
        ("connection_pool_minsize", Some(spec.pool_minsize.to_string())),
        ("connection_pool_timeout", Some(never(spec.pool_timeout))),
        ("acquire_timeout", Some(duration(spec.acquire_timeout))),
        ("acquire_queue", Some(spec.acquire_queue.to_string())),
        ("socket_connect_timeout", Some(duration(spec.socket_connect_timeout))),
        ("ping_mode", Some(list(modes))),
        ("ping_timeout", spec.interval_ping.map(|ping| duration(ping.timeout))),
        ("connect_timeout", spec.connect_ping.map(duration)),
        ("prepost_timeout", spec.prepost_ping.map(duration)),
        ("prepost_idle", Some(duration(spec.prepost_idle))),
        ("ping_interval", spec.interval_ping.map(|ping| duration(ping.every))),
        ("socket_keepalive", Some(spec.keepalive.to_string())),
        ("reply_timeout", Some(never(spec.reply_timeout))),
        ("send_timeout", Some(duration(spec.send_timeout))),
        ("max_packet_size", Some(size(spec.max_packet_size))),
    ]
}

pub(crate) fn health_check(spec: &HealthCheck) -> Vec<Row> {
    let (kind, path, status) = match &spec.kind {
        HealthCheckKind::CPing => ("cping", None, None),
        HealthCheckKind::Request { path, status } => {
            let codes: Vec<String> = status.iter().map(ToString::to_string).collect();
            ("request", Some(quoted(path)), Some(format!("[{}]", codes.join(", "))))
        }
    };
    vec![
        ("kind", Some(quoted(kind))),
        ("path", path),
        ("status", status),
        ("interval", Some(duration(spec.interval))),
        ("timeout", Some(duration(spec.timeout))),
        ("rise", Some(spec.rise.to_string())),
        ("fall", Some(spec.fall.to_string())),
    ]
}

/// What a mapping sets beside its target; what is as by default is left out.
pub(crate) fn mapping(spec: &MappingSpec) -> Vec<Row> {
    let options = &*spec.options;
    let set = |flag: bool, value: bool| flag.then(|| value.to_string());
    let members = |wanted: Activation| {
        let of = options.activation.iter().filter(|(_, activation)| **activation == wanted);
        let names: Vec<_> = of.map(|(name, _)| name).collect();
        (!names.is_empty()).then(|| list(names))
    };
    let timeout = |timeout| match timeout {
        ReplyTimeout::Never => never(None),
        ReplyTimeout::After(time) => duration(time),
    };
    let slash = |slash| quoted(if slash == EncodedSlash::Forward { "forward" } else { "reject" });
    vec![
        ("enabled", set(!spec.enabled && !spec.written.starts_with('-'), false)),
        ("reply_timeout", options.reply_timeout.map(timeout)),
        ("sticky_ignore", set(options.sticky_ignore, true)),
        ("stateless", set(options.stateless, true)),
        ("active", members(Activation::Active)),
        ("disabled", members(Activation::Disabled)),
        ("stopped", members(Activation::Stopped)),
        ("fail_on_status", options.fail_on_status.as_deref().map(statuses)),
        ("use_server_errors", options.use_server_errors.map(|status| status.to_string())),
        ("session_cookie", options.session_cookie.as_deref().map(quoted)),
        ("session_path", options.session_path.as_deref().map(quoted)),
        ("set_session_cookie", set(options.set_session_cookie, true)),
        ("retry", set(options.no_retry, false)),
        ("forward_uri", options.forward_uri.map(forward_text).map(quoted)),
        ("encoded_slash", options.encoded_slash.map(slash)),
    ]
}

pub(crate) fn status(spec: &StatusSpec) -> Vec<Row> {
    let or_none = |text: &str| Some(quoted(if text.is_empty() { "-" } else { text }));
    vec![
        ("readable_from", Some(list(&spec.readable_from))),
        ("writable_from", Some(list(&spec.writable_from))),
        ("get_updates_from", Some(list(&spec.get_updates_from))),
        ("read_only", Some(spec.read_only.to_string())),
        ("user", Some(list(&spec.user))),
        ("user_case_insensitive", Some(spec.user_case_insensitive.to_string())),
        ("css", spec.css.as_deref().map(quoted)),
        ("prefix", Some(quoted(&spec.prefix))),
        ("ns", or_none(&spec.ns)),
        ("xmlns", or_none(&spec.xmlns)),
        ("doctype", spec.doctype.as_deref().map(quoted)),
        ("good", spec.good.as_deref().map(quoted)),
        ("bad", spec.bad.as_deref().map(quoted)),
    ]
}

pub(crate) fn admin(spec: &AdminSpec) -> Vec<Row> {
    let address = spec.address.as_ref().map_or_else(|| "off".to_owned(), ToString::to_string);
    vec![("address", Some(quoted(&address)))]
}

pub(crate) fn access_log(spec: &AccessLogSpec) -> Vec<Row> {
    let target = match &spec.target {
        LogTarget::Off => "off".to_owned(),
        LogTarget::Stdout => "stdout".to_owned(),
        LogTarget::File(path) => path.display().to_string(),
    };
    let format = match spec.format {
        AccessLogFormat::Common => "common",
        AccessLogFormat::Combined => "combined",
        AccessLogFormat::Json => "json",
    };
    vec![
        ("target", Some(quoted(&target))),
        ("format", Some(quoted(format))),
        ("queue", Some(spec.queue.to_string())),
    ]
}

pub(crate) fn log(spec: &LogSpec) -> Vec<Row> {
    vec![
        ("filter", Some(quoted(&spec.filter))),
        ("format", Some(quoted(if spec.json { "json" } else { "text" }))),
    ]
}

pub(crate) fn process(spec: &ProcessSpec) -> Vec<Row> {
    vec![
        ("threads", spec.threads.map(|threads| threads.to_string())),
        ("cpu_affinity", Some(spec.cpu_affinity.to_string())),
        ("shutdown_delay", Some(duration(spec.shutdown_delay))),
        ("drain_timeout", Some(duration(spec.drain_timeout))),
    ]
}
