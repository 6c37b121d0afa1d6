//! Byte for byte what mod_jk 1.2.48 said of the same state, and its result for the same query.

use jk_status::StatusView;

use crate::answer;
use crate::capture::{SOFTWARE, answers, view};

const XML: &str = include_str!("../data/mod_jk.xml");
const TXT: &str = include_str!("../data/mod_jk.txt");
const PROP: &str = include_str!("../data/mod_jk.prop");
const RESULTS: &str = include_str!("../data/mod_jk-results.txt");

fn captured() -> StatusView {
    view(&answers(XML)["cmd=list"])
}

/// The configuration as the capture shows it.
fn dump() -> Vec<(String, String)> {
    let all = answers(TXT);
    let lines = all["cmd=dump"].lines().skip_while(|line| *line != "Configuration:").skip(1);
    lines
        .filter(|line| !line.starts_with("Result:"))
        .map(|line| line.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn check_all(file: &str, mime: &str, wanted: impl Fn(&str) -> String) {
    let view = captured();
    assert_eq!(view.groups.len(), 2);
    assert_eq!(view.workers.len(), 1);
    let all = answers(file);
    assert!(all.len() > 12, "{}", all.len());
    for (query, expected) in all {
        let expected = expected
            .replace("Apache/2.4.71 (Debian) mod_jk/1.2.48", SOFTWARE)
            .replace("mod_jk/1.2.48", SOFTWARE);
        let shown = answer(&view, &format!("{query}&mime={mime}"), &dump());
        pretty(&query, &shown, &wanted(&expected));
    }
}

/// The first line that differs says more than two pages.
fn pretty(query: &str, shown: &str, expected: &str) {
    for (number, (ours, theirs)) in shown.lines().zip(expected.lines()).enumerate() {
        assert_eq!(ours, theirs, "{query}, line {}", number + 1);
    }
    assert_eq!(shown.lines().count(), expected.lines().count(), "{query}");
    assert_eq!(shown, expected, "{query}");
}

#[test]
fn xml_is_mod_jks() {
    check_all(XML, "xml", str::to_owned);
}

#[test]
fn txt_is_mod_jks() {
    check_all(TXT, "txt", str::to_owned);
}

/// One fault is left out: mod_jk prints a member's reset and error times under its balancer's name, and two keys with a blank in them.
#[test]
fn properties_are_mod_jks() {
    check_all(PROP, "prop", |expected| {
        let (mut member, mut out) = (String::new(), String::new());
        for line in expected.lines() {
            let line = line.replace("_unix seconds=", "_unix_seconds=").replace("_ago seconds=", "_ago=");
            let (key, _) = line.split_once('=').unwrap();
            let name = key.split('.').nth(1).unwrap_or_default();
            if key.ends_with(".balance_workers") {
                member = line.split_once('=').unwrap().1.to_owned();
            } else if key.ends_with(".list") || key.contains(".map.") {
                member.clear();
            }
            let is_misplaced = key.contains(".last_reset_") || key.contains(".error_time_");
            if is_misplaced && !member.is_empty() {
                out.push_str(&line.replacen(name, &member, 1));
            } else {
                out.push_str(&line);
            }
            out.push('\n');
        }
        out
    });
}

#[test]
fn results_are_mod_jks() {
    let view = captured();
    for line in RESULTS.lines() {
        let (query, expected) = line.split_once('\t').unwrap();
        let shown = answer(
            &view,
            &if query.contains("mime=") { query.to_owned() } else { format!("{query}&mime=prop") },
            &dump(),
        );
        let tail: Vec<&str> = shown.lines().rev().take(2).collect();
        assert_eq!(format!("{}\n{}", tail[1], tail[0]), expected.replace(" | ", "\n"), "{query}");
    }
}
