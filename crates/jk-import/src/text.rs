//! Bytes to lines: byte order marks, character sets, line ends, limits. What a line means is up to each reader.

use std::path::Path;
use std::sync::Arc;

use crate::InputFile;
use crate::report::{At, NoteKind, Report};

/// A file as lines.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) path: Arc<Path>,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: String,
    /// Nothing but a newline ends it; the last one may end with the file.
    pub(crate) is_damaged: bool,
}

/// Ids of the catalogue, where a kind of file has one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    pub(crate) not_utf8: Option<&'static str>,
    pub(crate) control: Option<&'static str>,
    /// What became of a byte order mark and of control characters.
    pub(crate) was: &'static str,
}

impl Text {
    pub(crate) fn read(file: &InputFile, rules: Rules, report: &mut Report) -> Self {
        let mut text = Self { path: Arc::from(file.path.as_path()), lines: Vec::new() };
        if file.bytes.len() > MAX_FILE {
            report
                .problem(&text.whole(), None, format!("{} bytes are too many", file.bytes.len()))
                .expected(format!("at most {} MiB", MAX_FILE >> 20))
                .help("no configuration that a person wrote is that large; is this the right file?");
            return text;
        }
        let bytes = match file.bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => {
                let what = format!("the byte order mark at the beginning is skipped; {}", rules.was);
                report.push(&text.at(1, 1), (NoteKind::Warning, rules.not_utf8), what);
                rest
            }
            None => &file.bytes,
        };
        let content = match std::str::from_utf8(bytes) {
            Ok(content) => content.to_owned(),
            Err(error) => {
                let line = bytes.iter().take(error.valid_up_to()).filter(|b| **b == b'\n').count() + 1;
                let what = "not UTF-8; the file is read as ISO-8859-1".to_owned();
                report.push(&text.at(line, 1), (NoteKind::Warning, rules.not_utf8), what);
                bytes.iter().map(|b| char::from(*b)).collect()
            }
        };
        text.split(&content, rules, report);
        text
    }

    fn split(&mut self, content: &str, rules: Rules, report: &mut Report) {
        for (index, line) in content.split('\n').enumerate() {
            let line = line.trim_end_matches('\r');
            let number = index + 1;
            let control = line.find(|c: char| c.is_control() && !matches!(c, '\t' | '\u{b}' | '\u{c}'));
            if let Some(at) = control {
                report
                    .problem(&self.at(number, at + 1), rules.control, "a control character")
                    .help("take it out; no configuration needs one")
                    .was(rules.was);
            } else if line.len() > MAX_LINE {
                report
                    .problem(
                        &self.at(number, 1),
                        rules.control,
                        format!("a line of {} bytes is too long", line.len()),
                    )
                    .expected(format!("at most {MAX_LINE} bytes"));
            }
            let is_damaged = control.is_some() || line.len() > MAX_LINE;
            self.lines.push(Line { number, text: line.to_owned(), is_damaged });
        }
        // What ends with a newline has no further line.
        if self.lines.last().is_some_and(|line| line.text.is_empty()) {
            self.lines.pop();
        }
    }

    pub(crate) fn whole(&self) -> At {
        self.at(0, 0)
    }

    pub(crate) fn at(&self, line: usize, column: usize) -> At {
        At { path: Arc::clone(&self.path), line, column }
    }
}

/// Blanks as C's `isspace` knows them.
pub(crate) const BLANKS: [char; 5] = [' ', '\t', '\u{b}', '\u{c}', '\r'];

/// The line up to the first `#`, wherever that stands, without blanks around it; and the column where it begins.
pub(crate) fn without_comment(line: &str) -> (&str, usize) {
    let bare = line.split('#').next().unwrap_or_default();
    let start = bare.trim_start_matches(BLANKS);
    (start.trim_end_matches(BLANKS), bare.len() - start.len() + 1)
}

const MAX_FILE: usize = 32 << 20;
const MAX_LINE: usize = 64 << 10;
