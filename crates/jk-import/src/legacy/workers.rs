//! workers.properties.

use std::collections::BTreeMap;

use crate::legacy::note::{Note, NoteKind, Problem};
use crate::legacy::properties::{Pair, Text, pairs};
use crate::legacy::toml::{Draft, Mapping, Section, quoted};
use crate::legacy::urimap::millis_text;

/// All attributes of one worker: name to value and line.
type Attributes = BTreeMap<String, (String, usize)>;

#[allow(clippy::too_many_lines, reason = "one pass over one file")]
pub(crate) fn import(texts: &[&Text], draft: &mut Draft, notes: &mut Vec<Note>, problems: &mut Vec<Problem>) {
    let Some(text) = texts.first() else { return };
    let mut variables = Vec::new();
    let all: Vec<Pair> = texts.iter().flat_map(|text| pairs(text, &mut variables, notes)).collect();
    let mut workers: BTreeMap<String, Attributes> = BTreeMap::new();
    let mut list = Vec::new();
    let mut maintain = None;
    for pair in &all {
        let Some(rest) = pair.key.strip_prefix("worker.") else { continue };
        match rest {
            "list" => list.extend(split(&pair.value)),
            "maintain" => maintain = Some(atoi(&pair.value)),
            _ => attribute(text, rest, pair, &mut workers, notes),
        }
    }
    if list.is_empty() {
        list.push("ajp13".to_owned());
    }
    follow_references(text, &mut workers, problems);
    let lbs: Vec<(String, Attributes)> = workers
        .iter()
        .filter(|(_, attributes)| is_type(attributes, "lb"))
        .map(|(name, attributes)| (name.clone(), attributes.clone()))
        .collect();
    let member_of = |worker: &str| {
        lbs.iter()
            .filter(|(_, lb)| members(lb).iter().any(|member| member == worker))
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    for (name, attributes) in &lbs {
        if list.contains(name) {
            draft.groups.push(group(text, name, attributes, maintain, notes));
            for member in members(attributes).iter().filter(|member| !workers.contains_key(*member)) {
                let line = attributes.get("balance_workers").map_or(0, |(_, line)| *line);
                problems.push(Problem::at(
                    text,
                    (line, 1),
                    None,
                    format!("member \"{member}\" of \"{name}\" is not defined"),
                    "define it, or take it out of balance_workers",
                ));
            }
        }
    }
    for (name, attributes) in &workers {
        let groups: Vec<String> = member_of(name).into_iter().filter(|group| list.contains(group)).collect();
        let is_used = list.contains(name) || !groups.is_empty();
        match kind(attributes) {
            "ajp13" if is_used => {
                let secret = groups.iter().find_map(|group| workers.get(group)?.get("secret").cloned());
                draft.workers.push(worker(text, name, attributes, (&groups, secret), notes));
            }
            "status" if is_used => status(name, attributes, draft),
            "lb" | "ajp13" | "status" => {}
            other if is_used => {
                let line = attributes.get("type").map_or(0, |(_, line)| *line);
                problems.push(Problem::at(
                    text,
                    (line, 1),
                    None,
                    format!("worker type \"{other}\" is not to be had"),
                    "jkgate speaks AJP13 only; ajp12 and ajp14 are gone from Tomcat, too",
                ));
            }
            _ => {}
        }
        if is_used {
            mounts(text, name, attributes, draft);
        }
    }
}

fn attribute(
    text: &Text,
    rest: &str,
    pair: &Pair,
    workers: &mut BTreeMap<String, Attributes>,
    notes: &mut Vec<Note>,
) {
    let Some((name, attribute)) = rest.rsplit_once('.') else { return };
    let attribute = match attribute {
        "balanced_workers" => "balance_workers",
        "cachesize" => "connection_pool_size",
        "cache_timeout" => "connection_pool_timeout",
        "jvm_route" => "route",
        other => other,
    };
    let attributes = workers.entry(name.to_owned()).or_default();
    match attributes.get_mut(attribute) {
        // mod_jk joins these (jk_map: lists), and lets the last of all others count.
        Some((value, _)) if LISTS.contains(&attribute) => {
            value.push(',');
            value.push_str(&pair.value);
        }
        Some(known) => {
            notes.push(Note::new(
                text,
                pair.line,
                NoteKind::Warning,
                None,
                format!("{} stands on line {} already; this one counts", pair.key, known.1),
            ));
            *known = (pair.value.clone(), pair.line);
        }
        None => {
            attributes.insert(attribute.to_owned(), (pair.value.clone(), pair.line));
        }
    }
}

/// Templates: what a worker lacks it takes from the one that its `reference` names.
fn follow_references(text: &Text, workers: &mut BTreeMap<String, Attributes>, problems: &mut Vec<Problem>) {
    let names: Vec<String> = workers.keys().cloned().collect();
    for name in names {
        let mut at = name.clone();
        for depth in 0.. {
            let Some((reference, line)) =
                workers.get(&at).and_then(|attributes| attributes.get("reference")).cloned()
            else {
                break;
            };
            let target = reference.strip_prefix("worker.").unwrap_or(&reference).to_owned();
            let Some(template) = workers.get(&target).cloned().filter(|_| depth < 20) else {
                problems.push(Problem::at(
                    text,
                    (line, 1),
                    None,
                    format!("reference \"{reference}\" leads nowhere or round in a circle"),
                    "name a template that exists: worker.NAME",
                ));
                break;
            };
            if let Some(own) = workers.get_mut(&name) {
                for (key, value) in template {
                    own.entry(key).or_insert(value);
                }
            }
            at = target;
        }
    }
}

fn kind(attributes: &Attributes) -> &str {
    attributes.get("type").map_or("ajp13", |(kind, _)| kind.as_str())
}

fn is_type(attributes: &Attributes, wanted: &str) -> bool {
    kind(attributes) == wanted
}

fn members(lb: &Attributes) -> Vec<String> {
    lb.get("balance_workers").map(|(list, _)| split(list)).unwrap_or_default()
}

fn split(list: &str) -> Vec<String> {
    list.split([',', ' ', '\t']).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn origin(text: &Text, attributes: &Attributes) -> String {
    let line = attributes.values().map(|(_, line)| *line).min().unwrap_or(0);
    let file = text.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{file}:{line}")
}

fn group(
    text: &Text,
    name: &str,
    attributes: &Attributes,
    maintain: Option<i64>,
    notes: &mut Vec<Note>,
) -> Section {
    let mut section = Section { name: name.to_owned(), origin: origin(text, attributes), keys: Vec::new() };
    let get = |key: &str| attributes.get(key).map(|(value, _)| value.as_str());
    if let Some(method) = get("method") {
        let method = match method.to_ascii_lowercase().chars().next() {
            Some('s' | '3') => "sessions",
            Some('t' | '1') => "traffic",
            Some('b' | '2') => "busyness",
            Some('n' | '4') => "next",
            _ => "requests",
        };
        section.set("method", quoted(method));
    }
    for key in ["sticky_session", "sticky_session_force", "set_session_cookie"] {
        if let Some(value) = get(key).and_then(boolean) {
            section.set(key, value.to_string());
        }
    }
    for key in ["session_cookie", "session_cookie_path"] {
        if let Some(value) = get(key) {
            section.set(key, quoted(value));
        }
    }
    if let Some(value) = get("session_path") {
        section.set("session_path", quoted(value.trim_start_matches(';')));
    }
    for (key, unit) in [("recover_time", 1000), ("error_escalation_time", 1000), ("retry_interval", 1)] {
        if let Some(value) = get(key) {
            section.set(key, quoted(&millis_text(atoi(value).max(i64::from(key == "recover_time")) * unit)));
        }
    }
    if let Some(value) = get("max_reply_timeouts") {
        section.set("max_reply_timeouts", atoi(value).max(0).to_string());
    }
    if let Some(seconds) = maintain.filter(|seconds| *seconds > 0) {
        section.set("maintain", quoted(&millis_text(seconds * 1000)));
    }
    if let Some(value) = get("retries") {
        section.set("retries", atoi(value).max(1).to_string());
    }
    drop_unknown(text, attributes, LB_KEYS, notes);
    section
}

fn worker(
    text: &Text,
    name: &str,
    attributes: &Attributes,
    (groups, group_secret): (&[String], Option<(String, usize)>),
    notes: &mut Vec<Note>,
) -> Section {
    let mut section = Section { name: name.to_owned(), origin: origin(text, attributes), keys: Vec::new() };
    let get = |key: &str| attributes.get(key).map(|(value, _)| value.as_str());
    let host = get("host").unwrap_or("localhost");
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let port = get("port").map_or(8009, atoi);
    section.set("address", quoted(&format!("{host}:{port}")));
    match groups {
        [] => {}
        [one] => section.set("group", quoted(one)),
        many => section.set(
            "group",
            format!("[{}]", many.iter().map(|group| quoted(group)).collect::<Vec<_>>().join(", ")),
        ),
    }
    for key in ["route", "domain", "redirect"] {
        if let Some(value) = get(key) {
            section.set(key, quoted(value));
        }
    }
    if let Some((value, line)) = attributes.get("lbfactor") {
        if atoi(value) < 1 {
            notes.push(Note::new(
                text,
                *line,
                NoteKind::Changed,
                None,
                format!("lbfactor={value} becomes 1, as in mod_jk"),
            ));
        }
        section.set("lbfactor", atoi(value).max(1).to_string());
    }
    if let Some(value) = get("distance") {
        section.set("distance", atoi(value).max(0).to_string());
    }
    if let Some(activation) = activation(attributes) {
        section.set("activation", quoted(activation));
    }
    if let Some((secret, _)) = attributes.get("secret").cloned().or(group_secret) {
        section.set("secret", quoted(&secret));
    }
    channel_keys(attributes, &mut section);
    drop_unknown(text, attributes, AJP_KEYS, notes);
    section
}

fn activation(attributes: &Attributes) -> Option<&'static str> {
    let get = |key: &str| attributes.get(key).map(|(value, _)| value.as_str());
    if let Some(value) = get("activation") {
        return Some(match value.to_ascii_lowercase().chars().next() {
            Some('d' | '1') => "disabled",
            Some('s' | '2') => "stopped",
            _ => "active",
        });
    }
    if get("stopped").and_then(boolean) == Some(true) {
        return Some("stopped");
    }
    (get("disabled").and_then(boolean) == Some(true)).then_some("disabled")
}

fn channel_keys(attributes: &Attributes, section: &mut Section) {
    let get = |key: &str| attributes.get(key).map(|(value, _)| value.as_str());
    for key in ["connection_pool_size", "connection_pool_minsize", "busy_limit", "recovery_options"] {
        if let Some(value) = get(key).map(atoi).filter(|value| *value >= 0) {
            section.set(key, value.to_string());
        }
    }
    let durations: [(&str, &str, i64); 6] = [
        ("connection_pool_timeout", "connection_pool_timeout", 1000),
        ("socket_connect_timeout", "socket_connect_timeout", 1),
        ("ping_timeout", "ping_timeout", 1),
        ("connect_timeout", "connect_timeout", 1),
        ("prepost_timeout", "prepost_timeout", 1),
        ("connection_acquire_timeout", "acquire_timeout", 1),
    ];
    for (from, to, unit) in durations {
        if let Some(value) = get(from).map(atoi).filter(|value| *value > 0) {
            section.set(to, quoted(&millis_text(value * unit)));
        }
    }
    match get("reply_timeout").map(atoi) {
        Some(millis) if millis > 0 => section.set("reply_timeout", quoted(&millis_text(millis))),
        Some(_) => section.set("reply_timeout", quoted("never")),
        None => {}
    }
    if let Some(modes) = get("ping_mode") {
        let has = |letter: char| modes.to_ascii_uppercase().contains([letter, 'A']);
        let modes: Vec<String> = [('C', "connect"), ('P', "prepost"), ('I', "interval")]
            .into_iter()
            .filter(|(letter, _)| has(*letter))
            .map(|(_, mode)| quoted(mode))
            .collect();
        section.set("ping_mode", format!("[{}]", modes.join(", ")));
    }
    if let Some(value) = get("connection_ping_interval").map(atoi).filter(|value| *value > 0) {
        section.set("ping_interval", quoted(&millis_text(value * 1000)));
    }
    if let Some(value) = get("socket_keepalive").and_then(boolean) {
        section.set("socket_keepalive", value.to_string());
    }
    if let Some(value) = get("max_packet_size") {
        let bytes = (atoi(value).clamp(0, 1 << 20) + 1023) / 1024 * 1024;
        section.set("max_packet_size", quoted(&format!("{}KiB", bytes.clamp(8192, 65536) / 1024)));
    }
    if let Some(value) = get("fail_on_status") {
        let codes: Vec<String> = split(value)
            .iter()
            .map(|code| atoi(code))
            .filter(|code| *code != 0)
            .map(|code| code.to_string())
            .collect();
        section.set("fail_on_status", format!("[{}]", codes.join(", ")));
    }
}

fn drop_unknown(text: &Text, attributes: &Attributes, known: &[&str], notes: &mut Vec<Note>) {
    for (key, (value, line)) in attributes {
        if !known.contains(&key.as_str()) {
            notes.push(Note::new(
                text,
                *line,
                NoteKind::Dropped,
                None,
                format!("{key}={value} has no meaning here"),
            ));
        }
    }
}

fn status(name: &str, attributes: &Attributes, draft: &mut Draft) {
    draft.status_names.push(name.to_owned());
    let get = |key: &str| attributes.get(key).map(|(value, _)| value.as_str());
    for key in ["css", "prefix", "ns", "xmlns", "doctype", "good", "bad"] {
        if let Some(value) = get(key) {
            draft.status.push((key.to_owned(), quoted(value)));
        }
    }
    if get("read_only").and_then(boolean) == Some(true) {
        draft.status.push(("read_only".to_owned(), "true".to_owned()));
    }
    if let Some(users) = get("user") {
        let users: Vec<String> = split(users).iter().map(|user| quoted(user)).collect();
        draft.status.push(("user".to_owned(), format!("[{}]", users.join(", "))));
    }
}

/// The `mount` attribute: patterns without extensions; the bar is a letter like any other there.
fn mounts(text: &Text, name: &str, attributes: &Attributes, draft: &mut Draft) {
    let Some((list, line)) = attributes.get("mount") else { return };
    for pattern in split(list) {
        let mapping = Mapping {
            pattern,
            target: name.to_owned(),
            options: Vec::new(),
            file: text.path.clone(),
            line: *line,
        };
        draft.mappings.push(mapping);
    }
}

/// C's `atoi`, with mod_jk's K and M: leading digits, else 0.
pub(crate) fn atoi(text: &str) -> i64 {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (number, unit) = digits.split_at_checked(end).unwrap_or((digits, ""));
    let factor = match unit {
        "k" | "K" => 1024,
        "m" | "M" => 1024 * 1024,
        _ => 1,
    };
    sign * number.parse::<i64>().unwrap_or(0).saturating_mul(factor)
}

/// mod_jk's idea of a boolean: by the first letter; anything else is the default.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "off" => Some(false),
        text => match text.chars().next() {
            Some('f' | 'n' | '0') => Some(false),
            Some('t' | 'y' | '1') => Some(true),
            Some('o') => Some(text == "on"),
            _ => None,
        },
    }
}

const LISTS: &[&str] = &["balance_workers", "mount", "user", "good", "bad", "fail_on_status"];

const LB_KEYS: &[&str] = &[
    "type",
    "reference",
    "balance_workers",
    "method",
    "sticky_session",
    "sticky_session_force",
    "set_session_cookie",
    "session_cookie",
    "session_cookie_path",
    "session_path",
    "recover_time",
    "error_escalation_time",
    "retry_interval",
    "max_reply_timeouts",
    "retries",
    "secret",
    "mount",
];

const AJP_KEYS: &[&str] = &[
    "type",
    "reference",
    "host",
    "port",
    "route",
    "domain",
    "redirect",
    "lbfactor",
    "distance",
    "activation",
    "disabled",
    "stopped",
    "secret",
    "connection_pool_size",
    "connection_pool_minsize",
    "connection_pool_timeout",
    "socket_connect_timeout",
    "ping_timeout",
    "connect_timeout",
    "prepost_timeout",
    "connection_acquire_timeout",
    "reply_timeout",
    "ping_mode",
    "connection_ping_interval",
    "socket_keepalive",
    "max_packet_size",
    "fail_on_status",
    "busy_limit",
    "recovery_options",
    "mount",
];
