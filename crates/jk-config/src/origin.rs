//! Where a value stands in the files.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::Source;

/// The files of a configuration, to look places up in.
pub(crate) struct Origins<'a> {
    /// With an operator's changes laid over them.
    files: Files<'a>,
    /// As they are.
    originals: Files<'a>,
}

type Files<'a> = Vec<(Spanned<DeTable<'a>>, &'a Source)>;

struct Found<'a> {
    file: usize,
    key: Range<usize>,
    value: &'a Spanned<DeValue<'a>>,
    source: &'a Source,
}

impl<'a> Origins<'a> {
    pub(crate) fn new(sources: &'a [Source], originals: &'a [Source]) -> Self {
        let parsed = |source: &'a Source| (DeTable::parse_recoverable(source.text()).0, source);
        Self {
            files: sources.iter().map(parsed).collect(),
            originals: originals.iter().map(parsed).collect(),
        }
    }

    pub(crate) fn has(&self, path: &[&str]) -> bool {
        find(&self.files, path).is_some()
    }

    /// The place in the order of the files.
    pub(crate) fn order(&self, path: &[&str]) -> (usize, usize) {
        find(&self.files, path).map_or((usize::MAX, 0), |found| (found.file, found.key.start))
    }

    /// `path/to/file.toml:12`, and whether somebody changed it who did not write it there.
    pub(crate) fn line(&self, path: &[&str]) -> Option<String> {
        let found = find(&self.files, path)?;
        match find(&self.originals, path) {
            Some(file) if file.written() == found.written() => Some(file.place()),
            Some(file) => Some(format!("changed by an operator, over {}", file.place())),
            None => Some("set by an operator, in no file yet".to_owned()),
        }
    }

    /// A text as it is written.
    pub(crate) fn text(&self, path: &[&str]) -> Option<&str> {
        find(&self.files, path)?.value.get_ref().as_str()
    }

    /// A path that is written relative to its file, from where this process stands.
    pub(crate) fn file(&self, path: &[&str]) -> Option<String> {
        let found = find(&self.files, path)?;
        let folder = found.source.path.parent()?;
        Some(folder.join(found.value.get_ref().as_str()?).display().to_string())
    }
}

impl Found<'_> {
    fn place(&self) -> String {
        format!("{}:{}", self.source.path.display(), self.source.position(self.key.start).0)
    }

    /// Its value, as the file has it. A table is the same table whatever is in it.
    fn written(&self) -> &str {
        if self.value.get_ref().is_table() {
            return "";
        }
        self.source.text().get(self.value.span()).unwrap_or_default()
    }
}

fn find<'f>(files: &'f Files<'_>, path: &[&str]) -> Option<Found<'f>> {
    files.iter().enumerate().find_map(|(file, (root, source))| {
        let (last, tables) = path.split_last()?;
        let mut table = root.get_ref();
        for name in tables {
            table = entry(table, name)?.1.get_ref().as_table()?;
        }
        let (key, value) = entry(table, last)?;
        Some(Found { file, key: key.span(), value, source })
    })
}

type Entry<'t, 'a> = (&'t Spanned<std::borrow::Cow<'a, str>>, &'t Spanned<DeValue<'a>>);

/// Hosts may be written in any case.
fn entry<'t, 'a>(table: &'t DeTable<'a>, name: &str) -> Option<Entry<'t, 'a>> {
    table
        .get_key_value(name)
        .or_else(|| table.iter().find(|(key, _)| key.get_ref().eq_ignore_ascii_case(name)))
}
