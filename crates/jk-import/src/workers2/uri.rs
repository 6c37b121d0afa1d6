//! Uri objects to the maps of each host, with mod_jk2's reading of their patterns.

use std::collections::{HashMap, HashSet};

use super::resolve::{Resolved, Target, last_of};
use super::{Attribute, Object};
use crate::number::atoi;
use crate::report::{NoteKind, Report};

/// All maps: those of every host first.
#[derive(Debug, Default)]
pub(super) struct Maps<'o> {
    pub(super) global: Vec<Map<'o>>,
    pub(super) hosts: Vec<HostMaps<'o>>,
}

#[derive(Debug)]
pub(super) struct HostMaps<'o> {
    /// In lower case, with its port if it has one.
    pub(super) name: String,
    pub(super) object: &'o Object,
    pub(super) aliases: Vec<&'o Attribute>,
    pub(super) inherits: bool,
    pub(super) maps: Vec<Map<'o>>,
}

#[derive(Debug, Clone)]
pub(super) struct Map<'o> {
    pub(super) object: &'o Object,
    pub(super) form: Form,
    /// An exact path; the text before a prefix's star; a glob whole.
    pub(super) text: String,
    pub(super) target: Target,
    /// `disabled=1`.
    pub(super) is_off: bool,
}

/// In the order in which mod_jk2 tried them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Form {
    Exact,
    Prefix,
    Glob,
}

pub(super) fn maps<'o>(objects: &'o [Object], resolved: &Resolved<'o>, report: &mut Report) -> Maps<'o> {
    let mut reader =
        Reader { resolved, report, maps: Maps::default(), by_name: HashMap::new(), seen: HashSet::new() };
    let mut contexts = Vec::new();
    for object in objects.iter().filter(|object| object.is("uri")) {
        reader.object(object, &mut contexts);
    }
    reader.contexts(&contexts);
    reader.aliases();
    reader.maps
}

struct Reader<'o, 'r> {
    resolved: &'r Resolved<'o>,
    report: &'r mut Report,
    maps: Maps<'o>,
    by_name: HashMap<String, usize>,
    /// Host, or nothing for every host, and pattern.
    seen: HashSet<(Option<usize>, String)>,
}

impl<'o> Reader<'o, '_> {
    fn object(&mut self, object: &'o Object, contexts: &mut Vec<(Option<usize>, &'o Attribute)>) {
        let name = effective_name(object);
        if name.find(['/', '$']).is_some_and(|at| name.get(at..).is_some_and(|rest| rest.starts_with('$'))) {
            self.report
                .problem(
                    &object.at,
                    Some("W2-407"),
                    format!("{} is a regular expression, and those are not mapped", object.title()),
                )
                .help("write the paths as patterns: * is any text, slashes too; ? is one character")
                .was("mod_jk2 searched for it anywhere in the path, if it was built with PCRE");
            return;
        }
        let (host, path) = name.find('/').and_then(|at| name.split_at_checked(at)).unwrap_or((&name, ""));
        if path.contains(':') {
            self.report
                .problem(&object.at, Some("W2-206"), format!("{} has a colon in its path", object.title()))
                .help("write HOST:PORT/path, or ? in the colon's place")
                .was("mod_jk2 took the text before the next slash for a host");
            return;
        }
        let host = match host {
            "" | "*" => None,
            host if is_host(host) => Some(self.host(host, object)),
            host => {
                self.report
                    .problem(&object.at, Some("W2-206"), format!("\"{host}\" is no host"))
                    .expected("NAME, NAME:PORT or *:PORT before the path")
                    .was("mod_jk2 made a host of this name, which no request could have");
                return;
            }
        };
        if let Some(context) = object.get("context") {
            contexts.push((host, context));
        }
        if path.is_empty() {
            self.host_object(object, host);
        } else {
            self.map(object, host, path);
        }
    }

    fn host(&mut self, name: &str, object: &'o Object) -> usize {
        let name = name.to_ascii_lowercase();
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        let at = self.maps.hosts.len();
        self.by_name.insert(name.clone(), at);
        self.maps.hosts.push(HostMaps {
            name,
            object,
            aliases: Vec::new(),
            inherits: true,
            maps: Vec::new(),
        });
        at
    }

    fn host_object(&mut self, object: &'o Object, host: Option<usize>) {
        for attribute in &object.attributes {
            if matches!(attribute.key.as_str(), "group" | "worker" | "context") {
                self.ineffective(attribute, "a host without a path maps nothing by itself");
            }
        }
        let Some(host) = host.and_then(|at| self.maps.hosts.get_mut(at)) else {
            for attribute in object.all("alias").chain(object.all("inheritGlobals")) {
                self.ineffective(attribute, "the maps without a host are for every host");
            }
            return;
        };
        host.object = object;
        if let Some(inherit) = object.get("inheritGlobals") {
            host.inherits = atoi(&inherit.value) != 0;
        }
        host.aliases.extend(object.all("alias"));
    }

    fn ineffective(&mut self, attribute: &Attribute, why: &str) {
        let text = format!("{}={}: {why}", attribute.key, attribute.value);
        self.report.push(&attribute.at, (NoteKind::Dropped, Some("W2-307")), text);
    }

    fn warn(&mut self, object: &Object, id: Option<&'static str>, text: String) {
        self.report.push(&object.at, (NoteKind::Warning, id), text);
    }

    fn map(&mut self, object: &'o Object, host: Option<usize>, path: &str) {
        for attribute in object.all("alias").chain(object.all("inheritGlobals")) {
            self.ineffective(attribute, "it counts only in a section that names a host without a path");
        }
        if object.get("context").is_some_and(|context| context.value == path) {
            return;
        }
        if path.contains(['|', ';']) {
            let text = format!("{path} is left out: no path has a | or a ; when it is matched here");
            self.warn(object, None, text);
            return;
        }
        let Some((form, text)) = self.form(object, path) else { return };
        // A name that was checked, or the pool that always is there.
        let wanted = last_of(object, &["group", "worker"]).map_or("lb", |group| &group.value);
        let Some(target) = self.resolved.target(wanted) else { return };
        if !self.seen.insert((host, format!("{form:?}{text}"))) {
            self.warn(object, None, format!("{path} is mapped already; the first one counts"));
            return;
        }
        self.empty_pool(object, target);
        let is_off = object.get("disabled").is_some_and(|disabled| atoi(&disabled.value) != 0);
        if is_off {
            let text = format!(
                "mod_jk2 ignored disabled=1 on a uri and served {path}; here the rule is switched off"
            );
            self.report.push(&object.at, (NoteKind::Changed, Some("W2-307")), text);
        }
        let map = Map { object, form, text, target, is_off };
        match host.and_then(|at| self.maps.hosts.get_mut(at)) {
            Some(host) => host.maps.push(map),
            None => self.maps.global.push(map),
        }
    }

    fn empty_pool(&mut self, object: &Object, target: Target) {
        let Target::Pool(pool) = target else { return };
        let Some(pool) = self.resolved.pools.get(pool).filter(|pool| pool.members.is_empty()) else { return };
        let text =
            format!("group \"{}\" has no members, so {} is answered with 503", pool.name, object.local);
        self.warn(object, Some("W2-403"), text);
    }

    /// `None`: it matched nothing that a request could ask for.
    fn form(&mut self, object: &Object, path: &str) -> Option<(Form, String)> {
        let Some(text) = path.strip_suffix('*') else {
            if path.contains(['*', '?']) {
                return Some((Form::Glob, path.to_owned()));
            }
            let text = format!("{path} is this one path, not what is below it");
            self.report.push(&object.at, (NoteKind::Kept, Some("W2-408")), text);
            return Some((Form::Exact, path.to_owned()));
        };
        if text.contains(['*', '?']) {
            let what = format!(
                "{path} is left out: with a star at its end, the one before it was an ordinary letter"
            );
            self.warn(object, Some("W2-405"), what);
            return None;
        }
        if text.ends_with('/') {
            return Some((Form::Prefix, text.to_owned()));
        }
        let what = format!("{path} means {text} alone: a star at the end counts only behind a slash");
        self.warn(object, Some("W2-405"), what);
        Some((Form::Exact, text.to_owned()))
    }

    /// Below a context only its own maps were tried.
    fn contexts(&mut self, contexts: &[(Option<usize>, &'o Attribute)]) {
        for (host, context) in contexts {
            let maps =
                host.and_then(|at| self.maps.hosts.get(at)).map_or(&self.maps.global, |host| &host.maps);
            let inside = |text: &str| text.starts_with(context.value.as_str());
            if context.value != "/" && maps.iter().any(|map| !inside(&map.text)) {
                let text = format!(
                    "below {} mod_jk2 tried only the maps of that context; here the others count there, too",
                    context.value
                );
                self.report.push(&context.at, (NoteKind::Changed, Some("W2-410")), text);
            }
        }
    }

    /// What mod_jk2 never reached is no alias here either.
    fn aliases(&mut self) {
        let mut taken: HashSet<String> = self.by_name.keys().cloned().collect();
        for at in 0..self.maps.hosts.len() {
            let Some(host) = self.maps.hosts.get_mut(at) else { continue };
            let mut kept = Vec::new();
            for alias in std::mem::take(&mut host.aliases) {
                let name = alias.value.to_ascii_lowercase();
                let bare = name.split(':').next().unwrap_or_default();
                if !is_host(&name) {
                    self.report
                        .problem(&alias.value_at(), Some("W2-304"), format!("\"{}\" is no host", alias.value))
                        .expected("NAME:PORT")
                        .was("no request could have this name");
                } else if self.by_name.contains_key(&name) || self.by_name.contains_key(bare) {
                    self.report.changed(
                        &alias.at,
                        format!("alias={name} is left out: the host of that name came first"),
                    );
                } else if !taken.insert(name.clone()) {
                    self.report
                        .changed(&alias.at, format!("alias={name} is left out: it stands elsewhere already"));
                } else {
                    if !name.contains(':') {
                        let text = format!(
                            "alias={name} has no port and never matched in mod_jk2; here it is for any port"
                        );
                        self.report.push(&alias.at, (NoteKind::Warning, Some("W2-406")), text);
                    }
                    kept.push(alias);
                }
            }
            if let Some(host) = self.maps.hosts.get_mut(at) {
                host.aliases = kept;
            }
        }
    }
}

/// The section's name, unless one of the attributes that JkUriSet was made for says otherwise.
fn effective_name(object: &Object) -> String {
    if let Some(uri) = object.get("uri") {
        return uri.value.clone();
    }
    let name = &object.local;
    let (host, path) = name.find('/').and_then(|at| name.split_at_checked(at)).unwrap_or((name, ""));
    let host = object.get("vhost").map_or(host, |vhost| &vhost.value);
    let path = object.get("path").map_or(path, |path| &path.value);
    format!("{host}{path}")
}

/// What jk-config takes for a host.
fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let is_name =
        !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || matches!(c, '*' | '/' | '['));
    is_port && (is_name || (name == "*" && port.is_some()))
}
