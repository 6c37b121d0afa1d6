//! The house rules that a machine can check.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name.starts_with("target") || name == "fuzz" {
            continue;
        }
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root(), &mut found);
    found
}

/// Which of our crates a crate may use. A new edge is a decision of its own.
#[test]
fn crates_use_only_what_lies_below_them() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("jk-ajp", [].as_slice()),
        ("jk-config", &[]),
        ("jk-worker", &[]),
        ("jk-status", &[]),
        ("jk-import", &["jk-config"]),
        ("jk-balance", &["jk-config"]),
        ("jk-channel", &["jk-ajp", "jk-config"]),
        (
            "jkgate",
            &["jk-ajp", "jk-balance", "jk-channel", "jk-config", "jk-import", "jk-status", "jk-worker"],
        ),
        ("xtask", &[]),
    ]);
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        let may = allowed
            .get(name.as_str())
            .unwrap_or_else(|| panic!("crate {name} is not in the table of this test"));
        for line in dependencies.lines().filter(|line| line.starts_with("jk-") || line.starts_with("jkgate"))
        {
            let used = line.split(['.', ' ', '=']).next().unwrap_or_default();
            assert!(may.contains(&used), "{name} must not use {used}");
        }
    }
}

#[test]
fn what_thinks_opens_no_socket() {
    for name in ["jk-ajp", "jk-config", "jk-import", "jk-balance", "jk-status"] {
        let mut sources = Vec::new();
        files(&root().join("crates").join(name).join("src"), &mut sources);
        for source in
            sources.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        {
            let text = fs::read_to_string(source).unwrap();
            for word in ["tokio", "TcpStream", "TcpListener", "UdpSocket"] {
                assert!(!text.contains(word), "{} mentions {word}", source.display());
            }
        }
    }
}

#[test]
fn choice_and_health_read_no_clock() {
    let mut sources = Vec::new();
    files(&root().join("crates/jk-balance/src"), &mut sources);
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_test = source.to_string_lossy().contains("tests");
        assert!(is_test || !code.contains("Instant::now"), "{} reads the clock", source.display());
    }
}

#[test]
fn files_are_small_enough_to_read() {
    for path in all().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.split("#[cfg(test)]").next().unwrap_or_default().lines().count();
        let limit = if path.to_string_lossy().contains("/tests/") { 1000 } else { 800 };
        assert!(lines <= limit, "{} has {lines} lines", path.display());
    }
}

#[test]
fn nothing_is_left_for_later() {
    let words = [
        "TO".to_owned() + "DO",
        "FIX".to_owned() + "ME",
        "#[ig".to_owned() + "nore",
        "todo".to_owned() + "!(",
    ];
    for path in all().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let text = fs::read_to_string(&path).unwrap();
        for word in &words {
            assert!(!text.contains(word.as_str()), "{} holds {word}", path.display());
        }
    }
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    for path in all().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(path.parent().unwrap().join(file).exists(), "{}: {link} leads nowhere", path.display());
        }
    }
}
