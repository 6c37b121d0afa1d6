//! Objects as sections of workers.toml.

use std::collections::{HashMap, HashSet};

use super::order::{Budget, Ordered, differences, layers_suffice, patterns};
use super::resolve::{Pool, Resolved, Target};
use super::uri::{HostMaps, Map, Maps};
use super::{Attribute, Object};
use crate::document::{Document, Host, Names, Rule, Table, quoted};
use crate::number::{atoi, seconds};
use crate::report::{NoteKind, Report};

pub(super) fn emit(
    objects: &[Object],
    resolved: &Resolved<'_>,
    maps: &Maps<'_>,
    (document, names, report): (&mut Document, &mut Names, &mut Report),
) {
    let used = used(maps);
    let shown: Vec<bool> = resolved
        .pools
        .iter()
        .enumerate()
        .map(|(index, pool)| {
            pool.object.is_some() || !pool.members.is_empty() || used.contains(&Target::Pool(index))
        })
        .collect();
    let pools: Vec<String> = resolved
        .pools
        .iter()
        .zip(&shown)
        .map(|(pool, shown)| if *shown { names.claim(&pool.name) } else { String::new() })
        .collect();
    for ((pool, name), _) in resolved.pools.iter().zip(&pools).zip(&shown).filter(|(_, shown)| **shown) {
        document.groups.push(group(pool, name, report));
    }
    let workers = super::worker::emit(resolved, &pools, names, (document, report));
    let target = |target: Target| match target {
        Target::Pool(at) => pools.get(at).cloned().unwrap_or_default(),
        Target::Worker(at) => workers.get(at).cloned().unwrap_or_default(),
        Target::Status => "status".to_owned(),
    };
    emit_maps(maps, &target, document, report);
    if used.contains(&Target::Status) {
        let why = "mod_jk2 showed its page to everybody";
        document.status.set("readable_from", "[\"127.0.0.0/8\", \"::1/128\"]", why);
    }
    settings(objects, document, report);
}

fn used(maps: &Maps<'_>) -> HashSet<Target> {
    let hosts = maps.hosts.iter().flat_map(|host| &host.maps);
    maps.global.iter().chain(hosts).map(|map| map.target).collect()
}

pub(super) fn origin(object: &Object) -> String {
    format!("{}, line {}", object.title(), object.at.line)
}

pub(super) fn info(object: &Object) -> Vec<String> {
    object.all("info").last().map(|info| info.value.clone()).into_iter().collect()
}

/// How an attribute was written.
pub(super) fn written(attribute: &Attribute) -> String {
    format!("{}={}", attribute.key, attribute.shown())
}

fn group(pool: &Pool<'_>, name: &str, report: &mut Report) -> Table {
    let mut table = Table { name: name.to_owned(), ..Table::default() };
    let Some(object) = pool.object else {
        table.origin = if pool.name == "lb" {
            "the group that mod_jk2 always had".to_owned()
        } else {
            "the group that its workers name".to_owned()
        };
        return table;
    };
    table.above = info(object);
    table.origin = origin(object);
    if let Some(sticky) = object.get("stickySession").filter(|sticky| atoi(&sticky.value) == 0) {
        table.set("sticky_session", "false", written(sticky));
    }
    if let Some(recovery) = object.get("recovery") {
        let comment =
            if atoi(&recovery.value) < 1 { "recovery=0: at once; a second is the least here" } else { "" };
        table.set("recover_time", seconds(atoi(&recovery.value).max(1)), comment);
    }
    unavailable(object, &mut table, report);
    if let Some(code) = object.get("hwBalanceErr").filter(|code| atoi(&code.value) != 0) {
        let text = format!(
            "{}: the gateway does not stop new sessions when the first level is down; they go to the next one",
            written(code)
        );
        report.dropped(&code.at, text);
    }
    table
}

fn unavailable(object: &Object, table: &mut Table, report: &mut Report) {
    if let Some(code) = object.get("noWorkerCode") {
        let status = atoi(&code.value);
        if (400..600).contains(&status) {
            table.set("unavailable", format!("{{ status = {status} }}"), written(code));
        } else {
            let text = format!(
                "{}: the gateway answers 503; an answer of its own is an error, 400 to 599",
                written(code)
            );
            report.dropped(&code.at, text);
        }
    }
    if let Some(message) = object.get("noWorkerMsg") {
        let text = format!(
            "{}: write it to a file and name that with unavailable = {{ page = \"FILE\" }}",
            written(message)
        );
        report.dropped(&message.at, text);
    }
}

fn emit_maps(
    maps: &Maps<'_>,
    target: &dyn Fn(Target) -> String,
    document: &mut Document,
    report: &mut Report,
) {
    let mut budget = Budget::default();
    let global = patterns(&maps.global, &[], report);
    differences(&global, &mut budget, report);
    document.rules.extend(global.iter().filter_map(|ordered| rule(ordered, target, "")));
    for host in &maps.hosts {
        let emitted = emit_host(host, &maps.global, target, (&mut budget, report));
        document.hosts.push(emitted);
    }
}

fn emit_host(
    host: &HostMaps<'_>,
    global: &[Map<'_>],
    target: &dyn Fn(Target) -> String,
    (budget, report): (&mut Budget, &mut Report),
) -> Host {
    let own: HashSet<(super::uri::Form, &str)> =
        host.maps.iter().map(|map| (map.form, map.text.as_str())).collect();
    let inherited: Vec<&Map<'_>> = if host.inherits {
        global.iter().filter(|map| !own.contains(&(map.form, map.text.as_str()))).collect()
    } else {
        Vec::new()
    };
    let mut emitted = Host {
        name: host.name.clone(),
        above: info(host.object),
        origin: origin(host.object),
        aliases: host.aliases.iter().map(|alias| alias.value.to_ascii_lowercase()).collect(),
        ..Host::default()
    };
    if !host.inherits {
        emitted.alone = Some("inheritGlobals=0".to_owned());
    } else if !layers_suffice(host, &inherited, budget) {
        // Here a host's own mappings come first, all of them; in mod_jk2 they were one map with the inherited ones.
        let copied: Vec<Map<'_>> =
            host.maps.iter().cloned().chain(inherited.iter().map(|map| (*map).clone())).collect();
        let ordered = patterns(&copied, &[], report);
        differences(&ordered, budget, report);
        emitted.alone = Some(
            "the inherited mappings are written out, because some of them go before this host's own"
                .to_owned(),
        );
        let n_own = host.maps.len();
        let rules = ordered.iter().enumerate();
        emitted.rules = rules
            .filter_map(|(at, map)| rule(map, target, if at < n_own { "" } else { "inherited: " }))
            .collect();
        return emitted;
    }
    let ordered = patterns(&host.maps, &inherited, report);
    differences(&ordered, budget, report);
    emitted.rules = ordered.iter().filter_map(|ordered| rule(ordered, target, "")).collect();
    emitted
}

fn rule((map, pattern): &Ordered<'_, '_>, target: &dyn Fn(Target) -> String, before: &str) -> Option<Rule> {
    let pattern = pattern.as_deref()?;
    Some(Rule {
        above: info(map.object),
        pattern: if map.is_off { format!("-{pattern}") } else { pattern.to_owned() },
        target: target(map.target),
        options: Vec::new(),
        comment: format!("{before}{}", origin(map.object)),
    })
}

/// What stood in the sections that were there once.
fn settings(objects: &[Object], document: &mut Document, report: &mut Report) {
    let environment = objects.iter().find(|object| object.is("workerEnv"));
    let last = |keys: &[&str]| environment.and_then(|object| super::resolve::last_of(object, keys));
    match last(&["noRecoveryIfRequestSent", "noRecoveryIfHeaderSent"]) {
        Some(switch) => {
            let bit = if switch.key == "noRecoveryIfRequestSent" { "1" } else { "2" };
            document.worker_defaults.set("recovery_options", bit, switch.key.as_str());
        }
        None => {
            if let Some(first) = objects.iter().find(|object| object.is_channel()) {
                let text = "mod_jk2 sent any request again when a member failed, POST too; the gateway sends only those again that change nothing";
                report.changed(&first.at, text);
            }
        }
    }
    if let Some(form) = last(&["forwardURICompat", "forwardURICompatUnparsed", "forwardURIEscaped"]) {
        match form.key.as_str() {
            "forwardURICompatUnparsed" => {
                document.group_defaults.set("forward_uri", quoted("unparsed"), form.key.as_str())
            }
            "forwardURIEscaped" => {
                document.group_defaults.set("forward_uri", quoted("escaped"), form.key.as_str())
            }
            _ => {
                let text = format!(
                    "{}: the decoded path would let a client ask for other paths than those that were matched; an escaped one is sent",
                    form.key
                );
                report.changed(&form.at, text);
            }
        }
    }
    logger(objects, document, report);
}

fn logger(objects: &[Object], document: &mut Document, report: &mut Report) {
    let named = objects.iter().find(|object| object.is("workerEnv")).and_then(|object| object.get("logger"));
    let is_named =
        |object: &Object| named.is_some_and(|name| name.value == format!("{}:{}", object.kind, object.local));
    let loggers: HashMap<bool, &Object> = objects
        .iter()
        .filter(|object| object.kind.starts_with("logger") && object.sense == super::Sense::Known)
        .map(|object| (is_named(object), object))
        .collect();
    let Some(level) = loggers.get(&true).or(loggers.get(&false)).and_then(|object| object.get("level"))
    else {
        return;
    };
    let (filter, comment) = match level.value.to_ascii_lowercase().as_str() {
        "debug" => ("debug", String::new()),
        "info" => ("info", String::new()),
        "error" => (
            "warn",
            format!("{}: a member that fails was an error there and is a warning here", written(level)),
        ),
        _ => ("error", written(level)),
    };
    document.log.set("filter", quoted(filter), comment);
    if filter == "warn" {
        report.push(
            &level.at,
            (NoteKind::Kept, None),
            format!("{} is [log] filter = \"warn\" here", written(level)),
        );
    }
}
