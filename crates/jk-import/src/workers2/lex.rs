//! Lines to objects. Sections of one name are one object, and `${...}` is replaced on the way, because only earlier lines count.

use std::collections::HashMap;

use super::attributes::{self, KINDS, PLATFORM};
use super::substitute::Variables;
use super::{Attribute, Object, Sense};
use crate::Options;
use crate::near::nearest;
use crate::number::atoi;
use crate::report::{At, NoteKind, Report};
use crate::text::{BLANKS, Text, without_comment};

pub(super) fn read(text: &Text, options: &Options<'_>, report: &mut Report) -> Vec<Object> {
    let mut lexer = Lexer {
        report,
        objects: Vec::new(),
        index: HashMap::new(),
        variables: Variables::new(options),
        current: None,
    };
    for line in text.lines.iter().filter(|line| !line.is_damaged) {
        let (bare, column) = without_comment(&line.text);
        if bare.is_empty() {
            continue;
        }
        let at = text.at(line.number, column);
        if line.text.len() > LONGEST {
            lexer.warn(&at, "W2-107", "the line is longer than mod_jk2 read; it split such a line in two");
        }
        match bare.strip_prefix('[') {
            Some(rest) => lexer.header(rest, &at, &line.text),
            None => lexer.pair(bare, &at, &line.text),
        }
    }
    lexer.objects
}

struct Lexer<'t, 'r> {
    report: &'r mut Report,
    objects: Vec<Object>,
    index: HashMap<(String, String), usize>,
    variables: Variables<'t>,
    current: Option<usize>,
}

impl Lexer<'_, '_> {
    fn warn(&mut self, at: &At, id: &'static str, text: impl Into<String>) {
        self.report.push(at, (NoteKind::Warning, Some(id)), text.into());
    }

    fn header(&mut self, rest: &str, at: &At, line: &str) {
        let name = match rest.split_once(']') {
            Some((name, after)) => {
                if !after.is_empty() {
                    let text = format!(
                        "\"{}\" behind the bracket is dropped, as mod_jk2 did",
                        after.trim_start_matches(BLANKS)
                    );
                    self.warn(at, "W2-106", text);
                }
                name
            }
            None => {
                let cut = if line.contains('#') { "; a # cuts the line wherever it stands" } else { "" };
                self.report
                    .problem(at, Some("W2-101"), format!("section header has no closing \"]\"{cut}"))
                    .help(format!("write [{rest}]"))
                    .was("mod_jk2 crashed here");
                rest
            }
        };
        let kind = name.split_once(':').map_or(name, |(kind, _)| kind);
        if kind.is_empty() || name.trim_matches(BLANKS) != name {
            self.report
                .problem(at, Some("W2-110"), "a section needs its type, without blanks inside the brackets")
                .help(format!("write [{}]", name.trim_matches(BLANKS)))
                .was("mod_jk2 knew no such type and skipped the section");
            self.current = self.object(("", name), at, Sense::Unknown);
            return;
        }
        self.current = self.section(name, at);
    }

    fn section(&mut self, name: &str, at: &At) -> Option<usize> {
        let (kind, local) = name.split_once(':').map_or((name, None), |(kind, local)| (kind, Some(local)));
        let kind = match kind {
            "uriEnv" => "uri",
            // mod_jk2 2.0.2 had a second kind of socket.
            "channel.apr" => "channel.socket",
            kind => kind,
        };
        if kind == "disabled" {
            self.report.dropped(at, format!("[{name}] is switched off by its type \"disabled\""));
            return self.object((kind, local.unwrap_or_default()), at, Sense::Platform);
        }
        if PLATFORM.contains(&kind) {
            return self.object((kind, local.unwrap_or_default()), at, Sense::Platform);
        }
        if !KINDS.contains(&kind) {
            let mut telling =
                self.report.problem(at, Some("W2-201"), format!("unknown section type \"{kind}\""));
            telling = telling.was("mod_jk2 logged an error and went on without the section");
            match nearest(kind, KINDS.iter().copied()) {
                Some(word) => telling.help(format!("did you mean \"{word}\"?")),
                None => telling.help(format!("there are {}", KINDS.join(", "))),
            };
            return self.object((kind, local.unwrap_or_default()), at, Sense::Unknown);
        }
        let is_named = attributes::is_named(kind);
        if local.is_none() && is_named && !self.index.contains_key(&(kind.to_owned(), String::new())) {
            let example = if kind == "status" { "[status:]".to_owned() } else { format!("[{kind}:NAME]") };
            self.report
                .problem(at, Some("W2-202"), format!("[{name}] needs a colon"))
                .expected(example)
                .was("mod_jk2 made an object with a number for a name, which nothing could refer to");
            return self.object((kind, ""), at, Sense::Unknown);
        }
        let local = local.unwrap_or_default();
        if local.is_empty() && matches!(kind, "lb" | "ajp13" | "uri") {
            self.report
                .problem(at, Some("W2-202"), format!("[{name}] has no name"))
                .expected(format!("[{kind}:NAME]"))
                .was("mod_jk2 made an object without a name, which nothing could refer to");
            return self.object((kind, local), at, Sense::Unknown);
        }
        self.object((kind, local), at, Sense::Known)
    }

    fn object(&mut self, (kind, local): (&str, &str), at: &At, sense: Sense) -> Option<usize> {
        let key = (kind.to_owned(), local.to_owned());
        if let Some(known) = self.index.get(&key).copied() {
            if let Some(first) = self.objects.get(known).filter(|_| sense == Sense::Known) {
                let text =
                    format!("{} stands on line {} already; both are one", first.title(), first.at.line);
                self.warn(at, "W2-203", text);
            }
            return Some(known);
        }
        let expanded = self.variables.replace(local).text;
        self.objects.push(Object {
            kind: key.0.clone(),
            local: key.1.clone(),
            at: at.clone(),
            attributes: Vec::new(),
            sense,
            is_off: false,
            expanded,
        });
        self.index.insert(key, self.objects.len() - 1);
        Some(self.objects.len() - 1)
    }

    fn pair(&mut self, bare: &str, at: &At, line: &str) {
        let Some(object) = self.current else { return self.orphan(bare, at) };
        let Some((key, value)) = bare.split_once('=') else {
            let guess = bare.split_once([':', ' ']).filter(|(key, _)| attributes::is_attribute(key));
            let telling = self
                .report
                .problem(at, Some("W2-103"), "a line without \"=\"")
                .was("mod_jk2 ignored the line");
            match guess {
                Some((key, value)) => {
                    telling.help(format!("did you mean {key}={}?", value.trim_start_matches(BLANKS)))
                }
                None => telling.expected("key=value"),
            };
            return;
        };
        if key.is_empty() || value.is_empty() {
            let what = if key.is_empty() { "a value without a key" } else { "a key without a value" };
            self.report
                .problem(at, Some("W2-104"), what)
                .help("complete the line or take it out")
                .was("mod_jk2 ignored the line; nothing could be set to empty");
            return;
        }
        if key.ends_with(BLANKS) || value.starts_with(BLANKS) {
            self.blank(key, value, at);
            return;
        }
        self.remark(line, value, at);
        let Some(target) = self.objects.get_mut(object) else { return };
        if key == "disabled" {
            target.is_off = atoi(value) != 0;
        }
        if target.sense != Sense::Known {
            return;
        }
        let full = format!("{}:{}", target.kind, target.local);
        let is_config = target.kind == "config";
        let value = self.variables.set(&full, key, value, is_config);
        for name in value.unknown {
            let text = format!("${{{name}}} is not known on this line; it stays as it is");
            self.report.push(at, (NoteKind::Warning, Some("W2-309")), text);
        }
        if !key.starts_with('$') {
            let attribute = Attribute { key: key.to_owned(), value: value.text, at: at.clone() };
            target.attributes.push(attribute);
        }
    }

    fn blank(&mut self, key: &str, value: &str, at: &At) {
        let (bare, wanted) = (key.trim_end_matches(BLANKS), value.trim_start_matches(BLANKS));
        let is_secret = attributes::is_secret(bare);
        let was = if bare == key && is_secret {
            "mod_jk2 took the blank for part of the secret".to_owned()
        } else if bare == key {
            format!("mod_jk2 took the blank for part of the value: \"{value}\"")
        } else {
            format!("mod_jk2 took the blank for part of the name, so {bare} was never set")
        };
        let shown = if is_secret { "…" } else { wanted };
        self.report
            .problem(
                &At { column: at.column + bare.len(), ..at.clone() },
                Some("W2-105"),
                format!("a blank beside \"=\" (key \"{bare}\")"),
            )
            .help(format!("write {bare}={shown}"))
            .was(was);
    }

    fn remark(&mut self, line: &str, value: &str, at: &At) {
        let cut = line.split_once('#').map(|(before, _)| before);
        if cut.is_some_and(|before| !before.ends_with(BLANKS) && before.contains('=')) {
            self.warn(
                at,
                "W2-111",
                "the value ends before the #, as it did in mod_jk2; there is no way to write a # in a value",
            );
        }
        if value.ends_with('\\') {
            self.warn(at, "W2-112", "the backslash is part of the value; lines are not continued");
        }
    }

    fn orphan(&mut self, bare: &str, at: &At) {
        let alternate = bare.split_once('=').and_then(|(name, value)| {
            let (section, key) = name.rsplit_once('.')?;
            let kind = section.split_once(':').map_or(section, |(kind, _)| kind);
            KINDS.contains(&kind).then(|| (section.to_owned(), key.to_owned(), value.to_owned()))
        });
        let telling = self.report.problem(at, Some("W2-102"), "property before the first section");
        match alternate {
            Some((section, key, value)) => {
                let value = if attributes::is_secret(&key) { "…".to_owned() } else { value };
                telling
                    .help(format!("put {key}={value} under [{section}]"))
                    .was("mod_jk2 crashed here, although its documents describe this form");
            }
            None => {
                telling.help("put it into its section").was("mod_jk2 skipped it, or crashed");
            }
        }
    }
}

/// mod_jk2 read 1023 bytes at a time.
const LONGEST: usize = 1022;
