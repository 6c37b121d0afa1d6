//! The effective configuration as TOML: every value, and where it came from.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::config::Config;
use crate::key::keys_of;
use crate::origin::Origins;
use crate::problem::Source;
use crate::spec::{HostSpec, MappingKind, MappingSpec};
use crate::text::{host_text, list, quoted, table_key, target_text};
use crate::values::{self, Row};

/// Every effective value of a configuration, each with its place or the word "default". A secret's place is shown, the secret never.
///
/// `sources` are the texts that count, `originals` the files as they are: [`crate::Loaded`] has both.
#[must_use]
pub fn dump(config: &Config, sources: &[Source], originals: &[Source]) -> String {
    let mut dump = Dump {
        out: "# Effective values, and where each came from. Secrets are left out.\n".to_owned(),
        origins: Origins::new(sources, originals),
    };
    for spec in config.listeners() {
        dump.section("listener", &["listener", &spec.name], values::listener(spec));
    }
    for spec in config.groups().values() {
        let name = spec.name.as_str();
        dump.section("lb", &["lb", name], values::group(spec));
        dump.section("unavailable", &["lb", name, "unavailable"], values::unavailable(&spec.unavailable));
    }
    // A group's members are in the order of their files.
    let mut workers: Vec<_> = config.workers().values().collect();
    workers.sort_by_key(|spec| dump.origins.order(&["ajp13", spec.name.as_str()]));
    for spec in workers {
        let name = spec.name.as_str();
        dump.section("ajp13", &["ajp13", name], values::worker(config, spec));
        if let Some(check) = &spec.health_check {
            dump.section("health_check", &["ajp13", name, "health_check"], values::health_check(check));
        }
    }
    dump.mappings(&["uri"], config.mappings());
    for host in config.hosts() {
        dump.host(host);
    }
    for (name, rows) in [
        ("status", values::status(config.status())),
        ("admin", values::admin(config.admin())),
        ("access_log", values::access_log(config.access_log())),
        ("log", values::log(config.log())),
        ("process", values::process(config.process())),
    ] {
        dump.section(name, &[name], rows);
    }
    dump.out
}

struct Dump<'a> {
    out: String,
    origins: Origins<'a>,
}

/// Comments begin here at the least.
const COLUMN: usize = 44;

impl Dump<'_> {
    fn section(&mut self, kind: &str, path: &[&str], mut rows: Vec<Row>) {
        self.title(path);
        rows.extend(self.named_files(path));
        let place = |(key, _): &Row| keys_of(kind).position(|known| known.name == *key);
        rows.sort_by_key(place);
        for (key, value) in rows {
            let Some(value) = value else { continue };
            let origin = self.origin(kind, path, key);
            self.line(&format!("{key} = {value}"), &origin);
        }
        if let Some(origin) = self.find(path, "secret") {
            self.line("#secret = \"…\"", &origin);
        }
    }

    fn title(&mut self, path: &[&str]) {
        let names: Vec<String> = path.iter().map(|name| table_key(name)).collect();
        let _infallible = writeln!(self.out, "\n[{}]", names.join("."));
    }

    fn line(&mut self, text: &str, origin: &str) {
        let _infallible = writeln!(self.out, "{text:COLUMN$}  # {origin}");
    }

    /// Of what a file or a variable holds, the configuration keeps the content only; its name is in the text.
    fn named_files(&self, path: &[&str]) -> Vec<Row> {
        let mut rows = Vec::new();
        for key in ["secret_file", "users_file", "page", "secret_env"] {
            let Some(at) = self.places(path, key).into_iter().find(|place| self.origins.has(&refs(place)))
            else {
                continue;
            };
            let value = match key {
                "secret_env" => self.origins.text(&refs(&at)).map(str::to_owned),
                _ => self.origins.file(&refs(&at)),
            };
            rows.push((key, value.as_deref().map(quoted)));
        }
        rows
    }

    /// Where a key of a table may stand: in the table itself, or where it has its defaults from.
    fn places(&self, path: &[&str], key: &str) -> Vec<Vec<String>> {
        let own = |path: &[&str]| path.iter().chain([&key]).map(|part| (*part).to_owned()).collect();
        let mut places = vec![own(path)];
        let ["ajp13" | "lb", _, rest @ ..] = path else { return places };
        // A table of its own, such as health_check, comes as a whole from one or the other; so do the ways to a secret.
        let is_whole = !rest.is_empty() && self.origins.has(path);
        let secrets = ["secret", "secret_file", "secret_env"];
        let has = |key: &&str| self.origins.has(&[path, &[*key]].concat());
        let has_secret = secrets.contains(&key) && secrets.iter().any(has);
        if !is_whole && !has_secret {
            let kind = path.first().copied().unwrap_or_default();
            places.push(own(&[&["defaults", kind], rest].concat()));
        }
        places
    }

    fn find(&self, path: &[&str], key: &str) -> Option<String> {
        let mut places = self.places(path, key).into_iter();
        let place = places.find(|place| self.origins.has(&refs(place)))?;
        let line = self.origins.line(&refs(&place))?;
        let is_default = place.first().is_some_and(|first| first == "defaults");
        Some(if is_default { format!("{line}, [defaults.{}]", place.get(1)?) } else { line })
    }

    /// Where a value came from: its own line, that of the key it follows, or the program.
    fn origin(&self, kind: &str, path: &[&str], key: &str) -> String {
        if let Some(line) = self.find(path, key) {
            return line;
        }
        if let Some((other, line)) =
            follows(key).iter().find_map(|other| Some((other, self.find(path, other)?)))
        {
            return format!("{line}, from {other}");
        }
        let default = keys_of(kind).find(|known| known.name == key).map_or("", |known| known.default);
        let is_prose = default.contains(' ') && !default.starts_with(['"', '[', '\'']);
        if is_prose { format!("default: {default}") } else { "default".to_owned() }
    }

    fn host(&mut self, host: &HostSpec) {
        let mut names = host.names.iter().map(host_text);
        let name = names.next().unwrap_or_default();
        let path = ["host", name.as_str()];
        let inherit = host.inherit.to_string();
        self.section("host", &path, vec![("aliases", Some(list(names))), ("inherit", Some(inherit))]);
        self.mappings(&["host", &name, "uri"], &host.mappings);
    }

    fn mappings(&mut self, path: &[&str], mappings: &[MappingSpec]) {
        self.title(path);
        let mut seen: HashSet<&str> = HashSet::new();
        let mut last = ("", "");
        for mapping in mappings {
            let now = (mapping.written.as_str(), mapping.origin.as_str());
            // The bar form is two rules of one line.
            if std::mem::replace(&mut last, now) == now {
                continue;
            }
            let text = format!("{} = {}", quoted(&mapping.written), self.mapping(path, mapping));
            // The same pattern in two files: TOML knows a key once.
            if seen.insert(&mapping.written) {
                self.line(&text, &mapping.origin);
            } else {
                self.line(&format!("#{text}"), &format!("{}, never wins", mapping.origin));
            }
        }
    }

    fn mapping(&self, path: &[&str], mapping: &MappingSpec) -> String {
        let target = match &mapping.kind {
            MappingKind::Map(target) | MappingKind::Exclude(Some(target)) => target_text(target),
            MappingKind::Exclude(None) => "*",
        };
        let mut parts = vec![("group", quoted(target))];
        let set = |(key, value): Row| Some((key, value?));
        parts.extend(values::mapping(mapping).into_iter().filter_map(set));
        if let Some(unavailable) = &mapping.options.unavailable {
            let own = [path, &[mapping.written.as_str(), "unavailable"]].concat();
            let mut rows = values::unavailable(unavailable);
            rows.extend(self.named_files(&own));
            parts.push(("unavailable", inline(rows.into_iter().filter_map(set))));
        }
        if parts.len() == 1 { quoted(target) } else { inline(parts.into_iter()) }
    }
}

/// Keys whose value is taken for a key that is not set.
fn follows(key: &str) -> &'static [&'static str] {
    match key {
        "connect_timeout" | "prepost_timeout" => &["ping_timeout", "ping_mode"],
        "ping_mode" => &["connect_timeout", "prepost_timeout"],
        "error_escalation_time" => &["recover_time"],
        "domain" => &["route"],
        "kind" => &["path"],
        _ => &[],
    }
}

fn inline(parts: impl Iterator<Item = (&'static str, String)>) -> String {
    let parts: Vec<String> = parts.map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", parts.join(", "))
}

fn refs(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}
