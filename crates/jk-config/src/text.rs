//! Values as TOML that a person would have written.

use std::fmt::Write as _;

use crate::key::{Kind, keys_of};
use crate::spec::*;
use crate::unit::show_duration;

/// A value as an operator types it, as TOML: text gets quotes where the key wants text.
#[must_use]
pub fn value_text(section: &str, key: &str, value: &str) -> String {
    let kind = keys_of(section).find(|known| known.name == key).map(|known| known.kind);
    let bare = match kind {
        Some(Kind::Flag | Kind::Number { .. }) => true,
        Some(Kind::Statuses | Kind::Networks | Kind::Choices(_)) => value.starts_with('['),
        Some(
            Kind::Text
            | Kind::Texts
            | Kind::Duration
            | Kind::DurationOrNever
            | Kind::Size
            | Kind::Address
            | Kind::Choice(_)
            | Kind::Table(_),
        )
        | None => value.starts_with(['[', '{']),
    };
    if bare || value.starts_with('"') { value.to_owned() } else { quoted(value) }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _infallible = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(crate) fn duration(time: std::time::Duration) -> String {
    quoted(&show_duration(time))
}

pub(crate) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = items.into_iter().map(|item| quoted(&item.to_string())).collect();
    format!("[{}]", quoted.join(", "))
}

/// A part of a table's name: quoted where it is not a bare key.
pub(crate) fn table_key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if is_bare { name.to_owned() } else { quoted(name) }
}

pub(crate) fn host_text(name: &HostPattern) -> String {
    let text = name.name.as_deref().unwrap_or("*");
    let text = if text.contains(':') { format!("[{text}]") } else { text.to_owned() };
    match name.port {
        Some(port) => format!("{text}:{port}"),
        None => text,
    }
}

pub(crate) fn target_text(target: &Target) -> &str {
    match target {
        Target::Group(name) => name.as_str(),
        Target::Worker(name) => name.as_str(),
        Target::Status => "status",
        Target::Metrics => "metrics",
    }
}

pub(crate) fn method_text(method: Method) -> &'static str {
    match method {
        Method::Requests => "requests",
        Method::Sessions => "sessions",
        Method::Traffic => "traffic",
        Method::Busyness => "busyness",
        Method::Next => "next",
        Method::PowerOfTwo => "power_of_two",
        Method::Latency => "latency",
    }
}

pub(crate) fn forward_text(form: ForwardUri) -> &'static str {
    match form {
        ForwardUri::Proxy => "proxy",
        ForwardUri::Unparsed => "unparsed",
        ForwardUri::Escaped => "escaped",
    }
}

pub(crate) fn activation_text(activation: Activation) -> &'static str {
    match activation {
        Activation::Active => "active",
        Activation::Disabled => "disabled",
        Activation::Stopped => "stopped",
    }
}
