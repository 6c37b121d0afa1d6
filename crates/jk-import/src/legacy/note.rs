//! What is said about an import.

use std::fmt;
use std::path::PathBuf;

use crate::legacy::properties::Text;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoteKind {
    /// Means something else here than it did there.
    Changed,
    /// Has no meaning here and was left out.
    Dropped,
    /// Was surely not meant.
    Warning,
}

/// A remark on one line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub path: PathBuf,
    pub line: usize,
    pub kind: NoteKind,
    /// `W2-404` for workers2 files.
    pub id: Option<&'static str>,
    pub text: String,
}

/// What stands in the way of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub path: PathBuf,
    /// 0: the file as a whole.
    pub line: usize,
    pub column: usize,
    pub id: Option<&'static str>,
    pub title: String,
    pub help: String,
}

impl Problem {
    pub(crate) fn whole(text: &Text, title: &str, help: &str) -> Self {
        Self::at(text, (0, 0), None, title, help)
    }

    pub(crate) fn at(
        text: &Text,
        (line, column): (usize, usize),
        id: Option<&'static str>,
        title: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { path: text.path.clone(), line, column, id, title: title.into(), help: help.into() }
    }
}

impl Note {
    pub(crate) fn new(
        text: &Text,
        line: usize,
        kind: NoteKind,
        id: Option<&'static str>,
        what: impl Into<String>,
    ) -> Self {
        Self { path: text.path.clone(), line, kind, id, text: what.into() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            NoteKind::Changed => "changed",
            NoteKind::Dropped => "dropped",
            NoteKind::Warning => "warning",
        };
        write!(f, "{}:{}: {kind}", self.path.display(), self.line)?;
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
        write!(f, ": {}\n    help: {}", self.title, self.help)
    }
}
