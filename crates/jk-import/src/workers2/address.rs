//! Where a channel leads. In mod_jk2 the section's name was the address unless `host` said otherwise; a `port` alone said nothing.

use super::Object;
use crate::number::atoi;
use crate::report::{NoteKind, Report};

/// As workers.toml writes it.
pub(super) fn of(channel: &Object, report: &mut Report) -> Option<String> {
    if channel.kind == "channel.un" { un(channel, report) } else { socket(channel, report) }
}

fn un(channel: &Object, report: &mut Report) -> Option<String> {
    let path = channel.get("file").map_or(channel.expanded.as_str(), |file| &file.value);
    if !path.starts_with('/') {
        report
            .problem(&channel.at, Some("W2-205"), format!("{} has no absolute path", channel.title()))
            .help("say file=/path/of/the.socket, or take the path for the name")
            .was("mod_jk2 could not connect, and the worker stayed dead in its pool");
        return None;
    }
    Some(format!("unix:{path}"))
}

fn socket(channel: &Object, report: &mut Report) -> Option<String> {
    let host = channel.get("host").map(|host| host.value.as_str());
    let port = channel.get("port");
    let (name, number) = channel
        .local
        .split_once(':')
        .map_or((channel.local.as_str(), None), |(name, number)| (name, Some(number)));
    let Some(host) = host else {
        if let Some(port) = port {
            let text =
                format!("port={} counts for nothing without host; the name's port is used", port.value);
            report.push(&port.at, (NoteKind::Warning, Some("W2-310")), text);
        }
        let number = number.unwrap_or("8009");
        let is_port = number.parse::<u16>().is_ok_and(|port| port > 0);
        if !is_host(name) || !is_port {
            unusable(channel, report);
            return None;
        }
        return Some(format!("{}:{number}", name.to_ascii_lowercase()));
    };
    if !is_host(host) {
        unusable(channel, report);
        return None;
    }
    let number = port.map_or(8009, |port| atoi(&port.value));
    if port.is_none()
        && number.to_string() != channel.local.rsplit(':').next().unwrap_or_default()
        && channel.local.contains(':')
    {
        report.kept(&channel.at, "host stands alone, so the port is 8009 whatever the section is called");
    }
    Some(format!("{}:{number}", host.to_ascii_lowercase()))
}

fn unusable(channel: &Object, report: &mut Report) {
    report
        .problem(&channel.at, Some("W2-205"), format!("{} names no address", channel.title()))
        .expected("[channel.socket:HOST:PORT], or host=HOST and port=PORT in it")
        .was("mod_jk2 could not resolve it, and the worker stayed dead in its pool");
}

/// What jk-config takes for the name of a machine; mod_jk2 could not write IPv6 addresses.
fn is_host(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
}
