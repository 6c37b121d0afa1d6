//! Prometheus text format, version 0.0.4. Labels come from the configuration only, never from a request; what the configuration no
//! longer has is gone. A worker without a group has an empty `group`.

use std::fmt::Write as _;

use crate::rating::{Masks, Rating};
use crate::view::{Activation, Ajp, Member, StatusView};

#[must_use]
pub fn metrics(view: &StatusView) -> String {
    let mut out = Out(String::with_capacity(16 * 1024));
    process(&mut out, view);
    requests(&mut out, view);
    configuration(&mut out, view);
    listeners(&mut out, view);
    groups(&mut out, view);
    let rows = rows(view);
    counters(&mut out, &rows);
    channels(&mut out, &rows);
    states(&mut out, &rows);
    latencies(&mut out, &rows);
    out.0
}

struct Out(String);

impl Out {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _infallible = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// A family of one.
    fn one(&mut self, (name, kind, help): Family, value: u64) {
        self.family(name, kind, help);
        self.line(name, "", value);
    }

    fn line(&mut self, name: &str, labels: &str, value: u64) {
        let _infallible = if labels.is_empty() {
            writeln!(self.0, "{name} {value}")
        } else {
            writeln!(self.0, "{name}{{{labels}}} {value}")
        };
    }

    /// Buckets come one by one and go out added up, with an end at infinity.
    fn histogram(&mut self, name: &str, labels: &str, buckets: &[(f64, u64)], sum: f64) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut seen = 0;
        for (bound, count) in buckets {
            seen += count;
            if bound.is_finite() {
                let _infallible = writeln!(self.0, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {seen}");
            }
        }
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _infallible = writeln!(
            self.0,
            "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {seen}\n{name}_sum{braces} {sum}\n{name}_count{braces} {seen}"
        );
    }
}

/// Name, kind and help.
type Family = (&'static str, &'static str, &'static str);

fn process(out: &mut Out, view: &StatusView) {
    out.family("jkgate_build_info", "gauge", "Always 1; the version is a label.");
    let version = view.software.split_once('/').map_or(view.software.as_str(), |(_, version)| version);
    out.line("jkgate_build_info", &format!("version=\"{}\"", label(version)), 1);
    out.one(
        ("jkgate_start_time_seconds", "gauge", "When the process began, in seconds since 1970."),
        view.now.saturating_sub(view.uptime),
    );
}

fn requests(out: &mut Out, view: &StatusView) {
    let totals = &view.totals;
    out.family(
        "jkgate_requests_total",
        "counter",
        "Requests by the class of their answer; aborted: the client left before one.",
    );
    for (count, class) in totals.by_class.iter().zip(["aborted", "1xx", "2xx", "3xx", "4xx", "5xx"]) {
        out.line("jkgate_requests_total", &format!("code_class=\"{class}\""), *count);
    }
    for (family, value) in [
        (("jkgate_requests_under_way", "gauge", "Requests under way."), totals.under_way),
        (
            (
                "jkgate_requests_refused_total",
                "counter",
                "Requests that the gateway answered by itself, as no rule served them or they were malformed.",
            ),
            totals.refused,
        ),
        (("jkgate_retries_total", "counter", "Second attempts, at another member."), totals.retries),
        (
            (
                "jkgate_sessions_lost_total",
                "counter",
                "Requests of a session that another member than its own had to serve.",
            ),
            totals.sessions_lost,
        ),
        (
            (
                "jkgate_access_log_dropped_total",
                "counter",
                "Access log lines that the disk was too slow for.",
            ),
            totals.log_dropped,
        ),
    ] {
        out.one(family, value);
    }
    let name = "jkgate_request_duration_seconds";
    out.family(name, "histogram", "From a request's head to the end of its answer.");
    out.histogram(name, "", &totals.durations, totals.duration_sum);
}

fn configuration(out: &mut Out, view: &StatusView) {
    let reload = &view.reload;
    let name = "jkgate_config_reloads_total";
    out.family(name, "counter", "Configurations read, by what became of them.");
    out.line(name, "result=\"good\"", reload.good);
    out.line(name, "result=\"refused\"", reload.bad);
    for (family, value) in [
        (
            (
                "jkgate_config_last_reload_timestamp_seconds",
                "gauge",
                "When a configuration was last read, in seconds since 1970.",
            ),
            view.now.saturating_sub(reload.ago),
        ),
        (
            (
                "jkgate_config_last_reload_successful",
                "gauge",
                "1: the configuration read last is in force; 0: it was refused.",
            ),
            u64::from(!reload.failed),
        ),
        (("jkgate_config_plan", "gauge", "Number of the plan in force."), view.generation),
        (
            ("jkgate_config_unsaved_edits", "gauge", "Changes in force that the file does not have."),
            u64::try_from(view.edits.len()).unwrap_or(u64::MAX),
        ),
    ] {
        out.one(family, value);
    }
}

fn listeners(out: &mut Out, view: &StatusView) {
    type Read = fn(&crate::view::Listener) -> u64;
    let families: [(Family, Read); 3] = [
        (("jkgate_listener_connections", "gauge", "Client connections open."), |listener| listener.open),
        (("jkgate_listener_accepted_total", "counter", "Client connections accepted."), |listener| {
            listener.accepted
        }),
        (
            ("jkgate_listener_full_total", "counter", "Times that the limit of connections was reached."),
            |listener| listener.full,
        ),
    ];
    for ((name, kind, help), read) in families {
        out.family(name, kind, help);
        for listener in &view.listeners {
            out.line(name, &format!("listener=\"{}\"", label(&listener.name)), read(listener));
        }
    }
}

fn groups(out: &mut Out, view: &StatusView) {
    let masks = Masks::new(view.options.good.as_deref(), view.options.bad.as_deref());
    let name = "jkgate_group_members";
    out.family(name, "gauge", "Members of a group by their rating.");
    for group in &view.groups {
        for (rating, word) in [(Rating::Good, "good"), (Rating::Degraded, "degraded"), (Rating::Bad, "bad")] {
            let count = group.members.iter().filter(|member| masks.rate(member) == rating).count();
            let labels = format!("group=\"{}\",rating=\"{word}\"", label(&group.name));
            out.line(name, &labels, u64::try_from(count).unwrap_or(u64::MAX));
        }
    }
    out.family("jkgate_queued", "gauge", "Requests that wait for a member with room.");
    for group in &view.groups {
        out.line("jkgate_queued", &format!("group=\"{}\"", label(&group.name)), u64::from(group.waiting));
    }
}

/// A member of a group, or a worker without one.
struct Row<'a> {
    labels: String,
    ajp: &'a Ajp,
    state: &'static str,
    member: Option<&'a Member>,
}

fn rows(view: &StatusView) -> Vec<Row<'_>> {
    let labels = |group: &str, name: &str| format!("group=\"{}\",member=\"{}\"", label(group), label(name));
    let mut rows = Vec::new();
    for group in &view.groups {
        rows.extend(group.members.iter().map(|member| Row {
            labels: labels(&group.name, &member.ajp.name),
            ajp: &member.ajp,
            state: member.state,
            member: Some(member),
        }));
    }
    rows.extend(view.workers.iter().map(|worker| Row {
        labels: labels("", &worker.ajp.name),
        ajp: &worker.ajp,
        state: worker.state,
        member: None,
    }));
    rows
}

fn counters(out: &mut Out, rows: &[Row<'_>]) {
    type Read = fn(&Row<'_>) -> Option<u64>;
    let families: [(Family, Read); 8] = [
        (("jkgate_member_requests_total", "counter", "Attempts sent to the member."), |row| {
            Some(row.ajp.elected)
        }),
        (("jkgate_member_errors_total", "counter", "Attempts that failed."), |row| Some(row.ajp.errors)),
        (("jkgate_member_client_errors_total", "counter", "Attempts that the client broke off."), |row| {
            Some(row.ajp.client_errors)
        }),
        (
            ("jkgate_member_reply_timeouts_total", "counter", "Attempts that waited too long for a reply."),
            |row| Some(row.ajp.reply_timeouts),
        ),
        (("jkgate_member_sent_bytes_total", "counter", "Bytes to the worker, with AJP framing."), |row| {
            Some(row.ajp.transferred)
        }),
        (
            ("jkgate_member_received_bytes_total", "counter", "Bytes from the worker, with AJP framing."),
            |row| Some(row.ajp.read),
        ),
        (
            (
                "jkgate_member_sessions_total",
                "counter",
                "Requests without a session that the member was chosen for.",
            ),
            |row| row.member.map(|member| member.sessions),
        ),
        (
            ("jkgate_member_sessions_lately", "gauge", "Sessions seen in the last minutes, an estimate."),
            |row| row.member.map(|member| member.sessions_lately),
        ),
    ];
    for ((name, kind, help), read) in families {
        out.family(name, kind, help);
        for row in rows {
            if let Some(value) = read(row) {
                out.line(name, &row.labels, value);
            }
        }
    }
}

fn channels(out: &mut Out, rows: &[Row<'_>]) {
    out.family("jkgate_member_busy", "gauge", "Requests under way at the member.");
    for row in rows {
        out.line("jkgate_member_busy", &row.labels, u64::from(row.ajp.busy));
    }
    let name = "jkgate_pool_connections";
    out.family(name, "gauge", "Channels open, by what they do.");
    for row in rows {
        let used = row.ajp.connected.saturating_sub(row.ajp.idle);
        out.line(name, &format!("{},state=\"used\"", row.labels), u64::from(used));
        out.line(name, &format!("{},state=\"idle\"", row.labels), u64::from(row.ajp.idle));
    }
    out.family("jkgate_pool_waiting", "gauge", "Requests that wait for a channel.");
    for row in rows {
        out.line("jkgate_pool_waiting", &row.labels, u64::from(row.ajp.waiting));
    }
}

const STATES: &[&str] = &["OK", "OK/IDLE", "OK/BUSY", "ERR", "ERR/REC", "ERR/PRB", "ERR/FRC"];

fn states(out: &mut Out, rows: &[Row<'_>]) {
    let name = "jkgate_member_state";
    out.family(name, "gauge", "1 for the state that the member is in.");
    for row in rows {
        for state in STATES {
            out.line(name, &format!("{},state=\"{state}\"", row.labels), u64::from(row.state == *state));
        }
    }
    let name = "jkgate_member_activation";
    out.family(name, "gauge", "1 for what the operator wants the member to be.");
    for (row, member) in rows.iter().filter_map(|row| Some((row, row.member?))) {
        for activation in [Activation::Active, Activation::Disabled, Activation::Stopped] {
            let labels = format!("{},activation=\"{}\"", row.labels, activation.word());
            out.line(name, &labels, u64::from(member.activation == activation));
        }
    }
    for ((name, kind, help), read) in [
        (
            ("jkgate_member_weight", "gauge", "lbfactor of the member."),
            (|member| u64::from(member.lbfactor)) as fn(&Member) -> u64,
        ),
        (
            (
                "jkgate_member_recovery_seconds",
                "gauge",
                "Until a member in error is tried again; 0 unless in error.",
            ),
            |member| member.recover_min,
        ),
    ] {
        out.family(name, kind, help);
        for (row, member) in rows.iter().filter_map(|row| Some((row, row.member?))) {
            out.line(name, &row.labels, read(member));
        }
    }
}

fn latencies(out: &mut Out, rows: &[Row<'_>]) {
    let name = "jkgate_backend_first_byte_seconds";
    out.family(name, "histogram", "From an attempt's begin to the head of its reply.");
    for (row, member) in rows.iter().filter_map(|row| Some((row, row.member?))) {
        out.histogram(name, &row.labels, &member.latencies, member.latency_sum);
    }
}

/// A label's value; other control bytes than the line end are no danger there, but no use either.
fn label(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
