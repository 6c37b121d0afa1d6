//! The view as JSON, schema version 1: `docs/status.schema.json`. Keys may be added to a version, none goes away or changes its meaning.

use std::fmt::{Display, Write as _};

use crate::rating::{Masks, Rating};
use crate::view::{Ajp, Group, Listener, Mapping, Member, Plain, Reload, StatusView, Totals};
use crate::words::is;

#[must_use]
pub fn json(view: &StatusView) -> String {
    let masks = Masks::new(view.options.good.as_deref(), view.options.bad.as_deref());
    let mut out = Json(String::with_capacity(4096));
    out.object(|out| {
        out.number("schema", 1);
        out.text("software", &view.software);
        out.text("server", &view.server);
        out.number("port", view.port);
        out.number("time", view.now);
        out.number("uptime", view.uptime);
        out.text("config", &view.config);
        out.number("plan", view.generation);
        out.number("loaded_ago", view.loaded_ago);
        out.key("reload").object(|out| reload(out, &view.reload));
        out.key("requests").object(|out| totals(out, &view.totals));
        out.list("listeners", &view.listeners, listener);
        out.key("edits").texts(&view.edits);
        out.list("groups", &view.groups, |out, one| group(out, one, masks));
        out.list("workers", &view.workers, worker);
        out.list("mappings", &view.own_mappings, mapping);
    });
    out.0.push('\n');
    out.0
}

fn reload(out: &mut Json, reload: &Reload) {
    out.flag("ok", !reload.failed);
    out.number("ago", reload.ago);
    out.text("by", &reload.by);
    out.key("lines").texts(&reload.lines);
    out.number("good", reload.good);
    out.number("bad", reload.bad);
}

fn totals(out: &mut Json, totals: &Totals) {
    for (count, class) in totals.by_class.iter().zip(["aborted", "1xx", "2xx", "3xx", "4xx", "5xx"]) {
        out.number(class, count);
    }
    out.number("under_way", totals.under_way);
    out.number("retries", totals.retries);
    out.number("sessions_lost", totals.sessions_lost);
    out.number("refused", totals.refused);
    out.number("access_log_dropped", totals.log_dropped);
    out.key("duration").object(|out| histogram(out, &totals.durations, totals.duration_sum));
}

/// Seconds; the last bound is null, which is to say none.
fn histogram(out: &mut Json, buckets: &[(f64, u64)], sum: f64) {
    out.list("buckets", buckets, |out, (bound, count)| {
        out.float("le", *bound);
        out.number("count", count);
    });
    out.float("sum", sum);
}

fn listener(out: &mut Json, listener: &Listener) {
    out.text("name", &listener.name);
    out.text("address", &listener.address);
    out.number("open", listener.open);
    out.number("accepted", listener.accepted);
    out.number("full", listener.full);
}

fn group(out: &mut Json, group: &Group, masks: Masks) {
    let count = |rating| group.members.iter().filter(|member| masks.rate(member) == rating).count();
    out.text("name", &group.name);
    out.text("method", &group.method);
    out.flag("sticky_session", group.sticky);
    out.flag("sticky_session_force", group.sticky_force);
    out.number("retries", group.retries);
    out.number("retry_interval_ms", group.retry_interval);
    out.number("recover_time", group.recover_time);
    out.number("error_escalation_time", group.error_escalation_time);
    out.number("max_reply_timeouts", group.max_reply_timeouts);
    out.text("lock", &group.lock);
    out.number("good", count(Rating::Good));
    out.number("degraded", count(Rating::Degraded));
    out.number("bad", count(Rating::Bad));
    out.number("waiting", group.waiting);
    out.number("time_to_maintenance", group.to_maintenance);
    out.number("last_reset", group.reset_at);
    out.list("members", &group.members, |out, one| member(out, one, masks));
    out.list("mappings", &group.mappings, mapping);
}

fn member(out: &mut Json, member: &Member, masks: Masks) {
    ajp(out, &member.ajp);
    out.text("activation", member.activation.word());
    out.text("state", member.state);
    out.text(
        "rating",
        match masks.rate(member) {
            Rating::Good => "good",
            Rating::Degraded => "degraded",
            Rating::Bad => "bad",
        },
    );
    out.text("is", is(member).1);
    out.maybe("since", member.since);
    out.number("lbfactor", member.lbfactor);
    out.text("route", &member.route);
    out.text("redirect", &member.redirect);
    out.text("domain", &member.domain);
    out.number("distance", member.distance);
    out.number("lbmult", member.mult);
    out.number("lbvalue", member.value);
    out.number("sessions", member.sessions);
    out.number("sessions_lately", member.sessions_lately);
    out.number("time_to_recover", member.recover_min);
    out.key("latency_us").object(|out| {
        out.maybe("p50", member.p50);
        out.maybe("p90", member.p90);
        out.maybe("p99", member.p99);
    });
    out.key("first_byte").object(|out| histogram(out, &member.latencies, member.latency_sum));
}

fn worker(out: &mut Json, worker: &Plain) {
    ajp(out, &worker.ajp);
    out.text("state", worker.state);
    out.list("mappings", &worker.mappings, mapping);
}

fn ajp(out: &mut Json, ajp: &Ajp) {
    out.text("name", &ajp.name);
    out.text("host", &ajp.host);
    out.number("port", ajp.port);
    out.text("address", &ajp.address);
    out.key("settings").object(|out| {
        out.number("connection_pool_timeout_s", ajp.pool_timeout);
        out.number("ping_timeout_ms", ajp.ping_timeout);
        out.number("connect_timeout_ms", ajp.connect_timeout);
        out.number("prepost_timeout_ms", ajp.prepost_timeout);
        out.number("reply_timeout_ms", ajp.reply_timeout);
        out.number("ping_interval_s", ajp.ping_interval);
        out.number("recovery_options", ajp.recovery_options);
        out.number("busy_limit", ajp.busy_limit);
        out.number("max_packet_size", ajp.max_packet_size);
    });
    out.number("elected", ajp.elected);
    out.number("errors", ajp.errors);
    out.number("client_errors", ajp.client_errors);
    out.number("reply_timeouts", ajp.reply_timeouts);
    out.number("transferred", ajp.transferred);
    out.number("read", ajp.read);
    out.number("busy", ajp.busy);
    out.number("max_busy", ajp.max_busy);
    out.key("channels").object(|out| {
        out.number("open", ajp.connected);
        out.number("idle", ajp.idle);
        out.number("max", ajp.max_connected);
        out.number("waiting", ajp.waiting);
    });
    out.number("last_reset", ajp.reset_at);
    out.maybe("error_time", ajp.error_at);
    match &ajp.last_error {
        None => out.maybe("last_error", None),
        Some((at, what)) => out.key("last_error").object(|out| {
            out.number("time", at);
            out.text("text", what);
        }),
    }
}

fn mapping(out: &mut Json, mapping: &Mapping) {
    out.text("uri", &mapping.uri);
    out.text("host", &mapping.server);
    out.text("type", &mapping.kind());
    out.flag("excludes", mapping.excludes);
    out.flag("enabled", mapping.enabled);
    out.text("target", &mapping.target);
    out.text("source", &mapping.source);
    out.maybe("reply_timeout_ms", u64::try_from(mapping.reply_timeout).ok());
    out.flag("sticky_ignore", mapping.sticky_ignore);
    out.flag("stateless", mapping.stateless);
    out.text("fail_on_status", &mapping.fail_on_status);
    out.text("active", &mapping.active);
    out.text("disabled", &mapping.disabled);
    out.text("stopped", &mapping.stopped);
    out.number("use_server_errors", mapping.use_server_errors);
}

/// Puts commas where they belong.
struct Json(String);

impl Json {
    fn comma(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with(['{', '[', ':']) {
            self.0.push(',');
        }
    }

    fn key(&mut self, name: &str) -> &mut Self {
        self.string(name);
        self.0.push(':');
        self
    }

    fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.comma();
        self.0.push('{');
        fill(self);
        self.0.push('}');
    }

    fn list<Item>(&mut self, name: &str, items: &[Item], fill: impl Fn(&mut Self, &Item)) {
        self.key(name).0.push('[');
        for item in items {
            self.object(|out| fill(out, item));
        }
        self.0.push(']');
    }

    fn texts(&mut self, texts: &[String]) {
        self.0.push('[');
        for text in texts {
            self.string(text);
        }
        self.0.push(']');
    }

    fn text(&mut self, name: &str, value: &str) {
        self.key(name).string(value);
    }

    fn number(&mut self, name: &str, value: impl Display) {
        let _infallible = write!(self.key(name).0, "{value}");
    }

    /// JSON has no infinity.
    fn float(&mut self, name: &str, value: f64) {
        if value.is_finite() { self.number(name, value) } else { self.maybe(name, None) }
    }

    fn flag(&mut self, name: &str, value: bool) {
        self.number(name, value);
    }

    fn maybe(&mut self, name: &str, value: Option<u64>) {
        match value {
            Some(value) => self.number(name, value),
            None => self.number(name, "null"),
        }
    }

    fn string(&mut self, text: &str) {
        self.comma();
        self.0.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.0.extend(['\\', c]),
                // The two separators are line ends to some readers.
                c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                    let _infallible = write!(self.0, "\\u{:04x}", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }
}
