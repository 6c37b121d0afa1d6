//! Workers of type lb as `[lb.NAME]`.

use std::collections::{HashMap, HashSet};

use super::workers::Worker;
use crate::document::{Table, quoted};
use crate::number::{items, millis, seconds};
use crate::report::Report;

/// Members that are there and can be members, each with a route of its own.
pub(super) fn members<'w>(
    group: &Worker,
    find: &dyn Fn(&str) -> Option<&'w Worker>,
    report: &mut Report,
) -> Vec<String> {
    let Some(list) = group.get("balance_workers") else {
        report
            .problem(&group.at, None, format!("group \"{}\" has no balance_workers", group.name))
            .expected(format!("worker.{}.balance_workers=NAME,NAME", group.name))
            .was("mod_jk did not start with it");
        return Vec::new();
    };
    let mut seen = HashSet::new();
    let mut routes: HashMap<&str, &str> = HashMap::new();
    let mut found = Vec::new();
    for name in items(&list.value).into_iter().filter(|name| seen.insert(name.clone())) {
        let Some(member) = find(&name) else {
            report
                .problem(
                    &list.at,
                    None,
                    format!("member \"{name}\" of group \"{}\" is not defined", group.name),
                )
                .help("define it, or take it out of balance_workers")
                .was("mod_jk took it for a worker at localhost:8009");
            continue;
        };
        let kind = member.text("type").unwrap_or("ajp13");
        if kind != "ajp13" {
            report
                .problem(
                    &list.at,
                    None,
                    format!("member \"{name}\" of group \"{}\" is of type \"{kind}\"", group.name),
                )
                .expected("workers of type ajp13")
                .was("mod_jk did not start with it");
            continue;
        }
        let route = member.text("route").unwrap_or(&member.name);
        if let Some(first) = routes.insert(route, &member.name) {
            let at = member.get("route").map_or(&member.at, |attribute| &attribute.at);
            let title = format!(
                "route \"{route}\" is that of \"{first}\" and of \"{name}\", both in group \"{}\"",
                group.name
            );
            report
                .problem(at, None, title)
                .help("give each member the jvmRoute of its own Tomcat")
                .was("mod_jk did not start with it");
        }
        found.push(name);
    }
    found
}

pub(super) fn table(group: &Worker, name: &str, report: &mut Report) -> Table {
    let mut table = Table { name: name.to_owned(), origin: super::ajp::origin(group), ..Table::default() };
    let _ = (group.get("type"), group.get("reference"), group.get("mount"), group.get("balance_workers"));
    if let Some(method) = group.text("method") {
        let method = match method.to_ascii_lowercase().chars().next() {
            Some('s' | '3') => "sessions",
            Some('t' | '1') => "traffic",
            Some('b' | '2') => "busyness",
            Some('n' | '4') => "next",
            _ => "requests",
        };
        table.set("method", quoted(method), "");
    }
    for key in ["sticky_session", "sticky_session_force", "set_session_cookie"] {
        if let Some(flag) = group.switch(key, report) {
            table.set(key, flag.to_string(), "");
        }
    }
    for key in ["session_cookie", "session_cookie_path"] {
        if let Some(value) = group.text(key) {
            table.set(key, quoted(value), "");
        }
    }
    if let Some(path) = group.text("session_path") {
        table.set("session_path", quoted(path.trim_start_matches(';').trim_end_matches('=')), "");
    }
    times(group, &mut table, report);
    if let Some(lock) = group.get("lock") {
        report.dropped(&lock.at, format!("lock={}: there is no lock to choose", lock.value));
    }
    if let Some(secret) = group.text("secret") {
        table.set("secret", quoted(secret), "of members that have none of their own");
    }
    table
}

fn times(group: &Worker, table: &mut Table, report: &mut Report) {
    for (key, least) in [("recover_time", 1), ("error_escalation_time", 0)] {
        if let Some((number, at)) = group.number(key, report) {
            if number < least {
                report.changed(at, format!("{key}={number} is {least} here, as in mod_jk"));
            }
            table.set(key, seconds(number.max(least)), "");
        }
    }
    if let Some((number, at)) = group.number("max_reply_timeouts", report) {
        if number < 0 {
            report.changed(at, format!("max_reply_timeouts={number} is 0 here, as in mod_jk"));
        }
        table.set("max_reply_timeouts", number.clamp(0, 1_000_000).to_string(), "");
    }
    if let Some((number, at)) = group.number("retries", report) {
        table.set("retries", number.clamp(1, 100).to_string(), "");
        report.changed(at, format!("retries={number} were rounds over the members; here 1 is one member only, and more tries every usable member once"));
    }
    if let Some((number, _)) = group.number("retry_interval", report) {
        table.set("retry_interval", millis(number.max(0)), "shown on the status page only");
    }
    if let Some(retries) = group.get("lb_retries") {
        report.dropped(
            &retries.at,
            format!("lb_retries={}: every usable member may be tried, each once", retries.value),
        );
    }
}
