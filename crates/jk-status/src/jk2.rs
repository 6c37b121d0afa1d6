//! The read-only queries of mod_jk2's status page, so that what was written for it still finds its way: `lst=`, `dmp=`, `qry=`,
//! `get=`, the configuration pages and the scoreboard. What changed something there (`set=`, `inv=`, `rld=`, `scoreboard.reset`) is a
//! change here, too, and falls under the rules for changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::command::{Cmd, Mime, decode};
use crate::legacy::text_value;
use crate::view::{Activation, Ajp, Mapping, Member, StatusView};

/// A query by its first word, which counts only at the very start and in its own case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Query {
    /// `lst=`: names of objects and of their attributes.
    List(String),
    /// `dmp=`: the values.
    Dump(String),
    /// `qry=`: the text form of Tomcat's JMX proxy.
    Mx(String),
    /// `get=OBJECT|ATTRIBUTE`.
    Get(String),
    /// `cfgOrig=`, `cfgParsed=`: the configuration in force.
    Configuration,
    /// `rld=`.
    Reload,
    /// `set=`, `inv=`: refused, as the objects are not ours.
    Set,
    /// `scoreboard.reset`.
    Reset,
}

impl Query {
    pub(crate) fn parse(query: &str) -> Option<Self> {
        let first = query.split('&').next().unwrap_or_default();
        if first == "scoreboard.reset" {
            return Some(Self::Reset);
        }
        let (word, value) = first.split_once('=')?;
        let value = || decode(value).unwrap_or_else(|| value.to_owned());
        Some(match word {
            "lst" => Self::List(value()),
            "dmp" => Self::Dump(value()),
            "qry" => Self::Mx(value()),
            "get" => Self::Get(value()),
            "cfgOrig" | "cfgParsed" => Self::Configuration,
            "rld" => Self::Reload,
            "set" | "inv" => Self::Set,
            _ => return None,
        })
    }

    /// The command that this is here; `None`: what else the query says.
    pub(crate) fn cmd(&self) -> Option<Cmd> {
        match self {
            Self::List(_) | Self::Dump(_) | Self::Mx(_) | Self::Get(_) | Self::Configuration => {
                Some(Cmd::List)
            }
            Self::Set => Some(Cmd::Update),
            Self::Reset => Some(Cmd::Reset),
            Self::Reload => None,
        }
    }

    pub(crate) fn mime(&self) -> Option<Mime> {
        match self {
            Self::List(_) | Self::Dump(_) | Self::Mx(_) | Self::Get(_) | Self::Set => Some(Mime::Txt),
            Self::Configuration => Some(Mime::Toml),
            Self::Reload | Self::Reset => None,
        }
    }

    /// The answer to a text query; `None`: this is none.
    pub(crate) fn answer(&self, view: &StatusView) -> Option<String> {
        let objects = objects(view);
        let named = |pattern: &str| {
            let (prefix, is_prefix) = match pattern.strip_suffix('*') {
                Some(prefix) => (prefix.to_owned(), true),
                None => (pattern.to_owned(), false),
            };
            objects.iter().filter(move |object| {
                if is_prefix { object.name.starts_with(&prefix) } else { object.name == prefix }
            })
        };
        Some(match self {
            Self::List(pattern) => named(pattern).map(Object::list).collect(),
            Self::Dump(pattern) => named(pattern).enumerate().map(|(id, object)| object.dump(id)).collect(),
            Self::Mx(pattern) => {
                let blocks: String = named(pattern).map(Object::mx).collect();
                format!("MXAgent: mod_jk2\n\n{blocks}")
            }
            Self::Get(what) => get(&objects, what),
            Self::Configuration | Self::Reload | Self::Set | Self::Reset => return None,
        })
    }
}

/// `ajp13:t1`, with what there is to know of it.
struct Object {
    kind: &'static str,
    name: String,
    attributes: Vec<(&'static str, String)>,
}

impl Object {
    fn new(kind: &'static str, name: &str, attributes: Vec<(&'static str, String)>) -> Self {
        Self { kind, name: format!("{kind}:{}", text_value(name)), attributes }
    }

    fn list(&self) -> String {
        let mut out = format!("[{}]\nT={}\n", self.name, self.kind);
        for (attribute, _) in &self.attributes {
            let _infallible = writeln!(out, "G={attribute}");
        }
        out.push('\n');
        out
    }

    fn dump(&self, id: usize) -> String {
        let mut out = format!("[{}]\nId={id}\n", self.name);
        for (attribute, value) in &self.attributes {
            let _infallible = writeln!(out, "{attribute}={}", text_value(value));
        }
        out.push('\n');
        out
    }

    fn mx(&self) -> String {
        let local = self.name.split_once(':').map(|(_, local)| local).unwrap_or_default();
        let mut name = String::new();
        if local.contains([',', '=', ':', '"', '*', '?', '\\']) {
            for c in local.chars() {
                if matches!(c, '"' | '*' | '?' | '\\') {
                    name.push('\\');
                }
                name.push(c);
            }
            name = format!("\"{name}\"");
        } else {
            name.push_str(local);
        }
        let mut out =
            format!("Name: modjk:type={0},name={name}\nmodelerType: org.apache.jk.modjk.{0}\n", self.kind);
        for (attribute, value) in &self.attributes {
            let _infallible = writeln!(out, "{attribute}: {}", text_value(value));
        }
        out.push('\n');
        out
    }
}

fn get(objects: &[Object], what: &str) -> String {
    let Some((name, attribute)) = what.rsplit_once('|') else {
        return "ERROR: no attribute named; write get=OBJECT|ATTRIBUTE\n".to_owned();
    };
    let shown = text_value(name);
    let Some(object) = objects.iter().find(|object| object.name == name) else {
        return format!("ERROR|mbean not found|{shown}\n");
    };
    match object.attributes.iter().find(|(known, _)| *known == attribute) {
        Some((known, value)) => format!("OK|{shown}|{known}|{}\n", text_value(value)),
        None => format!("ERROR|attribute not found|{shown}|{}\n", text_value(attribute)),
    }
}

/// mod_jk2's types in its order: workers, their channels, groups, rules, and the page itself.
fn objects(view: &StatusView) -> Vec<Object> {
    let mut workers: BTreeMap<&str, (&Ajp, Option<&Member>, String)> = BTreeMap::new();
    for group in &view.groups {
        for member in &group.members {
            let entry = workers.entry(&member.ajp.name).or_insert((&member.ajp, Some(member), String::new()));
            let _infallible = write!(entry.2, ":{}", group.name);
        }
    }
    for worker in &view.workers {
        workers.entry(&worker.ajp.name).or_insert((&worker.ajp, None, String::new()));
    }
    let mut all: Vec<Object> =
        workers.values().map(|(ajp, member, groups)| worker(ajp, *member, groups)).collect();
    let mut channels: Vec<&Ajp> = workers.values().map(|(ajp, ..)| *ajp).collect();
    channels.sort_by_key(|ajp| &ajp.address);
    channels.dedup_by_key(|ajp| &ajp.address);
    all.extend(channels.into_iter().map(|ajp| {
        let attributes = vec![("host", ajp.host.clone()), ("port", ajp.port.to_string())];
        Object::new("channel.socket", &ajp.address, attributes)
    }));
    all.extend(view.groups.iter().map(|group| {
        let attributes = vec![
            ("method", group.method.clone()),
            ("stickySession", u8::from(group.sticky).to_string()),
            ("recovery", group.recover_time.to_string()),
            ("workers", group.members.len().to_string()),
        ];
        Object::new("lb", &group.name, attributes)
    }));
    let mappings = view.groups.iter().flat_map(|group| &group.mappings);
    let mappings = mappings.chain(view.workers.iter().flat_map(|worker| &worker.mappings));
    all.extend(mappings.chain(&view.own_mappings).map(uri));
    all.push(Object::new("status", "", vec![("version", view.software.clone())]));
    all
}

fn worker(ajp: &Ajp, member: Option<&Member>, groups: &str) -> Object {
    let flag = |flag: bool| u8::from(flag).to_string();
    let mut attributes =
        vec![("channel", format!("channel.socket:{}", ajp.address)), ("groups", groups.to_owned())];
    if let Some(member) = member {
        attributes.extend([
            ("level", member.distance.to_string()),
            ("lbfactor", member.lbfactor.to_string()),
            ("lb_value", member.value.to_string()),
            ("route", member.route.clone()),
            ("routeRedirect", member.redirect.clone()),
            ("graceful", flag(member.activation == Activation::Disabled)),
            ("disabled", flag(member.activation == Activation::Stopped)),
            ("errorState", flag(member.state.starts_with("ERR"))),
        ]);
    }
    attributes.extend([
        ("errorTime", ajp.error_at.unwrap_or(0).to_string()),
        ("epCount", ajp.idle.to_string()),
        ("connected", ajp.connected.to_string()),
        ("busy", ajp.busy.to_string()),
        ("requests", ajp.elected.to_string()),
        ("errors", ajp.errors.to_string()),
        ("transferred", ajp.transferred.to_string()),
        ("read", ajp.read.to_string()),
        ("connectTimeout", ajp.connect_timeout.to_string()),
        ("replyTimeout", ajp.reply_timeout.to_string()),
        ("prepostTimeout", ajp.prepost_timeout.to_string()),
    ]);
    Object::new("ajp13", &ajp.name, attributes)
}

fn uri(mapping: &Mapping) -> Object {
    let host = if mapping.server.is_empty() { "*" } else { &mapping.server };
    let attributes = vec![
        ("host", host.to_owned()),
        ("uri", mapping.uri.clone()),
        ("group", mapping.target.clone()),
        ("match_type", mapping.kind()),
        ("disabled", u8::from(!mapping.enabled).to_string()),
    ];
    let name = if mapping.server.is_empty() { mapping.uri.clone() } else { format!("{host}{}", mapping.uri) };
    Object::new("uri", &name, attributes)
}
