//! Every key acts: another value of it makes another configuration, and a reload tells of it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fs;

use jk_config::{Config, KEYS, Key, Kind, Style};

/// The file that every value is tried in; `@SECTION@` is where a key of that section goes.
const BASE: &str = "\
[listener.main]
address = \"127.0.0.1:8080\"
@listener@
[lb.lb]
@lb@
[ajp13.t1]
address = \"127.0.0.1:8009\"
group = \"lb\"
@ajp13@
[ajp13.t2]
address = \"127.0.0.1:8010\"
group = \"lb\"
route = \"second\"
[uri]
\"/a\" = { group = \"lb\"@uri@ }
[host.\"a.example.test\"]
@host@
[status]
@status@
[admin]
@admin@
[access_log]
@access_log@
[log]
@log@
[process]
@process@
";

/// The base, with a line in one section.
fn with(section: &str, line: &str) -> String {
    let mut text = BASE.to_owned();
    let line = match section {
        "uri" if !line.trim().is_empty() => format!(", {}", line.trim()),
        _ => line.to_owned(),
    };
    // A line that stands there already gives way.
    let name = line.split('=').next().unwrap_or_default();
    let mark = format!("@{section}@");
    if let Some((before, after)) = text.split_once(&mark) {
        let start = before.rfind("\n[").map_or(0, |at| at + 1);
        let (head, own) = before.split_at(start);
        let own: Vec<&str> =
            own.lines().filter(|old| name.trim().is_empty() || !old.starts_with(name)).collect();
        let end = if section == "uri" { "" } else { "\n" };
        text = format!("{head}{}{end}{line}{after}", own.join("\n"));
    }
    for mark in ["listener", "lb", "ajp13", "uri", "host", "status", "admin", "access_log", "log", "process"]
    {
        text = text.replace(&format!("@{mark}@"), "");
    }
    text
}

fn config(text: &str) -> Config {
    match Config::from_toml("workers.toml", text) {
        Ok(loaded) => loaded.config,
        Err(problems) => panic!("{text}\n{}", problems.render(Style::Plain)),
    }
}

/// A value that is not the default.
fn another(key: &Key) -> String {
    let special = match (key.section, key.name) {
        ("host", "aliases") => "[\"b.example.test\"]",
        ("uri", "active" | "disabled" | "stopped") => "\"t1\"",
        ("ajp13", "group") => "[]",
        ("ajp13", "redirect") => "\"second\"",
        ("admin", "address") => "\"off\"",
        ("access_log", "target") => "\"off\"",
        ("log", "filter") => "\"debug\"",
        ("status", "users_file") => "\"@FILE@\"",
        ("ajp13" | "lb", "secret_file") => "\"@FILE@\"",
        ("ajp13" | "lb", "secret_env") => "\"CARGO_PKG_NAME\"",
        ("unavailable", "page") => "\"@FILE@\"",
        ("health_check", "path") => "\"/health\"",
        ("listener", "max_header_size") => "\"8KiB\"",
        _ => "",
    };
    if !special.is_empty() {
        return special.to_owned();
    }
    match key.kind {
        Kind::Text => "\"another\"".to_owned(),
        Kind::Texts => "[\"another\"]".to_owned(),
        Kind::Flag => (key.default != "true").to_string(),
        Kind::Duration | Kind::DurationOrNever => "\"7s\"".to_owned(),
        Kind::Size => "\"16KiB\"".to_owned(),
        Kind::Number { min, max } => {
            let other = if min.to_string() == key.default { min + 1 } else { min };
            other.min(max).to_string()
        }
        Kind::Statuses => "[507]".to_owned(),
        Kind::Address => "\"127.0.0.1:8099\"".to_owned(),
        Kind::Networks => "[\"192.0.2.0/24\"]".to_owned(),
        Kind::Choice(words) | Kind::Choices(words) => {
            let word = words.iter().rev().find(|word| !key.default.contains(*word));
            let word = word.unwrap_or(words.last().unwrap());
            if matches!(key.kind, Kind::Choices(_)) { format!("[\"{word}\"]") } else { format!("\"{word}\"") }
        }
        Kind::Table(_) => String::new(),
    }
}

/// Another key, without which this one says nothing.
fn needed(key: &Key) -> &'static str {
    match (key.section, key.name) {
        ("ajp13", "ping_interval") => "ping_mode = [\"interval\"]",
        ("lb", "session_cookie_path") => "set_session_cookie = true",
        _ => "",
    }
}

#[test]
fn another_value_makes_another_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "ann:word").unwrap();
    let (mut idle, mut missing) = (Vec::new(), Vec::new());
    // A mapping's target is what every mapping is about.
    for key in
        KEYS.iter().filter(|key| !key.section.is_empty() && (key.section, key.name) != ("uri", "group"))
    {
        let value = another(key).replace("@FILE@", &file.display().to_string());
        // Tables act by the keys in them, which come by themselves.
        if value.is_empty() {
            continue;
        }
        let (section, line) = match key.section {
            "health_check" => {
                ("ajp13", format!("health_check = {{ kind = \"request\", {} = {value} }}", key.name))
            }
            "unavailable" => ("lb", format!("unavailable = {{ {} = {value} }}", key.name)),
            section => (section, format!("{} = {value}", key.name)),
        };
        let line = line.replace("kind = \"request\", kind", "kind");
        let base = match key.section {
            // What a key without a table of its own is held against.
            "health_check" if key.name != "kind" => with("ajp13", "health_check = { kind = \"request\" }"),
            _ => with(section, needed(key)),
        };
        let line = format!("{line}\n{}", needed(key));
        let text = with(section, &line);
        let (old, new) = (config(&base), config(&text));
        missing.extend(not_dumped(key, &format!("{} = {value}", key.name), &text));
        if old == new {
            idle.push(format!("[{}] {line}: the configuration is the same", key.section));
        } else if jk_config::diff(&old, &new).is_empty() {
            idle.push(format!("[{}] {line}: a reload tells of no change", key.section));
        }
    }
    assert!(idle.is_empty() && missing.is_empty(), "{idle:#?} {missing:#?}");
}

/// Unless `config dump` says on which line the key stands, and says what means the same.
fn not_dumped(key: &Key, written: &str, text: &str) -> Option<String> {
    let loaded = Config::from_toml("workers.toml", text).unwrap();
    let dumped = jk_config::dump(&loaded.config, &loaded.sources, &loaded.originals);
    let line = text.lines().position(|line| line.contains(written)).unwrap() + 1;
    let place = format!("# workers.toml:{line}");
    if !dumped.lines().any(|line| line.ends_with(&place) || line.contains(&format!("{place}, "))) {
        return Some(format!("{written}: its line is not told\n{dumped}"));
    }
    let again = Config::from_toml("dump", &dumped);
    let again = again.unwrap_or_else(|problems| panic!("{}", problems.render(Style::Plain))).config;
    let differences = jk_config::diff(&loaded.config, &again);
    let is_same = differences.is_empty() || key.name == "secret";
    (!is_same).then(|| format!("{written}: {differences:?}\n{dumped}"))
}

#[test]
fn what_an_operator_changed_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("workers.toml");
    let text = with("ajp13", "distance = 1").replace("[ajp13.t2]", "[ajp13.T2]");
    fs::write(&file, &text).unwrap();
    let edits = [("t1", "distance", "2"), ("t1", "lbfactor", "3")]
        .map(|(name, key, value)| jk_config::Edit::new("ajp13", name, key, value));
    let loaded = jk_config::load_edited(&file, &edits).unwrap();
    let dumped = jk_config::dump(&loaded.config, &loaded.sources, &loaded.originals);
    let line = text.lines().position(|line| line == "distance = 1").unwrap() + 1;
    for (value, origin) in [
        ("distance = 2", format!("changed by an operator, over {}:{line}", file.display())),
        ("lbfactor = 3", "set by an operator, in no file yet".to_owned()),
        ("route = \"second\"", format!("{}:{}", file.display(), line + 4)),
    ] {
        let found = dumped.lines().find(|line| line.starts_with(&format!("{value} "))).unwrap();
        assert!(found.ends_with(&format!("# {origin}")), "{found}");
    }
    let (first, second) = (dumped.find("[ajp13.t1]").unwrap(), dumped.find("[ajp13.T2]").unwrap());
    assert!(first < second, "members stay in the order of the file");
}
