//! Lines as the originals really read them (mod_jk: `jk_map_read_properties`; mod_jk2: `jk_map_read_props`): no continuation lines, no
//! quotes, no escapes, and a `#` cuts the line wherever it stands.

use std::path::PathBuf;

use crate::InputFile;
use crate::legacy::note::{Note, NoteKind, Problem};

/// A file as lines.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// `key = value`, trimmed.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) line: usize,
    pub(crate) key: String,
    pub(crate) value: String,
}

impl Text {
    pub(crate) fn read(file: &InputFile, notes: &mut Vec<Note>, problems: &mut Vec<Problem>) -> Self {
        let mut text = Self { path: file.path.clone(), lines: Vec::new() };
        let bytes = match file.bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => {
                notes.push(Note::new(
                    &text,
                    1,
                    NoteKind::Warning,
                    Some("W2-109"),
                    "the byte order mark at the beginning is skipped",
                ));
                rest
            }
            None => &file.bytes,
        };
        let content = match std::str::from_utf8(bytes) {
            Ok(content) => content.to_owned(),
            Err(_) => {
                notes.push(Note::new(
                    &text,
                    1,
                    NoteKind::Warning,
                    Some("W2-109"),
                    "not UTF-8; read as ISO-8859-1",
                ));
                bytes.iter().map(|b| char::from(*b)).collect()
            }
        };
        for (index, line) in content.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if let Some(at) = line.find(|c: char| c.is_control() && c != '\t') {
                problems.push(Problem::at(
                    &text,
                    (index + 1, at + 1),
                    Some("W2-108"),
                    "a control character",
                    "take it out; no configuration needs one",
                ));
                continue;
            }
            text.lines.push(Line { number: index + 1, text: line.to_owned() });
        }
        text
    }
}

/// The line without its comment.
pub(crate) fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// mod_jk's `key = value` lines, variables replaced top-down.
pub(crate) fn pairs(text: &Text, variables: &mut Vec<(String, String)>, notes: &mut Vec<Note>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for line in &text.lines {
        let bare = without_comment(&line.text);
        if line.text.contains('#')
            && !bare.is_empty()
            && !line.text.contains(" #")
            && !line.text.contains("\t#")
        {
            notes.push(Note::new(
                text,
                line.number,
                NoteKind::Warning,
                None,
                "mod_jk cuts a line at #, also inside a value; so it is done here",
            ));
        }
        let Some((key, value)) = bare.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if key.is_empty() || value.is_empty() {
            continue;
        }
        let value = substitute(value, variables);
        if !key.starts_with("worker.") && !key.starts_with(['/', '!', '-']) {
            variables.push((key.to_owned(), value.clone()));
            continue;
        }
        pairs.push(Pair { line: line.number, key: key.to_owned(), value });
    }
    pairs
}

/// `$(name)` by earlier lines, else by the environment; unknown ones stay. Not again in what was put in.
pub(crate) fn substitute(value: &str, variables: &[(String, String)]) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("$(") {
        out.push_str(before);
        let Some((name, tail)) = after.split_once(')') else {
            out.push_str("$(");
            rest = after;
            continue;
        };
        let known = variables.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        match known.or_else(|| std::env::var(name).ok()) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&format!("$({name})")),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
