//! Who is who: channels with their workers, pools with their members, and what a uri's `group` means.

use std::collections::{HashMap, HashSet};

use super::{Attribute, Object, Sense};
use crate::near::nearest;
use crate::report::{At, Report};

/// The objects that serve requests.
#[derive(Debug, Default)]
pub(super) struct Resolved<'o> {
    pub(super) workers: Vec<Worker<'o>>,
    pub(super) pools: Vec<Pool<'o>>,
    pools_by_name: HashMap<String, usize>,
    workers_by_name: HashMap<String, usize>,
    statuses: HashSet<&'o str>,
    /// Worker and pool.
    joined: HashSet<(usize, usize)>,
}

/// A channel and the ajp13 object of its name: mod_jk2 had them apart, but one was nothing without the other.
#[derive(Debug)]
pub(super) struct Worker<'o> {
    pub(super) local: &'o str,
    pub(super) channel: &'o Object,
    pub(super) ajp13: Option<&'o Object>,
    pub(super) address: String,
    pub(super) pools: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Pool<'o> {
    pub(super) name: String,
    pub(super) object: Option<&'o Object>,
    pub(super) members: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Target {
    Pool(usize),
    Worker(usize),
    Status,
}

impl<'o> Worker<'o> {
    /// The last of all that stand in either section; an attribute may have several names.
    pub(super) fn get(&self, keys: &[&str]) -> Option<&'o Attribute> {
        let channel: &'o Object = self.channel;
        let both =
            channel.attributes.iter().chain(self.ajp13.into_iter().flat_map(|object| &object.attributes));
        both.filter(|attribute| keys.contains(&attribute.key.as_str()))
            .max_by_key(|attribute| attribute.at.line)
    }

    /// As Tomcat must know it: `route`, else the local name.
    pub(super) fn route(&self) -> &'o str {
        self.get(&["route", "tomcatId"]).map_or(self.local, |attribute| &attribute.value)
    }
}

impl Resolved<'_> {
    /// A full object name comes first, then the name of a pool.
    pub(super) fn target(&self, name: &str) -> Option<Target> {
        let pool = |name: &str| self.pools_by_name.get(name).map(|at| Target::Pool(*at));
        match name.split_once(':') {
            Some(("lb", local)) => pool(local),
            Some(("ajp13", local)) => self.workers_by_name.get(local).map(|at| Target::Worker(*at)),
            Some(("status", local)) => self.statuses.contains(local).then_some(Target::Status),
            // `[status:]` could be called by its type alone.
            None if name == "status" && self.statuses.contains("") => Some(Target::Status),
            _ => None,
        }
        .or_else(|| pool(name))
    }
}

/// `None` when references lead nowhere.
pub(super) fn resolve<'o>(objects: &'o [Object], report: &mut Report) -> Option<Resolved<'o>> {
    let before = report.problems.len();
    let mut resolved = Resolved::default();
    for object in objects.iter().filter(|object| object.is("status")) {
        resolved.statuses.insert(&object.local);
    }
    for object in objects.iter().filter(|object| object.is("lb")) {
        let pool = resolved.pool(&object.local);
        if let Some(pool) = resolved.pools.get_mut(pool) {
            pool.object = Some(object);
        }
    }
    // It was there whether anybody wrote it or not.
    resolved.pool("lb");
    let lost = lost_names(objects);
    workers(objects, &lost, &mut resolved, report);
    members(objects, &lost, &mut resolved, report);
    for object in objects.iter().filter(|object| object.is("uri")) {
        if let Some(group) = last_of(object, &["group", "worker"])
            && resolved.target(&group.value).is_none()
            && !is_lost(&group.value, &lost)
        {
            unknown(group, &resolved, report);
        }
    }
    (report.problems.len() == before).then_some(resolved)
}

/// The last of several names for one attribute.
pub(super) fn last_of<'o>(object: &'o Object, keys: &[&str]) -> Option<&'o Attribute> {
    object.attributes.iter().rev().find(|attribute| keys.contains(&attribute.key.as_str()))
}

/// Local names of sections that were complained about already: what refers to them is no further mistake.
fn lost_names(objects: &[Object]) -> HashSet<&str> {
    objects.iter().filter(|object| object.sense != Sense::Known).map(|object| object.local.as_str()).collect()
}

fn is_lost(name: &str, lost: &HashSet<&str>) -> bool {
    lost.contains(name) || name.split_once(':').is_some_and(|(_, local)| lost.contains(local))
}

fn workers<'o>(
    objects: &'o [Object],
    lost: &HashSet<&str>,
    resolved: &mut Resolved<'o>,
    report: &mut Report,
) {
    let ajp13: HashMap<&str, &Object> = objects
        .iter()
        .filter(|object| object.is("ajp13"))
        .map(|object| (object.local.as_str(), object))
        .collect();
    for channel in objects.iter().filter(|object| object.is_channel()) {
        if let Some(known) = resolved.workers_by_name.get(&channel.local) {
            let first = resolved.workers.get(*known).map_or(0, |worker| worker.channel.at.line);
            report
                .problem(&channel.at, None, format!("two channels are called {}", channel.local))
                .help(format!("the other one is on line {first}; give one of them another name"))
                .was("mod_jk2 made one worker of both, with the address of one of them");
            continue;
        }
        let Some(address) = super::address::of(channel, report) else { continue };
        resolved.workers_by_name.insert(channel.local.clone(), resolved.workers.len());
        resolved.workers.push(Worker {
            local: &channel.local,
            channel,
            ajp13: ajp13.get(channel.local.as_str()).copied(),
            address,
            pools: Vec::new(),
        });
    }
    let channels: HashSet<&str> =
        objects.iter().filter(|object| object.is_channel()).map(|object| object.local.as_str()).collect();
    for object in objects.iter().filter(|object| object.is("ajp13")) {
        if !channels.contains(object.local.as_str()) && !lost.contains(object.local.as_str()) {
            no_channel(object, &channels, report);
        }
    }
}

fn no_channel(object: &Object, channels: &HashSet<&str>, report: &mut Report) {
    let named = object.get("channel").map(|attribute| attribute.value.as_str());
    let named = named.and_then(|name| name.split_once(':')).map(|(_, local)| local);
    let followed = if named.is_some() { "; channel= is never followed" } else { "" };
    let title = format!("{} has no channel named \"{}\"{followed}", object.title(), object.local);
    let telling = report
        .problem(&object.at, Some("W2-402"), title)
        .was("mod_jk2 kept it in its pool as a member that fails every request");
    match named.filter(|local| channels.contains(local)) {
        Some(local) => telling.help(format!("rename it to [ajp13:{local}]")),
        None => telling.help(format!("add [channel.socket:{}], or take the section out", object.local)),
    };
}

fn members<'o>(
    objects: &'o [Object],
    lost: &HashSet<&str>,
    resolved: &mut Resolved<'o>,
    report: &mut Report,
) {
    for index in 0..resolved.workers.len() {
        let Some(worker) = resolved.workers.get(index) else { continue };
        let own = worker.ajp13.into_iter().chain([worker.channel]).flat_map(|object| object.all("group"));
        let mut named: Vec<&Attribute> = own.collect();
        named.sort_by_key(|attribute| attribute.at.line);
        let mut names: Vec<&str> = named
            .iter()
            .map(|attribute| attribute.value.strip_prefix("lb:").unwrap_or(&attribute.value))
            .collect();
        if names.is_empty() {
            names.push("lb");
        }
        for name in names {
            let pool = resolved.pool(name);
            resolved.join(index, pool);
        }
    }
    for object in objects.iter().filter(|object| object.is("lb")) {
        let pool = resolved.pool(&object.local);
        for attribute in object.all("worker") {
            match resolved.target(&attribute.value) {
                Some(Target::Worker(worker)) => resolved.join(worker, pool),
                _ if is_lost(&attribute.value, lost) => {}
                _ => unknown(attribute, resolved, report),
            }
        }
    }
}

fn unknown(attribute: &Attribute, resolved: &Resolved<'_>, report: &mut Report) {
    let at: At = attribute.value_at();
    let value = &attribute.value;
    let pools = resolved.pools.iter().map(|pool| pool.name.clone());
    let workers = resolved.workers.iter().map(|worker| format!("ajp13:{}", worker.local));
    let statuses = resolved.statuses.iter().map(|name| format!("status:{name}"));
    let known: Vec<String> = pools.chain(workers).chain(statuses).take(MOST_NAMES).collect();
    let telling = report
        .problem(&at, Some("W2-401"), format!("{}={value} names nothing", attribute.key))
        .was("mod_jk2 answered 500 to every request for it");
    let bare = value.strip_prefix("lb:").unwrap_or(value);
    match nearest(bare, known.iter().map(String::as_str)) {
        Some(word) => telling.help(format!("did you mean \"{word}\"?")),
        None => telling.help(format!("there are {}", known.join(", "))),
    };
}

impl Resolved<'_> {
    /// The pool of a name, made if need be.
    fn pool(&mut self, name: &str) -> usize {
        if let Some(known) = self.pools_by_name.get(name) {
            return *known;
        }
        let at = self.pools.len();
        self.pools_by_name.insert(name.to_owned(), at);
        self.pools.push(Pool { name: name.to_owned(), object: None, members: Vec::new() });
        at
    }

    fn join(&mut self, worker: usize, pool: usize) {
        if !self.joined.insert((worker, pool)) {
            return;
        }
        let Some(member) = self.workers.get_mut(worker) else { return };
        member.pools.push(pool);
        if let Some(pool) = self.pools.get_mut(pool) {
            pool.members.push(worker);
        }
    }
}

const MOST_NAMES: usize = 100;
