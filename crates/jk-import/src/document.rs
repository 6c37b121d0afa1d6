//! The result as it will stand in workers.toml: sections with their keys, aligned, and with comments that say where each came from.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::report::{Note, NoteKind};

/// Everything that is to be written, in the order in which it was found.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// What it was made from.
    pub(crate) sources: Vec<String>,
    pub(crate) listeners: Vec<Table>,
    pub(crate) group_defaults: Table,
    pub(crate) worker_defaults: Table,
    pub(crate) groups: Vec<Table>,
    pub(crate) workers: Vec<Table>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) status: Table,
    pub(crate) access_log: Table,
    pub(crate) log: Table,
}

/// One section.
#[derive(Debug, Default, Clone)]
pub(crate) struct Table {
    /// The part behind the first dot; unused where a section stands once.
    pub(crate) name: String,
    /// Comment lines before the section.
    pub(crate) above: Vec<String>,
    /// Comment behind the section's name.
    pub(crate) origin: String,
    pub(crate) keys: Vec<Key>,
}

#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: String,
    /// As TOML.
    pub(crate) value: String,
    pub(crate) comment: String,
}

/// A mapping.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rule {
    pub(crate) above: Vec<String>,
    /// With `!`, `-` and `|` as in workers.toml.
    pub(crate) pattern: String,
    pub(crate) target: String,
    /// Extensions with values as TOML.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) comment: String,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) above: Vec<String>,
    pub(crate) origin: String,
    pub(crate) aliases: Vec<String>,
    /// Says why, if the host does not see the global mappings.
    pub(crate) alone: Option<String>,
    pub(crate) rules: Vec<Rule>,
}

impl Table {
    /// Replaces what was set before.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>, comment: impl Into<String>) {
        let key = Key { name: name.to_owned(), value: value.into(), comment: comment.into() };
        match self.keys.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = key,
            None => self.keys.push(key),
        }
    }

    /// A value without its quotes.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let value = self.get(name)?;
        let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
            return Some(value.to_owned());
        };
        Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.keys.iter().find(|key| key.name == name).map(|key| key.value.as_str())
    }
}

impl Document {
    /// A host that two files name is the first one's. One sentence for each name that was taken away.
    pub(crate) fn drop_repeated_hosts(&mut self) -> Vec<String> {
        let mut taken = HashSet::new();
        let mut sentences = Vec::new();
        self.hosts.retain_mut(|host| {
            let mut names = std::mem::take(&mut host.aliases);
            names.insert(0, std::mem::take(&mut host.name));
            names.retain(|name| {
                let is_new = taken.insert(name.clone());
                if !is_new {
                    sentences.push(format!(
                        "host {} stands twice; the first one counts ({})",
                        name.escape_debug(),
                        host.origin
                    ));
                }
                is_new
            });
            let has_names = !names.is_empty();
            if has_names {
                host.name = names.remove(0);
                host.aliases = names;
            }
            has_names
        });
        sentences
    }

    /// Rules that lead to nobody get a group without members, so that no other rule serves what they match.
    pub(crate) fn settle_nobodies(&mut self, names: &mut Names) {
        let of_hosts = self.hosts.iter_mut().map(|host| &mut host.rules);
        let mut settled: HashMap<String, String> = HashMap::new();
        for rule in std::iter::once(&mut self.rules).chain(of_hosts).flatten() {
            let Some(wanted) = rule.target.strip_prefix(NOBODY) else { continue };
            if !settled.contains_key(wanted) {
                let name = names.claim(wanted);
                settled.insert(wanted.to_owned(), name.clone());
                let origin = "no worker that serves; mod_jk answered 500".to_owned();
                self.groups.push(Table { name, origin, ..Table::default() });
            }
            if let Some(name) = settled.get(wanted) {
                rule.target.clone_from(name);
            }
        }
    }

    /// Rules whose patterns no request can match here are left out. One sentence for each.
    pub(crate) fn drop_impossible_rules(&mut self) -> Vec<String> {
        let mut sentences = Vec::new();
        let of_hosts = self.hosts.iter_mut().map(|host| &mut host.rules);
        for rules in std::iter::once(&mut self.rules).chain(of_hosts) {
            rules.retain(|rule| {
                let bare = rule.pattern.strip_prefix('-').unwrap_or(&rule.pattern);
                let checked = jk_config::check_uri_pattern(bare.strip_prefix('!').unwrap_or(bare));
                let sentence =
                    |why| format!("{} is left out: {why} ({})", rule.pattern.escape_debug(), rule.comment);
                sentences.extend(checked.as_ref().err().map(sentence));
                checked.is_ok()
            });
        }
        sentences
    }

    /// No two members of a group have one route: the second one's becomes its name, or what is like it. One sentence for each.
    pub(crate) fn part_routes(&mut self) -> Vec<String> {
        let mut sentences = Vec::new();
        for group in &self.groups {
            let member = format!("\"{}\"", group.name);
            let mut taken: HashSet<String> = HashSet::new();
            let members =
                |worker: &&mut Table| worker.get("group").is_some_and(|groups| groups.contains(&member));
            for worker in self.workers.iter_mut().filter(members) {
                let wanted = worker.text("route").unwrap_or_else(|| worker.name.clone());
                if taken.insert(wanted.clone()) {
                    continue;
                }
                let own =
                    std::iter::once(worker.name.clone()).chain((2..).map(|n| format!("{}-{n}", worker.name)));
                let own = own.into_iter().find(|route| taken.insert(route.clone())).unwrap_or_default();
                worker.set("route", quoted(&own), format!("{wanted} is another member's"));
                sentences.push(format!(
                    "route \"{wanted}\" stands twice in group \"{}\"; its sessions go to the first one. Give the Tomcat of worker \"{}\" the jvmRoute \"{own}\"",
                    group.name, worker.name
                ));
            }
        }
        sentences
    }

    /// What all workers say alike is said once.
    pub(crate) fn factor_out_defaults(&mut self) {
        let [first, rest @ ..] = self.workers.as_slice() else { return };
        if rest.is_empty() {
            return;
        }
        let of_each = ["address", "group", "route", "activation", "redirect", "domain"];
        let common: Vec<Key> = first
            .keys
            .iter()
            .filter(|key| !of_each.contains(&key.name.as_str()))
            .filter(|key| rest.iter().all(|worker| worker.get(&key.name) == Some(key.value.as_str())))
            .cloned()
            .collect();
        for worker in &mut self.workers {
            worker.keys.retain(|key| !common.iter().any(|common| common.name == key.name));
        }
        for key in common {
            self.worker_defaults.set(&key.name, key.value, key.comment);
        }
    }

    pub(crate) fn render(&self, notes: &[Note]) -> String {
        let mut out = String::new();
        let sources = if self.sources.is_empty() { "nothing".to_owned() } else { self.sources.join(", ") };
        line(&mut out, "", &format!("Made by jkgate import from {sources}."));
        for listener in &self.listeners {
            section(&mut out, &format!("listener.{}", key(&listener.name)), listener);
        }
        for (name, table) in
            [("defaults.lb", &self.group_defaults), ("defaults.ajp13", &self.worker_defaults)]
        {
            if !table.keys.is_empty() {
                section(&mut out, name, table);
            }
        }
        for group in &self.groups {
            section(&mut out, &format!("lb.{}", key(&group.name)), group);
        }
        for worker in &self.workers {
            section(&mut out, &format!("ajp13.{}", key(&worker.name)), worker);
        }
        mappings(&mut out, "uri", &self.rules);
        for host in &self.hosts {
            host.render(&mut out);
        }
        for (name, table) in [("status", &self.status), ("access_log", &self.access_log), ("log", &self.log)]
        {
            if !table.keys.is_empty() {
                section(&mut out, name, table);
            }
        }
        remarks(&mut out, notes);
        out
    }
}

impl Host {
    fn render(&self, out: &mut String) {
        let mut table = Table { above: self.above.clone(), origin: self.origin.clone(), ..Table::default() };
        if !self.aliases.is_empty() {
            table.set("aliases", texts(&self.aliases), "");
        }
        if let Some(why) = &self.alone {
            table.set("inherit", "false", why.as_str());
        }
        section(out, &format!("host.{}", quoted(&self.name)), &table);
        mappings(out, &format!("host.{}.uri", quoted(&self.name)), &self.rules);
    }
}

fn section(out: &mut String, name: &str, table: &Table) {
    out.push('\n');
    for text in &table.above {
        line(out, "", text);
    }
    let title = format!("[{name}]");
    let width = table.keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
    let lines: Vec<(String, &str)> = table
        .keys
        .iter()
        .map(|key| (format!("{:width$} = {}", key.name, key.value), key.comment.as_str()))
        .collect();
    let rows: Vec<(&str, &str)> = std::iter::once((title.as_str(), table.origin.as_str()))
        .chain(lines.iter().map(|(text, comment)| (text.as_str(), *comment)))
        .collect();
    aligned(out, &rows);
}

fn mappings(out: &mut String, name: &str, rules: &[Rule]) {
    if rules.is_empty() {
        return;
    }
    let _infallible = write!(out, "\n[{name}]\n");
    // TOML knows no second key of one name. Those who make rules say so before it comes to that.
    let mut seen = HashSet::new();
    let rules: Vec<&Rule> = rules.iter().filter(|rule| seen.insert(rule.pattern.as_str())).collect();
    let lengths = rules.iter().map(|rule| quoted(&rule.pattern).chars().count());
    let width = lengths.filter(|length| *length <= WIDEST).max().unwrap_or(0);
    let lines: Vec<String> =
        rules.iter().map(|rule| format!("{:width$} = {}", quoted(&rule.pattern), value(rule))).collect();
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for (rule, text) in rules.iter().zip(&lines) {
        if !rule.above.is_empty() {
            aligned(out, &std::mem::take(&mut rows));
            for text in &rule.above {
                line(out, "", text);
            }
        }
        rows.push((text, &rule.comment));
    }
    aligned(out, &rows);
}

fn value(rule: &Rule) -> String {
    let target = quoted(&rule.target);
    if rule.options.is_empty() {
        return target;
    }
    let options: Vec<String> = rule.options.iter().map(|(key, value)| format!(", {key} = {value}")).collect();
    format!("{{ group = {target}{} }}", options.concat())
}

/// Lines with their comments in one column; very long lines do not push the others' comments away.
fn aligned(out: &mut String, rows: &[(&str, &str)]) {
    let lengths =
        rows.iter().filter(|(_, comment)| !comment.is_empty()).map(|(text, _)| text.chars().count());
    let column = lengths.filter(|length| *length <= WIDEST).max().unwrap_or(0);
    for (text, comment) in rows {
        if comment.is_empty() {
            out.push_str(text);
            out.push('\n');
        } else {
            line(out, &format!("{text:column$}    "), comment);
        }
    }
}

/// A comment behind a text. What cannot stand in a comment is shown as a question mark.
fn line(out: &mut String, before: &str, comment: &str) {
    let plain = |c| match c {
        '\t' => ' ',
        c if char::is_control(c) => '?',
        c => c,
    };
    let comment: String = comment.chars().map(plain).collect();
    let _infallible = writeln!(out, "{before}# {comment}");
}

/// What cannot be seen in the sections: what was left out, and what to look at.
fn remarks(out: &mut String, notes: &[Note]) {
    for (kind, title) in [
        (NoteKind::Warning, "Look at these:"),
        (NoteKind::Changed, "Means something else here, or acts for the first time:"),
        (NoteKind::Dropped, "Left out, because it has no meaning here:"),
    ] {
        let mut seen = HashSet::new();
        let notes = notes.iter().filter(|note| note.kind == kind);
        for (index, note) in notes.filter(|note| seen.insert((&note.path, note.line, &note.text))).enumerate()
        {
            if index == 0 {
                out.push('\n');
                line(out, "", title);
            }
            let name =
                note.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let place = if note.line > 0 { format!("{name}:{}", note.line) } else { name };
            line(out, "", &format!("  {place}: {}", note.text));
        }
    }
}

/// Names of sections: groups, workers and the gateway's own pages share one space.
#[derive(Debug)]
pub(crate) struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Default for Names {
    fn default() -> Self {
        Self { taken: ["status", "metrics"].map(str::to_owned).into(), next: HashMap::new() }
    }
}

impl Names {
    pub(crate) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }

    /// The wanted name, or one as near to it as workers.toml allows.
    pub(crate) fn claim(&mut self, wanted: &str) -> String {
        let mut name = fitting(wanted);
        if !self.is_free(&name) {
            let base: String = name.chars().take(jk_config::MAX_NAME - 8).collect();
            let next = self.next.entry(base.clone()).or_insert(2);
            while self.taken.contains(&name) {
                name = format!("{base}-{next}");
                *next += 1;
            }
        }
        self.taken.insert(name.clone());
        name
    }
}

/// What jk-config takes for a name.
fn fitting(wanted: &str) -> String {
    let name: String = wanted
        .trim_matches('/')
        .chars()
        .map(|c| if c.is_ascii_graphic() && !"\"';,<>&/".contains(c) { c } else { '_' })
        .take(jk_config::MAX_NAME)
        .collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// In front of the target of a rule that leads to nobody, until [`Document::settle_nobodies`]; no name holds it.
const NOBODY: char = '\0';

pub(crate) fn nobody(wanted: &str) -> String {
    format!("{NOBODY}{wanted}")
}

/// Whether jk-config takes it as it is, for a name or a route.
pub(crate) fn is_name(text: &str) -> bool {
    jk_config::WorkerName::new(text).is_some()
}

fn key(name: &str) -> String {
    let bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if bare { name.to_owned() } else { quoted(name) }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _infallible = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A list of texts; one alone needs no brackets where workers.toml takes either.
pub(crate) fn texts(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", items.join(", "))
}

pub(crate) fn text_or_texts(items: &[String]) -> String {
    match items {
        [one] => quoted(one),
        many => texts(many),
    }
}

const WIDEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_what_workers_toml_takes_and_stay_apart() {
        let mut names = Names::default();
        for (wanted, got) in [
            ("web", "web"),
            ("web", "web-2"),
            ("web", "web-3"),
            ("status", "status-2"),
            ("127.0.0.1:8009", "127.0.0.1:8009"),
            ("/run/tomcat/a.sock", "run_tomcat_a.sock"),
            ("", "unnamed"),
        ] {
            assert_eq!(names.claim(wanted), got);
        }
        let long = "x".repeat(200);
        assert!(is_name(&names.claim(&long)) && is_name(&names.claim(&long)));
    }

    #[test]
    fn comments_stand_in_one_column() {
        let mut table = Table { name: "a".to_owned(), origin: "was [lb:a]".to_owned(), ..Table::default() };
        table.set("method", "\"next\"", "");
        table.set("recover_time", "\"30s\"", "recovery=30");
        let mut out = String::new();
        section(&mut out, "lb.a", &table);
        assert_eq!(
            out,
            "\n[lb.a]                  # was [lb:a]\nmethod       = \"next\"\nrecover_time = \"30s\"    # recovery=30\n"
        );
    }
}
