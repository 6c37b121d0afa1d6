//! The same picture for a terminal, and as a Nagios check.

use std::fmt::Write as _;

use crate::rating::{Masks, Rating};
use crate::view::{Group, StatusView};
use crate::words::{age, latency};

/// Groups and members as a table.
#[allow(clippy::too_many_lines, clippy::write_literal, reason = "one flat table")]
#[must_use]
pub fn terminal(view: &StatusView) -> String {
    let mut out = format!(
        "{} up {} · plan {} from {}\n",
        printable(&view.software),
        age(view.uptime),
        view.generation,
        printable(&view.config)
    );
    if view.reload.failed {
        let _infallible = writeln!(
            out,
            "! reload by {} failed {} ago; the plan stays in force",
            printable(&view.reload.by),
            age(view.reload.ago)
        );
        for line in &view.reload.lines {
            let _infallible = writeln!(out, "!   {}", printable(line));
        }
    }
    for group in &view.groups {
        let _infallible = writeln!(
            out,
            "\n{} ({}, {} members)",
            printable(&group.name),
            printable(&group.method),
            group.members.len()
        );
        let _infallible = writeln!(
            out,
            "  {:<16} {:<9} {:<8} {:>9} {:>10} {:>7} {:>9} {:>9} {:>9} {:>9}  {}",
            "member",
            "wants",
            "is",
            "busy/max",
            "requests",
            "errors",
            "p50",
            "p99",
            "channels",
            "sessions",
            "last error"
        );
        for member in &group.members {
            let ajp = &member.ajp;
            let error = ajp.last_error.as_ref().filter(|_| member.state.starts_with("ERR"));
            let _infallible = writeln!(
                out,
                "  {:<16} {:<9} {:<8} {:>9} {:>10} {:>7} {:>9} {:>9} {:>9} {:>9}  {}",
                printable(&ajp.name),
                member.activation.word(),
                member.state,
                format!("{}/{}", ajp.busy, ajp.max_busy),
                ajp.elected,
                ajp.errors,
                latency(member.p50),
                latency(member.p99),
                format!("{}+{}", ajp.connected.saturating_sub(ajp.idle), ajp.idle),
                member.sessions_lately,
                error.map_or_else(String::new, |(at, text)| format!(
                    "{} ago: {}",
                    age(view.now.saturating_sub(*at)),
                    printable(text)
                )),
            );
        }
    }
    out
}

/// One line; the second word is what a Nagios check wants.
#[must_use]
pub fn nagios(view: &StatusView) -> String {
    let masks = Masks::new(view.options.good.as_deref(), view.options.bad.as_deref());
    let bad = |group: &Group| group.members.iter().filter(|member| masks.rate(member) == Rating::Bad).count();
    let (mut word, mut parts) = ("OK", Vec::new());
    for group in &view.groups {
        let count = bad(group);
        if count > 0 && count == group.members.len() {
            word = "CRITICAL";
        } else if count > 0 && word == "OK" {
            word = "WARNING";
        }
        parts.push(format!("{}: {} of {} bad", printable(&group.name), count, group.members.len()));
    }
    if view.reload.failed && word == "OK" {
        word = "WARNING";
        parts.push("the last reload failed".to_owned());
    }
    let busy: u32 = view.groups.iter().flat_map(|group| &group.members).map(|member| member.ajp.busy).sum();
    format!("JKGATE {word} - {} | busy={busy}\n", parts.join(", "))
}

/// No name may move the cursor.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
