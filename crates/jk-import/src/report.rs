//! What is said about an import: notes on what was taken over in what way, and problems that stand in its way.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// Was taken over as it is; there is something to know about it.
    Kept,
    /// Means something else here than it did there.
    Changed,
    /// Has no meaning here and was left out.
    Dropped,
    /// Was surely not meant.
    Warning,
}

/// A remark on one line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub path: PathBuf,
    /// 0: the file as a whole.
    pub line: usize,
    pub kind: NoteKind,
    /// `W2-404` for workers2 files.
    pub id: Option<&'static str>,
    pub text: String,
}

/// What stands in the way of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub path: PathBuf,
    /// 0: the file as a whole.
    pub line: usize,
    pub column: usize,
    /// `W2-301` for workers2 files.
    pub id: Option<&'static str>,
    pub title: String,
    /// What should stand there; may be empty.
    pub expected: String,
    /// What to do; may be empty.
    pub help: String,
    /// What the original program did with it; may be empty.
    pub was: String,
}

/// A place in a file.
#[derive(Debug, Clone)]
pub(crate) struct At {
    pub(crate) path: Arc<Path>,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Everything that was found on the way.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) notes: Vec<Note>,
    pub(crate) problems: Vec<Problem>,
}

impl At {
    /// `workers.properties:12`, as comments name it.
    pub(crate) fn short(&self) -> String {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{name}:{}", self.line)
    }
}

impl Report {
    pub(crate) fn note(&mut self, at: &At, kind: NoteKind, text: impl Into<String>) {
        self.push(at, (kind, None), text.into());
    }

    pub(crate) fn kept(&mut self, at: &At, text: impl Into<String>) {
        self.note(at, NoteKind::Kept, text);
    }

    pub(crate) fn changed(&mut self, at: &At, text: impl Into<String>) {
        self.note(at, NoteKind::Changed, text);
    }

    pub(crate) fn dropped(&mut self, at: &At, text: impl Into<String>) {
        self.note(at, NoteKind::Dropped, text);
    }

    pub(crate) fn warn(&mut self, at: &At, text: impl Into<String>) {
        self.note(at, NoteKind::Warning, text);
    }

    /// A note with an id of the catalogue.
    pub(crate) fn push(&mut self, at: &At, (kind, id): (NoteKind, Option<&'static str>), text: String) {
        self.notes.push(Note { path: at.path.to_path_buf(), line: at.line, kind, id, text });
    }

    /// The caller fills in what there is to say beyond the title.
    pub(crate) fn problem(
        &mut self,
        at: &At,
        id: Option<&'static str>,
        title: impl Into<String>,
    ) -> Telling<'_> {
        self.problems.push(Problem {
            path: at.path.to_path_buf(),
            line: at.line,
            column: at.column,
            id,
            title: title.into(),
            expected: String::new(),
            help: String::new(),
            was: String::new(),
        });
        Telling { problem: self.problems.last_mut() }
    }

    /// By file, in the order in which the files were looked at, then by line.
    pub(crate) fn sort(&mut self, order: &[PathBuf]) {
        let rank: HashMap<&Path, usize> =
            order.iter().enumerate().map(|(index, path)| (path.as_path(), index)).collect();
        let rank = |path: &Path| rank.get(path).copied().unwrap_or(usize::MAX);
        self.problems.sort_by_key(|problem| (rank(&problem.path), problem.line, problem.column));
        self.notes.sort_by_key(|note| (rank(&note.path), note.line));
        // What several hosts share is looked at for each of them.
        let mut seen = HashSet::new();
        self.problems
            .retain(|problem| seen.insert((problem.path.clone(), problem.line, problem.title.clone())));
        seen.clear();
        self.notes.retain(|note| seen.insert((note.path.clone(), note.line, note.text.clone())));
    }
}

/// A problem that is still being told.
pub(crate) struct Telling<'r> {
    problem: Option<&'r mut Problem>,
}

impl Telling<'_> {
    pub(crate) fn expected(mut self, text: impl Into<String>) -> Self {
        if let Some(problem) = &mut self.problem {
            problem.expected = text.into();
        }
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        if let Some(problem) = &mut self.problem {
            problem.help = text.into();
        }
        self
    }

    pub(crate) fn was(mut self, text: impl Into<String>) -> Self {
        if let Some(problem) = &mut self.problem {
            problem.was = text.into();
        }
        self
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.kind)?;
        if let Some(id) = self.id {
            write!(f, "[{id}]")?;
        }
        write!(f, ": {}", self.text)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column.max(1))?;
        }
        f.write_str(": error")?;
        if let Some(id) = self.id {
            write!(f, "[{id}]")?;
        }
        write!(f, ": {}", self.title)?;
        for (label, text) in [("expected", &self.expected), ("help", &self.help), ("note", &self.was)] {
            if !text.is_empty() {
                write!(f, "\n    {label}: {text}")?;
            }
        }
        Ok(())
    }
}
