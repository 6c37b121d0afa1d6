//! Files that directives name: given on the command line, or read from where httpd would look.

use std::path::{Component, Path, PathBuf};

use super::read::Reader;
use crate::InputFile;
use crate::report::At;

impl Reader<'_, '_> {
    /// The file of a directive. One of the command line with the same name goes before the one on disk.
    pub(super) fn named_file(&mut self, name: &str, at: &At) -> Option<InputFile> {
        let wanted = Path::new(name).file_name();
        let given = self.inputs.iter().position(|file| file.path.file_name() == wanted);
        if let Some((index, file)) = given.and_then(|index| Some((index, self.inputs.get(index)?))) {
            self.httpd.named.insert(index);
            return Some(file.clone());
        }
        let paths = self.candidates(name, at);
        for path in &paths {
            if let Ok(bytes) = (self.options.read)(path) {
                return Some(InputFile { path: path.clone(), bytes });
            }
        }
        let looked: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        self.report
            .problem(at, None, format!("{name} cannot be read"))
            .expected(format!("a file at {}", looked.join(" or ")))
            .help("name the file in the same command, or import where httpd runs");
        None
    }

    /// Relative names start at the server's root; where that is not known, at the folder of the file that names them.
    fn candidates(&self, name: &str, at: &At) -> Vec<PathBuf> {
        let path = Path::new(name);
        if path.is_absolute() {
            return vec![path.to_owned()];
        }
        let folder = at.path.parent().unwrap_or(Path::new("")).to_owned();
        let mut paths: Vec<PathBuf> = self.root.iter().map(|root| root.join(path)).collect();
        paths.push(folder.join(path));
        paths.extend(folder.parent().map(|above| above.join(path)));
        paths.dedup();
        paths
    }

    /// The files of an Include, in the order of their names.
    pub(super) fn included(&mut self, pattern: &str, at: &At) -> Vec<InputFile> {
        if pattern.contains(['*', '?', '[']) {
            for candidate in self.candidates(pattern, at) {
                let found: Vec<InputFile> =
                    self.matching(&candidate).into_iter().filter_map(|path| self.read(path)).collect();
                if !found.is_empty() {
                    return found;
                }
            }
            return Vec::new();
        }
        for path in self.candidates(pattern, at) {
            if let Some(file) = self.read(path.clone()) {
                return vec![file];
            }
            // A folder means everything in it.
            if let Ok(mut names) = (self.options.list)(&path) {
                names.sort();
                return names.into_iter().filter_map(|path| self.read(path)).collect();
            }
        }
        Vec::new()
    }

    fn read(&self, path: PathBuf) -> Option<InputFile> {
        let bytes = (self.options.read)(&path).ok()?;
        Some(InputFile { path, bytes })
    }

    fn matching(&self, pattern: &Path) -> Vec<PathBuf> {
        let mut found = vec![PathBuf::new()];
        for part in pattern.components() {
            let text = part.as_os_str().to_string_lossy();
            let is_plain = !matches!(part, Component::Normal(_)) || !text.contains(['*', '?', '[']);
            if is_plain {
                for path in &mut found {
                    path.push(part);
                }
                continue;
            }
            let mut next = Vec::new();
            for folder in found {
                let mut names = (self.options.list)(&folder).unwrap_or_default();
                names.sort();
                let is_match = |path: &PathBuf| {
                    path.file_name()
                        .and_then(|name| name.to_str())
                        .is_some_and(|name| !name.starts_with('.') && glob(&text, name))
                };
                next.extend(names.into_iter().filter(is_match));
                next.truncate(MOST_FILES);
            }
            found = next;
        }
        found
    }
}

/// The shell's patterns, without classes: a bracket is any one character.
fn glob(pattern: &str, name: &str) -> bool {
    let simple: String = {
        let mut out = String::new();
        let mut inside = false;
        for c in pattern.chars() {
            match c {
                '[' => {
                    inside = true;
                    out.push('?');
                }
                ']' if inside => inside = false,
                _ if inside => {}
                c => out.push(c),
            }
        }
        out
    };
    crate::glob::matches(simple.as_bytes(), name.as_bytes())
}

const MOST_FILES: usize = 10_000;
