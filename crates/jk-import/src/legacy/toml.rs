//! The result: what is to be written, and how it looks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::legacy::note::Problem;

/// Everything that was found, in the order in which it was found.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) groups: Vec<Section>,
    pub(crate) workers: Vec<Section>,
    pub(crate) mappings: Vec<Mapping>,
    /// Hosts by name.
    pub(crate) hosts: Vec<(String, Host)>,
    pub(crate) status: Vec<(String, String)>,
    /// Legacy names that mean the status page.
    pub(crate) status_names: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) aliases: Vec<String>,
    pub(crate) inherit: bool,
    pub(crate) mappings: Vec<Mapping>,
}

/// `[lb.NAME]` or `[ajp13.NAME]`.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) origin: String,
    /// Keys with values as TOML.
    pub(crate) keys: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Mapping {
    /// With `!`, `-` and `|` as in workers.toml.
    pub(crate) pattern: String,
    pub(crate) target: String,
    /// Extensions with values as TOML.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

impl Section {
    pub(crate) fn set(&mut self, key: &str, value: String) {
        self.keys.retain(|(known, _)| known != key);
        self.keys.push((key.to_owned(), value));
    }
}

impl Draft {
    /// Every mapping must lead somewhere.
    pub(crate) fn check_targets(&mut self, problems: &mut Vec<Problem>) {
        let mut names: Vec<String> =
            self.groups.iter().chain(&self.workers).map(|section| section.name.clone()).collect();
        names.push("status".to_owned());
        let status_names = self.status_names.clone();
        let hosts = self.hosts.iter_mut().flat_map(|(_, host)| &mut host.mappings);
        for mapping in self.mappings.iter_mut().chain(hosts) {
            if status_names.contains(&mapping.target) {
                mapping.target = "status".to_owned();
            }
            let for_all = mapping.target == "*" && mapping.pattern.contains('!');
            if !for_all && !names.contains(&mapping.target) {
                problems.push(Problem {
                    path: mapping.file.clone(),
                    line: mapping.line,
                    column: 1,
                    id: None,
                    title: format!(
                        "\"{}\" leads to \"{}\", which is not defined",
                        mapping.pattern, mapping.target
                    ),
                    help: format!("there are: {}", names.join(", ")),
                });
            }
        }
    }

    pub(crate) fn render(&self) -> String {
        let mut out = String::from(
            "# Imported by jkgate. Look it through, then check it: jkgate check -c FILE\n\n[listener.main]\naddress = \"0.0.0.0:8080\"    # where Apache listened\n",
        );
        for section in &self.groups {
            render_section(&mut out, "lb", section);
        }
        for section in &self.workers {
            render_section(&mut out, "ajp13", section);
        }
        render_mappings(&mut out, "[uri]", &self.mappings);
        for (name, host) in &self.hosts {
            let _infallible = write!(out, "\n[host.{}]\n", quoted(name));
            if !host.aliases.is_empty() {
                let aliases: Vec<String> = host.aliases.iter().map(|alias| quoted(alias)).collect();
                let _infallible = writeln!(out, "aliases = [{}]", aliases.join(", "));
            }
            if !host.inherit {
                out.push_str("inherit = false    # an Apache virtual host sees only its own mounts\n");
            }
            render_mappings(&mut out, &format!("[host.{}.uri]", quoted(name)), &host.mappings);
        }
        if !self.status.is_empty() {
            out.push_str("\n[status]\n");
            for (key, value) in &self.status {
                let _infallible = writeln!(out, "{key} = {value}");
            }
        }
        out
    }
}

fn render_section(out: &mut String, kind: &str, section: &Section) {
    let _infallible = write!(out, "\n[{kind}.{}]    # {}\n", key(&section.name), section.origin);
    let width = section.keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    for (key, value) in &section.keys {
        let _infallible = writeln!(out, "{key:width$} = {value}");
    }
}

fn render_mappings(out: &mut String, title: &str, mappings: &[Mapping]) {
    if mappings.is_empty() {
        return;
    }
    let _infallible = write!(out, "\n{title}\n");
    // The last of equal keys counts, as in the original; TOML allows one only.
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, mapping) in mappings.iter().enumerate() {
        last.insert(&mapping.pattern, index);
    }
    let width = mappings.iter().map(|mapping| quoted(&mapping.pattern).len()).max().unwrap_or(0);
    for (index, mapping) in mappings.iter().enumerate() {
        if last.get(mapping.pattern.as_str()) != Some(&index) {
            continue;
        }
        let pattern = quoted(&mapping.pattern);
        let target = quoted(&mapping.target);
        if mapping.options.is_empty() {
            let _infallible = writeln!(out, "{pattern:width$} = {target}");
        } else {
            let options: Vec<String> =
                mapping.options.iter().map(|(key, value)| format!(", {key} = {value}")).collect();
            let _infallible = writeln!(out, "{pattern:width$} = {{ group = {target}{} }}", options.concat());
        }
    }
}

fn key(name: &str) -> String {
    let bare = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
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
