//! A channel with its ajp13 object as `[ajp13.NAME]`.

use std::collections::HashMap;
use std::collections::HashSet;

use super::emit::{info, origin, written};
use super::resolve::{Resolved, Worker};
use crate::document::{Document, Names, Table, is_name, quoted, text_or_texts};
use crate::number::{atoi, millis, seconds};
use crate::report::{NoteKind, Report};

/// Adds all workers; their names, in order.
pub(super) fn emit(
    resolved: &Resolved<'_>,
    pools: &[String],
    names: &mut Names,
    (document, report): (&mut Document, &mut Report),
) -> Vec<String> {
    let routes = routes(resolved, report);
    let factors = factors(resolved, report);
    // Names that people gave come before those that are only addresses.
    let mut chosen: Vec<Option<String>> = Vec::new();
    for route in &routes {
        let name = route.filter(|route| names.is_free(route)).map(|route| names.claim(route));
        chosen.push(name);
    }
    let mut taken: HashSet<String> = routes.iter().flatten().map(|route| (*route).to_owned()).collect();
    let mut result = Vec::new();
    for (index, worker) in resolved.workers.iter().enumerate() {
        let name = match chosen.get_mut(index).and_then(Option::take) {
            Some(name) => name,
            None => names.claim(worker.local),
        };
        let mut table = Table { name: name.clone(), ..Table::default() };
        table.above = worker.ajp13.into_iter().chain([worker.channel]).flat_map(info).collect();
        table.origin = origin(worker.channel);
        table.set("address", quoted(&worker.address), "");
        let groups: Vec<String> = worker.pools.iter().filter_map(|pool| pools.get(*pool).cloned()).collect();
        table.set("group", text_or_texts(&groups), "");
        match routes.get(index).copied().flatten() {
            Some(route) if route != name => table.set("route", quoted(route), "Tomcat's jvmRoute"),
            Some(_) => {}
            None if taken.contains(&name) => {
                let route = (2..).map(|n| format!("{name}-{n}")).find(|route| !taken.contains(route));
                table.set("route", quoted(&route.unwrap_or_default()), "");
            }
            None => {}
        }
        taken.insert(name.clone());
        member(worker, factors.get(index).copied().flatten(), &mut table, report);
        channel(worker, &mut table, report);
        document.workers.push(table);
        result.push(name);
    }
    result
}

/// The routes that can be kept. A group needs different ones, and not every text can be one.
fn routes<'o>(resolved: &Resolved<'o>, report: &mut Report) -> Vec<Option<&'o str>> {
    let mut seen: HashMap<(usize, &str), usize> = HashMap::new();
    let mut routes = Vec::new();
    for worker in &resolved.workers {
        let route = worker.route();
        let header = &worker.ajp13.unwrap_or(worker.channel).at;
        let twice = worker.pools.iter().find_map(|pool| seen.get(&(*pool, route)).map(|line| (*pool, *line)));
        for pool in &worker.pools {
            seen.entry((*pool, route)).or_insert(worker.channel.at.line);
        }
        if let Some((pool, line)) = twice {
            let pool = resolved.pools.get(pool).map_or("", |pool| &pool.name);
            let text = format!(
                "route \"{route}\" stands twice in group \"{pool}\"; its sessions go to the worker of line {line}, as in mod_jk2. Give each Tomcat a jvmRoute of its own"
            );
            report.push(header, (NoteKind::Warning, Some("W2-404")), text);
            routes.push(None);
        } else if is_name(route) {
            routes.push(Some(route));
        } else {
            if worker.get(&["route", "tomcatId"]).is_some() {
                let text = format!(
                    "route \"{route}\" cannot be one here; give this Tomcat the jvmRoute that stands in workers.toml"
                );
                report.push(header, (NoteKind::Changed, None), text);
            }
            routes.push(None);
        }
    }
    routes
}

/// lb_factor was a cost, lbfactor is a weight: the least common multiple divided by the cost, where costs differ.
fn factors(resolved: &Resolved<'_>, report: &mut Report) -> Vec<Option<i64>> {
    let cost =
        |worker: &Worker<'_>| worker.get(&["lb_factor"]).map_or(1, |factor| atoi(&factor.value).max(1));
    let level = |worker: &Worker<'_>| worker.get(&["level"]).map_or(0, |level| atoi(&level.value));
    // A worker has one weight for all its groups, so what one joins must have one multiple.
    let is_shared = resolved.workers.iter().any(|worker| worker.pools.len() > 1);
    let key = |worker: &Worker<'_>| {
        if is_shared { None } else { Some((worker.pools.first().copied(), level(worker))) }
    };
    let mut multiples: HashMap<_, (i64, i64, bool)> = HashMap::new();
    for worker in &resolved.workers {
        let cost = cost(worker);
        let (multiple, first, differ) = multiples.entry(key(worker)).or_insert((1, cost, false));
        *multiple = least_common_multiple(*multiple, cost).min(MAX_WEIGHT);
        *differ |= *first != cost;
    }
    resolved
        .workers
        .iter()
        .map(|worker| {
            let (multiple, _, differ) = multiples.get(&key(worker)).copied().unwrap_or((1, 1, false));
            let factor = worker.get(&["lb_factor"]);
            let weight = ((multiple + cost(worker) / 2) / cost(worker)).max(1);
            if let Some(factor) = factor.filter(|_| differ) {
                let text = format!("{}: in mod_jk2 the lower one got more; lbfactor = {weight} is the same share as a weight", written(factor));
                report.changed(&factor.at, text);
            }
            differ.then_some(weight)
        })
        .collect()
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}

fn member(worker: &Worker<'_>, weight: Option<i64>, table: &mut Table, report: &mut Report) {
    if let Some(weight) = weight {
        let comment = match worker.get(&["lb_factor"]) {
            Some(factor) => format!("{}, where less was more", written(factor)),
            None => "lb_factor was 1, where less was more".to_owned(),
        };
        table.set("lbfactor", weight.to_string(), comment);
    }
    let level = worker.get(&["level"]);
    if let Some(level) = level.filter(|level| atoi(&level.value) > 0) {
        table.set("distance", atoi(&level.value).min(MAX_WEIGHT).to_string(), written(level));
    }
    if let Some(redirect) = worker.get(&["routeRedirect"]) {
        if is_name(&redirect.value) {
            table.set("redirect", quoted(&redirect.value), "");
        } else {
            report.dropped(&redirect.at, format!("{}: this cannot be a route here", written(redirect)));
        }
    }
    let flag = |key: &str| worker.get(&[key]).filter(|attribute| atoi(&attribute.value) != 0);
    if let Some(graceful) = flag("graceful") {
        table.set("activation", quoted("disabled"), format!("{}: only its own sessions", written(graceful)));
    }
    if let Some(level) = level.filter(|level| atoi(&level.value) > 3) {
        let text = format!(
            "{}: there were four levels, 0 to 3, so mod_jk2 never used this worker; it is stopped here",
            written(level)
        );
        report.push(&level.at, (NoteKind::Warning, Some("W2-409")), text);
        table.set("activation", quoted("stopped"), format!("{} was never used", written(level)));
    }
    // A channel that is off takes its worker with it, whatever that says.
    let objects = worker.ajp13.into_iter().chain([worker.channel]);
    let off = objects.filter_map(|object| object.get("disabled")).find(|disabled| atoi(&disabled.value) != 0);
    if let Some(disabled) = off {
        table.set("activation", quoted("stopped"), written(disabled));
    }
}

fn channel(worker: &Worker<'_>, table: &mut Table, report: &mut Report) {
    timeouts(worker, table, report);
    if let Some(limit) = worker.get(&["max_connections"]) {
        let number = atoi(&limit.value);
        if number == 0 {
            report.changed(
                &limit.at,
                "max_connections=0 was no limit; here there is always one, connection_pool_size = 150",
            );
        } else {
            let text = format!(
                "{}: it was for each child of the web server; here it is for the whole gateway",
                written(limit)
            );
            report.changed(&limit.at, text);
            table.set("connection_pool_size", number.min(65535).to_string(), written(limit));
        }
    }
    if let Some(keepalive) = worker.channel.get("keepalive") {
        if atoi(&keepalive.value) == 0 {
            table.set("socket_keepalive", "false", written(keepalive));
        } else {
            report.kept(&keepalive.at, "keepalive=1 is the default here");
        }
    }
    if let Some(secret) = worker.get(&["secretkey"]) {
        table.set("secret", quoted(&secret.value), "better kept in a file of its own: secret_file");
        report.changed(
            &secret.at,
            "secretkey is sent as the connector's secret; the login of AJP14 that it started is gone",
        );
    }
    if let Some(named) = worker.get(&["channel"]) {
        let own = format!("{}:{}", worker.channel.kind, worker.local);
        if named.value != own && named.value.replace("channel.apr:", "channel.socket:") != own {
            let text = format!(
                "{}: it was only shown; the channel is the one of the worker's name, {own}",
                written(named)
            );
            report.warn(&named.at, text);
        }
    }
}

fn timeouts(worker: &Worker<'_>, table: &mut Table, report: &mut Report) {
    // Of a unix channel it is no attribute at all.
    if let Some(timeout) = worker.channel.get("timeout") {
        let number = atoi(&timeout.value);
        if number == 0 {
            report.changed(&timeout.at, "timeout=0 was for ever; the gateway's own limits hold here");
        } else {
            for key in ["socket_connect_timeout", "send_timeout", "reply_timeout"] {
                table.set(key, seconds(number), written(timeout));
            }
        }
    }
    let pings = [("connectTimeout", "connect_timeout"), ("prepostTimeout", "prepost_timeout")];
    for (from, to) in pings {
        let Some(timeout) = worker.get(&[from]) else { continue };
        if atoi(&timeout.value) == 0 {
            report.changed(
                &timeout.at,
                format!("{from}=0 was no CPing; the gateway sends one and waits for a second"),
            );
        } else {
            report.changed(
                &timeout.at,
                format!("{}: it never expired in mod_jk2; here it does", written(timeout)),
            );
            table.set(to, millis(atoi(&timeout.value)), written(timeout));
        }
    }
    if let Some(timeout) = worker.get(&["replyTimeout"]) {
        let number = atoi(&timeout.value);
        report
            .changed(&timeout.at, format!("{}: it never expired in mod_jk2; here it does", written(timeout)));
        let value = if number == 0 { quoted("never") } else { millis(number) };
        table.set("reply_timeout", value, written(timeout));
    }
}

const MAX_WEIGHT: i64 = 1_000_000;
