//! Names, values and order of what mod_jk's outputs say of an object; its own new fields stand at the end.

use crate::rating::{Masks, Rating};
use crate::view::{Ajp, Group, Mapping, Member, Plain, StatusView};

/// A field; text output puts some values in quotes.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) quoted: bool,
}

#[allow(clippy::needless_pass_by_value, reason = "numbers and references alike")]
fn plain(name: &'static str, value: impl ToString) -> Field {
    Field { name, value: value.to_string(), quoted: false }
}

#[allow(clippy::needless_pass_by_value, reason = "numbers and references alike")]
fn quoted(name: &'static str, value: impl ToString) -> Field {
    Field { name, value: value.to_string(), quoted: true }
}

fn truth(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}

pub(crate) fn group(group: &Group, view: &StatusView) -> Vec<Field> {
    let masks = Masks::new(view.options.good.as_deref(), view.options.bad.as_deref());
    let count = |rating| group.members.iter().filter(|member| masks.rate(member) == rating).count();
    vec![
        plain("name", &group.name),
        plain("type", "lb"),
        plain("sticky_session", truth(group.sticky)),
        plain("sticky_session_force", truth(group.sticky_force)),
        plain("retries", group.retries),
        plain("recover_time", group.recover_time),
        plain("error_escalation_time", group.error_escalation_time),
        plain("max_reply_timeouts", group.max_reply_timeouts),
        plain("method", &group.method),
        plain("lock", &group.lock),
        plain("member_count", group.members.len()),
        plain("good", count(Rating::Good)),
        plain("degraded", count(Rating::Degraded)),
        plain("bad", count(Rating::Bad)),
        plain("busy", group.members.iter().map(|member| member.ajp.busy).sum::<u32>()),
        plain("max_busy", group.members.iter().map(|member| member.ajp.max_busy).max().unwrap_or(0)),
        plain("map_count", group.mappings.len()),
        plain("time_to_maintenance_min", group.to_maintenance),
        plain("time_to_maintenance_max", group.to_maintenance + group.maintain),
        plain("last_reset_at", group.reset_at),
        plain("last_reset_ago", view.now.saturating_sub(group.reset_at)),
    ]
}

/// Settings; text output has two of them the other way round.
fn ajp_settings(ajp: &Ajp, xml: bool) -> Vec<Field> {
    let mut fields = vec![
        plain("name", &ajp.name),
        plain("type", "ajp13"),
        plain("host", &ajp.host),
        plain("port", ajp.port),
        plain("address", &ajp.address),
        plain("source", "undefined"),
        plain("connection_pool_timeout", ajp.pool_timeout),
        plain("ping_timeout", ajp.ping_timeout),
        plain("connect_timeout", ajp.connect_timeout),
        plain("prepost_timeout", ajp.prepost_timeout),
        plain("reply_timeout", ajp.reply_timeout),
        plain("connection_ping_interval", ajp.ping_interval),
        plain("retries", ajp.retries),
        plain("recovery_options", ajp.recovery_options),
        plain("busy_limit", ajp.busy_limit),
        plain("max_packet_size", ajp.max_packet_size),
    ];
    if !xml {
        fields.swap(11, 12);
    }
    fields
}

fn counters(ajp: &Ajp) -> Vec<Field> {
    vec![
        plain("errors", ajp.errors),
        plain("client_errors", ajp.client_errors),
        plain("reply_timeouts", ajp.reply_timeouts),
        plain("transferred", ajp.transferred),
        plain("read", ajp.read),
        plain("busy", ajp.busy),
        plain("max_busy", ajp.max_busy),
        plain("connected", ajp.connected),
        plain("max_connected", ajp.max_connected),
    ]
}

fn ending(ajp: &Ajp, view: &StatusView) -> Vec<Field> {
    let mut fields = vec![
        plain("last_reset_at", ajp.reset_at),
        plain("last_reset_ago", view.now.saturating_sub(ajp.reset_at)),
    ];
    if let Some(at) = ajp.error_at {
        fields.push(plain("error_time_datetime", datetime(at, &view.tz)));
        fields.push(plain("error_time_tz", &view.tz));
        fields.push(plain("error_time_unix_seconds", at));
        fields.push(plain("error_time_ago", view.now.saturating_sub(at)));
    }
    fields
}

pub(crate) fn member(member: &Member, view: &StatusView, xml: bool) -> Vec<Field> {
    let mut fields = ajp_settings(&member.ajp, xml);
    fields.extend([
        plain("activation", member.activation.code()),
        plain("lbfactor", member.lbfactor),
        quoted("route", &member.route),
        quoted("redirect", &member.redirect),
        quoted("domain", &member.domain),
        plain("distance", member.distance),
        plain("state", member.state),
        plain("lbmult", member.mult),
        plain("lbvalue", member.value),
        plain("elected", member.ajp.elected),
        plain("sessions", member.sessions),
    ]);
    fields.extend(counters(&member.ajp));
    fields.push(plain("time_to_recover_min", member.recover_min));
    fields.push(plain("time_to_recover_max", member.recover_max));
    fields.extend(ending(&member.ajp, view));
    fields
}

pub(crate) fn worker(worker: &Plain, view: &StatusView, xml: bool) -> Vec<Field> {
    let mut fields = ajp_settings(&worker.ajp, xml);
    fields.push(plain("used", worker.ajp.elected));
    fields.extend(counters(&worker.ajp));
    fields.push(plain("map_count", worker.mappings.len()));
    fields.extend(ending(&worker.ajp, view));
    fields
}

pub(crate) fn mapping(mapping: &Mapping, index: usize, server: &str) -> Vec<Field> {
    vec![
        plain("id", index + 1),
        quoted("server", if mapping.server.is_empty() { server } else { &mapping.server }),
        quoted("uri", &mapping.uri),
        quoted("type", mapping.kind()),
        quoted("source", &mapping.source),
        quoted("reply_timeout", mapping.reply_timeout),
        quoted("sticky_ignore", u8::from(mapping.sticky_ignore)),
        quoted("stateless", u8::from(mapping.stateless)),
        quoted("fail_on_status", &mapping.fail_on_status),
        quoted("active", &mapping.active),
        quoted("disabled", &mapping.disabled),
        quoted("stopped", &mapping.stopped),
        quoted("use_server_errors", mapping.use_server_errors),
    ]
}

/// `YYYYMMDDHHMMSS` in the zone of `tz`, which is `+hhmm` (the civil-from-days method).
fn datetime(unix: u64, tz: &str) -> String {
    let (sign, digits) = match tz.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, tz.strip_prefix('+').unwrap_or(tz)),
    };
    let offset: i64 = digits.parse().unwrap_or(0);
    let local = i64::try_from(unix).unwrap_or(0) + sign * (offset / 100 * 3600 + offset % 100 * 60);
    let (days, seconds) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}{month:02}{day:02}{:02}{:02}{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::datetime;

    #[test]
    fn times_of_errors_are_local() {
        for (unix, tz, expected) in [
            (0, "+0000", "19700101000000"),
            (1_796_133_375, "+0000", "20261201135615"),
            (1_796_133_375, "+0530", "20261201192615"),
            (1_796_133_375, "-1400", "20261130235615"),
            (1_709_164_800, "+0000", "20240229000000"),
            (0, "-0100", "19691231230000"),
            (1, "nonsense", "19700101000001"),
        ] {
            assert_eq!(datetime(unix, tz), expected, "{unix} {tz}");
        }
    }
}
