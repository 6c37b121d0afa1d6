//! Configurations of mod_jk2 and mod_jk as workers.toml. The legacy names and their quirks live here and nowhere else.
//!
//! The result is text that a person would have written, with comments that say where each thing came from; what was changed or
//! dropped is told in notes, so that nothing is lost silently.

mod note;
mod properties;
mod toml;
mod urimap;
mod workers;
mod workers2;

use std::path::PathBuf;

pub use note::{Note, NoteKind, Problem};

/// A file to import.
#[derive(Debug, Clone)]
pub struct InputFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Imported {
    pub toml: String,
    pub notes: Vec<Note>,
}

/// What kind of file it is, by what stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Workers2,
    Workers,
    UriMap,
}

/// Imports files that belong together: one workers2.properties, or a workers.properties with its uriworkermap.properties.
///
/// Err: every problem of every file; nothing is imported then.
pub fn import(files: &[InputFile]) -> Result<Imported, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut notes = Vec::new();
    let texts: Vec<properties::Text> =
        files.iter().map(|file| properties::Text::read(file, &mut notes, &mut problems)).collect();
    let kinds: Vec<Option<Kind>> = texts.iter().map(kind).collect();
    for (text, kind) in texts.iter().zip(&kinds) {
        if kind.is_none() {
            problems.push(Problem::whole(
                text,
                "this is no file that can be imported",
                "expected a workers2.properties, workers.properties or uriworkermap.properties",
            ));
        }
    }
    let of = |wanted: Kind| {
        texts.iter().zip(&kinds).filter(move |(_, kind)| **kind == Some(wanted)).map(|(text, _)| text)
    };
    let mut draft = toml::Draft::default();
    for text in of(Kind::Workers2) {
        workers2::import(text, &mut draft, &mut notes, &mut problems);
    }
    let workers: Vec<&properties::Text> = of(Kind::Workers).collect();
    if !workers.is_empty() {
        workers::import(&workers, &mut draft, &mut notes, &mut problems);
    }
    for text in of(Kind::UriMap) {
        urimap::import(text, &mut draft, &mut notes, &mut problems);
    }
    draft.check_targets(&mut problems);
    if problems.is_empty() { Ok(Imported { toml: draft.render(), notes }) } else { Err(problems) }
}

fn kind(text: &properties::Text) -> Option<Kind> {
    let mut lines = text
        .lines
        .iter()
        .map(|line| line.text.trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let name = text.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if lines.clone().any(|line| line.starts_with('[')) || name.starts_with("workers2") {
        return Some(Kind::Workers2);
    }
    if lines.clone().any(|line| line.starts_with("worker.")) {
        return Some(Kind::Workers);
    }
    lines.next().filter(|line| line.starts_with(['/', '!', '-'])).map(|_| Kind::UriMap)
}
