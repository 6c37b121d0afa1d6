//! `key = value` as mod_jk reads it (`jk_map_read_properties`): no continuation lines, no quotes, no escapes; `$(name)` by earlier lines.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::keys::{Twice, is_secret, key};
use crate::Options;
use crate::report::{At, Report};
use crate::text::{BLANKS, Text, without_comment};

/// Lines in the order of their first appearance, values with their variables replaced.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    pub(super) list: Vec<Property>,
    index: HashMap<String, usize>,
    variables: HashMap<String, String>,
    used: RefCell<HashSet<String>>,
}

#[derive(Debug, Clone)]
pub(super) struct Property {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) at: At,
}

impl Properties {
    pub(crate) fn read(&mut self, text: &Text, options: &Options<'_>, report: &mut Report) {
        for line in text.lines.iter().filter(|line| !line.is_damaged) {
            let (bare, column) = without_comment(&line.text);
            let at = text.at(line.number, column);
            remark(&line.text, bare, &at, report);
            self.line(bare, &at, options, report);
        }
    }

    /// One line without its comment; also what JkWorkerProperty takes.
    pub(crate) fn line(&mut self, bare: &str, at: &At, options: &Options<'_>, report: &mut Report) {
        let Some((key, value)) = bare.split_once('=') else {
            if !bare.is_empty() {
                report.warn(at, "a line without \"=\" is ignored, as mod_jk did");
            }
            return;
        };
        let (key, value) = (key.trim_end_matches(BLANKS), value.trim_matches(BLANKS));
        if key.is_empty() || value.is_empty() {
            let what = if key.is_empty() { "a value without a name" } else { key };
            report.dropped(at, format!("{what}: an empty value leaves the default, as in mod_jk"));
            return;
        }
        let value = self.substitute(value, at, options, report);
        if key.starts_with("worker.") {
            self.set(key, value, at, report);
        } else {
            self.variable(key, value, at, report);
        }
    }

    fn set(&mut self, name: &str, value: String, at: &At, report: &mut Report) {
        let Some(known) = self.index.get(name).copied() else {
            self.index.insert(name.to_owned(), self.list.len());
            self.list.push(Property { key: name.to_owned(), value, at: at.clone() });
            return;
        };
        let Some(known) = self.list.get_mut(known) else { return };
        let attribute = name.rsplit('.').next().unwrap_or_default();
        let twice = if name == "worker.list" {
            Twice::Appends
        } else if name == "worker.maintain" {
            Twice::First
        } else {
            key(attribute).map_or(Twice::First, |key| key.twice)
        };
        match twice {
            Twice::Appends => {
                known.value.push(',');
                known.value.push_str(&value);
            }
            Twice::Last => {
                let text = format!("{name} stands on line {} already; this one counts", known.at.line);
                report.warn(at, text);
                *known = Property { key: name.to_owned(), value, at: at.clone() };
            }
            Twice::First => {
                let text =
                    format!("{name} stands on line {} already; that one counts, as in mod_jk", known.at.line);
                report.warn(at, text);
            }
            Twice::Gone | Twice::ColdFusion => {}
        }
    }

    /// Whatever does not begin with `worker.` is for `$(name)` in later lines.
    fn variable(&mut self, name: &str, value: String, at: &At, report: &mut Report) {
        if let Some(known) = self.variables.get_mut(name) {
            let joint = if name.ends_with("_path") { ':' } else { '*' };
            known.push(joint);
            known.push_str(&value);
            report.warn(
                at,
                format!("{name} is set already; mod_jk joined both to \"{known}\", and so does the import"),
            );
        } else {
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// Once from left to right; what was put in is not looked at again.
    pub(super) fn substitute(
        &self,
        value: &str,
        at: &At,
        options: &Options<'_>,
        report: &mut Report,
    ) -> String {
        let mut out = String::new();
        let mut rest = value;
        for _ in 0..MOST {
            let Some((before, after)) = rest.split_once("$(") else { break };
            let Some((name, tail)) = after.split_once(')') else { break };
            out.push_str(before);
            match self.lookup(name, options) {
                Some(known) => out.push_str(&known),
                None => {
                    out.push_str(&format!("$({name})"));
                    report.warn(at, format!("$({name}) is not known on this line; it stays as it is"));
                }
            }
            rest = tail;
        }
        out.push_str(rest);
        out
    }

    fn lookup(&self, name: &str, options: &Options<'_>) -> Option<String> {
        self.used.borrow_mut().insert(name.to_owned());
        let earlier = self.index.get(name).and_then(|at| self.list.get(*at)).map(|property| &property.value);
        earlier.or_else(|| self.variables.get(name)).cloned().or_else(|| {
            let root = options.server_root.as_ref().filter(|_| name == "ServerRoot");
            root.map(|root| root.display().to_string()).or_else(|| (options.variable)(name))
        })
    }

    /// For the values of later lines.
    pub(super) fn remember(&mut self, name: &str, value: String) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Whether a later line asked for it.
    pub(super) fn was_used(&self, name: &str) -> bool {
        self.used.borrow().contains(name)
    }

    /// Lines of the httpd configuration count as if they stood behind the files'.
    pub(crate) fn append(&mut self, other: Self) {
        for property in other.list {
            if let Some(known) = self.index.get(&property.key).copied() {
                if let Some(known) = self.list.get_mut(known) {
                    *known = property;
                }
            } else {
                self.index.insert(property.key.clone(), self.list.len());
                self.list.push(property);
            }
        }
        self.variables.extend(other.variables);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Property> {
        self.index.get(key).and_then(|at| self.list.get(*at))
    }
}

/// What a careful reader would ask about.
pub(super) fn remark(line: &str, bare: &str, at: &At, report: &mut Report) {
    let cut = line.split_once('#').map(|(before, _)| before);
    if cut.is_some_and(|before| before.contains('=') && !before.ends_with(BLANKS) && !before.ends_with('=')) {
        let name = bare.split('=').next().unwrap_or_default();
        let what = if is_secret(name) { "the secret ends" } else { "the value ends" };
        report.warn(
            at,
            format!("{what} before the #, as it did in mod_jk; there is no way to write a # in a value"),
        );
    }
    if line.len() > LONGEST {
        report.warn(at, "the line is longer than mod_jk read; it split such a line in two");
    }
    if bare.ends_with('\\') {
        report.warn(at, "the backslash is part of the value; lines are not continued");
    }
}

/// Replacements in one value.
const MOST: usize = 20;
const LONGEST: usize = 8192;
