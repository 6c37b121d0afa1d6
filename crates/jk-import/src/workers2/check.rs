//! Each attribute by itself: known, of the right kind, in its range, and of any use.

use std::collections::HashSet;

use super::attributes::{self, Row, Takes, row};
use super::{Attribute, Object, Sense};
use crate::near::nearest;
use crate::number::{atoi, is_whole};
use crate::report::{NoteKind, Report};

pub(super) fn check(objects: &[Object], report: &mut Report) {
    for object in objects {
        match object.sense {
            Sense::Known => known(object, report),
            Sense::Platform if object.kind != "disabled" => platform(object, report),
            Sense::Platform | Sense::Unknown => {}
        }
    }
}

fn platform(object: &Object, report: &mut Report) {
    let text =
        format!("{} belongs to the Java machine inside the web server, or to its platform", object.title());
    // Switched off, it is nothing to look at.
    let kind = if object.is_off { NoteKind::Dropped } else { NoteKind::Warning };
    report.push(&object.at, (kind, Some("W2-204")), text);
}

fn known(object: &Object, report: &mut Report) {
    let mut seen: HashSet<&str> = HashSet::new();
    for attribute in &object.attributes {
        // Whatever stands in [config:] is a variable, and uriMap took anything.
        let is_free = matches!(object.kind.as_str(), "config" | "uriMap");
        let Some(row) = row(&object.kind, &attribute.key) else {
            if object.kind == "uriMap" {
                ineffective(attribute, "mod_jk2 took and ignored it", report);
            } else if !is_free {
                unknown(object, attribute, report);
            }
            continue;
        };
        if !seen.insert(row.name) && !row.is_list {
            let text = format!("{} stands twice in {}; the last one counts", row.name, object.title());
            report.push(&attribute.at, (NoteKind::Warning, Some("W2-306")), text);
        }
        if !value(row, attribute, report) {
            continue;
        }
        if !row.dropped.is_empty() {
            ineffective(attribute, row.dropped, report);
        } else if row.name == "disabled"
            && matches!(object.kind.as_str(), "lb" | "status")
            && atoi(&attribute.value) != 0
        {
            ineffective(attribute, "mod_jk2 ignored it here, too", report);
        }
        if object.kind == "uri" && row.name == "worker" {
            let text = "worker= is the old word for group=".to_owned();
            report.push(&attribute.at, (NoteKind::Warning, Some("W2-308")), text);
        }
    }
}

fn ineffective(attribute: &Attribute, why: &str, report: &mut Report) {
    let text = format!("{}={}: {why}", attribute.key, attribute.shown());
    report.push(&attribute.at, (NoteKind::Dropped, Some("W2-307")), text);
}

fn unknown(object: &Object, attribute: &Attribute, report: &mut Report) {
    let key = &attribute.key;
    let title = format!("unknown attribute \"{key}\" in {}", object.title());
    let telling = report.problem(&attribute.at, Some("W2-301"), title);
    let was = match object.kind.as_str() {
        "uri" => "mod_jk2 ignored the line without a word, so the map kept its default group lb",
        _ => "mod_jk2 ignored the line, mostly without a visible trace",
    };
    let telling = telling.was(was);
    match nearest(key, attributes::names(&object.kind)) {
        Some(word) => telling.help(format!("did you mean \"{word}\"?")),
        None => {
            let known: Vec<&str> = attributes::names(&object.kind).collect();
            telling.help(format!("there are {}", known.join(", ")))
        }
    };
}

/// Whether the value is one that the attribute can have.
fn value(row: &Row, attribute: &Attribute, report: &mut Report) -> bool {
    let text = attribute.value.as_str();
    let at = attribute.value_at();
    if text.len() > 1 && text.starts_with('"') && text.ends_with('"') {
        report
            .problem(&at, Some("W2-305"), format!("{} has its value in quotes", row.name))
            .help("take the quotes away")
            .was("mod_jk2 took the quotes for part of the value; a number in quotes was 0");
        return false;
    }
    match row.takes {
        Takes::Text | Takes::Presence => true,
        Takes::Flag if text == "0" || text == "1" => true,
        Takes::Flag => {
            let was = if atoi(text) == 0 { "off" } else { "on" };
            report
                .problem(&at, Some("W2-303"), format!("{} must be 0 or 1, not \"{text}\"", row.name))
                .help(if atoi(text) == 0 { "write 1 if it was meant to be on" } else { "write 1" })
                .was(format!("mod_jk2 read this as {was}"));
            false
        }
        Takes::Number { .. } if !is_whole(text) => {
            let effect =
                if row.name == "lb_factor" { ", and that member would take all traffic" } else { "" };
            report
                .problem(&at, Some("W2-302"), format!("{} is not a number: \"{text}\"", row.name))
                .expected("a whole number")
                .was(format!("mod_jk2 read {}{effect}", atoi(text)));
            false
        }
        Takes::Number { min, max } if !(min..=max).contains(&atoi(text)) => {
            report
                .problem(&at, Some("W2-304"), format!("{}={text} is out of range", row.name))
                .expected(if max >= i64::from(i32::MAX) {
                    format!("{min} or more")
                } else {
                    format!("{min} to {max}")
                })
                .was("mod_jk2 did not check, so the number wrapped around or had odd effects");
            false
        }
        Takes::Number { .. } => no_zero_factor(row, attribute, report),
        Takes::Level => level(attribute, report),
    }
}

fn no_zero_factor(row: &Row, attribute: &Attribute, report: &mut Report) -> bool {
    let is_bad = row.name == "lb_factor" && atoi(&attribute.value) == 0;
    if is_bad {
        report
            .problem(&attribute.value_at(), Some("W2-304"), "lb_factor=0 cannot be a share")
            .help("to prefer this member to all others give those a level of 1 or more")
            .was("mod_jk2 sent every request to this member while it was healthy");
    }
    !is_bad
}

fn level(attribute: &Attribute, report: &mut Report) -> bool {
    let levels = ["debug", "info", "error", "emerg"];
    let text = attribute.value.to_ascii_lowercase();
    let is_known = levels.contains(&text.as_str());
    if !is_known {
        report
            .problem(
                &attribute.value_at(),
                Some("W2-304"),
                format!("\"{}\" is no log level", attribute.value),
            )
            .expected(levels.join(", "))
            .was("mod_jk2 took any other word for debug, warn too");
    }
    is_known
}
