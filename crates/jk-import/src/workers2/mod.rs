//! workers2.properties, mod_jk2's objects: read strictly, with everything said that mod_jk2 kept to itself.
//!
//! ```text
//! lines ──lex──► objects, `${...}` replaced ──check──► attributes ──resolve──► workers, pools, uris ──emit──► document
//! ```

mod address;
mod attributes;
mod check;
mod emit;
mod lex;
mod order;
mod resolve;
mod substitute;
mod uri;
mod worker;

use crate::Options;
use crate::document::{Document, Names};
use crate::report::{At, Report};
use crate::text::{Rules, Text};

pub(crate) const RULES: Rules = Rules {
    not_utf8: Some("W2-109"),
    control: Some("W2-108"),
    was: "mod_jk2 took the bytes as they were, which broke the first section or the value",
};

/// `[kind:local]` with all that was said of it.
#[derive(Debug)]
struct Object {
    kind: String,
    local: String,
    at: At,
    attributes: Vec<Attribute>,
    sense: Sense,
    /// `disabled=1`, also where attributes are not looked at.
    is_off: bool,
    /// The local name with its variables replaced: the path of a channel.un that has no `file`.
    expanded: String,
}

#[derive(Debug, Clone)]
struct Attribute {
    key: String,
    value: String,
    at: At,
}

/// Whether the attributes of an object are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Known,
    /// Of no known type; its name still counts.
    Unknown,
    /// Belongs to the Java machine inside the web server, or to the platform.
    Platform,
}

impl Attribute {
    /// For messages: a secret never shows itself.
    fn shown(&self) -> &str {
        if attributes::is_secret(&self.key) { "…" } else { &self.value }
    }

    fn value_at(&self) -> At {
        At { column: self.at.column + self.key.len() + 1, ..self.at.clone() }
    }
}

impl Object {
    /// The last one counts.
    fn get(&self, key: &str) -> Option<&Attribute> {
        self.attributes.iter().rev().find(|attribute| attribute.key == key)
    }

    fn all<'o>(&'o self, key: &'o str) -> impl Iterator<Item = &'o Attribute> {
        self.attributes.iter().filter(move |attribute| attribute.key == key)
    }

    fn is(&self, kind: &str) -> bool {
        self.sense == Sense::Known && self.kind == kind
    }

    fn is_channel(&self) -> bool {
        self.is("channel.socket") || self.is("channel.un")
    }

    fn title(&self) -> String {
        format!("[{}:{}]", self.kind, self.local)
    }
}

pub(crate) fn import(
    text: &Text,
    options: &Options<'_>,
    (document, names): (&mut Document, &mut Names),
    report: &mut Report,
) {
    let before = report.problems.len();
    let objects = lex::read(text, options, report);
    check::check(&objects, report);
    let Some(resolved) = resolve::resolve(&objects, report) else { return };
    if report.problems.len() > before {
        return;
    }
    let maps = uri::maps(&objects, &resolved, report);
    if report.problems.len() == before {
        emit::emit(&objects, &resolved, &maps, (document, names, report));
    }
}
