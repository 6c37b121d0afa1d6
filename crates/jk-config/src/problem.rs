//! What is wrong with a configuration, kept as data and drawn for people.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub path: PathBuf,
    text: Arc<str>,
    /// Where each line begins. Every mapping knows its line, and there may be a hundred thousand.
    lines: Arc<[usize]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// A place in one of the sources.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    pub source: usize,
    /// Bytes.
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    pub severity: Severity,
    /// `None`: about the configuration as a whole.
    pub place: Option<Place>,
    /// What is wrong, in one line.
    pub title: String,
    /// What was expected at the place.
    pub label: String,
    /// What to do.
    pub help: Option<String>,
    /// Other places that belong to it.
    pub related: Vec<(Place, String)>,
}

/// All problems of a configuration and the texts they are in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    pub(crate) list: Vec<Problem>,
    /// Two checks may find the same.
    seen: HashSet<Problem>,
    pub(crate) sources: Vec<Source>,
}

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Colour,
}

impl Source {
    #[must_use]
    pub fn new(path: PathBuf, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { path, text, lines }
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte, counted from 1; columns in characters.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|begin| *begin <= offset);
        let begin = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let end = offset.min(self.text.len());
        (line, self.text.get(begin..end).map_or(0, |line| line.chars().count()) + 1)
    }
}

impl Problem {
    pub(crate) fn error(place: Place, title: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            place: Some(place),
            title: title.into(),
            label: label.into(),
            help: None,
            related: Vec::new(),
        }
    }

    pub(crate) fn warning(place: Place, title: impl Into<String>, label: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, title, label) }
    }

    pub(crate) fn whole(title: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            place: None,
            title: title.into(),
            label: String::new(),
            help: Some(help.into()),
            related: Vec::new(),
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.seen.insert(problem.clone()) {
            self.list.push(problem);
        }
    }

    #[must_use]
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[must_use]
    pub fn n_errors(&self) -> usize {
        self.list.iter().filter(|problem| problem.severity == Severity::Error).count()
    }

    #[must_use]
    pub fn source(&self, place: &Place) -> Option<&Source> {
        self.sources.get(place.source)
    }

    /// `file:line:column` of a problem.
    #[must_use]
    pub fn location(&self, problem: &Problem) -> String {
        let Some((place, source)) =
            problem.place.as_ref().and_then(|place| Some((place, self.source(place)?)))
        else {
            return self.sources.first().map_or_else(String::new, |source| source.path.display().to_string());
        };
        let (line, column) = source.position(place.span.start);
        format!("{}:{line}:{column}", source.path.display())
    }

    /// In the order of the files.
    pub(crate) fn sort(&mut self) {
        let key = |problem: &Problem| problem.place.as_ref().map(|place| (place.source, place.span.start));
        self.list.sort_by_key(key);
    }

    /// One line a problem, for logs and the status page.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let one = |problem: &Problem| {
            let mut line = format!("{}: {}", self.location(problem), problem.title);
            if !problem.label.is_empty() {
                let _infallible = write!(line, ": {}", problem.label);
            }
            if let Some(help) = &problem.help {
                let _infallible = write!(line, " ({help})");
            }
            line
        };
        self.list.iter().map(one).collect()
    }

    /// For people: every problem with its line, a mark under the place and what to do. Of very many, the first hundred, errors before
    /// warnings; nobody reads on.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Colour => Renderer::styled(),
        };
        // A message that shows the line of a secret must not show the secret.
        let texts: Vec<String> = self.sources.iter().map(|source| mask_secrets(source.text())).collect();
        let mut left = [(Severity::Error, SHOWN), (Severity::Warning, SHOWN.saturating_sub(self.n_errors()))];
        let shown = self.list.iter().filter(|problem| {
            let room = left.iter_mut().find(|(severity, _)| *severity == problem.severity);
            room.is_some_and(|(_, room)| std::mem::replace(room, room.saturating_sub(1)) > 0)
        });
        let mut drawn: Vec<String> = shown.map(|problem| self.draw(problem, &texts, &renderer)).collect();
        if let more @ 1.. = self.list.len() - drawn.len() {
            drawn.push(format!("… and {more} more"));
        }
        drawn.join("\n\n")
    }

    fn draw(&self, problem: &Problem, texts: &[String], renderer: &Renderer) -> String {
        let level = match problem.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(problem.title.as_str());
        let mut group = annotate_snippets::Group::with_title(title);
        let mut files: Vec<usize> = problem
            .place
            .iter()
            .chain(problem.related.iter().map(|(place, _)| place))
            .map(|place| place.source)
            .collect();
        files.dedup();
        let names: Vec<String> =
            self.sources.iter().map(|source| source.path.display().to_string()).collect();
        for file in files {
            let Some((text, name)) = texts.get(file).zip(names.get(file)) else { continue };
            let mut snippet = Snippet::source(text.as_str()).path(name.as_str());
            if let Some(place) = problem.place.as_ref().filter(|place| place.source == file) {
                let mark = AnnotationKind::Primary.span(within(text, &place.span));
                snippet = snippet.annotation(mark.label(problem.label.as_str()));
            }
            for (place, label) in problem.related.iter().filter(|(place, _)| place.source == file) {
                let mark = AnnotationKind::Context.span(within(text, &place.span));
                snippet = snippet.annotation(mark.label(label.as_str()));
            }
            group = group.element(snippet);
        }
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// How many problems are drawn.
const SHOWN: usize = 100;

/// The text with the values of `secret` keys replaced by stars, byte for byte, so that places stay where they are.
fn mask_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("secret") {
        let (before, found) = rest.split_at_checked(at + "secret".len()).unwrap_or((rest, ""));
        out.push_str(before);
        rest = found;
        let value = rest
            .trim_start_matches(['"', '\''])
            .trim_start_matches([' ', '\t'])
            .strip_prefix('=')
            .map(|value| value.trim_start_matches([' ', '\t']));
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        let (open, end) = value_extent(value);
        let skipped = rest.len() - value.len() + open;
        out.push_str(rest.get(..skipped).unwrap_or_default());
        let hidden = value.get(open..end).unwrap_or_default();
        out.extend(
            hidden.chars().flat_map(|c| std::iter::repeat_n(if c == '\n' { c } else { '*' }, c.len_utf8())),
        );
        rest = value.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Where the inner part of a TOML value begins and ends in a text that begins with the value; whatever is wrong with it, to the end of
/// the line at least.
fn value_extent(text: &str) -> (usize, usize) {
    let line = text.find('\n').unwrap_or(text.len());
    for quote in ["\"\"\"", "'''"] {
        if let Some(inner) = text.strip_prefix(quote) {
            return (3, 3 + inner.find(quote).unwrap_or(inner.len()));
        }
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else {
        return (0, text.find([',', '}', '#', '\n']).unwrap_or(text.len()));
    };
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1).take_while(|(at, _)| *at < line) {
        if c == quote && !is_escaped {
            return (1, at);
        }
        is_escaped = c == '\\' && quote == '"' && !is_escaped;
    }
    (1, line)
}

/// A span that lies in the text and on character boundaries, whatever a parser said.
fn within(text: &str, span: &Range<usize>) -> Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start);
    start..floor(span.end).max(start)
}

/// The known word that somebody probably meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.len() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= limit)
        .map(|candidate| (distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits with neighbouring letters swapped counting as one (Damerau, restricted).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    let at = |table: &[usize], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(usize::MAX);
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let value = if i == 0 || j == 0 {
                i + j
            } else {
                let (x, y) = (a.get(i - 1), b.get(j - 1));
                let replace = at(&table, i - 1, j - 1) + usize::from(x != y);
                let mut best = replace.min(at(&table, i - 1, j) + 1).min(at(&table, i, j - 1) + 1);
                if i > 1 && j > 1 && x == b.get(j - 2) && a.get(i - 2) == y {
                    best = best.min(at(&table, i - 2, j - 2) + 1);
                }
                best
            };
            if let Some(cell) = table.get_mut(i * width + j) {
                *cell = value;
            }
        }
    }
    at(&table, a.len(), b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_however_it_is_written() {
        for (text, hidden) in [
            ("secret = \"abc\" # x", "secret = \"***\" # x"),
            ("secret='abc'\nroute='t1'", "secret='***'\nroute='t1'"),
            ("t1 = { secret = \"a\\\"b\", route = \"x\" }", "t1 = { secret = \"****\", route = \"x\" }"),
            ("secret = \"\"\"a\nb\"\"\"\nx = 1", "secret = \"\"\"*\n*\"\"\"\nx = 1"),
            ("secret = abc\nx = 1", "secret = ***\nx = 1"),
            ("secret = 123", "secret = ***"),
            ("\"secret\" = \"é\"", "\"secret\" = \"**\""),
            ("secret = \"open\nx = 1", "secret = \"****\nx = 1"),
            ("secret_file = \"/run/x\"\nsecret_env = \"X\"", "secret_file = \"/run/x\"\nsecret_env = \"X\""),
            ("secret =", "secret ="),
        ] {
            assert_eq!(mask_secrets(text), hidden);
            assert_eq!(mask_secrets(text).len(), text.len(), "places stay where they are");
        }
    }
}
