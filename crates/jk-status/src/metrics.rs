//! Prometheus text format, version 0.0.4. Labels come from the configuration only, never from a request.

use std::fmt::Write as _;

use crate::view::{Member, StatusView};

const STATES: &[&str] = &["OK", "OK/IDLE", "OK/BUSY", "ERR", "ERR/REC", "ERR/PRB", "ERR/FRC"];

#[must_use]
pub fn metrics(view: &StatusView) -> String {
    let mut out = String::new();
    family(&mut out, "jkgate_build_info", "gauge", "Constant 1; the version is a label.");
    let version = view.software.rsplit('/').next().unwrap_or_default();
    let _infallible = writeln!(out, "jkgate_build_info{{version=\"{}\"}} 1", label(version));
    totals(&mut out, view);
    family(&mut out, "jkgate_listener_connections", "gauge", "Client connections open now.");
    for listener in &view.listeners {
        let _infallible = writeln!(
            out,
            "jkgate_listener_connections{{listener=\"{}\"}} {}",
            label(&listener.name),
            listener.open
        );
    }
    family(&mut out, "jkgate_queued", "gauge", "Requests that wait for a member with room.");
    for group in &view.groups {
        let _infallible =
            writeln!(out, "jkgate_queued{{group=\"{}\"}} {}", label(&group.name), group.waiting);
    }
    counters(&mut out, view);
    states(&mut out, view);
    latencies(&mut out, view);
    out
}

fn family(out: &mut String, name: &str, kind: &str, help: &str) {
    let _infallible = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

fn totals(out: &mut String, view: &StatusView) {
    let totals = &view.totals;
    family(out, "jkgate_requests_total", "counter", "Requests by the class of their answer.");
    for (count, class) in totals.by_class.iter().zip(["aborted", "1xx", "2xx", "3xx", "4xx", "5xx"]) {
        let _infallible = writeln!(out, "jkgate_requests_total{{code_class=\"{class}\"}} {count}");
    }
    for (name, kind, help, value) in [
        ("jkgate_requests_under_way", "gauge", "Requests under way now.", totals.under_way),
        ("jkgate_retries_total", "counter", "Second attempts at another member.", totals.retries),
        (
            "jkgate_sessions_lost_total",
            "counter",
            "Sessions that another member than theirs had to serve.",
            totals.sessions_lost,
        ),
        ("jkgate_refused_total", "counter", "Requests that the gateway answered by itself.", totals.refused),
        (
            "jkgate_access_log_dropped_total",
            "counter",
            "Access log lines that the disk was too slow for.",
            totals.log_dropped,
        ),
        ("jkgate_config_reloads_good_total", "counter", "Configurations put in force.", view.reload.good),
        ("jkgate_config_reloads_bad_total", "counter", "Configurations refused.", view.reload.bad),
        ("jkgate_uptime_seconds", "gauge", "Since the start.", view.uptime),
    ] {
        family(out, name, kind, help);
        let _infallible = writeln!(out, "{name} {value}");
    }
    family(
        out,
        "jkgate_request_duration_seconds",
        "histogram",
        "From a request's head to the end of its answer.",
    );
    histogram(out, "jkgate_request_duration_seconds", "", &totals.durations, totals.duration_sum);
}

fn histogram(out: &mut String, name: &str, labels: &str, buckets: &[(f64, u64)], sum: f64) {
    let mut seen = 0;
    let comma = if labels.is_empty() { "" } else { "," };
    for (bound, count) in buckets {
        seen += count;
        let bound = if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() };
        let _infallible = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {seen}");
    }
    let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _infallible = writeln!(out, "{name}_sum{braces} {sum}\n{name}_count{braces} {seen}");
}

type Reader = fn(&Member) -> u64;

fn counters(out: &mut String, view: &StatusView) {
    let families: [(&str, &str, &str, Reader); 10] = [
        ("jkgate_member_requests_total", "counter", "Attempts sent to the member.", |m| m.ajp.elected),
        ("jkgate_member_errors_total", "counter", "Attempts that failed.", |m| m.ajp.errors),
        ("jkgate_member_client_errors_total", "counter", "Attempts that the client broke off.", |m| {
            m.ajp.client_errors
        }),
        ("jkgate_member_sent_bytes_total", "counter", "Bytes to the worker, AJP framing included.", |m| {
            m.ajp.transferred
        }),
        (
            "jkgate_member_received_bytes_total",
            "counter",
            "Bytes from the worker, AJP framing included.",
            |m| m.ajp.read,
        ),
        ("jkgate_member_busy", "gauge", "Requests under way.", |m| u64::from(m.ajp.busy)),
        ("jkgate_member_channels", "gauge", "Channels open.", |m| u64::from(m.ajp.connected)),
        ("jkgate_member_channels_idle", "gauge", "Channels idle.", |m| u64::from(m.ajp.idle)),
        ("jkgate_member_channels_waited_for", "gauge", "Requests that wait for a channel.", |m| {
            u64::from(m.ajp.waiting)
        }),
        ("jkgate_member_sessions_lately", "gauge", "Sessions seen in the last minutes, an estimate.", |m| {
            m.sessions_lately
        }),
    ];
    for (name, kind, help, read) in families {
        family(out, name, kind, help);
        for (labels, member) in members(view) {
            let _infallible = writeln!(out, "{name}{{{labels}}} {}", read(member));
        }
    }
}

fn states(out: &mut String, view: &StatusView) {
    family(out, "jkgate_member_state", "gauge", "1 for the state that the member is in.");
    for (labels, member) in members(view) {
        for state in STATES {
            let _infallible = writeln!(
                out,
                "jkgate_member_state{{{labels},state=\"{state}\"}} {}",
                u8::from(member.state == *state)
            );
        }
    }
}

fn latencies(out: &mut String, view: &StatusView) {
    family(
        out,
        "jkgate_member_first_byte_seconds",
        "histogram",
        "From an attempt's begin to the head of the reply.",
    );
    for (labels, member) in members(view) {
        histogram(out, "jkgate_member_first_byte_seconds", &labels, &member.latencies, member.latency_sum);
    }
}

fn members(view: &StatusView) -> impl Iterator<Item = (String, &Member)> {
    view.groups.iter().flat_map(|group| {
        group.members.iter().map(|member| {
            (format!("group=\"{}\",member=\"{}\"", label(&group.name), label(&member.ajp.name)), member)
        })
    })
}

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
