//! URI patterns to workers, from mount files, directives and `mount` attributes; and the extensions behind a worker's name.

use std::collections::HashMap;

use super::ajp::statuses_of;
use super::properties::{Properties, remark};
use super::workers::Targets;
use crate::Options;
use crate::document::{Rule, nobody, quoted, text_or_texts};
use crate::near::nearest;
use crate::number::{atoi, items, millis};
use crate::report::{At, Report};
use crate::text::{BLANKS, Text, without_comment};

/// Where a rule stands. For one pattern the greater one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Mount,
    Directive,
    File,
}

/// The rules of one host, by their patterns with prefixes.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rules {
    list: Vec<Written>,
    index: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Written {
    pattern: String,
    /// Worker and extensions.
    value: String,
    rank: Rank,
    at: At,
}

impl Rules {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn add(&mut self, (pattern, value): (&str, &str), rank: Rank, at: &At, report: &mut Report) {
        let written = Written { pattern: pattern.to_owned(), value: value.to_owned(), rank, at: at.clone() };
        let Some(known) = self.index.get(pattern).and_then(|known| self.list.get_mut(*known)) else {
            self.index.insert(pattern.to_owned(), self.list.len());
            self.list.push(written);
            return;
        };
        if known.value == value {
            report
                .kept(at, format!("{pattern} stands at {} already, with the same worker", known.at.short()));
        } else if known.rank == rank {
            report.warn(
                at,
                format!(
                    "{pattern} stands at {} already, for {}; this one counts",
                    known.at.short(),
                    known.value
                ),
            );
        } else {
            let (winner, loser) = if known.rank > rank { (&known.at, at) } else { (at, &known.at) };
            report.warn(
                loser,
                format!("{pattern} stands at {}, too, which goes before this one", winner.short()),
            );
        }
        if rank >= known.rank {
            *known = written;
        }
    }

    /// What `other` has and this one has not.
    pub(crate) fn inherit(&mut self, other: &Self) {
        for written in &other.list {
            if !self.index.contains_key(&written.pattern) {
                self.index.insert(written.pattern.clone(), self.list.len());
                self.list.push(written.clone());
            }
        }
    }

    /// What a virtual host takes over from the main server: its mount file only where the host has none of its own.
    pub(crate) fn inherit_for_host(&mut self, main: &Self, has_file: bool) {
        let list =
            main.list.iter().filter(|written| !has_file || written.rank != Rank::File).cloned().collect();
        self.inherit(&Self { list, index: HashMap::new() });
    }

    pub(crate) fn finish(&self, targets: &Targets, report: &mut Report) -> Vec<Rule> {
        self.list.iter().filter_map(|written| written.rule(targets, report)).collect()
    }
}

/// uriworkermap.properties.
pub(crate) fn read_map(text: &Text, options: &Options<'_>, rules: &mut Rules, report: &mut Report) {
    let mut earlier = Properties::default();
    let mut unclear: Vec<(String, At)> = Vec::new();
    for line in text.lines.iter().filter(|line| !line.is_damaged) {
        let (bare, column) = without_comment(&line.text);
        if bare.is_empty() {
            continue;
        }
        let at = text.at(line.number, column);
        remark(&line.text, bare, &at, report);
        let Some((pattern, value)) = bare.split_once('=') else {
            report.warn(&at, "a line without \"=\" is ignored, as mod_jk did");
            continue;
        };
        let (pattern, value) = (pattern.trim_end_matches(BLANKS), value.trim_matches(BLANKS));
        if pattern.is_empty() || value.is_empty() {
            report.dropped(&at, format!("{bare}: mod_jk ignored a line without a pattern or a worker"));
            continue;
        }
        let value = earlier.substitute(value, &at, options, report);
        if is_pattern(pattern) {
            rules.add((pattern, &value), Rank::File, &at, report);
        } else {
            unclear.push((pattern.to_owned(), at));
        }
        earlier.remember(pattern, value);
    }
    for (name, at) in unclear {
        if !earlier.was_used(&name) {
            no_pattern(&name, &at, report);
        }
    }
}

fn is_pattern(pattern: &str) -> bool {
    let bare = pattern.strip_prefix('-').unwrap_or(pattern);
    bare.strip_prefix('!').unwrap_or(bare).starts_with('/')
}

/// A pattern that mod_jk did not take either.
fn no_pattern(pattern: &str, at: &At, report: &mut Report) {
    let help = if pattern.starts_with("!-") {
        format!("write -!{}", pattern.trim_start_matches("!-"))
    } else {
        "a path begins with a slash, with - and ! before it perhaps".to_owned()
    };
    report.warn(
        at,
        format!("\"{pattern}\" is no pattern: mod_jk logged an error and went on without this rule; {help}"),
    );
}

impl Written {
    fn rule(&self, targets: &Targets, report: &mut Report) -> Option<Rule> {
        let is_exclusion = self.pattern.trim_start_matches('-').starts_with('!');
        if self.pattern.contains(';') {
            report.warn(
                &self.at,
                format!("{} is left out: a path has no semicolons when it is matched", self.pattern),
            );
            return None;
        }
        let (worker, extensions) = self
            .value
            .split_once(';')
            .map_or((self.value.as_str(), None), |(worker, rest)| (worker, Some(rest)));
        let name = worker.trim_matches(BLANKS);
        if name != worker {
            report.warn(&self.at, "a blank before the semicolon belonged to the worker's name in mod_jk, which answered 500 then; it is taken off here");
        }
        let target = match targets.names.get(name) {
            _ if is_exclusion && name == "*" => name.to_owned(),
            Some(known) => known.clone(),
            None if is_exclusion => {
                report.dropped(
                    &self.at,
                    format!("{} excludes from \"{name}\", which is no worker", self.pattern),
                );
                return None;
            }
            None => {
                report.warn(&self.at, self.nobody(name, targets));
                nobody(name)
            }
        };
        let mut options = Vec::new();
        match extensions {
            Some(extensions) if is_exclusion => {
                report.dropped(&self.at, format!(";{extensions} behind an exclusion does nothing"));
            }
            Some(extensions) => options = self.options(extensions, targets, report),
            None => {}
        }
        Some(Rule {
            above: Vec::new(),
            pattern: self.pattern.clone(),
            target,
            options,
            comment: self.at.short(),
        })
    }

    /// What to say of a rule whose worker is not to be had: mod_jk went on with the others.
    fn nobody(&self, name: &str, targets: &Targets) -> String {
        let known = targets.names.keys().take(MOST_LOOKED_AT).map(String::as_str);
        let help = if targets.unlisted.contains(name) {
            format!("if it should serve, add {name} to worker.list")
        } else if name.contains("status") || name.contains("manager") {
            "for the status page, let it lead to \"status\"".to_owned()
        } else if let Some(word) = nearest(name, known.clone()) {
            format!("did you mean \"{word}\"?")
        } else {
            let mut known: Vec<&str> = known.collect();
            known.sort_unstable();
            known.truncate(MOST_NAMES);
            format!("workers are {}", known.join(", "))
        };
        format!(
            "{} leads to \"{name}\", which is no worker that serves: mod_jk answered 500, and an empty group answers 503 here; {help}",
            self.pattern
        )
    }

    fn options(&self, extensions: &str, targets: &Targets, report: &mut Report) -> Vec<(String, String)> {
        let mut options: Vec<(String, String)> = Vec::new();
        let mut parts = extensions.split(';');
        while let Some(part) = parts.next() {
            let bare = part.trim_matches(BLANKS);
            if bare.is_empty() {
                continue;
            }
            if part != bare && part.starts_with(BLANKS) {
                report.warn(
                    &self.at,
                    format!("mod_jk did not know \"{bare}\" because of the blank before it; here it counts"),
                );
            }
            let Some((name, value)) = bare.split_once('=') else {
                report.warn(&self.at, format!("\";{bare}\" is no extension and left out, as in mod_jk"));
                continue;
            };
            // `session_path=;name` is how a path parameter with its semicolon is written.
            let value = if name == "session_path" && value.is_empty() {
                parts.next().unwrap_or_default()
            } else {
                value
            };
            match self.option((name, value), targets, report) {
                Some(_) if options.iter().any(|(known, _)| known == name) => {
                    report.warn(&self.at, format!(";{name} stands twice; the first one counts"));
                }
                Some(value) => options.push((name.to_owned(), value)),
                None => {}
            }
        }
        options
    }

    /// As TOML; `None`: nothing to write.
    fn option(&self, (name, value): (&str, &str), targets: &Targets, report: &mut Report) -> Option<String> {
        let number = atoi(value);
        match name {
            "reply_timeout" if number < 0 => None,
            "reply_timeout" if number == 0 => Some(quoted("never")),
            "reply_timeout" => Some(millis(number)),
            "sticky_ignore" | "stateless" | "set_session_cookie" => {
                let word = value.to_ascii_lowercase();
                if number == 0 && matches!(word.as_str(), "true" | "on" | "yes") {
                    report.warn(&self.at, format!(";{name}={value} is a 0 for mod_jk, which reads numbers here; write 1 if it was meant to be on"));
                }
                (number != 0).then(|| "true".to_owned())
            }
            "active" | "disabled" | "stopped" => {
                let members: Vec<String> = items(value)
                    .into_iter()
                    .map(|member| targets.members.get(&member).cloned().unwrap_or(member))
                    .filter(|member| jk_config::WorkerName::new(member).is_some())
                    .collect();
                (!members.is_empty()).then(|| text_or_texts(&members))
            }
            "fail_on_status" => Some(format!("[{}]", statuses_of(value).join(", "))),
            "use_server_errors" if number <= 0 => None,
            "use_server_errors" => {
                if !(400..1000).contains(&number) {
                    report.changed(
                        &self.at,
                        format!(";use_server_errors={number}: only errors are replaced, from 400 on"),
                    );
                }
                Some(number.clamp(400, 999).to_string())
            }
            "session_cookie" => Some(quoted(value)),
            "session_path" => Some(quoted(value.trim_start_matches(';').trim_end_matches('='))),
            "session_cookie_path" => {
                report.dropped(&self.at, format!(";{name}={value} was read and never used"));
                None
            }
            _ => {
                report.warn(
                    &self.at,
                    format!("\";{name}={value}\" is no extension and left out, as in mod_jk"),
                );
                None
            }
        }
    }
}

/// Names that a suggestion may come from, and those that are shown.
const MOST_LOOKED_AT: usize = 1_000;
const MOST_NAMES: usize = 100;
