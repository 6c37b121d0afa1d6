//! Tomcat's server.xml: the other side of every worker. It is compared with what the web server's files say, and alone it is enough to
//! begin with.

mod check;
mod xml;

use std::collections::HashSet;

use crate::document::{Document, Names, Rule, Table, quoted};
use crate::report::{At, Report};
use crate::text::Text;

pub(crate) use check::check;

pub(crate) const RULES: crate::text::Rules = crate::text::Rules {
    not_utf8: None,
    control: None,
    was: "Tomcat reads the character set that the file names",
};

/// An AJP connector with what belongs to it.
#[derive(Debug)]
pub(crate) struct Connector {
    at: At,
    port: Option<String>,
    address: Option<String>,
    secret: Option<String>,
    /// `secretRequired="false"`.
    is_open: bool,
    packet_size: usize,
    max_threads: Option<u64>,
    /// Milliseconds until Tomcat closes an idle connection; `None`: never.
    keep_alive: Option<u64>,
    jvm_route: Option<String>,
}

/// Whether it looks like one.
pub(crate) fn is_server_xml(content: &str) -> bool {
    let start = content.trim_start();
    start.starts_with('<')
        && (start.contains("<Server") || start.contains("<Connector") || start.starts_with("<?xml"))
}

/// The AJP connectors of a file, each with the jvmRoute of its service.
pub(crate) fn read(text: &Text, report: &mut Report) -> Vec<Connector> {
    let content: Vec<&str> = text.lines.iter().map(|line| line.text.as_str()).collect();
    let content = content.join("\n");
    let mut connectors: Vec<Connector> = Vec::new();
    // Connectors stand before their Engine.
    let mut of_service = 0;
    for element in xml::elements(&content) {
        let at = text.at(element.line, element.column);
        match element.name.as_str() {
            "Service" => of_service = connectors.len(),
            "Engine" => {
                for connector in connectors.iter_mut().skip(of_service) {
                    connector.jvm_route = element.get("jvmRoute").map(str::to_owned);
                }
                of_service = connectors.len();
            }
            "Connector" if is_ajp(element.get("protocol").unwrap_or_default()) => {
                connectors.push(connector(&element, &at, report));
            }
            _ => {}
        }
    }
    if connectors.len() > MOST {
        report
            .problem(
                &text.whole(),
                None,
                format!("{} AJP connectors are too many for one Tomcat", connectors.len()),
            )
            .expected(format!("at most {MOST}"));
        connectors.clear();
        return connectors;
    }
    if connectors.is_empty() {
        report
            .problem(&text.whole(), None, "there is no AJP connector in this server.xml")
            .help("add <Connector protocol=\"AJP/1.3\" address=\"127.0.0.1\" port=\"8009\" secret=\"…\"/> to the Service; it may be commented out");
    }
    connectors
}

fn is_ajp(protocol: &str) -> bool {
    protocol.to_ascii_lowercase().contains("ajp")
}

fn connector(element: &xml::Element, at: &At, report: &mut Report) -> Connector {
    let text = |name: &str| element.get(name).map(str::to_owned);
    let number = |name: &str| element.get(name).and_then(|value| value.parse::<i64>().ok());
    for (name, value) in &element.attributes {
        if value.contains("${") && !name.to_ascii_lowercase().contains("secret") {
            report.warn(at, format!("{name}=\"{value}\" is set from outside, so it cannot be compared"));
        }
    }
    let keep_alive = number("keepAliveTimeout").or(number("connectionTimeout"));
    Connector {
        at: at.clone(),
        port: text("port"),
        address: text("address"),
        secret: text("secret").or(text("requiredSecret")).filter(|secret| !secret.is_empty()),
        is_open: element.get("secretRequired").is_some_and(|value| value.eq_ignore_ascii_case("false")),
        packet_size: number("packetSize")
            .and_then(|size| usize::try_from(size).ok())
            .unwrap_or(8192)
            .max(8192),
        max_threads: number("maxThreads").and_then(|threads| u64::try_from(threads).ok()),
        keep_alive: keep_alive.and_then(|millis| u64::try_from(millis).ok()).filter(|millis| *millis > 0),
        jvm_route: None,
    }
}

/// Nothing else was given: a worker for each connector, in one group that serves everything.
pub(crate) fn make(
    connectors: &[Connector],
    document: &mut Document,
    names: &mut Names,
    report: &mut Report,
) {
    let group = names.claim("tomcat");
    let mut routes = HashSet::new();
    for connector in connectors {
        if let Some(route) = connector.jvm_route.as_ref().filter(|route| !routes.insert(*route)) {
            let text = format!(
                "one more connector of the Tomcat with the jvmRoute {route}; one worker is enough for it"
            );
            report.dropped(&connector.at, text);
            continue;
        }
        let wanted = connector.jvm_route.clone().unwrap_or_else(|| "tomcat1".to_owned());
        let name = names.claim(&wanted);
        let mut table = Table { name: name.clone(), origin: connector.at.short(), ..Table::default() };
        let host = match connector.address.as_deref() {
            None | Some("0.0.0.0" | "::" | "localhost") => "127.0.0.1".to_owned(),
            Some(address) if address.contains(':') => format!("[{}]", address.trim_matches(['[', ']'])),
            Some(address) => address.to_owned(),
        };
        let port = connector
            .port
            .as_deref()
            .filter(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
            .unwrap_or("8009");
        let address = format!("{host}:{port}");
        if let Err(why) = jk_config::worker_address(&address) {
            report
                .problem(&connector.at, None, format!("{address} is no address of a connector"))
                .expected(&why);
        }
        table.set("address", quoted(&address), "");
        table.set("group", quoted(&group), "");
        match &connector.jvm_route {
            Some(route) if *route != name && crate::document::is_name(route) => {
                table.set("route", quoted(route), "Tomcat's jvmRoute")
            }
            _ => {}
        }
        if let Some(secret) = &connector.secret {
            table.set("secret", quoted(secret), "better kept in a file of its own: secret_file");
        }
        if connector.packet_size > 8192 {
            let bytes = connector.packet_size.min(65536);
            table.set("max_packet_size", format!("\"{}KiB\"", bytes / 1024), "packetSize");
        }
        document.workers.push(table);
    }
    document.groups.push(Table { name: group.clone(), ..Table::default() });
    document.rules.push(Rule { pattern: "/*".to_owned(), target: group, ..Rule::default() });
    if let Some(first) = connectors.first() {
        report.kept(&first.at, "server.xml does not say which paths are served; everything goes to Tomcat");
    }
}

const MOST: usize = 1_000;
