//! Both sides of a worker beside each other: what differs would fail at the first request, or at the worst moment.

use super::Connector;
use crate::document::{Document, Table};
use crate::report::Report;

/// Compares each connector with the worker that leads to it.
pub(crate) fn check(connectors: &[Connector], document: &Document, report: &mut Report) {
    for connector in connectors {
        alone(connector, report);
        match worker_of(connector, connectors, document) {
            Some(worker) => pair(connector, worker, document, report),
            None => {
                let port = connector.port.as_deref().unwrap_or("8009");
                report.warn(&connector.at, format!("no worker leads to the AJP connector on port {port}"));
            }
        }
    }
}

/// By its route if that is known, else by its port if only one can be meant.
fn worker_of<'d>(connector: &Connector, all: &[Connector], document: &'d Document) -> Option<&'d Table> {
    let port = connector.port.as_deref().unwrap_or("8009");
    let on_port = |worker: &&Table| {
        worker.text("address").is_some_and(|address| address.rsplit(':').next() == Some(port))
    };
    let by_route = document.workers.iter().find(|worker| {
        connector.jvm_route.is_some() && Some(route_of(worker)) == connector.jvm_route && on_port(worker)
    });
    if by_route.is_some() {
        return by_route;
    }
    let mut candidates = document.workers.iter().filter(on_port);
    let first = candidates.next();
    let is_only_connector =
        all.iter().filter(|other| other.port.as_deref().unwrap_or("8009") == port).count() == 1;
    first.filter(|_| candidates.next().is_none() && is_only_connector)
}

fn route_of(worker: &Table) -> String {
    worker.text("route").unwrap_or_else(|| worker.name.clone())
}

fn alone(connector: &Connector, report: &mut Report) {
    if connector.secret.is_none() && !connector.is_open {
        report.warn(&connector.at, "the connector has neither a secret nor secretRequired=\"false\"; Tomcat 9.0.31, 8.5.51 and later do not start it");
    }
}

fn pair(connector: &Connector, worker: &Table, document: &Document, report: &mut Report) {
    let at = &connector.at;
    let name = &worker.name;
    let value = |key: &str| worker.text(key).or_else(|| document.worker_defaults.text(key));
    let groups = document.groups.iter().filter(|group| {
        worker.get("group").is_some_and(|list| list.contains(&format!("\"{}\"", group.name)))
    });
    let group_secret = groups.clone().find_map(|group| group.text("secret"));
    match (&connector.secret, value("secret").or(group_secret)) {
        (Some(_), None) => report.warn(at, format!("the connector has a secret and worker \"{name}\" has none: Tomcat will answer 403. Set secret_file in [ajp13.{name}]")),
        (Some(theirs), Some(ours)) if *theirs != ours && !theirs.contains("${") => {
            report.warn(at, format!("the connector's secret is not that of worker \"{name}\": Tomcat will answer 403"));
        }
        (None, Some(_)) => report.kept(at, format!("worker \"{name}\" sends a secret that the connector does not ask for")),
        _ => {}
    }
    let ours = value("max_packet_size").and_then(|size| jk_config::parse_size(&size).ok()).unwrap_or(8192);
    if ours != connector.packet_size {
        report.warn(
            at,
            format!(
                "packetSize is {} and max_packet_size of worker \"{name}\" is {ours}; they must be equal",
                connector.packet_size
            ),
        );
    }
    route(connector, worker, report);
    reach(connector, worker, report);
    limits(connector, (name, value("connection_pool_size"), value("connection_pool_timeout")), report);
}

fn route(connector: &Connector, worker: &Table, report: &mut Report) {
    let name = &worker.name;
    if worker.get("group").is_none() {
        return;
    }
    match &connector.jvm_route {
        Some(theirs) if *theirs != route_of(worker) && !theirs.contains("${") => {
            let ours = route_of(worker);
            report.warn(&connector.at, format!("jvmRoute is \"{theirs}\" and the route of worker \"{name}\" is \"{ours}\"; sessions will lose their Tomcat until both are the same"));
        }
        None => {
            let ours = route_of(worker);
            report.warn(&connector.at, format!("the Engine has no jvmRoute; set jvmRoute=\"{ours}\" so that sessions stay with worker \"{name}\""));
        }
        Some(_) => {}
    }
}

/// Since 9.0.31 a connector without an address listens on loopback.
fn reach(connector: &Connector, worker: &Table, report: &mut Report) {
    let address = worker.text("address").unwrap_or_default();
    let host = address.rsplit_once(':').map_or("", |(host, _)| host).trim_matches(['[', ']']);
    let is_near = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let name = &worker.name;
    match connector.address.as_deref() {
        None if !is_near => report.warn(&connector.at, format!("the connector has no address, so Tomcat 9.0.31 and later listen on loopback only, where worker \"{name}\" at {address} does not reach it; set address=\"{host}\"")),
        Some("127.0.0.1" | "::1" | "localhost") if !is_near => {
            report.warn(&connector.at, format!("the connector listens on loopback only, where worker \"{name}\" at {address} does not reach it"));
        }
        _ => {}
    }
}

fn limits(
    connector: &Connector,
    (name, size, timeout): (&str, Option<String>, Option<String>),
    report: &mut Report,
) {
    let size = size.and_then(|size| size.parse::<u64>().ok()).unwrap_or(150);
    let threads = connector.max_threads.unwrap_or(200);
    if size > threads {
        report.changed(&connector.at, format!("connection_pool_size of worker \"{name}\" is {size} and maxThreads is {threads}; a Tomcat that has no thread left lets connections wait"));
    }
    let Some(theirs) = connector.keep_alive else { return };
    let ours = match timeout.as_deref() {
        Some("never") => None,
        Some(text) => jk_config::parse_duration(text).ok(),
        None => Some(std::time::Duration::from_secs(60)),
    };
    if ours.is_none_or(|ours| ours.as_millis() >= u128::from(theirs)) {
        report.changed(&connector.at, format!("Tomcat closes an idle connection after {theirs} ms; connection_pool_timeout of worker \"{name}\" should be shorter"));
    }
}
