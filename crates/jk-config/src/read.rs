//! One section after the other, from tables to specs. References are checked in [`crate::resolve`].

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::fields::{
    At, Entry, Fields, Zero, entries, group_name, listen_address, shown, worker_address, worker_name,
};
use crate::key::SECTIONS;
use crate::name::GroupName;
use crate::pattern::{check_pattern, expand};
use crate::problem::{Place, Problem, Problems, nearest};
use crate::section::{
    access_log, admin, bare_parameter, channel, forward_uri, group_spec, log, member, process, status,
};
use crate::spec::*;

/// What was read of all files, with names not yet followed.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) listeners: Vec<At<ListenerSpec>>,
    pub(crate) workers: Vec<At<DraftWorker>>,
    pub(crate) groups: Vec<At<GroupSpec>>,
    pub(crate) mappings: Vec<At<DraftMapping>>,
    pub(crate) hosts: Vec<At<DraftHost>>,
    pub(crate) status: Option<StatusSpec>,
    pub(crate) admin: Option<AdminSpec>,
    pub(crate) access_log: Option<AccessLogSpec>,
    pub(crate) log: Option<LogSpec>,
    pub(crate) process: Option<ProcessSpec>,
    pub(crate) group_secrets: BTreeMap<GroupName, Secret>,
    /// Whether a status edit may be found there: names of sections by file.
    pub(crate) defined: Vec<(String, usize)>,
}

#[derive(Debug)]
pub(crate) struct DraftWorker {
    pub(crate) spec: WorkerSpec,
    pub(crate) member: MemberSpec,
    pub(crate) groups: Vec<At<String>>,
}

#[derive(Debug)]
pub(crate) struct DraftMapping {
    /// Without targets resolved: the kind's target is filled later.
    pub(crate) pattern: String,
    pub(crate) written: String,
    pub(crate) excludes: bool,
    pub(crate) enabled: bool,
    pub(crate) target: At<String>,
    pub(crate) options: MappingOptions,
}

#[derive(Debug)]
pub(crate) struct DraftHost {
    pub(crate) names: Vec<At<HostPattern>>,
    pub(crate) inherit: bool,
    pub(crate) mappings: Vec<At<DraftMapping>>,
}

/// Reads one file's tables into the draft.
pub(crate) struct Reader<'p> {
    pub(crate) source: usize,
    /// Folder that relative paths start from; `None` for text that is no file.
    pub(crate) folder: Option<&'p Path>,
    pub(crate) problems: &'p mut Problems,
}

/// `[defaults.*]` tables of all files.
#[derive(Default)]
pub(crate) struct Defaults<'a> {
    pub(crate) ajp13: Option<Fields<'a>>,
    pub(crate) lb: Option<Fields<'a>>,
}

impl Reader<'_> {
    fn place(&self, span: std::ops::Range<usize>) -> Place {
        Place { source: self.source, span }
    }

    pub(crate) fn defaults<'a>(&mut self, root: &'a DeTable<'a>, defaults: &mut Defaults<'a>) {
        let Some(table) = root.get("defaults").map(|value| value.get_ref()) else { return };
        let Some(table) = table.as_table() else { return };
        for (name, span, value) in entries(table) {
            let place = self.place(span);
            let slot = match name {
                "ajp13" => &mut defaults.ajp13,
                "lb" => &mut defaults.lb,
                _ => {
                    self.problems.push(Problem::error(
                        place,
                        format!("[defaults.{name}] means nothing"),
                        "expected ajp13 or lb",
                    ));
                    continue;
                }
            };
            let Some(inner) = value.get_ref().as_table() else { continue };
            let fields = Fields::new((name, self.source), inner, place.clone(), self.problems);
            if let Some(first) = slot {
                let related = first.place.clone();
                self.problems.push(
                    Problem::error(place, format!("[defaults.{name}] stands twice"), "the second one")
                        .related(related, "the first one"),
                );
            } else {
                *slot = Some(fields);
            }
        }
    }

    pub(crate) fn sections<'a>(&mut self, root: &'a DeTable<'a>, defaults: &Defaults<'a>, draft: &mut Draft) {
        for entry in entries(root) {
            let (name, span, value) = entry.clone();
            match name {
                "include" | "defaults" => {}
                "listener" => {
                    self.each(entry, draft, |reader, name, table, draft| reader.listener(name, table, draft))
                }
                "ajp13" => self.each(entry, draft, |reader, name, table, draft| {
                    reader.worker(name, table, defaults.ajp13.as_ref(), draft);
                }),
                "lb" => self.each(entry, draft, |reader, name, table, draft| {
                    reader.group(name, table, defaults.lb.as_ref(), draft);
                }),
                "host" => {
                    self.each(entry, draft, |reader, name, table, draft| reader.host(name, table, draft))
                }
                "uri" => {
                    if let Some(table) = self.as_table(name, value) {
                        let mappings = self.mappings(table);
                        draft.mappings.extend(mappings);
                    }
                }
                "status" | "admin" | "access_log" | "log" | "process" => self.single(entry, draft),
                _ => {
                    let guess = nearest(name, SECTIONS.iter().copied());
                    let label = guess.map_or_else(
                        || "no such section".to_owned(),
                        |word| format!("did you mean [{word}]?"),
                    );
                    self.problems.push(
                        Problem::error(self.place(span), format!("unknown section \"{name}\""), label)
                            .help(format!("Sections are {}.", SECTIONS.join(", "))),
                    );
                }
            }
        }
    }

    fn as_table<'a>(&mut self, name: &str, value: &'a toml::Spanned<DeValue<'a>>) -> Option<&'a DeTable<'a>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            let found = shown(value.get_ref());
            let place = self.place(value.span());
            self.problems.push(
                Problem::error(
                    place,
                    format!("\"{name}\" is a section"),
                    format!("expected a table, found {found}"),
                )
                .help(format!("Write [{name}] on a line of its own, and its keys below it.")),
            );
        }
        table
    }

    /// A section of named tables.
    fn each<'a>(
        &mut self,
        (section, _, value): Entry<'a>,
        draft: &mut Draft,
        mut read: impl FnMut(&mut Self, At<&'a str>, &'a DeTable<'a>, &mut Draft),
    ) {
        let Some(table) = self.as_table(section, value) else { return };
        for (name, span, value) in entries(table) {
            let place = self.place(span);
            if let Some(inner) = value.get_ref().as_table() {
                draft.defined.push((format!("{section}.{name}"), self.source));
                read(self, At { value: name, place }, inner, draft);
            } else {
                self.problems.push(
                    Problem::error(place, format!("[{section}] has no keys of its own"), "expected a name")
                        .help(format!("Each {section} has a name: [{section}.NAME].")),
                );
            }
        }
    }

    fn name<T>(&mut self, name: &At<&str>, parse: fn(&str) -> Result<T, String>) -> Option<T> {
        match parse(name.value) {
            Ok(parsed) => Some(parsed),
            Err(rule) => {
                self.problems.push(Problem::error(name.place.clone(), "this cannot be a name", rule));
                None
            }
        }
    }

    fn listener<'a>(&mut self, name: At<&'a str>, table: &'a DeTable<'a>, draft: &mut Draft) {
        let fields = Fields::new(("listener", self.source), table, name.place.clone(), self.problems);
        let p = &mut *self.problems;
        let address = fields.parsed("address", p, listen_address).into_iter().next();
        if !fields.has("address") {
            p.push(missing(&name.place, "listener", "address", "address = \"0.0.0.0:8080\""));
        }
        let defaults = ListenerSpec::new(
            name.value,
            address.map_or_else(|| ListenAddress::Unix("/".into()), |address| address.value),
        );
        let spec = ListenerSpec {
            backlog: fields.number("listener", "backlog", defaults.backlog, p),
            header_timeout: fields.duration("header_timeout", defaults.header_timeout, Zero::Refused, p),
            idle_timeout: fields.duration("idle_timeout", defaults.idle_timeout, Zero::Refused, p),
            max_header_size: fields.size("max_header_size", 1024..(1 << 20) + 1, defaults.max_header_size, p),
            max_headers: usize::try_from(fields.number("listener", "max_headers", 100, p)).unwrap_or(100),
            max_connections: usize::try_from(fields.number("listener", "max_connections", 10_000, p))
                .unwrap_or(10_000),
            scheme: fields.choice("scheme", &[("http", Scheme::Http), ("https", Scheme::Https)], p),
            trusted_proxies: fields.networks("trusted_proxies", &[], p),
            ..defaults
        };
        draft.listeners.push(At { value: spec, place: name.place });
    }

    fn worker<'a>(
        &mut self,
        name: At<&'a str>,
        table: &'a DeTable<'a>,
        defaults: Option<&Fields<'a>>,
        draft: &mut Draft,
    ) {
        let fields =
            Fields::new(("ajp13", self.source), table, name.place.clone(), self.problems).over(defaults);
        let Some(worker) = self.name(&name, worker_name) else { return };
        if !fields.has("address") {
            self.problems.push(missing(&name.place, "worker", "address", "address = \"127.0.0.1:8009\""));
        }
        let address = fields.parsed("address", self.problems, worker_address).into_iter().next();
        let address = address.map_or_else(|| WorkerAddress::Unix("/".into()), |address| address.value);
        let secret = self.secret(&fields);
        let p = &mut *self.problems;
        let spec = WorkerSpec {
            channel: channel(&fields, p),
            secret,
            busy_limit: NonZeroU32::new(fields.number("ajp13", "busy_limit", 0, p)),
            method_by_name: fields.flag("method_by_name", false, p),
            fail_on_status: fields.statuses("fail_on_status", p).unwrap_or_default(),
            recovery: RecoveryOptions(
                u8::try_from(fields.number("ajp13", "recovery_options", 0, p)).unwrap_or(0),
            ),
            health_check: self.health_check(&fields),
            ..WorkerSpec::new(worker.clone(), address)
        };
        let member = member(&fields, worker, spec.busy_limit, self.problems);
        let groups = fields.texts("group", self.problems);
        draft.workers.push(At { value: DraftWorker { spec, member, groups }, place: name.place });
    }

    fn health_check(&mut self, fields: &Fields<'_>) -> Option<HealthCheck> {
        let (table, place) = fields.table(("health_check", "health_check"), self.problems)?;
        let own = Fields::new(("health_check", place.source), table, place, self.problems);
        let p = &mut *self.problems;
        let kind =
            own.choice("kind", &[("cping", false), ("request", true)], p).unwrap_or_else(|| own.has("path"));
        let statuses = own.statuses("status", p).map(|list| list.iter().map(|status| status.code).collect());
        let path = own.parsed("path", p, |path| {
            if path.starts_with('/') {
                Ok(path.to_owned())
            } else {
                Err("a path begins with a slash".to_owned())
            }
        });
        Some(HealthCheck {
            kind: if kind {
                HealthCheckKind::Request {
                    path: path.into_iter().next().map_or_else(|| "/".to_owned(), |path| path.value),
                    status: statuses.unwrap_or_else(|| vec![200]),
                }
            } else {
                HealthCheckKind::CPing
            },
            interval: own.duration("interval", Duration::from_secs(5), Zero::Refused, p),
            timeout: own.duration("timeout", Duration::from_secs(2), Zero::Refused, p),
            rise: own.number("health_check", "rise", 2, p),
            fall: own.number("health_check", "fall", 3, p),
        })
    }

    fn group<'a>(
        &mut self,
        name: At<&'a str>,
        table: &'a DeTable<'a>,
        defaults: Option<&Fields<'a>>,
        draft: &mut Draft,
    ) {
        let fields =
            Fields::new(("lb", self.source), table, name.place.clone(), self.problems).over(defaults);
        let Some(group) = self.name(&name, group_name) else { return };
        if let Some(secret) = self.secret(&fields) {
            draft.group_secrets.insert(group.clone(), secret);
        }
        let unavailable = self.unavailable(&fields);
        let mut spec = group_spec(&fields, group, self.problems);
        if let Some(unavailable) = unavailable {
            spec.unavailable = unavailable;
        }
        draft.groups.push(At { value: spec, place: name.place });
    }

    fn unavailable(&mut self, fields: &Fields<'_>) -> Option<Unavailable> {
        let (table, place) = fields.table(("unavailable", "unavailable"), self.problems)?;
        let own = Fields::new(("unavailable", place.source), table, place, self.problems);
        let status = own.number("unavailable", "status", 503, self.problems);
        let retry_after = own.maybe_duration("retry_after", self.problems);
        let page = own.text("page", self.problems).and_then(|path| self.file(&path, "page"));
        Some(Unavailable {
            status: u16::try_from(status).unwrap_or(503),
            retry_after,
            page: page.map(Arc::from),
        })
    }

    fn host<'a>(&mut self, name: At<&'a str>, table: &'a DeTable<'a>, draft: &mut Draft) {
        let fields = Fields::new(("host", self.source), table, name.place.clone(), self.problems);
        let mut names = Vec::new();
        match host_pattern(name.value) {
            Ok(value) => names.push(At { value, place: name.place.clone() }),
            Err(rule) => {
                self.problems.push(Problem::error(name.place.clone(), "this cannot be a host", rule))
            }
        }
        names.extend(fields.parsed("aliases", self.problems, host_pattern));
        let inherit = fields.flag("inherit", true, self.problems);
        let mappings = fields
            .table(("uri", "uri"), self.problems)
            .map(|(table, _)| self.mappings(table))
            .unwrap_or_default();
        draft.hosts.push(At { value: DraftHost { names, inherit, mappings }, place: name.place });
    }

    fn mappings<'a>(&mut self, table: &'a DeTable<'a>) -> Vec<At<DraftMapping>> {
        let mut mappings = Vec::new();
        for (written, span, value) in entries(table) {
            let place = self.place(span);
            let Some((target, options, mut enabled)) = self.mapping_value(value) else { continue };
            let (rest, minus) = written.strip_prefix('-').map_or((written, false), |rest| (rest, true));
            let (rest, excludes) = rest.strip_prefix('!').map_or((rest, false), |rest| (rest, true));
            enabled &= !minus;
            let patterns = expand(rest);
            for pattern in patterns {
                if let Err(rule) = check_pattern(&pattern, rest) {
                    self.problems.push(Problem::error(place.clone(), "this cannot be a URI pattern", rule));
                    break;
                }
                let mapping = DraftMapping {
                    pattern,
                    written: written.to_owned(),
                    excludes,
                    enabled,
                    target: target.clone(),
                    options: options.clone(),
                };
                mappings.push(At { value: mapping, place: place.clone() });
            }
        }
        mappings
    }

    /// `"target"` or a table with a target and extensions.
    fn mapping_value<'a>(
        &mut self,
        value: &'a toml::Spanned<DeValue<'a>>,
    ) -> Option<(At<String>, MappingOptions, bool)> {
        let place = self.place(value.span());
        if let Some(target) = value.get_ref().as_str() {
            return Some((At { value: target.to_owned(), place }, MappingOptions::default(), true));
        }
        let Some(table) = value.get_ref().as_table() else {
            let found = shown(value.get_ref());
            self.problems.push(
                Problem::error(place, "a pattern needs a target", format!("expected a target's name, found {found}"))
                    .help("Write \"/shop|/*\" = \"shop\", or \"/shop|/*\" = { group = \"shop\", reply_timeout = \"20m\" }."),
            );
            return None;
        };
        let fields = Fields::new(("uri", self.source), table, place.clone(), self.problems);
        let options = self.mapping_options(&fields);
        let enabled = fields.flag("enabled", true, self.problems);
        let target = fields.text("group", self.problems);
        if target.is_none() && !fields.has("group") {
            self.problems.push(missing(&place, "mapping", "group", "group = \"shop\""));
        }
        Some((target?, options, enabled))
    }

    fn mapping_options(&mut self, fields: &Fields<'_>) -> MappingOptions {
        let unavailable = self.unavailable(fields);
        let p = &mut *self.problems;
        let mut activation = BTreeMap::new();
        for (key, value) in [
            ("active", Activation::Active),
            ("disabled", Activation::Disabled),
            ("stopped", Activation::Stopped),
        ] {
            for name in fields.parsed(key, p, worker_name) {
                activation.insert(name.value, value);
            }
        }
        MappingOptions {
            reply_timeout: fields.or_never("reply_timeout", p),
            sticky_ignore: fields.flag("sticky_ignore", false, p),
            stateless: fields.flag("stateless", false, p),
            activation,
            fail_on_status: fields.statuses("fail_on_status", p),
            use_server_errors: fields
                .maybe_number("uri", "use_server_errors", p)
                .and_then(|n| u16::try_from(n).ok()),
            session_cookie: fields.text("session_cookie", p).map(|at| at.value),
            session_path: fields.text("session_path", p).map(|at| bare_parameter(&at.value)),
            set_session_cookie: fields.flag("set_session_cookie", false, p),
            no_retry: !fields.flag("retry", true, p),
            forward_uri: forward_uri(fields, p),
            encoded_slash: fields.choice(
                "encoded_slash",
                &[("reject", EncodedSlash::Reject), ("forward", EncodedSlash::Forward)],
                p,
            ),
            unavailable,
        }
    }

    /// A section that stands once.
    fn single<'a>(&mut self, (name, span, value): Entry<'a>, draft: &mut Draft) {
        let place = self.place(span);
        let Some(table) = self.as_table(name, value) else { return };
        let fields = Fields::new((name, self.source), table, place.clone(), self.problems);
        let twice = match name {
            "status" => {
                let users = self.users(&fields);
                draft.status.replace(status(&fields, users, self.problems))
            }
            .is_some(),
            "admin" => draft.admin.replace(admin(&fields, self.problems)).is_some(),
            "access_log" => draft.access_log.replace(access_log(&fields, self.problems)).is_some(),
            "log" => draft.log.replace(log(&fields, self.problems)).is_some(),
            _ => draft.process.replace(process(&fields, self.problems)).is_some(),
        };
        if twice {
            self.problems.push(Problem::error(
                place,
                format!("[{name}] stands in two files"),
                "the second one",
            ));
        }
    }
}

fn missing(place: &Place, what: &str, key: &str, example: &str) -> Problem {
    Problem::error(place.clone(), format!("this {what} has no {key}"), format!("expected {key}"))
        .help(format!("Add a line such as {example}."))
}

fn host_pattern(text: &str) -> Result<HostPattern, String> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']').ok_or("a bracket is missing")?;
            (name, port.strip_prefix(':'))
        }
        None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
    };
    let port = port
        .map(|port| port.parse::<u16>().ok().filter(|port| *port > 0).ok_or(format!("\"{port}\" is no port")))
        .transpose()?;
    match name {
        "*" if port.is_none() => {
            Err("\"*\" needs a port, such as \"*:8443\"; the global [uri] serves any name".to_owned())
        }
        "*" => Ok(HostPattern { name: None, port }),
        "" => Err("expected a name".to_owned()),
        _ if name.chars().any(|c| c.is_whitespace() || matches!(c, '/' | '*')) => {
            Err(format!("\"{name}\" is no host name"))
        }
        _ => Ok(HostPattern { name: Some(name.to_ascii_lowercase()), port }),
    }
}
