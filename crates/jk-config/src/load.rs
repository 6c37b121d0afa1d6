//! Files to a configuration: the main file, what it includes, and edits laid over them.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::Config;
use crate::edit::Edit;
use crate::fields::entries;
use crate::problem::{Place, Problem, Problems, Severity, Source};
use crate::read::{Defaults, Draft, Reader};
use crate::resolve::resolve;

/// A configuration and what was said about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub config: Config,
    /// Legal, but surely not meant.
    pub warnings: Problems,
    /// The texts that count, edits included; the main file first.
    pub sources: Vec<Source>,
    /// The files as they were read.
    pub originals: Vec<Source>,
}

/// Reads a file and all that it includes.
pub fn load(path: &Path) -> Result<Loaded, Problems> {
    load_edited(path, &[])
}

/// As [`load`], with edits laid over the text, each as if it stood in the file.
pub fn load_edited(path: &Path, edits: &[Edit]) -> Result<Loaded, Problems> {
    let mut problems = Problems::default();
    let sources = collect(path, &mut problems);
    build(sources, path.parent(), edits, problems)
}

/// Reads texts that were read before, with edits laid over them; for configurations that are no file.
pub fn relay(sources: &[Source], edits: &[Edit]) -> Result<Loaded, Problems> {
    build(sources.to_vec(), None, edits, Problems::default())
}

impl Config {
    /// Reads text that is no file; `label` stands in messages where a path would.
    pub fn from_toml(label: &str, text: &str) -> Result<Loaded, Problems> {
        let source = Source::new(PathBuf::from(label), text);
        build(vec![source], None, &[], Problems::default())
    }
}

/// Files and folders whose change means that the configuration may have changed.
#[must_use]
pub fn watched(sources: &[Source]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for source in sources {
        paths.push(source.path.clone());
        let (table, _) = DeTable::parse_recoverable(source.text());
        let folder = source.path.parent().unwrap_or(Path::new("."));
        let include = table.get_ref().get("include").and_then(one_or_more).unwrap_or_default();
        for pattern in include.into_iter().filter_map(|item| item.get_ref().as_str()) {
            let full = folder.join(pattern);
            paths.extend(full.parent().map(Path::to_owned));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn build(
    mut sources: Vec<Source>,
    folder: Option<&Path>,
    edits: &[Edit],
    mut problems: Problems,
) -> Result<Loaded, Problems> {
    let originals = sources.clone();
    for edit in edits {
        if let Err(why) = edit.apply(&mut sources) {
            problems.push(Problem::whole(why, "The change was not made."));
        }
    }
    problems.sources.clone_from(&sources);
    let tables: Vec<_> = sources.iter().map(|source| DeTable::parse_recoverable(source.text())).collect();
    for (index, (_, errors)) in tables.iter().enumerate() {
        // What is no text is no TOML either.
        let is_text = |problem: &Problem| {
            problem.title != NOT_UTF8 || problem.place.as_ref().is_none_or(|place| place.source != index)
        };
        if !problems.list().iter().all(is_text) {
            continue;
        }
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let place = Place { source: index, span };
            problems.push(Problem::error(place, "this is not TOML", error.message().to_owned()));
        }
    }
    // A table that could not be read whole would draw consequences of its own; they would only hide the cause.
    if problems.n_errors() > 0 {
        problems.sort();
        return Err(problems);
    }
    let mut draft = Draft::default();
    let mut defaults = Defaults::default();
    for (index, (table, _)) in tables.iter().enumerate() {
        reader(index, &sources, folder, &mut problems).defaults(table.get_ref(), &mut defaults);
    }
    for (index, (table, _)) in tables.iter().enumerate() {
        reader(index, &sources, folder, &mut problems).sections(table.get_ref(), &defaults, &mut draft);
    }
    drop(defaults);
    let config = resolve(draft, &mut problems);
    problems.sort();
    if problems.n_errors() > 0 {
        return Err(problems);
    }
    debug_assert!(problems.list().iter().all(|problem| problem.severity == Severity::Warning));
    Ok(Loaded { config, warnings: problems, sources, originals })
}

fn reader<'p>(
    source: usize,
    sources: &'p [Source],
    folder: Option<&'p Path>,
    problems: &'p mut Problems,
) -> Reader<'p> {
    // Paths in a file are relative to that file; text that is no file has none.
    let own = sources.get(source).and_then(|source| source.path.parent());
    Reader { source, folder: folder.and(own), problems }
}

/// The main file and its includes, each once.
fn collect(path: &Path, problems: &mut Problems) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut waiting = vec![(path.to_owned(), None::<Place>)];
    while let Some((path, wanted_by)) = (!waiting.is_empty()).then(|| waiting.remove(0)) {
        let known = |source: &Source| same_file(&source.path, &path);
        if sources.iter().any(known) {
            continue;
        }
        match read_text(&path) {
            Ok(text) => sources.push(Source::new(path.clone(), text)),
            Err(Unreadable::NotUtf8 { text, at, byte }) => {
                sources.push(Source::new(path.clone(), text));
                let place = Place {
                    source: sources.len() - 1,
                    span: at..at + char::REPLACEMENT_CHARACTER.len_utf8(),
                };
                let problem = Problem::error(place, NOT_UTF8, format!("a byte {byte:02X} that is none"));
                problems.push(problem.help("Save the file as UTF-8. In a path, write the letter's bytes as the browser sends them, as in /caf%C3%A9."));
            }
            Err(Unreadable::Why(why)) => {
                problems.sources.clone_from(&sources);
                let problem = match wanted_by {
                    Some(place) => Problem::error(place, format!("{} cannot be read", path.display()), why),
                    None => Problem::whole(
                        format!("{} cannot be read: {why}", path.display()),
                        "Name another file with -c FILE.",
                    ),
                };
                problems.push(problem);
                continue;
            }
        }
        let index = sources.len() - 1;
        problems.sources.clone_from(&sources);
        if let Some(source) = sources.get(index) {
            waiting.extend(includes(source, index, problems));
        }
    }
    sources
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || std::fs::canonicalize(a).ok().zip(std::fs::canonicalize(b).ok()).is_some_and(|(a, b)| a == b)
}

enum Unreadable {
    Why(String),
    /// The text as far as it is one, and its first byte that is not.
    NotUtf8 {
        text: String,
        at: usize,
        byte: u8,
    },
}

const NOT_UTF8: &str = "this is not UTF-8 text";

fn read_text(path: &Path) -> Result<String, Unreadable> {
    let no = |error: std::io::Error| Unreadable::Why(error.to_string());
    let meta = std::fs::metadata(path).map_err(no)?;
    if !meta.is_file() {
        return Err(Unreadable::Why("it is not a file".to_owned()));
    }
    if meta.len() > MAX_FILE {
        let why = format!("it has {} bytes, more than a configuration can need", meta.len());
        return Err(Unreadable::Why(why));
    }
    let bytes = std::fs::read(path).map_err(no)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let byte = bytes.get(at).copied().unwrap_or_default();
        Unreadable::NotUtf8 { text: String::from_utf8_lossy(bytes).into_owned(), at, byte }
    })?;
    // Some editors put a byte order mark in front.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Files that a file's `include` names.
fn includes(source: &Source, index: usize, problems: &mut Problems) -> Vec<(PathBuf, Option<Place>)> {
    let (table, _) = DeTable::parse_recoverable(source.text());
    let mut found = Vec::new();
    let include = entries(table.get_ref()).into_iter().find(|(name, _, _)| *name == "include");
    let Some((_, span, value)) = include else { return found };
    let whole = Place { source: index, span };
    let Some(list) = one_or_more(value) else {
        problems.push(Problem::error(
            whole,
            "include is a path or a list of paths",
            "expected [\"apps/*.toml\"]",
        ));
        return found;
    };
    let folder = source.path.parent().unwrap_or(Path::new("."));
    for item in list {
        let place = Place { source: index, span: item.span() };
        match item.get_ref().as_str() {
            Some(pattern) => match expand(folder, pattern) {
                Ok(paths) => found.extend(paths.into_iter().map(|path| (path, Some(place.clone())))),
                Err(why) => problems.push(Problem::error(place, "this include cannot be followed", why)),
            },
            None => problems.push(Problem::error(place, "this is no path", "expected text in quotes")),
        }
    }
    found
}

/// A text, or what a list holds.
fn one_or_more<'a>(value: &'a Spanned<DeValue<'a>>) -> Option<Vec<&'a Spanned<DeValue<'a>>>> {
    let inner = value.get_ref();
    if inner.as_str().is_some() {
        return Some(vec![value]);
    }
    inner.as_array().map(|list| list.iter().collect())
}

/// A path, or a pattern with `*` and `?` in its last part, in the order of names. A pattern may match nothing.
fn expand(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let full = folder.join(pattern);
    let name = full.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.contains(['*', '?']) {
        return Ok(vec![full]);
    }
    let parent = full.parent().unwrap_or(folder);
    if parent.to_string_lossy().contains(['*', '?']) {
        return Err("a pattern may stand in the last part of a path only".to_owned());
    }
    let Ok(listing) = std::fs::read_dir(parent) else { return Ok(Vec::new()) };
    let names = listing.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut matching: Vec<String> =
        names.filter(|found| !found.starts_with('.') && glob(name, found)).collect();
    matching.sort();
    Ok(matching.into_iter().map(|name| parent.join(name)).collect())
}

fn glob(pattern: &str, name: &str) -> bool {
    let mut chars = pattern.chars();
    match chars.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = chars.as_str();
            name.char_indices().any(|(at, _)| name.get(at..).is_some_and(|tail| glob(rest, tail)))
                || glob(rest, "")
        }
        Some(c) => {
            let mut rest = name.chars();
            rest.next().is_some_and(|found| c == '?' || c == found) && glob(chars.as_str(), rest.as_str())
        }
    }
}

const MAX_FILE: u64 = 64 * 1024 * 1024;
