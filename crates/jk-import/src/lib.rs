//! Configurations of mod_jk2, mod_jk, httpd and Tomcat as workers.toml. The legacy names and their quirks live here and nowhere else.
//!
//! The result is text that a person would have written, with comments that say where each thing came from; what was changed or
//! dropped is told in notes, so that nothing is lost silently.

mod document;
mod legacy;
mod near;
mod number;
mod report;
mod text;
mod workers2;

use std::io;
use std::path::{Path, PathBuf};

pub use report::{Note, NoteKind, Problem};

use document::{Document, Table, quoted};
use report::Report;
use text::Text;

/// A file to import.
#[derive(Debug, Clone)]
pub struct InputFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// What an import may look at besides its files.
pub struct Options<'a> {
    /// The web server's root, for `${serverRoot}` and relative paths; httpd.conf may say it, too.
    pub server_root: Option<PathBuf>,
    /// Reads a file that another one names.
    pub read: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
    /// Names in a folder, for patterns in Include.
    pub list: &'a dyn Fn(&Path) -> io::Result<Vec<PathBuf>>,
    /// The environment, for `${NAME}` and `$(NAME)`.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
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
    ModJk,
}

/// Imports files that belong together; what they name is read from disk.
///
/// Err: every problem of every file; nothing is imported then.
pub fn import(files: &[InputFile]) -> Result<Imported, Vec<Problem>> {
    let options = Options {
        server_root: None,
        read: &|path| std::fs::read(path),
        list: &|path| std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect(),
        variable: &|name| std::env::var(name).ok(),
    };
    import_with(files, &options)
}

/// As [`import`], with the surroundings given.
pub fn import_with(files: &[InputFile], options: &Options<'_>) -> Result<Imported, Vec<Problem>> {
    let mut report = Report::default();
    let mut document = Document::default();
    let (ours, old): (Vec<&InputFile>, Vec<&InputFile>) =
        files.iter().partition(|file| kind(file) == Kind::Workers2);
    if ours.is_empty() {
        return old_import(&old.into_iter().cloned().collect::<Vec<_>>());
    }
    for file in ours {
        document.sources.push(file.path.display().to_string());
        let text = Text::read(file, workers2::RULES, &mut report);
        workers2::import(&text, options, &mut document, &mut report);
    }
    listeners(&mut document);
    let order: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    report.sort(&order);
    if report.problems.is_empty() {
        Ok(Imported { toml: document.render(&report.notes), notes: report.notes })
    } else {
        Err(report.problems)
    }
}

fn kind(file: &InputFile) -> Kind {
    let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let has_sections =
        file.bytes.split(|b| *b == b'\n').any(|line| line.trim_ascii_start().starts_with(b"["));
    if has_sections || name.starts_with("workers2") { Kind::Workers2 } else { Kind::ModJk }
}

/// Somebody has to say where clients connect.
fn listeners(document: &mut Document) {
    if document.listeners.is_empty() {
        let mut table = Table { name: "main".to_owned(), ..Table::default() };
        table.set("address", quoted("0.0.0.0:8080"), "the port of the web server that this replaces");
        document.listeners.push(table);
    }
}

fn old_import(files: &[InputFile]) -> Result<Imported, Vec<Problem>> {
    use legacy::{note, properties, toml, urimap, workers};
    let mut problems = Vec::new();
    let mut notes = Vec::new();
    let texts: Vec<properties::Text> =
        files.iter().map(|file| properties::Text::read(file, &mut notes, &mut problems)).collect();
    let is_map = |text: &&properties::Text| {
        text.lines.iter().any(|line| line.text.trim_start().starts_with(['/', '!', '-']))
    };
    let mut draft = toml::Draft::default();
    let workers: Vec<&properties::Text> = texts.iter().filter(|text| !is_map(text)).collect();
    if !workers.is_empty() {
        workers::import(&workers, &mut draft, &mut notes, &mut problems);
    }
    for text in texts.iter().filter(is_map) {
        urimap::import(text, &mut draft, &mut notes, &mut problems);
    }
    draft.check_targets(&mut problems);
    let problem = |old: note::Problem| Problem {
        path: old.path,
        line: old.line,
        column: old.column,
        id: old.id,
        title: old.title,
        expected: String::new(),
        help: old.help,
        was: String::new(),
    };
    let remark = |old: note::Note| Note {
        path: old.path,
        line: old.line,
        kind: match old.kind {
            note::NoteKind::Changed => NoteKind::Changed,
            note::NoteKind::Dropped => NoteKind::Dropped,
            note::NoteKind::Warning => NoteKind::Warning,
        },
        id: old.id,
        text: old.text,
    };
    if problems.is_empty() {
        Ok(Imported { toml: draft.render(), notes: notes.into_iter().map(remark).collect() })
    } else {
        Err(problems.into_iter().map(problem).collect())
    }
}
