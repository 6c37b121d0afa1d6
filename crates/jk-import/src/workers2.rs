//! workers2.properties: mod_jk2's objects.

use std::collections::BTreeMap;

use crate::note::{Note, NoteKind, Problem};
use crate::properties::{Text, without_comment};
use crate::toml::{Draft, Host, Mapping, Section, quoted};
use crate::workers::atoi;

/// `[type:local]` with its attributes.
#[derive(Debug, Default)]
struct Object {
    kind: String,
    local: String,
    line: usize,
    attributes: Vec<(String, String, usize)>,
}

impl Object {
    /// The last one counts.
    fn get(&self, name: &str) -> Option<(&str, usize)> {
        self.attributes
            .iter()
            .rev()
            .find(|(key, _, _)| key == name)
            .map(|(_, value, line)| (value.as_str(), *line))
    }
}

pub(crate) fn import(text: &Text, draft: &mut Draft, notes: &mut Vec<Note>, problems: &mut Vec<Problem>) {
    let objects = read(text, notes, problems);
    let mut groups: Vec<String> = Vec::new();
    for object in objects.iter().filter(|object| object.kind == "lb") {
        group(text, object, &mut groups, draft, notes);
    }
    // The default group always exists.
    let needs_default = objects
        .iter()
        .filter(|object| object.kind == "ajp13" || is_channel(object))
        .any(|object| object.get("group").is_none());
    if needs_default && !groups.contains(&"lb".to_owned()) && objects.iter().any(is_channel) {
        groups.push("lb".to_owned());
        draft.groups.push(Section {
            name: "lb".to_owned(),
            origin: "the group that mod_jk2 always has".to_owned(),
            keys: Vec::new(),
        });
    }
    for channel in objects.iter().filter(|object| is_channel(object)) {
        let worker = objects.iter().find(|object| object.kind == "ajp13" && object.local == channel.local);
        draft.workers.push(member(text, channel, worker, notes));
    }
    for object in objects.iter().filter(|object| object.kind == "ajp13") {
        if !objects.iter().any(|channel| is_channel(channel) && channel.local == object.local) {
            problems.push(Problem::at(
                text,
                (object.line, 1),
                Some("W2-402"),
                format!("worker \"{}\" has no channel of its name", object.local),
                format!("add [channel.socket:{}]; mod_jk2 had a dead member here", object.local),
            ));
        }
    }
    for object in objects.iter().filter(|object| object.kind == "status") {
        draft.status_names.push(format!("status:{}", object.local));
    }
    for object in objects.iter().filter(|object| object.kind == "uri") {
        mapping(text, object, draft, notes, problems);
    }
}

fn is_channel(object: &Object) -> bool {
    object.kind.starts_with("channel.") && object.kind != "channel.jni"
}

/// Lines to objects; sections of one name are one object.
fn read(text: &Text, notes: &mut Vec<Note>, problems: &mut Vec<Problem>) -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    let mut index: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut current: Option<usize> = None;
    for line in &text.lines {
        let bare = without_comment(&line.text);
        if bare.is_empty() {
            continue;
        }
        if let Some(rest) = bare.strip_prefix('[') {
            let Some((name, after)) = rest.split_once(']') else {
                problems.push(Problem::at(
                    text,
                    (line.number, 1),
                    Some("W2-101"),
                    "a section without its closing bracket",
                    "write [TYPE:NAME]; mod_jk2 crashed on this",
                ));
                current = None;
                continue;
            };
            if !after.trim().is_empty() {
                notes.push(Note::new(
                    text,
                    line.number,
                    NoteKind::Warning,
                    Some("W2-106"),
                    "text after the bracket is dropped, as mod_jk2 did",
                ));
            }
            let (kind, local) = name.split_once(':').unwrap_or((name, ""));
            current = section(text, (line.number, kind, local), (&mut objects, &mut index), notes, problems);
            continue;
        }
        pair(text, (line.number, bare), current.and_then(|at| objects.get_mut(at)), notes, problems);
    }
    objects
}

fn section(
    text: &Text,
    (line, kind, local): (usize, &str, &str),
    (objects, index): (&mut Vec<Object>, &mut BTreeMap<(String, String), usize>),
    notes: &mut Vec<Note>,
    problems: &mut Vec<Problem>,
) -> Option<usize> {
    let known = KINDS.contains(&kind);
    if !known && !PLATFORM.contains(&kind) {
        problems.push(Problem::at(
            text,
            (line, 2),
            Some("W2-201"),
            format!("unknown section type \"{kind}\""),
            format!("there are {}; mod_jk2 logged it and went on without", KINDS.join(", ")),
        ));
    }
    if PLATFORM.contains(&kind) {
        notes.push(Note::new(text, line, NoteKind::Dropped, Some("W2-204"), format!("[{kind}:{local}] belongs to the in-process Java machine or the platform and has no meaning here")));
    }
    let key = (kind.to_owned(), local.to_owned());
    if let Some(at) = index.get(&key) {
        notes.push(Note::new(
            text,
            line,
            NoteKind::Warning,
            Some("W2-203"),
            "this section stands twice; both are one object",
        ));
        return Some(*at);
    }
    objects.push(Object { kind: kind.to_owned(), local: local.to_owned(), line, attributes: Vec::new() });
    index.insert(key, objects.len() - 1);
    Some(objects.len() - 1)
}

fn pair(
    text: &Text,
    (line, bare): (usize, &str),
    object: Option<&mut Object>,
    notes: &mut Vec<Note>,
    problems: &mut Vec<Problem>,
) {
    let Some((key, value)) = bare.split_once('=') else {
        problems.push(Problem::at(
            text,
            (line, 1),
            Some("W2-103"),
            "a line without =",
            "mod_jk2 ignored it; take it out or complete it",
        ));
        return;
    };
    if key.is_empty() || value.is_empty() {
        problems.push(Problem::at(
            text,
            (line, 1),
            Some("W2-104"),
            "an attribute without a name or a value",
            "mod_jk2 ignored it; take it out or complete it",
        ));
        return;
    }
    if key.ends_with([' ', '\t']) || value.starts_with([' ', '\t']) {
        problems.push(Problem::at(
            text,
            (line, key.len()),
            Some("W2-105"),
            "a blank beside =",
            "mod_jk2 took it for part of the name or value; write key=value",
        ));
        return;
    }
    match object {
        Some(object) => {
            let again = object.get(key).is_some() && !matches!(key, "group" | "alias");
            if again {
                notes.push(Note::new(
                    text,
                    line,
                    NoteKind::Warning,
                    Some("W2-306"),
                    format!("{key} stands twice; the last one counts"),
                ));
            }
            object.attributes.push((key.to_owned(), value.to_owned(), line));
        }
        None => problems.push(Problem::at(
            text,
            (line, 1),
            Some("W2-102"),
            "an attribute before any section",
            "mod_jk2 crashed on this or skipped it; put it into its section",
        )),
    }
}

fn group(text: &Text, object: &Object, groups: &mut Vec<String>, draft: &mut Draft, notes: &mut Vec<Note>) {
    let mut section = Section { name: object.local.clone(), origin: origin(text, object), keys: Vec::new() };
    if let Some((value, _)) = object.get("stickySession") {
        section.set("sticky_session", (atoi(value) != 0).to_string());
    }
    if let Some((value, _)) = object.get("recovery") {
        section.set("recover_time", quoted(&format!("{}s", atoi(value).max(1))));
    }
    for (key, value, line) in &object.attributes {
        if !matches!(
            key.as_str(),
            "stickySession" | "recovery" | "info" | "debug" | "disabled" | "ver" | "name"
        ) {
            notes.push(Note::new(
                text,
                *line,
                NoteKind::Dropped,
                Some("W2-307"),
                format!("{key}={value} has no meaning here"),
            ));
        }
    }
    groups.push(object.local.clone());
    draft.groups.push(section);
}

/// A channel and the worker of its name are one `[ajp13.NAME]`.
fn member(text: &Text, channel: &Object, worker: Option<&Object>, notes: &mut Vec<Note>) -> Section {
    let local = &channel.local;
    let mut section =
        Section { name: safe_name(local), origin: origin(text, worker.unwrap_or(channel)), keys: Vec::new() };
    section.set("address", quoted(&address(channel)));
    let attribute = |name: &str| worker.and_then(|worker| worker.get(name));
    let groups: Vec<String> = worker
        .map(|worker| {
            worker
                .attributes
                .iter()
                .filter(|(key, _, _)| key == "group")
                .map(|(_, group, _)| quoted(group.strip_prefix("lb:").unwrap_or(group)))
                .collect()
        })
        .unwrap_or_default();
    match groups.as_slice() {
        [] => section.set("group", quoted("lb")),
        [one] => section.set("group", one.clone()),
        many => section.set("group", format!("[{}]", many.join(", "))),
    }
    let route = attribute("tomcatId").or(attribute("route")).map_or(local.as_str(), |(route, _)| route);
    if route != section.name {
        section.set("route", quoted(route));
    }
    if let Some((value, line)) = attribute("lb_factor") {
        inverse_factor(text, atoi(value), line, &mut section, notes);
    }
    if let Some((value, line)) = attribute("level") {
        let level = atoi(value).max(0);
        section.set("distance", level.to_string());
        if level > 3 {
            section.set("activation", quoted("disabled"));
            notes.push(Note::new(
                text,
                line,
                NoteKind::Changed,
                Some("W2-409"),
                "mod_jk2 never used a member of level 4 or more; here it is disabled",
            ));
        }
    }
    if attribute("graceful").is_some_and(|(value, _)| atoi(value) != 0) {
        section.set("activation", quoted("disabled"));
    }
    let off = |object: &Object| object.get("disabled").is_some_and(|(value, _)| atoi(value) != 0);
    if off(channel) || worker.is_some_and(off) {
        section.set("activation", quoted("stopped"));
    }
    if let Some((secret, _)) = attribute("secretkey") {
        section.set("secret", quoted(secret));
    }
    section
}

/// JK2's factor is a cost: the less, the more requests.
fn inverse_factor(text: &Text, cost: i64, line: usize, section: &mut Section, notes: &mut Vec<Note>) {
    let factor = if cost <= 1 { 100 } else { (100 / cost).max(1) };
    section.set("lbfactor", factor.to_string());
    notes.push(Note::new(
        text,
        line,
        NoteKind::Changed,
        None,
        format!("lb_factor={cost} meant a cost; as a weight it is lbfactor = {factor}"),
    ));
}

fn address(channel: &Object) -> String {
    if channel.kind == "channel.un" {
        let file = channel.get("file").map_or(channel.local.as_str(), |(file, _)| file);
        return format!("unix:{file}");
    }
    let (host, port) = channel.local.rsplit_once(':').unwrap_or((channel.local.as_str(), "8009"));
    let host = channel.get("host").map_or(host, |(host, _)| host);
    let port = channel.get("port").map_or(port, |(port, _)| port);
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// A prefix also matched without its slash, which the bar says here.
fn mapping(
    text: &Text,
    object: &Object,
    draft: &mut Draft,
    notes: &mut Vec<Note>,
    problems: &mut Vec<Problem>,
) {
    let Some((target, line)) = object.get("group").or(object.get("worker")) else { return };
    let (host, path) = match object.local.find('/') {
        Some(at) => object.local.split_at_checked(at).unwrap_or(("", "/")),
        None => return,
    };
    if path.starts_with("/$") || path.starts_with("/~") {
        problems.push(Problem::at(
            text,
            (object.line, 1),
            None,
            "regular expressions are not mapped",
            "write the paths as patterns with * and ?",
        ));
        return;
    }
    let pattern = match path.strip_suffix("/*") {
        Some(prefix) if !prefix.is_empty() && !prefix.contains('*') => format!("{prefix}|/*"),
        _ => path.to_owned(),
    };
    let target = target.strip_prefix("lb:").unwrap_or(target);
    let target = target.strip_prefix("ajp13:").map_or_else(|| target.to_owned(), safe_name);
    let mapping = Mapping { pattern, target, options: Vec::new(), file: text.path.clone(), line };
    if object.get("disabled").is_some_and(|(value, _)| atoi(value) != 0) {
        notes.push(Note::new(
            text,
            object.line,
            NoteKind::Warning,
            None,
            "mod_jk2 ignored disabled on a uri; the rule is kept",
        ));
    }
    if host.is_empty() {
        draft.mappings.push(mapping);
        return;
    }
    match draft.hosts.iter_mut().find(|(name, _)| name == host) {
        Some((_, known)) => known.mappings.push(mapping),
        None => draft
            .hosts
            .push((host.to_owned(), Host { aliases: Vec::new(), inherit: true, mappings: vec![mapping] })),
    }
}

fn origin(text: &Text, object: &Object) -> String {
    let file = text.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{file}:{} [{}:{}]", object.line, object.kind, object.local)
}

/// A name that workers.toml takes; mod_jk2's are often addresses or paths.
fn safe_name(local: &str) -> String {
    local.trim_start_matches('/').replace(['/', ' ', ',', ';'], "_")
}

const KINDS: &[&str] = &[
    "config",
    "workerEnv",
    "uriMap",
    "shm",
    "logger",
    "logger.file",
    "logger.apache2",
    "channel.socket",
    "channel.un",
    "channel.apr",
    "ajp13",
    "lb",
    "status",
    "uri",
];

const PLATFORM: &[&str] =
    &["vm", "worker.jni", "channel.jni", "logger.win32", "run", "user", "signal", "disabled"];
