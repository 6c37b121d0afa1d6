//! Workers of type ajp13 as `[ajp13.NAME]`.

use super::workers::Worker;
use crate::document::{Table, is_name, quoted, text_or_texts};
use crate::number::{integer, items, millis, seconds};
use crate::report::Report;

pub(super) fn origin(worker: &Worker) -> String {
    format!("worker.{}, {}", worker.name, worker.at.short())
}

pub(super) fn table(worker: &Worker, name: &str, groups: &[String], report: &mut Report) -> Table {
    let mut table = Table { name: name.to_owned(), origin: origin(worker), ..Table::default() };
    let _ = (worker.get("type"), worker.get("reference"), worker.get("mount"));
    address(worker, &mut table, report);
    if !groups.is_empty() {
        table.set("group", text_or_texts(groups), "");
    }
    member(worker, &mut table, report);
    if let Some(secret) = worker.text("secret") {
        table.set("secret", quoted(secret), "better kept in a file of its own: secret_file");
    }
    pool(worker, &mut table, report);
    timeouts(worker, &mut table, report);
    pings(worker, &mut table, report);
    failures(worker, &mut table, report);
    left_out(worker, report);
    table
}

fn address(worker: &Worker, table: &mut Table, report: &mut Report) {
    let host = worker.text("host").unwrap_or("localhost");
    let at = worker.get("host").map_or(&worker.at, |host| &host.at);
    let port = worker.number("port", report);
    let is_ip = host.parse::<std::net::Ipv6Addr>().is_ok();
    let is_known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if !is_ip && (host.is_empty() || !host.bytes().all(is_known)) {
        let telling = report.problem(at, None, format!("host={host} is no name of a machine"));
        match host.split_once(':') {
            Some((name, port)) => telling
                .help(format!("write worker.{0}.host={name} and worker.{0}.port={port}", worker.name))
                .was("mod_jk could not resolve it and answered 503"),
            None => {
                telling.expected("a name or an address").was("mod_jk could not resolve it and answered 503")
            }
        };
    }
    let mut number = port.map_or(8009, |(number, _)| number);
    if let Some((bad, at)) = port.filter(|(number, _)| !(1..=65535).contains(number)) {
        if bad == 0 {
            report.changed(at, "port=0 kept mod_jk from contacting this worker; here it is stopped");
            table.set("activation", quoted("stopped"), "port=0: never contacted");
        } else {
            report
                .problem(at, None, format!("port={bad} is out of range"))
                .expected("1 to 65535")
                .was("mod_jk could not connect");
        }
        number = 8009;
    }
    let host = if is_ip { format!("[{host}]") } else { host.to_ascii_lowercase() };
    let activation = std::mem::take(&mut table.keys);
    table.set("address", quoted(&format!("{host}:{number}")), "");
    table.keys.extend(activation);
}

fn member(worker: &Worker, table: &mut Table, report: &mut Report) {
    let route = worker.text("route").unwrap_or(&worker.name);
    if route != table.name {
        if is_name(route) {
            table.set("route", quoted(route), "Tomcat's jvmRoute");
        } else {
            let at = worker.get("route").map_or(&worker.at, |route| &route.at);
            let text = format!(
                "route \"{route}\" cannot be one here; give this Tomcat the jvmRoute \"{}\"",
                table.name
            );
            report.changed(at, text);
        }
    }
    if let Some((number, at)) = worker.number("lbfactor", report) {
        if number < 1 {
            report.changed(at, format!("lbfactor={number} becomes 1, as in mod_jk"));
        }
        table.set("lbfactor", number.clamp(1, 1_000_000).to_string(), "");
    }
    if let Some((number, _)) = worker.number("distance", report) {
        table.set("distance", number.clamp(0, 1_000_000).to_string(), "");
    }
    if let Some(domain) = worker.text("domain") {
        table.set("domain", quoted(domain), "");
    }
    if let Some(redirect) = worker.get("redirect") {
        if is_name(&redirect.value) {
            table.set("redirect", quoted(&redirect.value), "");
        } else {
            report.dropped(&redirect.at, format!("redirect={}: this cannot be a route here", redirect.value));
        }
    }
    activation(worker, table, report);
}

fn activation(worker: &Worker, table: &mut Table, report: &mut Report) {
    let (disabled, stopped) = (worker.switch("disabled", report), worker.switch("stopped", report));
    if let Some(activation) = worker.get("activation") {
        let word = activation.value.to_ascii_lowercase();
        let is_sure = ["a", "d", "s", "0", "1", "2", "active", "disabled", "stopped", "act", "dis", "stp"]
            .contains(&word.as_str());
        let activation_now = match word.chars().next() {
            Some('d' | '1') => "disabled",
            Some('s' | '2') => "stopped",
            _ => "active",
        };
        if !is_sure {
            report.warn(
                &activation.at,
                format!("activation={} is \"{activation_now}\" here, as in mod_jk", activation.value),
            );
        }
        if activation_now != "active" || table.get("activation").is_none() {
            table.set("activation", quoted(activation_now), "");
        }
    } else if stopped == Some(true) {
        table.set("activation", quoted("stopped"), "stopped");
    } else if disabled == Some(true) && table.get("activation").is_none() {
        table.set("activation", quoted("disabled"), "disabled");
    }
}

fn pool(worker: &Worker, table: &mut Table, report: &mut Report) {
    if let Some((number, at)) = worker.number("connection_pool_size", report) {
        if number < 1 {
            report.changed(at, format!("connection_pool_size={number} left no connection or the default; the gateway's default stays"));
        } else {
            report.changed(at, format!("connection_pool_size={number} was for each process of httpd; here it is for the whole gateway"));
            table.set("connection_pool_size", number.min(65535).to_string(), "mod_jk: for each process");
        }
    }
    if let Some((number, _)) =
        worker.number("connection_pool_minsize", report).filter(|(number, _)| *number >= 0)
    {
        table.set("connection_pool_minsize", number.min(65535).to_string(), "");
    }
    if let Some((number, _)) = worker.number("connection_pool_timeout", report) {
        let value = if number > 0 { seconds(number) } else { quoted("never") };
        table.set("connection_pool_timeout", value, "");
    }
    if let Some((number, at)) = worker.number("connection_acquire_timeout", report) {
        if number > 0 {
            table.set("acquire_timeout", millis(number), "connection_acquire_timeout");
        } else {
            report.changed(
                at,
                format!(
                    "connection_acquire_timeout={number} let every request fail; the gateway's default stays"
                ),
            );
        }
    }
    if let Some((number, _)) = worker.number("busy_limit", report).filter(|(number, _)| *number > 0) {
        table.set("busy_limit", number.min(1_000_000).to_string(), "");
    }
    if let Some((number, at)) = worker.number("max_packet_size", report) {
        let bytes = ((number.clamp(8192, 65536) + 1023) / 1024) * 1024;
        if bytes != number {
            report.changed(at, format!("max_packet_size={number} is {bytes} here, as in mod_jk"));
        }
        table.set("max_packet_size", format!("\"{}KiB\"", bytes / 1024), "Tomcat's packetSize");
    }
}

fn timeouts(worker: &Worker, table: &mut Table, report: &mut Report) {
    let silence = worker.number("socket_timeout", report).filter(|(number, _)| *number > 0);
    match worker.number("socket_connect_timeout", report) {
        Some((number, _)) if number > 0 => table.set("socket_connect_timeout", millis(number), ""),
        Some((_, at)) => report.changed(
            at,
            "socket_connect_timeout=0 waited as long as the system does; the gateway's default stays",
        ),
        None => {
            if let Some((number, _)) = silence {
                table.set("socket_connect_timeout", seconds(number), "socket_timeout");
            }
        }
    }
    match (worker.number("reply_timeout", report), silence) {
        (Some((number, at)), Some((silence, _))) if number > 0 => {
            table.set("reply_timeout", millis(number), "");
            if silence.saturating_mul(1000) < number {
                report.changed(at, format!("reply_timeout={number} counts; in mod_jk a silence within a packet longer than socket_timeout={silence} s ended it, too"));
            }
        }
        (Some((number, _)), _) if number > 0 => table.set("reply_timeout", millis(number), ""),
        (_, Some((silence, _))) => {
            table.set("reply_timeout", seconds(silence), "socket_timeout: the longest silence")
        }
        (Some(_), None) => table.set("reply_timeout", quoted("never"), ""),
        (None, None) => {}
    }
}

fn pings(worker: &Worker, table: &mut Table, report: &mut Report) {
    let modes = worker.text("ping_mode").map(str::to_ascii_uppercase);
    let has = |letter: char| modes.as_ref().is_some_and(|modes| modes.contains([letter, 'A']));
    let interval = worker.number("connection_ping_interval", report).filter(|(number, _)| *number > 0);
    let timeout =
        worker.number("ping_timeout", report).map(|(number, _)| number).filter(|number| *number > 0);
    let wanted: Vec<String> = [('C', "connect"), ('P', "prepost"), ('I', "interval")]
        .into_iter()
        .filter(|(letter, _)| has(*letter))
        .map(|(_, mode)| mode.to_owned())
        .collect();
    if !wanted.is_empty() || interval.is_some() {
        let mut list =
            if wanted.is_empty() { vec!["connect".to_owned(), "prepost".to_owned()] } else { wanted };
        if interval.is_some() && !list.iter().any(|mode| mode == "interval") {
            list.push("interval".to_owned());
        }
        let comment = modes
            .as_ref()
            .map_or_else(|| "for connection_ping_interval".to_owned(), |modes| format!("ping_mode={modes}"));
        table.set("ping_mode", crate::document::texts(&list), comment);
    }
    match timeout {
        Some(number) => table.set("ping_timeout", millis(number), ""),
        None if modes.is_some() => table.set("ping_timeout", millis(PING_TIMEOUT), "mod_jk's default"),
        None => {}
    }
    for key in ["connect_timeout", "prepost_timeout"] {
        if let Some((number, _)) = worker.number(key, report).filter(|(number, _)| *number > 0) {
            table.set(key, millis(number), "");
        }
    }
    if let Some((number, _)) = interval {
        table.set("ping_interval", seconds(number), "connection_ping_interval");
    } else if has('I') {
        let number = timeout.unwrap_or(PING_TIMEOUT) / 100;
        table.set("ping_interval", seconds(number.max(1)), "mod_jk: a hundredth of ping_timeout, in seconds");
    }
    if let Some(keepalive) = worker.switch("socket_keepalive", report) {
        table.set("socket_keepalive", keepalive.to_string(), "");
    }
}

fn failures(worker: &Worker, table: &mut Table, report: &mut Report) {
    if let Some((number, at)) = worker.number("recovery_options", report) {
        if (0..=31).contains(&number) {
            table.set("recovery_options", number.to_string(), "");
        } else {
            report.warn(
                at,
                format!("recovery_options={number} has bits that mean nothing; {} is left", number & 31),
            );
            table.set("recovery_options", (number & 31).to_string(), "");
        }
    }
    if let Some(statuses) = worker.get("fail_on_status") {
        let codes = statuses_of(&statuses.value);
        if codes.is_empty() {
            report.dropped(&statuses.at, format!("fail_on_status={}: no status of HTTP", statuses.value));
        } else {
            table.set("fail_on_status", format!("[{}]", codes.join(", ")), "");
        }
    }
}

/// Numbers that can be statuses, each once; a negative one is another than its positive.
pub(crate) fn statuses_of(text: &str) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for code in items(text).iter().filter_map(|item| integer(item)) {
        let text = code.to_string();
        if (100..1000).contains(&code.abs()) && !codes.contains(&text) {
            codes.push(text);
        }
    }
    codes
}

/// Attributes that mod_jk knows and the gateway needs not.
fn left_out(worker: &Worker, report: &mut Report) {
    for (key, why) in [
        ("retries", "a request is not sent to one worker twice; other members of its group may be tried"),
        ("retry_interval", "there is no pause between members"),
        ("lb_retries", "it counts for groups only"),
        ("socket_buffer", "the system chooses"),
        ("source", "the system chooses the local address"),
        ("prefer_ipv6", "all addresses of a name are tried"),
        ("secretkey", "it belonged to ajp14; AJP13 has secret"),
    ] {
        if let Some(attribute) = worker.get(key) {
            let value = if key == "secretkey" { "…" } else { &attribute.value };
            report.dropped(&attribute.at, format!("{key}={value}: {why}"));
        }
    }
}

/// Milliseconds.
const PING_TIMEOUT: i64 = 10_000;
