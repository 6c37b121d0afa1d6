//! Configurations of mod_jk2, mod_jk, httpd and Tomcat as workers.toml. The legacy names and their quirks live here and nowhere else.
//!
//! The result is text that a person would have written, with comments that say where each thing came from; what was changed or
//! dropped is told in notes, so that nothing is lost silently.

mod document;
mod glob;
mod httpd;
mod import;
mod modjk;
mod near;
mod number;
mod report;
mod text;
mod tomcat;
mod workers2;

use std::io;
use std::path::{Path, PathBuf};

pub use report::{Note, NoteKind, Problem};

use import::Import;

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
    let mut import = Import::new(options);
    import.files(files);
    import.finish()
}
