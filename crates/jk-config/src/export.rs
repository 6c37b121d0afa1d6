//! The configuration on its way out: every effective value, and the schema for editors.

use std::fmt::Write as _;
use std::num::NonZeroU32;

use crate::config::Config;
use crate::key::{KEYS, Key, Kind, NAMED, keys_of};
use crate::spec::*;
use crate::unit::{show_duration, show_size};

/// A value as an operator types it, as TOML: text gets quotes where the key wants text.
#[must_use]
pub fn value_text(section: &str, key: &str, value: &str) -> String {
    let kind = keys_of(section).find(|known| known.name == key).map(|known| known.kind);
    let bare = match kind {
        Some(Kind::Flag | Kind::Number { .. }) => true,
        Some(Kind::Statuses | Kind::Networks | Kind::Choices(_)) => value.starts_with('['),
        Some(
            Kind::Text
            | Kind::Texts
            | Kind::Duration
            | Kind::DurationOrNever
            | Kind::Size
            | Kind::Address
            | Kind::Choice(_)
            | Kind::Table(_),
        )
        | None => value.starts_with(['[', '{']),
    };
    if bare || value.starts_with('"') { value.to_owned() } else { quoted(value) }
}

/// Every effective value as TOML; secrets are left out.
#[must_use]
pub fn dump(config: &Config) -> String {
    let mut out = String::from("# Effective configuration. Secrets are left out.\n");
    for spec in config.listeners() {
        listener(&mut out, spec);
    }
    for spec in config.groups().values() {
        group(&mut out, spec);
    }
    for spec in config.workers().values() {
        worker(&mut out, config, spec);
    }
    mappings(&mut out, "[uri]", config.mappings());
    for host in config.hosts() {
        let mut names = host.names.iter().map(|name| quoted(&host_text(name)));
        let first = names.next().unwrap_or_default();
        let aliases: Vec<String> = names.collect();
        let _infallible =
            writeln!(out, "\n[host.{first}]\naliases = [{}]\ninherit = {}", aliases.join(", "), host.inherit);
        mappings(&mut out, &format!("[host.{first}.uri]"), &host.mappings);
    }
    rest(&mut out, config);
    out
}

fn listener(out: &mut String, spec: &ListenerSpec) {
    let _infallible = writeln!(
        out,
        "\n[listener.{}]\naddress = {}\nbacklog = {}\nheader_timeout = {}\nidle_timeout = {}\nmax_header_size = {}\nmax_headers = {}\nmax_connections = {}\ntrusted_proxies = [{}]",
        spec.name,
        quoted(&spec.address.to_string()),
        spec.backlog,
        duration(spec.header_timeout),
        duration(spec.idle_timeout),
        quoted(&show_size(spec.max_header_size)),
        spec.max_headers,
        spec.max_connections,
        list(spec.trusted_proxies.iter().map(ToString::to_string)),
    );
    if let Some(scheme) = spec.scheme {
        let _infallible =
            writeln!(out, "scheme = {}", quoted(if scheme == Scheme::Https { "https" } else { "http" }));
    }
}

fn group(out: &mut String, spec: &GroupSpec) {
    let _infallible = writeln!(
        out,
        "\n[lb.{}]\nmethod = {}\nsticky_session = {}\nsticky_session_force = {}\nsession_cookie = {}\nsession_path = {}\nset_session_cookie = {}\nretries = {}\nretry_interval = {}\nrecover_time = {}\nerror_escalation_time = {}\nmaintain = {}\nretry_budget = {}\nqueue = {}\nqueue_timeout = {}\nforward_uri = {}\nlock = {}",
        spec.name,
        quoted(method_text(spec.method)),
        spec.stickiness != Stickiness::Off,
        spec.stickiness == Stickiness::Force,
        quoted(&spec.session_cookie),
        quoted(&spec.session_path),
        spec.set_session_cookie.is_some(),
        spec.retries,
        duration(spec.retry_interval),
        duration(spec.recover_time),
        duration(spec.error_escalation_time),
        duration(spec.maintain),
        spec.retry_budget,
        spec.queue.size,
        duration(spec.queue.timeout),
        quoted(forward_text(spec.forward_uri)),
        quoted(if spec.lock == Lock::Optimistic { "optimistic" } else { "pessimistic" }),
    );
    if let Some(limit) = spec.max_reply_timeouts {
        let _infallible = writeln!(out, "max_reply_timeouts = {limit}");
    }
    if let Some(time) = spec.slow_start {
        let _infallible = writeln!(out, "slow_start = {}", duration(time));
    }
    let _infallible =
        writeln!(out, "outlier_failures = {}", spec.outlier_failures.map_or(0, NonZeroU32::get));
}

#[allow(clippy::too_many_lines, reason = "one flat list of keys")]
fn worker(out: &mut String, config: &Config, spec: &WorkerSpec) {
    let channel = &spec.channel;
    let never = |time: Option<std::time::Duration>| time.map_or_else(|| quoted("never"), duration);
    let groups = config
        .groups()
        .values()
        .filter(|group| group.members.iter().any(|member| member.worker == spec.name));
    let _infallible = writeln!(
        out,
        "\n[ajp13.{}]\naddress = {}\ngroup = [{}]",
        spec.name,
        quoted(&spec.address.to_string()),
        list(groups.map(|group| group.name.to_string()))
    );
    if let Some(member) = config.solo.get(&spec.name) {
        let _infallible = writeln!(
            out,
            "route = {}\nlbfactor = {}\ndistance = {}\nactivation = {}",
            quoted(member.route.as_str()),
            member.lbfactor,
            member.distance,
            quoted(activation_text(member.activation))
        );
        for (key, value) in [
            ("domain", member.domain.as_deref()),
            ("redirect", member.redirect.as_ref().map(crate::Route::as_str)),
        ] {
            if let Some(value) = value {
                let _infallible = writeln!(out, "{key} = {}", quoted(value));
            }
        }
    }
    let _infallible = writeln!(
        out,
        "connection_pool_size = {}\nconnection_pool_minsize = {}\nconnection_pool_timeout = {}\nacquire_timeout = {}\nacquire_queue = {}\nsocket_connect_timeout = {}\nprepost_idle = {}\nsocket_keepalive = {}\nreply_timeout = {}\nsend_timeout = {}\nmax_packet_size = {}\nmethod_by_name = {}\nbusy_limit = {}\nfail_on_status = [{}]\nrecovery_options = {}",
        channel.pool_size,
        channel.pool_minsize,
        never(channel.pool_timeout),
        duration(channel.acquire_timeout),
        channel.acquire_queue,
        duration(channel.socket_connect_timeout),
        duration(channel.prepost_idle),
        channel.keepalive,
        never(channel.reply_timeout),
        duration(channel.send_timeout),
        quoted(&show_size(channel.max_packet_size)),
        spec.method_by_name,
        spec.busy_limit.map_or(0, NonZeroU32::get),
        spec.fail_on_status
            .iter()
            .map(|status| format!("{}{}", if status.soft { "-" } else { "" }, status.code))
            .collect::<Vec<_>>()
            .join(", "),
        spec.recovery.0,
    );
    let mut modes = Vec::new();
    for (mode, wait, key) in [
        ("connect", channel.connect_ping, "connect_timeout"),
        ("prepost", channel.prepost_ping, "prepost_timeout"),
    ] {
        if let Some(wait) = wait {
            modes.push(mode.to_owned());
            let _infallible = writeln!(out, "{key} = {}", duration(wait));
        }
    }
    if let Some(interval) = channel.interval_ping {
        modes.push("interval".to_owned());
        let _infallible = writeln!(
            out,
            "ping_interval = {}\nping_timeout = {}",
            duration(interval.every),
            duration(interval.timeout)
        );
    }
    let _infallible = writeln!(out, "ping_mode = [{}]", list(modes.into_iter()));
}

fn mappings(out: &mut String, title: &str, mappings: &[MappingSpec]) {
    let _infallible = writeln!(out, "\n{title}");
    let mut last = "";
    for mapping in mappings {
        // The bar form is two rules of one line.
        if std::mem::replace(&mut last, &mapping.written) == mapping.written
            && !last.is_empty()
            && mapping.written.contains('|')
        {
            continue;
        }
        let target = match &mapping.kind {
            MappingKind::Map(target) | MappingKind::Exclude(Some(target)) => target_text(target),
            MappingKind::Exclude(None) => "*",
        };
        let _infallible =
            writeln!(out, "{} = {}  # {}", quoted(&mapping.written), quoted(target), mapping.origin);
    }
}

fn rest(out: &mut String, config: &Config) {
    let (status, process, log) = (config.status(), config.process(), config.access_log());
    let nets = |nets: &[ipnet::IpNet]| list(nets.iter().map(ToString::to_string));
    let _infallible = writeln!(
        out,
        "\n[status]\nreadable_from = [{}]\nwritable_from = [{}]\nget_updates_from = [{}]\nread_only = {}\nprefix = {}\nns = {}",
        nets(&status.readable_from),
        nets(&status.writable_from),
        nets(&status.get_updates_from),
        status.read_only,
        quoted(&status.prefix),
        quoted(if status.ns.is_empty() { "-" } else { &status.ns }),
    );
    let admin = config.admin().address.as_ref().map_or_else(|| "off".to_owned(), ToString::to_string);
    let target = match &log.target {
        LogTarget::Off => "off".to_owned(),
        LogTarget::Stdout => "stdout".to_owned(),
        LogTarget::File(path) => path.display().to_string(),
    };
    let format = match log.format {
        AccessLogFormat::Common => "common",
        AccessLogFormat::Combined => "combined",
        AccessLogFormat::Json => "json",
    };
    let _infallible = writeln!(
        out,
        "\n[admin]\naddress = {}\n\n[access_log]\ntarget = {}\nformat = {}\nqueue = {}\n\n[log]\nfilter = {}\nformat = {}\n\n[process]\ncpu_affinity = {}\nshutdown_delay = {}\ndrain_timeout = {}",
        quoted(&admin),
        quoted(&target),
        quoted(format),
        log.queue,
        quoted(&config.log().filter),
        quoted(if config.log().json { "json" } else { "text" }),
        process.cpu_affinity,
        duration(process.shutdown_delay),
        duration(process.drain_timeout),
    );
    if let Some(threads) = process.threads {
        let _infallible = writeln!(out, "threads = {threads}");
    }
}

/// A JSON Schema of workers.toml, made from the table of keys.
#[must_use]
pub fn schema() -> String {
    let mut out = String::from(
        "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"jkgate workers.toml\",\n  \"type\": \"object\",\n  \"additionalProperties\": false,\n  \"properties\": {\n",
    );
    out.push_str("    \"include\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},\n");
    out.push_str(&format!(
        "    \"defaults\": {{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {{\"ajp13\": {}, \"lb\": {}}}}},\n",
        object("ajp13"),
        object("lb")
    ));
    for section in NAMED {
        out.push_str(&format!(
            "    \"{section}\": {{\"type\": \"object\", \"additionalProperties\": {}}},\n",
            object(section)
        ));
    }
    out.push_str(&format!("    \"uri\": {},\n", mapping_schema()));
    let single = ["status", "admin", "access_log", "log", "process"]
        .map(|section| format!("    \"{section}\": {}", object(section)));
    out.push_str(&single.join(",\n"));
    out.push_str("\n  }\n}\n");
    out
}

fn object(section: &str) -> String {
    let properties: Vec<String> = KEYS.iter().filter(|key| key.section == section).map(property).collect();
    format!(
        "{{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {{{}}}}}",
        properties.join(", ")
    )
}

fn mapping_schema() -> String {
    format!(
        "{{\"type\": \"object\", \"additionalProperties\": {{\"oneOf\": [{{\"type\": \"string\"}}, {}]}}}}",
        object("uri")
    )
}

fn property(key: &Key) -> String {
    let words = |words: &[&str]| words.iter().map(|word| json(word)).collect::<Vec<_>>().join(", ");
    let kind = match key.kind {
        Kind::Text | Kind::Address => "\"type\": \"string\"".to_owned(),
        Kind::Duration | Kind::DurationOrNever => {
            "\"type\": \"string\", \"pattern\": \"^([0-9.]+ ?(ms|s|m|min|h|d)|never)$\"".to_owned()
        }
        Kind::Size => "\"type\": \"string\", \"pattern\": \"^[0-9]+ ?([kKmM]?i?[bB]?)$\"".to_owned(),
        Kind::Texts | Kind::Networks => {
            "\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]"
                .to_owned()
        }
        Kind::Flag => "\"type\": \"boolean\"".to_owned(),
        Kind::Number { min, max } => format!("\"type\": \"integer\", \"minimum\": {min}, \"maximum\": {max}"),
        Kind::Statuses => "\"type\": \"array\", \"items\": {\"type\": \"integer\"}".to_owned(),
        Kind::Choice(choices) => format!("\"enum\": [{}]", words(choices)),
        Kind::Choices(choices) => {
            format!("\"type\": \"array\", \"items\": {{\"enum\": [{}]}}", words(choices))
        }
        Kind::Table("uri") => return format!("\"{}\": {}", key.name, mapping_schema()),
        Kind::Table(section) => return format!("\"{}\": {}", key.name, object(section)),
    };
    format!("\"{}\": {{{kind}, \"description\": {}}}", key.name, json(key.doc))
}

fn json(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _infallible = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn duration(time: std::time::Duration) -> String {
    quoted(&show_duration(time))
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.map(|item| quoted(&item)).collect::<Vec<_>>().join(", ")
}

fn host_text(name: &HostPattern) -> String {
    let text = name.name.as_deref().unwrap_or("*");
    name.port.map_or_else(|| text.to_owned(), |port| format!("{text}:{port}"))
}

fn target_text(target: &Target) -> &str {
    match target {
        Target::Group(name) => name.as_str(),
        Target::Worker(name) => name.as_str(),
        Target::Status => "status",
        Target::Metrics => "metrics",
    }
}

fn method_text(method: Method) -> &'static str {
    match method {
        Method::Requests => "requests",
        Method::Sessions => "sessions",
        Method::Traffic => "traffic",
        Method::Busyness => "busyness",
        Method::Next => "next",
        Method::PowerOfTwo => "power_of_two",
        Method::Latency => "latency",
    }
}

fn forward_text(form: ForwardUri) -> &'static str {
    match form {
        ForwardUri::Proxy => "proxy",
        ForwardUri::Unparsed => "unparsed",
        ForwardUri::Escaped => "escaped",
    }
}

fn activation_text(activation: Activation) -> &'static str {
    match activation {
        Activation::Active => "active",
        Activation::Disabled => "disabled",
        Activation::Stopped => "stopped",
    }
}
