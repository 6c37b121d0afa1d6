//! What changed from one configuration to the next, by name.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::config::Config;
use crate::spec::{GroupSpec, HostSpec, ListenerSpec, MappingKind, MappingSpec, Target, WorkerSpec};

/// One line a change; empty: nothing changed.
#[must_use]
pub fn diff(old: &Config, new: &Config) -> Vec<String> {
    let mut lines = Vec::new();
    named("listener", &listeners(old), &listeners(new), &mut lines);
    named("worker", &workers(old), &workers(new), &mut lines);
    named("group", &groups(old), &groups(new), &mut lines);
    mappings("", old.mappings(), new.mappings(), &mut lines);
    hosts(old.hosts(), new.hosts(), &mut lines);
    let mut single = |what: &str, changed: bool| {
        if changed {
            lines.push(format!("[{what}] changed"));
        }
    };
    single("status", old.status() != new.status());
    single("access_log", old.access_log() != new.access_log());
    for (what, changed) in [
        ("admin", old.admin() != new.admin()),
        ("log", old.log() != new.log()),
        ("process", old.process() != new.process()),
    ] {
        if changed {
            lines.push(format!("[{what}] changed; takes effect with the next start"));
        }
    }
    lines
}

type Named<T> = BTreeMap<String, T>;

fn listeners(config: &Config) -> Named<&ListenerSpec> {
    config.listeners().iter().map(|spec| (spec.name.clone(), &**spec)).collect()
}

fn workers(config: &Config) -> Named<&WorkerSpec> {
    config.workers().values().map(|spec| (spec.name.to_string(), &**spec)).collect()
}

fn groups(config: &Config) -> Named<&GroupSpec> {
    config.groups().values().map(|spec| (spec.name.to_string(), &**spec)).collect()
}

fn named<T: Debug + PartialEq>(what: &str, old: &Named<&T>, new: &Named<&T>, lines: &mut Vec<String>) {
    for (name, spec) in new {
        match old.get(name) {
            None => lines.push(format!("{what} {name} added")),
            Some(before) if before != spec => {
                let mut fields = changed_fields(before, spec);
                if fields.is_empty() {
                    // The one thing that does not show itself.
                    fields.push("secret".to_owned());
                }
                lines.push(format!("{what} {name} changed: {}", fields.join(", ")));
            }
            Some(_) => {}
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        lines.push(format!("{what} {name} removed"));
    }
}

/// Names of the fields whose debug text differs, with short values.
fn changed_fields<T: Debug>(old: &T, new: &T) -> Vec<String> {
    let (old, new) = (format!("{old:#?}"), format!("{new:#?}"));
    let fields = |text: &str| -> Vec<(String, String)> {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            let is_field = line.starts_with("    ") && !line.starts_with("     ") && line.contains(": ");
            match (is_field, line.trim().split_once(": ")) {
                (true, Some((name, value))) => {
                    fields.push((name.to_owned(), value.trim_end_matches(',').to_owned()))
                }
                _ => {
                    if let Some((_, value)) = fields.last_mut() {
                        value.push_str(line.trim());
                    }
                }
            }
        }
        fields
    };
    let before: BTreeMap<_, _> = fields(&old).into_iter().collect();
    let mut changed = Vec::new();
    for (name, value) in fields(&new) {
        if let Some(was) = before.get(&name).filter(|was| **was != value) {
            let short = was.len() + value.len() < 60;
            changed.push(if short { format!("{name} {was} -> {value}") } else { name });
        }
    }
    changed
}

fn mappings(host: &str, old: &[MappingSpec], new: &[MappingSpec], lines: &mut Vec<String>) {
    let listed = |mappings: &[MappingSpec]| -> BTreeMap<String, String> {
        mappings.iter().map(|mapping| (key(mapping), shown(mapping))).collect()
    };
    let (old, new) = (listed(old), listed(new));
    let at = if host.is_empty() { String::new() } else { format!(" of host {host}") };
    for (pattern, value) in &new {
        match old.get(pattern) {
            None => lines.push(format!("mapping {pattern}{at} added")),
            Some(before) if before != value => lines.push(format!("mapping {pattern}{at} changed")),
            Some(_) => {}
        }
    }
    for pattern in old.keys().filter(|pattern| !new.contains_key(*pattern)) {
        lines.push(format!("mapping {pattern}{at} removed"));
    }
}

fn key(mapping: &MappingSpec) -> String {
    let target = match &mapping.kind {
        MappingKind::Exclude(Some(target)) => format!(" ({})", target_name(target)),
        MappingKind::Exclude(None) | MappingKind::Map(_) => String::new(),
    };
    format!("{}{target}", mapping.written)
}

fn shown(mapping: &MappingSpec) -> String {
    format!("{:?} {} {:?}", mapping.kind, mapping.enabled, mapping.options)
}

fn target_name(target: &Target) -> &str {
    match target {
        Target::Group(name) => name.as_str(),
        Target::Worker(name) => name.as_str(),
        Target::Status => "status",
        Target::Metrics => "metrics",
    }
}

fn hosts(old: &[HostSpec], new: &[HostSpec], lines: &mut Vec<String>) {
    let name = |host: &HostSpec| {
        let first = host.names.first();
        let name = first.and_then(|pattern| pattern.name.clone()).unwrap_or_else(|| "*".to_owned());
        first.and_then(|pattern| pattern.port).map_or(name.clone(), |port| format!("{name}:{port}"))
    };
    for host in new {
        match old.iter().find(|before| name(before) == name(host)) {
            None => lines.push(format!("host {} added", name(host))),
            Some(before) => {
                if (&before.names, before.inherit) != (&host.names, host.inherit) {
                    lines.push(format!("host {} changed", name(host)));
                }
                mappings(&name(host), &before.mappings, &host.mappings, lines);
            }
        }
    }
    for host in old.iter().filter(|host| !new.iter().any(|now| name(now) == name(host))) {
        lines.push(format!("host {} removed", name(host)));
    }
}
