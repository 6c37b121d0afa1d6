//! Worker attributes to groups and workers: templates followed, old names translated, only what is listed taken.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::keys::{self, is_secret};
use super::properties::{Properties, Property};
use super::rules::{Rank, Rules};
use super::{ajp, lb, status};
use crate::document::{Document, Names};
use crate::near::nearest;
use crate::number::{integer, items, switch};
use crate::report::{At, Report};

/// What a mount may name, and what it is called here.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    pub(crate) names: HashMap<String, String>,
    /// All AJP workers in use, for the members that an extension names.
    pub(crate) members: HashMap<String, String>,
    /// Defined, but not listed.
    pub(crate) unlisted: HashSet<String>,
}

/// All attributes of one worker by their names of today.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) attributes: BTreeMap<&'static str, Attribute>,
    asked: RefCell<BTreeSet<&'static str>>,
}

#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub(super) value: String,
    pub(super) at: At,
    pub(super) is_inherited: bool,
}

impl Worker {
    fn new(name: &str, at: &At) -> Self {
        Self { name: name.to_owned(), at: at.clone(), attributes: BTreeMap::new(), asked: RefCell::default() }
    }

    /// What nobody asks for has no meaning for this kind of worker.
    pub(super) fn get(&self, key: &'static str) -> Option<&Attribute> {
        self.asked.borrow_mut().insert(key);
        self.attributes.get(key)
    }

    pub(super) fn text(&self, key: &'static str) -> Option<&str> {
        self.get(key).map(|attribute| attribute.value.as_str())
    }

    /// `None`: not there, or not a number, which is the default then.
    pub(super) fn number(&self, key: &'static str, report: &mut Report) -> Option<(i64, &At)> {
        let attribute = self.get(key)?;
        let number = integer(&attribute.value);
        if number.is_none() {
            report.warn(
                &attribute.at,
                format!(
                    "{key}={} is not a number; mod_jk took the default, and so does the import",
                    attribute.value
                ),
            );
        }
        number.map(|number| (number, &attribute.at))
    }

    pub(super) fn switch(&self, key: &'static str, report: &mut Report) -> Option<bool> {
        let attribute = self.get(key)?;
        let flag = switch(&attribute.value);
        if flag.is_none() {
            report.warn(
                &attribute.at,
                format!(
                    "{key}={} is neither on nor off; mod_jk took the default, and so does the import",
                    attribute.value
                ),
            );
        }
        flag
    }

    /// Tells what it was written for in vain.
    fn forget(&self, kind: &str, report: &mut Report) {
        let asked = self.asked.borrow();
        for (key, attribute) in &self.attributes {
            if !asked.contains(key) && !attribute.is_inherited {
                let value = if is_secret(key) { "…" } else { &attribute.value };
                report.dropped(
                    &attribute.at,
                    format!("{key}={value} means nothing for a worker of type {kind}"),
                );
            }
        }
    }

    fn kind(&self) -> &str {
        self.text("type").unwrap_or("ajp13")
    }
}

/// `at` is where to point when the whole is meant.
pub(crate) fn import(
    properties: &Properties,
    at: &At,
    rules: &mut Rules,
    (document, names, report): (&mut Document, &mut Names, &mut Report),
) -> Targets {
    let mut workers = read(properties, report);
    let templates = super::templates::follow(&mut workers, report);
    let list = listed(properties, at, &mut workers, report);
    let index = index(&workers);
    let groups = kinds(&workers, &index, &list, "lb");
    let is_listed: HashSet<&str> = list.iter().map(String::as_str).collect();
    let mut members: HashMap<String, Vec<String>> = HashMap::new();
    for worker in groups.iter().filter_map(|at| workers.get(*at)) {
        let find = |name: &str| index.get(name).and_then(|at| workers.get(*at));
        for member in lb::members(worker, &find, report) {
            members.entry(member).or_default().push(worker.name.clone());
        }
    }
    let mut targets = Targets::default();
    for worker in groups.iter().filter_map(|at| workers.get(*at)) {
        let name = names.claim(&worker.name);
        targets.names.insert(worker.name.clone(), name.clone());
        document.groups.push(lb::table(worker, &name, report));
        worker.forget("lb", report);
    }
    for worker in &workers {
        let own = members.get(&worker.name).map(Vec::as_slice).unwrap_or_default();
        let is_used = is_listed.contains(worker.name.as_str()) || !own.is_empty();
        match worker.kind() {
            "ajp13" if is_used => {
                let name = names.claim(&worker.name);
                if is_listed.contains(worker.name.as_str()) {
                    targets.names.insert(worker.name.clone(), name.clone());
                } else {
                    targets.unlisted.insert(worker.name.clone());
                }
                targets.members.insert(worker.name.clone(), name.clone());
                let own: Vec<String> =
                    own.iter().filter_map(|group| targets.names.get(group).cloned()).collect();
                document.workers.push(ajp::table(worker, &name, &own, report));
                worker.forget("ajp13", report);
            }
            "status" if is_used => {
                targets.names.insert(worker.name.clone(), "status".to_owned());
                status::set(worker, document, report);
                worker.forget("status", report);
            }
            _ if is_used => {}
            _ => {
                targets.unlisted.insert(worker.name.clone());
                if !templates.contains(&worker.name) {
                    unused(worker, report);
                }
            }
        }
        if is_used && is_listed.contains(worker.name.as_str()) {
            mounts(worker, rules, report);
        }
    }
    for_ever(&workers, &targets, document, report);
    maintain(properties, document, report);
    targets
}

/// mod_jk's default is no limit; to say so for each worker would hide the rest.
fn for_ever(workers: &[Worker], targets: &Targets, document: &Document, report: &mut Report) {
    let limited: HashSet<&str> = document
        .workers
        .iter()
        .filter(|table| table.get("reply_timeout").is_some())
        .map(|table| table.name.as_str())
        .collect();
    let is_concerned = |worker: &&Worker| {
        targets.members.get(&worker.name).is_some_and(|name| !limited.contains(name.as_str()))
    };
    let concerned: Vec<&Worker> = workers.iter().filter(is_concerned).collect();
    let Some(first) = concerned.first() else { return };
    let who = match concerned.len() {
        1 => format!("worker \"{}\" has", first.name),
        n => format!("worker \"{}\" and {} more have", first.name, n - 1),
    };
    let text = format!(
        "{who} no reply_timeout: mod_jk waited for ever, the gateway waits five minutes; reply_timeout in [defaults.ajp13] or a worker says otherwise"
    );
    report.changed(&first.at, text);
}

fn unused(worker: &Worker, report: &mut Report) {
    let text = format!("worker \"{}\" is neither in worker.list nor a member of a listed group", worker.name);
    report.dropped(&worker.at, text);
}

pub(super) fn index(workers: &[Worker]) -> HashMap<String, usize> {
    workers.iter().enumerate().map(|(at, worker)| (worker.name.clone(), at)).collect()
}

/// The listed workers of a kind, in the order of the list.
fn kinds(workers: &[Worker], index: &HashMap<String, usize>, list: &[String], kind: &str) -> Vec<usize> {
    let listed = list.iter().filter_map(|name| index.get(name).copied());
    listed.filter(|at| workers.get(*at).is_some_and(|worker| worker.kind() == kind)).collect()
}

/// Attributes by worker, in the order in which workers appear.
fn read(properties: &Properties, report: &mut Report) -> Vec<Worker> {
    let mut workers: Vec<Worker> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for property in &properties.list {
        let Some(rest) = property.key.strip_prefix("worker.") else { continue };
        if matches!(rest, "list" | "maintain") {
            continue;
        }
        let Some((name, attribute)) = rest.rsplit_once('.').filter(|(name, _)| !name.is_empty()) else {
            unknown(property, rest, &["list", "maintain"], report);
            continue;
        };
        let Some(key) = keys::key(attribute) else {
            unknown(property, attribute, &keys::names().collect::<Vec<_>>(), report);
            continue;
        };
        if let Some(why) = key.without_meaning() {
            report.dropped(&property.at, format!("{attribute} {why}"));
            continue;
        }
        if key.now != attribute {
            report.changed(&property.at, format!("{attribute} is called {} today", key.now));
        }
        let at = *index.entry(name.to_owned()).or_insert_with(|| {
            workers.push(Worker::new(name, &property.at));
            workers.len() - 1
        });
        if let Some(worker) = workers.get_mut(at) {
            let attribute =
                Attribute { value: property.value.clone(), at: property.at.clone(), is_inherited: false };
            worker.attributes.insert(key.now, attribute);
        }
    }
    workers
}

fn unknown(property: &Property, word: &str, known: &[&str], report: &mut Report) {
    let telling = report
        .problem(&property.at, None, format!("{} is no attribute that a worker can have", property.key))
        .was("mod_jk did not start with it");
    match nearest(word, known.iter().copied()) {
        Some(word) => telling.help(format!("did you mean \"{word}\"?")),
        None => telling.help("take the line out, or correct the name behind the last dot"),
    };
}

/// worker.list, each once; a listed worker without a line of its own is one at localhost.
fn listed(
    properties: &Properties,
    whole: &At,
    workers: &mut Vec<Worker>,
    report: &mut Report,
) -> Vec<String> {
    let (names, at) = match properties.get("worker.list") {
        Some(property) => (items(&property.value), property.at.clone()),
        None => {
            report.warn(whole, "there is no worker.list; mod_jk had one worker then, ajp13 at localhost:8009, and members of nothing");
            (vec!["ajp13".to_owned()], whole.clone())
        }
    };
    let mut known: HashSet<String> = workers.iter().map(|worker| worker.name.clone()).collect();
    let mut list: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name.clone()) {
            continue;
        }
        if known.insert(name.clone()) {
            if properties.get("worker.list").is_some() {
                report.warn(&at, format!("worker \"{name}\" has no lines of its own; it is an AJP13 worker at localhost:8009, as in mod_jk"));
            }
            workers.push(Worker::new(&name, &at));
        }
        list.push(name);
    }
    for worker in workers.iter().filter(|worker| seen.contains(&worker.name)) {
        check_kind(worker, report);
    }
    list
}

fn check_kind(worker: &Worker, report: &mut Report) {
    let kind = worker.kind();
    if matches!(kind, "ajp13" | "lb" | "status") {
        return;
    }
    let at = worker.get("type").map_or(&worker.at, |attribute| &attribute.at);
    let telling = report
        .problem(
            at,
            None,
            format!("worker \"{}\" is of type \"{kind}\", which is not to be had", worker.name),
        )
        .expected("ajp13, lb or status");
    if matches!(kind, "ajp12" | "ajp14") {
        telling
            .help("Tomcat speaks AJP13 only; name its AJP connector's port")
            .was("mod_jk still speaks it, but to nobody");
    } else {
        telling.was("mod_jk did not start with it");
    }
}

/// The `mount` attribute: no extensions, and a bar is a letter like any other.
fn mounts(worker: &Worker, rules: &mut Rules, report: &mut Report) {
    let Some(mount) = worker.get("mount") else { return };
    for pattern in items(&mount.value) {
        if pattern.contains('|') {
            report.warn(
                &mount.at,
                format!(
                    "{pattern} is left out: in mount the | was a letter like any other, so it matched nothing"
                ),
            );
        } else {
            rules.add((&pattern, &worker.name), Rank::Mount, &mount.at, report);
        }
    }
}

fn maintain(properties: &Properties, document: &mut Document, report: &mut Report) {
    let Some(property) = properties.get("worker.maintain") else { return };
    match integer(&property.value) {
        Some(seconds) if seconds > 0 => {
            let comment = format!("worker.maintain={seconds}");
            document.group_defaults.set("maintain", crate::number::seconds(seconds), comment);
        }
        Some(_) => report.changed(&property.at, "worker.maintain=0 was no maintenance, so that a member in error stayed there; the gateway's always runs"),
        None => report.warn(&property.at, format!("worker.maintain={} is not a number; the default stays", property.value)),
    }
}
