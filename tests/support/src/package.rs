//! Public packages that a test runs against: fetched for the run, never part of the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fetches a package of the Python index into `folder` and unpacks it there, once; where `file` of it lies.
///
/// # Panics
///
/// When it cannot be had, or has no such file.
#[must_use]
pub fn fetched(folder: &Path, wanted: &str, file: &str) -> PathBuf {
    let find = || {
        let inside = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path().join(file));
        inside.chain([folder.join(file)]).find(|path| path.exists())
    };
    if let Some(path) = find() {
        return path;
    }
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let script = "python3 -m pip download -q --no-deps \"$1\" \
                  && for each in *.tar.gz; do ! test -e \"$each\" || tar xzf \"$each\"; done \
                  && for each in *.whl; do ! test -e \"$each\" || python3 -m zipfile -e \"$each\" .; done";
    let mut command = Command::new("sh");
    let output = command.args(["-c", script, "fetch", wanted]).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("cannot start sh: {error}"));
    assert!(output.status.success(), "{wanted}: {}", String::from_utf8_lossy(&output.stderr));
    find().unwrap_or_else(|| panic!("{wanted} has no {file}"))
}
