//! The view as JSON, schema version 1; described in `docs/status.md`.

use std::fmt::Write as _;

use crate::rating::{Masks, Rating};
use crate::view::{Ajp, Group, Mapping, Member, StatusView};

#[must_use]
#[allow(clippy::too_many_lines, clippy::write_with_newline, reason = "one flat object")]
pub fn json(view: &StatusView) -> String {
    let masks = Masks::new(view.options.good.as_deref(), view.options.bad.as_deref());
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    let reload = &view.reload;
    let totals = &view.totals;
    let classes = totals.by_class.iter().zip(["aborted", "1xx", "2xx", "3xx", "4xx", "5xx"]);
    let classes: Vec<String> = classes.map(|(count, name)| format!("\"{name}\":{count}")).collect();
    let mut out = String::from("{\"schema\":1");
    let _infallible = write!(
        out,
        ",\"software\":{},\"server\":{},\"port\":{},\"time\":{},\"uptime\":{},\"config\":{},\"plan\":{}",
        text(&view.software),
        text(&view.server),
        view.port,
        view.now,
        view.uptime,
        text(&view.config),
        view.generation
    );
    let _infallible = write!(
        out,
        ",\"reload\":{{\"ok\":{},\"ago\":{},\"by\":{},\"lines\":{},\"good\":{},\"bad\":{}}}",
        !reload.failed,
        reload.ago,
        text(&reload.by),
        list(reload.lines.iter().map(|line| text(line)).collect()),
        reload.good,
        reload.bad
    );
    let _infallible = write!(
        out,
        ",\"requests\":{{{},\"under_way\":{},\"retries\":{},\"sessions_lost\":{},\"refused\":{},\"access_log_dropped\":{}}}",
        classes.join(","),
        totals.under_way,
        totals.retries,
        totals.sessions_lost,
        totals.refused,
        totals.log_dropped
    );
    let listeners = view.listeners.iter().map(|listener| {
        format!(
            "{{\"name\":{},\"address\":{},\"open\":{},\"accepted\":{},\"full\":{}}}",
            text(&listener.name),
            text(&listener.address),
            listener.open,
            listener.accepted,
            listener.full
        )
    });
    let _infallible = write!(out, ",\"listeners\":{}", list(listeners.collect()));
    let _infallible = write!(out, ",\"edits\":{}", list(view.edits.iter().map(|edit| text(edit)).collect()));
    let _infallible =
        write!(out, ",\"groups\":{}", list(view.groups.iter().map(|one| group(one, masks)).collect()));
    let workers = view.workers.iter().map(|worker| {
        format!(
            "{{{},\"state\":{},\"mappings\":{}}}",
            ajp(&worker.ajp),
            text(worker.state),
            list(worker.mappings.iter().map(mapping).collect())
        )
    });
    let _infallible = write!(out, ",\"workers\":{}}}\n", list(workers.collect()));
    out
}

fn group(group: &Group, masks: Masks) -> String {
    let count = |rating| group.members.iter().filter(|member| masks.rate(member) == rating).count();
    let members: Vec<String> = group.members.iter().map(|one| member(one, masks)).collect();
    let mappings: Vec<String> = group.mappings.iter().map(mapping).collect();
    format!(
        "{{\"name\":{},\"method\":{},\"sticky_session\":{},\"sticky_session_force\":{},\"recover_time\":{},\"good\":{},\"degraded\":{},\"bad\":{},\"waiting\":{},\"members\":[{}],\"mappings\":[{}]}}",
        text(&group.name),
        text(&group.method),
        group.sticky,
        group.sticky_force,
        group.recover_time,
        count(Rating::Good),
        count(Rating::Degraded),
        count(Rating::Bad),
        group.waiting,
        members.join(","),
        mappings.join(",")
    )
}

fn member(member: &Member, masks: Masks) -> String {
    let rating = match masks.rate(member) {
        Rating::Good => "good",
        Rating::Degraded => "degraded",
        Rating::Bad => "bad",
    };
    let maybe = |value: Option<u64>| value.map_or_else(|| "null".to_owned(), |value| value.to_string());
    format!(
        "{{{},\"activation\":\"{}\",\"state\":{},\"rating\":\"{rating}\",\"since\":{},\"lbfactor\":{},\"route\":{},\"redirect\":{},\"domain\":{},\"distance\":{},\"lbmult\":{},\"lbvalue\":{},\"sessions\":{},\"sessions_lately\":{},\"time_to_recover\":{},\"latency_us\":{{\"p50\":{},\"p90\":{},\"p99\":{}}}}}",
        ajp(&member.ajp),
        member.activation.word(),
        text(member.state),
        maybe(member.since),
        member.lbfactor,
        text(&member.route),
        text(&member.redirect),
        text(&member.domain),
        member.distance,
        member.mult,
        member.value,
        member.sessions,
        member.sessions_lately,
        member.recover_min,
        maybe(member.p50),
        maybe(member.p90),
        maybe(member.p99)
    )
}

fn ajp(ajp: &Ajp) -> String {
    let error = ajp
        .last_error
        .as_ref()
        .map_or_else(|| "null".to_owned(), |(at, what)| format!("{{\"time\":{at},\"text\":{}}}", text(what)));
    format!(
        "\"name\":{},\"address\":{},\"elected\":{},\"errors\":{},\"client_errors\":{},\"reply_timeouts\":{},\"transferred\":{},\"read\":{},\"busy\":{},\"max_busy\":{},\"channels\":{{\"open\":{},\"idle\":{},\"max\":{},\"waiting\":{}}},\"last_error\":{error}",
        text(&ajp.name),
        text(&ajp.address),
        ajp.elected,
        ajp.errors,
        ajp.client_errors,
        ajp.reply_timeouts,
        ajp.transferred,
        ajp.read,
        ajp.busy,
        ajp.max_busy,
        ajp.connected,
        ajp.idle,
        ajp.max_connected,
        ajp.waiting
    )
}

fn mapping(mapping: &Mapping) -> String {
    format!(
        "{{\"uri\":{},\"host\":{},\"type\":{},\"source\":{}}}",
        text(&mapping.uri),
        text(&mapping.server),
        text(&mapping.kind()),
        text(&mapping.source)
    )
}

fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _infallible = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
