//! uriworkermap.properties.

use crate::legacy::note::{Note, NoteKind, Problem};
use crate::legacy::properties::{Text, pairs};
use crate::legacy::toml::{Draft, Mapping, quoted};
use crate::legacy::workers::atoi;

pub(crate) fn import(text: &Text, draft: &mut Draft, notes: &mut Vec<Note>, problems: &mut Vec<Problem>) {
    for pair in pairs(text, &mut Vec::new(), notes) {
        if let Some(mapping) = rule(text, (pair.line, &pair.key, &pair.value), notes, problems) {
            let twice = draft.mappings.iter().find(|known| known.pattern == mapping.pattern);
            if let Some(first) = twice {
                notes.push(Note::new(
                    text,
                    pair.line,
                    NoteKind::Warning,
                    None,
                    format!("\"{}\" stands on line {} already; this one counts", mapping.pattern, first.line),
                ));
            }
            draft.mappings.push(mapping);
        }
    }
}

/// One rule: pattern, worker and extensions. Also what JkMount takes.
pub(crate) fn rule(
    text: &Text,
    (line, pattern, value): (usize, &str, &str),
    notes: &mut Vec<Note>,
    problems: &mut Vec<Problem>,
) -> Option<Mapping> {
    let bare = pattern.trim_start_matches('-').trim_start_matches('!');
    if !bare.starts_with('/') || pattern.starts_with("!-") {
        problems.push(Problem::at(
            text,
            (line, 1),
            None,
            format!("\"{pattern}\" is no pattern"),
            "a pattern begins with a slash; mod_jk ignored this line",
        ));
        return None;
    }
    let mut parts = value.split(';');
    let worker = parts.next().unwrap_or_default();
    if worker.ends_with([' ', '\t']) {
        notes.push(Note::new(
            text,
            line,
            NoteKind::Changed,
            None,
            "mod_jk took the blank before ; for part of the worker's name; here it is not",
        ));
    }
    let mut options = Vec::new();
    for extension in parts {
        match extension_option(extension.trim()) {
            Some(option) => options.push(option),
            None => notes.push(Note::new(
                text,
                line,
                NoteKind::Dropped,
                None,
                format!("\"{}\" is no extension that does anything", extension.trim()),
            )),
        }
    }
    options.retain(|(_, value)| !value.is_empty());
    let mapping = Mapping {
        pattern: pattern.to_owned(),
        target: worker.trim().to_owned(),
        options,
        file: text.path.clone(),
        line,
    };
    Some(mapping)
}

/// As a key and a value of workers.toml; an empty value: nothing to write.
fn extension_option(extension: &str) -> Option<(String, String)> {
    let (name, value) = extension.split_once('=')?;
    let number = atoi(value);
    let text = match name {
        "reply_timeout" => match number {
            ..0 => String::new(),
            0 => quoted("never"),
            millis => quoted(&millis_text(millis)),
        },
        "sticky_ignore" | "stateless" | "set_session_cookie" => {
            if number != 0 {
                "true".to_owned()
            } else {
                String::new()
            }
        }
        "active" | "disabled" | "stopped" => list(value, quoted),
        "fail_on_status" => list(value, |item| atoi(item).to_string()),
        "use_server_errors" if number >= 400 => number.to_string(),
        "use_server_errors" => String::new(),
        "session_cookie" | "session_path" => quoted(value.trim_start_matches(';')),
        _ => return None,
    };
    Some((name.to_owned(), text))
}

fn list(value: &str, show: impl Fn(&str) -> String) -> String {
    let items: Vec<String> =
        value.split([',', ' ', '\t']).filter(|item| !item.is_empty()).map(show).collect();
    format!("[{}]", items.join(", "))
}

/// Milliseconds in the largest unit that says them whole.
pub(crate) fn millis_text(millis: i64) -> String {
    match millis {
        millis if millis % 3_600_000 == 0 => format!("{}h", millis / 3_600_000),
        millis if millis % 60_000 == 0 => format!("{}m", millis / 60_000),
        millis if millis % 1000 == 0 => format!("{}s", millis / 1000),
        millis => format!("{millis}ms"),
    }
}
