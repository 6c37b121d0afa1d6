//! The documents that are made from the table of keys, and the examples.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use jk_config::{Config, KEYS, Kind, Reload};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Texts => "text, or a list".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Duration => "duration".to_owned(),
        Kind::DurationOrNever => "duration or \"never\"".to_owned(),
        Kind::Size => "size".to_owned(),
        Kind::Number { min, max } => format!("{min} to {max}"),
        Kind::Statuses => "list of statuses".to_owned(),
        Kind::Address => "address".to_owned(),
        Kind::Networks => "list of networks".to_owned(),
        Kind::Choice(words) => words.join(", "),
        Kind::Choices(words) => format!("list of {}", words.join(", ")),
        Kind::Table(section) => format!("table, see {section}"),
    }
}

fn reference() -> String {
    let mut out = String::from(
        "# workers.toml, key by key\n\nMade from the program's own table of keys. Durations carry a unit (`ms`, `s`, `m`, `h`, `d`), sizes too (`B`, `KiB`, `MiB`).\n\
         A change takes effect with the next request unless the last column says otherwise.\n",
    );
    let mut last = "?";
    for key in KEYS {
        if key.section != last {
            last = key.section;
            let title = match last {
                "" => "at the top".to_owned(),
                "listener" | "ajp13" | "lb" | "host" => format!("[{last}.NAME]"),
                "health_check" | "unavailable" => format!("{last} = {{ … }}"),
                "uri" => "[uri] \"PATTERN\" = \"target\" or { … }".to_owned(),
                _ => format!("[{last}]"),
            };
            let _infallible = write!(
                out,
                "\n## {title}\n\n| key | values | default | meaning | changed value |\n|---|---|---|---|---|\n"
            );
        }
        let default = if key.default.is_empty() { String::new() } else { format!("`{}`", key.default) };
        let reload = match key.reload {
            Reload::NextRequest => "",
            Reload::NewChannel => "new channels",
            Reload::NewListener => "new connections",
            Reload::Restart => "restart",
        };
        let kind = kind(key.kind);
        let _infallible = writeln!(
            out,
            "| `{}` | {kind} | {default} | {} | {reload} |",
            key.name,
            key.doc.replace('|', "\\|")
        );
    }
    out
}

#[test]
fn the_reference_is_the_table() {
    expect_file![root().join("docs/configuration.md")].assert_eq(&reference());
}

/// config/workers.toml: every key that has a fixed default, as a comment or not, with that default.
#[test]
fn the_commented_configuration_shows_every_default() {
    let path = root().join("config/workers.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let loaded = jk_config::load(&path)
        .unwrap_or_else(|problems| panic!("{}", problems.render(jk_config::Style::Plain)));
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings.render(jk_config::Style::Plain));
    for key in
        KEYS.iter().filter(|key| !matches!(key.section, "uri" | "health_check" | "unavailable" | "host"))
    {
        let is_measure =
            key.default.starts_with(|c: char| c.is_ascii_digit()) && key.default.parse::<u64>().is_err();
        let default = if is_measure { format!("\"{}\"", key.default) } else { key.default.to_owned() };
        let is_literal = default.starts_with(['"', '[', '\''])
            || default.parse::<u64>().is_ok()
            || matches!(key.default, "true" | "false");
        let is_shown = text.lines().any(|line| line == format!("#{} = {default}", key.name));
        assert!(
            is_shown || !is_literal,
            "config/workers.toml does not show {}.{} = {default}",
            key.section,
            key.name
        );
    }
    // Uncommented, the shown values are the defaults: nothing changes.
    let uncommented: String = text
        .lines()
        .map(|line| if line.starts_with("#   ") { line } else { line.strip_prefix('#').unwrap_or(line) })
        .map(|line| format!("{line}\n"))
        .collect();
    let all = Config::from_toml("all", &uncommented)
        .unwrap_or_else(|problems| panic!("{}", problems.render(jk_config::Style::Plain)));
    assert_eq!(jk_config::diff(&loaded.config, &all.config), Vec::<String>::new());
}

#[test]
fn examples_are_good() {
    for name in ["examples/two-tomcats/workers.toml", "examples/from-jk2/workers.toml"] {
        let loaded = jk_config::load(&root().join(name))
            .unwrap_or_else(|problems| panic!("{}", problems.render(jk_config::Style::Plain)));
        assert!(loaded.warnings.is_empty(), "{name}: {}", loaded.warnings.render(jk_config::Style::Plain));
    }
}

#[test]
fn the_readmes_configuration_is_good() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    Config::from_toml("README.md", block)
        .unwrap_or_else(|problems| panic!("{}", problems.render(jk_config::Style::Plain)));
}

#[test]
fn what_is_dumped_means_the_same() {
    for name in ["examples/two-tomcats/workers.toml", "examples/from-jk2/workers.toml", "config/workers.toml"]
    {
        let loaded = jk_config::load(&root().join(name)).unwrap();
        let dumped = jk_config::dump(&loaded.config, &loaded.sources, &loaded.originals);
        let again = Config::from_toml("dump", &dumped)
            .unwrap_or_else(|problems| panic!("{}", problems.render(jk_config::Style::Plain)));
        assert_eq!(jk_config::diff(&loaded.config, &again.config), Vec::<String>::new(), "{dumped}");
    }
}
