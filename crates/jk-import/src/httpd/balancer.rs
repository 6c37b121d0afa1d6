//! mod_proxy's balancers and workers as groups and workers, with their parameters.

use std::collections::{BTreeMap, HashMap};

use super::Httpd;
use crate::document::{Document, Names, Table, is_name, quoted};
use crate::modjk::statuses_of;
use crate::number::{millis, seconds, switch};
use crate::report::{At, Report};

pub(super) type Parameters = Vec<(String, String, At)>;

/// `balancer://NAME`.
#[derive(Debug, Default)]
pub(super) struct Balancer {
    pub(super) at: Option<At>,
    pub(super) members: Vec<Member>,
    pub(super) parameters: Parameters,
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) url: String,
    pub(super) parameters: Parameters,
    pub(super) at: At,
}

/// Where an `ajp:` URL leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// As workers.toml writes it.
    pub(super) address: String,
    /// With its slash; empty: none.
    pub(super) path: String,
}

/// `ajp://host:port/path` and `unix:/path|ajp://host/path`. `None`: another protocol.
pub(super) fn url(text: &str) -> Option<Url> {
    let (socket, url) = match text.strip_prefix("unix:") {
        Some(rest) => {
            let (socket, url) = rest.split_once('|')?;
            (Some(socket), url)
        }
        None => (None, text),
    };
    let rest = url.get(..6).filter(|scheme| scheme.eq_ignore_ascii_case("ajp://")).and(url.get(6..))?;
    let (host, path) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    if let Some(socket) = socket {
        return Some(Url { address: format!("unix:{socket}"), path: path.to_owned() });
    }
    let host = host.to_ascii_lowercase();
    let has_port =
        host.rsplit_once(':').is_some_and(|(before, port)| !port.contains(']') && !before.is_empty());
    let address = if has_port { host } else { format!("{host}:8009") };
    Some(Url { address, path: path.to_owned() })
}

/// Names of what was made, for mappings.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Group by the balancer's name, and the path of its members; `None`: it has none that speak AJP.
    pub(super) groups: BTreeMap<String, Option<(String, String)>>,
    /// Worker by address.
    pub(super) workers: BTreeMap<String, String>,
}

/// Makes all balancers, and a worker for each URL that a pass names by itself.
pub(super) fn make(
    httpd: &Httpd,
    alone: &[(String, Parameters, At)],
    (document, names, report): (&mut Document, &mut Names, &mut Report),
) -> Made {
    let mut made = Made::default();
    let mut workers = Workers::default();
    for (name, balancer) in httpd.balancers.iter().filter(|(_, balancer)| !balancer.members.is_empty()) {
        let mut path = None;
        let group = names.claim(name);
        let (table, each) = group_table(name, &group, balancer, report);
        for member in &balancer.members {
            let Some(target) = url(&member.url) else {
                report.warn(&member.at, format!("{} is left out: the gateway speaks AJP only", member.url));
                continue;
            };
            path = Some(target.path.clone());
            let mut parameters = httpd.worker_settings.get(&member.url).cloned().unwrap_or_default();
            parameters.extend(each.iter().cloned());
            // The group's recover_time is made of it.
            parameters.extend(member.parameters.iter().filter(|(key, _, _)| key != "retry").cloned());
            workers.add(&target, Some(&group), (&parameters, &member.at), (names, report));
        }
        if path.is_some() {
            document.groups.push(table);
        }
        made.groups.insert(name.clone(), path.map(|path| (group, path.trim_end_matches('/').to_owned())));
    }
    for (text, parameters, at) in alone {
        let Some(target) = url(text) else { continue };
        let mut all = httpd.worker_settings.get(text).cloned().unwrap_or_default();
        all.extend(parameters.iter().cloned());
        workers.add(&target, None, (&all, at), (names, report));
    }
    for (address, mut table, groups) in workers.list {
        made.workers.insert(address, table.name.clone());
        if !groups.is_empty() {
            let value = crate::document::text_or_texts(&groups);
            table
                .keys
                .insert(1, crate::document::Key { name: "group".to_owned(), value, comment: String::new() });
        }
        document.workers.push(table);
    }
    made
}

/// Workers by their addresses, with the groups of each.
#[derive(Debug, Default)]
struct Workers {
    list: Vec<(String, Table, Vec<String>)>,
    index: HashMap<String, usize>,
}

impl Workers {
    /// The worker of an address, made once; a member of one more group perhaps.
    fn add(
        &mut self,
        target: &Url,
        group: Option<&str>,
        (parameters, at): (&Parameters, &At),
        (names, report): (&mut Names, &mut Report),
    ) {
        let known = self.index.get(&target.address).and_then(|known| self.list.get_mut(*known));
        if let Some((_, table, groups)) = known {
            if let Some(group) = group.filter(|group| !groups.iter().any(|known| known == group)) {
                groups.push(group.to_owned());
            }
            let mut probe = Table { name: table.name.clone(), ..Table::default() };
            member_keys(parameters, &mut probe, report);
            for key in probe.keys {
                if table.get(&key.name).is_none() {
                    table.set(&key.name, key.value, key.comment);
                } else if table.get(&key.name) != Some(key.value.as_str()) {
                    let text =
                        format!("{} is another one at {} already; that one counts", key.name, table.origin);
                    report.warn(at, text);
                }
            }
            return;
        }
        let route =
            parameters.iter().rev().find(|(key, _, _)| key == "route").map(|(_, value, _)| value.as_str());
        let wanted = route.filter(|route| is_name(route)).unwrap_or(&target.address);
        let name = names.claim(wanted.strip_prefix("unix:").unwrap_or(wanted));
        let mut table = Table { name, origin: at.short(), ..Table::default() };
        if let Err(why) = jk_config::worker_address(&target.address) {
            report.problem(at, None, format!("{} is no address of a Tomcat", target.address)).expected(&why);
        }
        table.set("address", quoted(&target.address), "");
        if let Some(route) = route.filter(|route| **route != table.name) {
            if is_name(route) {
                table.set("route", quoted(route), "Tomcat's jvmRoute");
            } else {
                report.changed(
                    at,
                    format!(
                        "route \"{route}\" cannot be one here; give this Tomcat the jvmRoute \"{}\"",
                        table.name
                    ),
                );
            }
        }
        member_keys(parameters, &mut table, report);
        self.index.insert(target.address.clone(), self.list.len());
        self.list.push((target.address.clone(), table, group.map(str::to_owned).into_iter().collect()));
    }
}

/// Parameters of one member; the later ones count.
fn member_keys(parameters: &Parameters, table: &mut Table, report: &mut Report) {
    for (key, value, at) in parameters {
        let written = format!("{key}={value}");
        let number = value.parse::<i64>().ok();
        match key.as_str() {
            "route" => {}
            "loadfactor" => match value.parse::<f64>().ok().filter(|factor| (0.01..=10_000.0).contains(factor)) {
                Some(factor) => {
                    #[allow(clippy::cast_possible_truncation, reason = "at most 1,000,000")]
                    let weight = if factor.fract() == 0.0 { factor as i64 } else { (factor * 100.0).round() as i64 };
                    if factor.fract() != 0.0 {
                        report.warn(at, format!("{written}: weights are whole numbers here; take a hundred times of it for the other members, too"));
                    }
                    table.set("lbfactor", weight.max(1).to_string(), written);
                }
                None => report.warn(at, format!("{written} is no weight and left out")),
            },
            "lbset" => set_number(table, "distance", number, (&written, at), report),
            "redirect" if is_name(value) => table.set("redirect", quoted(value), written),
            "status" => status(value, table, at, report),
            "secret" => table.set("secret", quoted(value), "better kept in a file of its own: secret_file"),
            "max" => {
                report.changed(at, format!("{written} was for each process of httpd; here it is for the whole gateway"));
                set_number(table, "connection_pool_size", number.map(|n| n.clamp(1, 65535)), (&written, at), report);
            }
            "smax" => set_number(table, "connection_pool_minsize", number.map(|n| n.clamp(0, 65535)), (&written, at), report),
            "ttl" => set_time(table, "connection_pool_timeout", value, (&written, at), report),
            "acquire" => match number.filter(|number| *number > 0) {
                Some(number) => table.set("acquire_timeout", millis(number), written),
                None => report.dropped(at, format!("{written}: the gateway's default stays")),
            },
            "connectiontimeout" => set_time(table, "socket_connect_timeout", value, (&written, at), report),
            "timeout" => set_time(table, "reply_timeout", value, (&written, at), report),
            "ping" => set_time(table, "prepost_timeout", value, (&written, at), report),
            "keepalive" => {
                if let Some(flag) = switch(value) {
                    table.set("socket_keepalive", flag.to_string(), written);
                }
            }
            "iobuffersize" => packet_size(table, number, (&written, at), report),
            "failonstatus" => table.set("fail_on_status", format!("[{}]", statuses_of(value).join(", ")), written),
            "disablereuse" | "enablereuse" => {
                if switch(value) == Some(key == "disablereuse") {
                    report.warn(at, format!("{written}: connections are used again; where a firewall cuts idle ones, keep connection_pool_timeout short"));
                } else {
                    report.kept(at, format!("{written} is what the gateway does"));
                }
            }
            "retry" => report.dropped(at, format!("{written}: a worker alone is tried with every request; recover_time of a group is its counterpart")),
            _ => report.dropped(at, format!("{written}: {}", why_not(key))),
        }
    }
}

fn why_not(key: &str) -> &'static str {
    match key {
        "flushpackets" | "flushwait" => "what Tomcat sends is passed on at once",
        "receivebuffersize" | "responsefieldsize" | "iobuffersize" => "buffers grow as needed",
        "min" => "connections are made when they are needed",
        "upgrade" => "AJP knows no upgrade",
        _ => "it has no counterpart",
    }
}

fn set_number(
    table: &mut Table,
    key: &str,
    number: Option<i64>,
    (written, at): (&str, &At),
    report: &mut Report,
) {
    match number.filter(|number| *number >= 0) {
        Some(number) => table.set(key, number.min(1_000_000).to_string(), written),
        None => report.warn(at, format!("{written} is not a number and left out")),
    }
}

/// Seconds, or with `ms` behind.
fn set_time(table: &mut Table, key: &str, value: &str, (written, at): (&str, &At), report: &mut Report) {
    let (text, factor) = match value.strip_suffix("ms") {
        Some(text) => (text, 1),
        None => (value.strip_suffix('s').unwrap_or(value), 1000),
    };
    match text.parse::<i64>().ok().filter(|number| *number > 0) {
        Some(number) => table.set(key, millis(number.saturating_mul(factor)), written),
        None => report.warn(at, format!("{written} is no time and left out; the gateway's default stays")),
    }
}

pub(super) fn packet_size(
    table: &mut Table,
    number: Option<i64>,
    (written, at): (&str, &At),
    report: &mut Report,
) {
    match number {
        Some(number) if (8192..=65536).contains(&number) => {
            table.set(
                "max_packet_size",
                format!("\"{}KiB\"", (number + 1023) / 1024),
                format!("{written}: Tomcat's packetSize"),
            );
        }
        _ => report.dropped(at, format!("{written}: {}", why_not("iobuffersize"))),
    }
}

/// `+D`, `-H`: letters that stand for what the member is.
fn status(value: &str, table: &mut Table, at: &At, report: &mut Report) {
    let mut sign = '+';
    for letter in value.chars() {
        if matches!(letter, '+' | '-') {
            sign = letter;
            continue;
        }
        let written = format!("status={value}");
        if sign == '-' {
            report.kept(at, format!("{written}: {letter} is off here, too"));
            continue;
        }
        match letter.to_ascii_uppercase() {
            'D' | 'S' => table.set("activation", quoted("stopped"), written),
            'N' => table.set("activation", quoted("disabled"), format!("{written}: only its own sessions")),
            'H' | 'R' => table.set("distance", "100", format!("{written}: only when no other is usable")),
            _ => report.dropped(at, format!("{written}: {letter} has no counterpart")),
        }
    }
}

/// A balancer's own keys, and those that its members have here.
fn group_table(name: &str, group: &str, balancer: &Balancer, report: &mut Report) -> (Table, Parameters) {
    let mut table = Table { name: group.to_owned(), ..Table::default() };
    let place = balancer.at.as_ref().map(|at| format!(", {}", at.short())).unwrap_or_default();
    table.origin = format!("balancer://{name}{place}");
    let mut each = Parameters::new();
    let retries =
        balancer.members.iter().flat_map(|member| &member.parameters).find(|(key, _, _)| key == "retry");
    if let Some((_, value, at)) = retries {
        set_time(&mut table, "recover_time", value, (&format!("retry={value}"), at), report);
    }
    if !balancer.parameters.iter().any(|(key, _, _)| key == "stickysession") {
        table.set("sticky_session", "false", "there is no stickysession");
    }
    for (key, value, at) in &balancer.parameters {
        let written = format!("{key}={value}");
        match key.as_str() {
            "lbmethod" => {
                let method = match value.as_str() {
                    "bytraffic" => "traffic",
                    "bybusyness" => "busyness",
                    "byrequests" => "requests",
                    _ => {
                        report.changed(at, format!("{written}: the gateway counts requests instead"));
                        "requests"
                    }
                };
                table.set("method", quoted(method), written);
            }
            "stickysession" => {
                let (cookie, path) = value.split_once('|').unwrap_or((value, value));
                table.set("session_cookie", quoted(cookie), written.as_str());
                table.set("session_path", quoted(path.trim_start_matches(';')), written);
            }
            "nofailover" => {
                if switch(value) == Some(true) {
                    table.set("sticky_session_force", "true", written);
                }
            }
            "maxattempts" => {
                let number = value.parse::<i64>().unwrap_or(1).clamp(0, 99);
                table.set("retries", (number + 1).to_string(), written);
            }
            "timeout" => set_time(&mut table, "queue_timeout", value, (&written, at), report),
            "failontimeout" => {
                if switch(value) == Some(true) {
                    table.set("max_reply_timeouts", "0", written);
                }
            }
            "failonstatus" => each.push((key.clone(), value.clone(), at.clone())),
            "nonce" | "forcerecovery" | "growth" | "scolonpathdelim" | "stickysessionsep" | "bgrowth" => {
                report.dropped(at, format!("{written}: it has no counterpart"));
            }
            // Whatever else stands there is for its members.
            _ => each.push((key.clone(), value.clone(), at.clone())),
        }
    }
    (table, each)
}

/// For the main server's ProxyTimeout.
pub(super) fn whole_seconds(number: i64) -> String {
    seconds(number)
}
