//! The page for people: what is wrong first, then groups, then plumbing. It works without JavaScript; with it, the same cells move.

use std::fmt::Write as _;

use crate::command::{Cmd, Request};
use crate::legacy::Outcome;
use crate::rating::{Masks, Rating};
use crate::terminal::{age, latency};
use crate::view::{Activation, Group, Mapping, Member, StatusView};

/// No script and no style but our own files, no frames, no forms to elsewhere.
pub const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Served at `?asset=style`.
pub const STYLE: &str = include_str!("page.css");

/// Served at `?asset=script`.
pub const SCRIPT: &str = include_str!("page.js");

/// The whole page. `answer`: what an explanation said, or what a change did.
#[must_use]
pub fn page(
    view: &StatusView,
    request: &Request,
    cmd: Cmd,
    outcome: &Outcome,
    answer: Option<&str>,
) -> String {
    let mut out =
        Page { out: String::with_capacity(16 * 1024), view, cells: cells(view).into_iter().collect() };
    out.head(request);
    out.banner(outcome);
    if let Some(answer) = answer {
        out.answer(answer);
    }
    match (cmd, request.get("w")) {
        (Cmd::Edit, Some(w)) => out.edit(w, request.get("sw")),
        (Cmd::Show, Some(w)) => {
            for group in view.groups.iter().filter(|group| group.name == w) {
                out.group(group);
            }
        }
        _ => {
            out.summary();
            for group in &view.groups {
                out.group(group);
            }
            out.workers();
            out.mappings(request);
            out.listeners();
        }
    }
    out.raw("</main><footer>");
    out.raw("<a href=\"?mime=xml\">XML</a> <a href=\"?mime=json\">JSON</a> <a href=\"?mime=prop\">properties</a> <a href=\"?mime=txt\">text</a> <a href=\"?mime=prometheus\">metrics</a> <a href=\"?cmd=dump&amp;mime=txt\">configuration</a></footer></body></html>\n");
    out.out
}

/// What moves: cell id and text. The page and the event stream are made from these, so that they cannot differ.
#[must_use]
pub fn cells(view: &StatusView) -> Vec<(String, String)> {
    let mut cells = vec![
        ("uptime".to_owned(), age(view.uptime)),
        ("requests".to_owned(), view.totals.by_class.iter().sum::<u64>().to_string()),
        ("underway".to_owned(), view.totals.under_way.to_string()),
        ("failed".to_owned(), view.totals.by_class.get(5).copied().unwrap_or(0).to_string()),
    ];
    for (g, group) in view.groups.iter().enumerate() {
        cells.push((format!("g{g}"), verdict(group, view)));
        for (m, member) in group.members.iter().enumerate() {
            let ajp = &member.ajp;
            let mut cell = |name: &str, text: String| cells.push((format!("g{g}m{m}{name}"), text));
            cell("is", is(member));
            cell("busy", format!("{}/{}", ajp.busy, ajp.max_busy));
            cell("req", ajp.elected.to_string());
            cell("err", ajp.errors.to_string());
            cell("cerr", ajp.client_errors.to_string());
            cell(
                "lat",
                format!("{} / {} / {}", latency(member.p50), latency(member.p90), latency(member.p99)),
            );
            cell("con", format!("{} + {} idle", ajp.connected.saturating_sub(ajp.idle), ajp.idle));
            cell("wait", ajp.waiting.to_string());
            cell("io", format!("{} / {}", size(ajp.transferred), size(ajp.read)));
            cell("sess", member.sessions_lately.to_string());
            cell("last", last_error(member, view));
        }
    }
    cells
}

fn verdict(group: &Group, view: &StatusView) -> String {
    let masks = Masks::new(view.options.good.as_deref(), view.options.bad.as_deref());
    let count = |rating| group.members.iter().filter(|member| masks.rate(member) == rating).count();
    let (good, degraded, bad) = (count(Rating::Good), count(Rating::Degraded), count(Rating::Bad));
    let word = match (good, degraded, bad) {
        (0, 0, 0) => "empty",
        (0, 0, _) => "▲ bad",
        (_, _, 1..) => "◐ degraded",
        (_, 1.., _) => "◐ degraded",
        _ => "● good",
    };
    format!("{word}: {good} good, {degraded} degraded, {bad} bad")
}

/// State as shape and word; colour comes on top.
fn is(member: &Member) -> String {
    let (shape, words) = match (member.state, member.activation) {
        ("ERR", _) => ("▲", "in error"),
        ("ERR/REC" | "ERR/PRB", _) => ("◐", "being tried again"),
        ("ERR/FRC", _) => ("▲", "in error, tried because all are"),
        ("OK/BUSY", _) => ("◐", "full"),
        (_, Activation::Disabled) => ("◐", "draining"),
        (_, Activation::Stopped) => ("○", "stopped"),
        ("OK/IDLE", _) => ("●", "idle"),
        _ => ("●", "serving"),
    };
    format!("{shape} {} {words}", member.state)
}

fn last_error(member: &Member, view: &StatusView) -> String {
    let retry = if member.state == "ERR" {
        format!("; next try in {}", age(member.recover_min))
    } else {
        String::new()
    };
    match &member.ajp.last_error {
        None => String::new(),
        Some((at, what)) => format!("{} ago: {what}{retry}", age(view.now.saturating_sub(*at))),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{} kB", bytes / 1000),
        10_000_000..=9_999_999_999 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}

struct Page<'a> {
    out: String,
    view: &'a StatusView,
    cells: std::collections::HashMap<String, String>,
}

impl Page<'_> {
    /// Markup of our own.
    fn raw(&mut self, html: &str) {
        self.out.push_str(html);
    }

    /// Anything else.
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '&' => self.out.push_str("&amp;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                c => self.out.push(c),
            }
        }
    }

    fn cell(&mut self, id: &str) {
        let text = self.cells.get(id).cloned().unwrap_or_default();
        let _infallible = write!(self.out, "<span id=\"{id}\">");
        self.text(&text);
        self.raw("</span>");
    }

    fn head(&mut self, request: &Request) {
        self.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>jkgate status</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        let refresh = request.number("re");
        if refresh > 0 {
            let _infallible = write!(self.out, "<meta http-equiv=\"refresh\" content=\"{refresh}\">");
        }
        self.raw("<link rel=\"stylesheet\" href=\"?asset=style\">");
        if let Some(css) = self.view.options.css.clone() {
            self.raw("<link rel=\"stylesheet\" href=\"");
            self.text(&css);
            self.raw("\">");
        }
        self.raw(
            "<script src=\"?asset=script\" defer></script></head><body><header><h1>jkgate status</h1><p>",
        );
        let view = self.view;
        self.text(&view.software);
        self.raw(" · up ");
        self.cell("uptime");
        self.text(&format!(
            " · plan {} from {}, loaded {} ago",
            view.generation,
            view.config,
            age(view.loaded_ago)
        ));
        if view.options.read_only {
            self.raw(" · read only");
        }
        self.raw("</p><nav><a href=\"?\">Overview</a> <a href=\"?re=5\">Refresh every 5 s</a></nav></header><main>");
    }

    fn banner(&mut self, outcome: &Outcome) {
        let view = self.view;
        if let Outcome::Error(message) = outcome {
            self.raw("<p class=\"bad\" role=\"alert\">");
            self.text(message);
            self.raw("</p>");
        }
        if view.reload.failed {
            self.raw("<section class=\"bad\" role=\"alert\"><h2>The last reload failed</h2><p>");
            self.text(&format!(
                "{} ago, by {}: everything goes on as before.",
                age(view.reload.ago),
                view.reload.by
            ));
            self.raw("</p><ul>");
            for line in &view.reload.lines {
                self.raw("<li><code>");
                self.text(line);
                self.raw("</code></li>");
            }
            self.raw("</ul></section>");
        }
        if !view.edits.is_empty() {
            self.raw("<section class=\"note\"><h2>Changed here, not in the file</h2><ul>");
            for edit in &view.edits {
                self.raw("<li><code>");
                self.text(edit);
                self.raw("</code></li>");
            }
            self.raw("</ul>");
            if !view.options.read_only {
                self.form(
                    "",
                    &[("do", "persist")],
                    "Write to the file",
                    "Write these changes into the configuration file",
                );
            }
            self.raw("</section>");
        }
    }

    fn answer(&mut self, answer: &str) {
        self.raw("<section class=\"note\" role=\"status\"><h2>Result</h2><pre>");
        self.text(answer);
        self.raw("</pre></section>");
    }

    fn summary(&mut self) {
        self.raw("<section aria-label=\"Summary\" class=\"summary\"><p>Requests <b>");
        self.cell("requests");
        self.raw("</b></p><p>under way <b>");
        self.cell("underway");
        self.raw("</b></p><p>answered 5xx <b>");
        self.cell("failed");
        self.raw("</b></p></section>");
    }

    fn group(&mut self, group: &Group) {
        let index = self.view.groups.iter().position(|known| known.name == group.name).unwrap_or(0);
        self.raw("<section><h2>");
        self.text(&group.name);
        self.raw("</h2><p>");
        self.cell(&format!("g{index}"));
        let sticky = match (group.sticky, group.sticky_force) {
            (false, _) => "not sticky",
            (true, false) => "sticky",
            (true, true) => "sticky by force",
        };
        self.text(&format!(
            " · method {} · {sticky} · tried again after {}",
            group.method,
            age(group.recover_time)
        ));
        self.raw("</p><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Members of ");
        self.text(&group.name);
        self.raw("\"><table><caption>Members of ");
        self.text(&group.name);
        self.raw("</caption><thead><tr>");
        for title in [
            "Member",
            "Wants",
            "Is",
            "Busy/max",
            "Requests",
            "Errors",
            "Client errors",
            "p50 / p90 / p99",
            "Channels",
            "Waiting",
            "Out / in",
            "Sessions*",
            "Route",
            "Weight",
            "Last error",
        ] {
            let _infallible = write!(self.out, "<th scope=\"col\">{title}</th>");
        }
        if !self.view.options.read_only {
            self.raw("<th scope=\"col\">Actions</th>");
        }
        self.raw("</tr></thead><tbody>");
        for (m, member) in group.members.iter().enumerate() {
            self.member(&group.name, (index, m), member);
        }
        self.raw(
            "</tbody></table></div><p><small>* seen in the last minutes, an estimate</small></p></section>",
        );
    }

    fn member(&mut self, group: &str, (g, m): (usize, usize), member: &Member) {
        let class = match member.state {
            "ERR" | "ERR/FRC" => "err",
            "ERR/REC" | "ERR/PRB" | "OK/BUSY" => "warn",
            _ if member.activation != Activation::Active => "warn",
            _ => "ok",
        };
        let _infallible = write!(self.out, "<tr class=\"{class}\"><th scope=\"row\">");
        self.text(&member.ajp.name);
        self.raw("<br><small>");
        self.text(&member.ajp.address);
        let _infallible =
            write!(self.out, "</small></th><td>{}</td><td class=\"state\">", member.activation.word());
        for (index, name) in
            ["is", "busy", "req", "err", "cerr", "lat", "con", "wait", "io", "sess"].iter().enumerate()
        {
            if index > 0 {
                self.raw("</td><td>");
            }
            self.cell(&format!("g{g}m{m}{name}"));
            if *name == "lat" {
                self.spark(member);
            }
        }
        self.raw("</td><td>");
        self.text(&member.route);
        let _infallible = write!(self.out, "</td><td>{}</td><td>", member.lbfactor);
        self.cell(&format!("g{g}m{m}last"));
        self.raw("</td>");
        if !self.view.options.read_only {
            self.raw("<td class=\"actions\">");
            self.actions(group, member);
            self.raw("</td>");
        }
        self.raw("</tr>");
    }

    /// The three percentiles as bars.
    fn spark(&mut self, member: &Member) {
        let (Some(p50), Some(p90), Some(p99)) = (member.p50, member.p90, member.p99) else { return };
        let width = |value: u64| (value * 60 / p99.max(1)).clamp(1, 60);
        let _infallible = write!(
            self.out,
            "<svg width=\"62\" height=\"14\" role=\"img\" aria-label=\"p50 {}, p90 {}, p99 {}\"><rect y=\"0\" height=\"4\" width=\"{}\"/><rect y=\"5\" height=\"4\" width=\"{}\"/><rect y=\"10\" height=\"4\" width=\"{}\"/></svg>",
            latency(Some(p50)),
            latency(Some(p90)),
            latency(Some(p99)),
            width(p50),
            width(p90),
            width(p99)
        );
    }

    fn actions(&mut self, group: &str, member: &Member) {
        let name = &member.ajp.name;
        for (activation, word) in [
            (Activation::Active, "Activate"),
            (Activation::Disabled, "Disable"),
            (Activation::Stopped, "Stop"),
        ] {
            if member.activation != activation {
                let code = match activation {
                    Activation::Active => "0",
                    Activation::Disabled => "1",
                    Activation::Stopped => "2",
                };
                self.form(
                    "update",
                    &[("w", group), ("sw", name), ("vwa", code)],
                    word,
                    &format!("{word} {name}"),
                );
            }
        }
        if member.state == "ERR" {
            self.form("recover", &[("w", group), ("sw", name)], "Try now", &format!("Try {name} now"));
        }
        self.form("reset", &[("w", group), ("sw", name)], "Reset", &format!("Reset counters of {name}"));
        self.raw("<a href=\"?cmd=edit&amp;w=");
        self.text(&percent(group));
        self.raw("&amp;sw=");
        self.text(&percent(name));
        self.raw("\" aria-label=\"Edit ");
        self.text(name);
        self.raw("\">Edit</a>");
    }

    fn form(&mut self, cmd: &str, fields: &[(&str, &str)], word: &str, label: &str) {
        self.raw("<form method=\"post\" action=\"?\">");
        let token = self.view.options.token.clone();
        self.hidden("token", &token);
        if !cmd.is_empty() {
            self.hidden("cmd", cmd);
        }
        for (name, value) in fields {
            self.hidden(name, value);
        }
        self.raw("<button aria-label=\"");
        self.text(label);
        self.raw("\">");
        self.text(word);
        self.raw("</button></form>");
    }

    fn hidden(&mut self, name: &str, value: &str) {
        self.raw("<input type=\"hidden\" name=\"");
        self.text(name);
        self.raw("\" value=\"");
        self.text(value);
        self.raw("\">");
    }

    fn edit(&mut self, w: &str, sw: Option<&str>) {
        let Some(group) = self.view.groups.iter().find(|group| group.name == w) else { return };
        self.raw("<section><h2>Edit ");
        self.text(sw.unwrap_or(w));
        self.raw("</h2><form method=\"post\" action=\"?\" class=\"edit\">");
        let token = self.view.options.token.clone();
        for (name, value) in [("token", token.as_str()), ("cmd", "update"), ("w", w)] {
            self.hidden(name, value);
        }
        let fields: Vec<(&str, &str, String)> = match sw
            .and_then(|sw| group.members.iter().find(|member| member.ajp.name == sw))
        {
            Some(member) => {
                self.hidden("sw", &member.ajp.name);
                vec![
                    ("vwa", "Activation (active, disabled, stopped)", member.activation.word().to_owned()),
                    ("vwf", "Weight (lbfactor)", member.lbfactor.to_string()),
                    ("vwd", "Distance", member.distance.to_string()),
                    ("vwn", "Route", member.route.clone()),
                    ("vwr", "Redirect", member.redirect.clone()),
                    ("vwc", "Domain", member.domain.clone()),
                    ("vart", "Reply timeout in ms, 0: never", member.ajp.reply_timeout.to_string()),
                    ("vabl", "Busy limit, 0: none", member.ajp.busy_limit.to_string()),
                ]
            }
            None => vec![
                ("vlm", "Method (requests, sessions, traffic, busyness, next)", group.method.to_lowercase()),
                ("vlt", "Recover time in s", group.recover_time.to_string()),
                ("vlee", "Error escalation time in s", group.error_escalation_time.to_string()),
                ("vls", "Sticky sessions (true, false)", group.sticky.to_string()),
                ("vlf", "Sticky by force (true, false)", group.sticky_force.to_string()),
            ],
        };
        for (name, label, value) in fields {
            let _infallible = write!(
                self.out,
                "<label for=\"{name}\">{label}</label><input id=\"{name}\" name=\"{name}\" value=\""
            );
            self.text(&value);
            self.raw("\">");
        }
        self.raw("<button>Change</button> <a href=\"?\">Back</a></form></section>");
    }

    fn workers(&mut self) {
        if self.view.workers.is_empty() {
            return;
        }
        self.raw("<section><h2>Workers without a group</h2><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Workers\"><table><caption>Workers that mappings point to</caption><thead><tr><th scope=\"col\">Worker</th><th scope=\"col\">Is</th><th scope=\"col\">Requests</th><th scope=\"col\">Errors</th><th scope=\"col\">Channels</th></tr></thead><tbody>");
        for worker in &self.view.workers {
            self.raw("<tr><th scope=\"row\">");
            self.text(&worker.ajp.name);
            let _infallible = write!(
                self.out,
                "</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                worker.state, worker.ajp.elected, worker.ajp.errors, worker.ajp.connected
            );
        }
        self.raw("</tbody></table></div></section>");
    }

    fn mappings(&mut self, request: &Request) {
        self.raw("<section><h2>URI mappings</h2><form method=\"get\" action=\"?\" class=\"explain\"><label for=\"explain\">Which rule serves</label> <input id=\"explain\" name=\"explain\" placeholder=\"/shop/cart or http://www.example.test/shop\" value=\"");
        self.text(request.get("explain").unwrap_or_default());
        self.raw("\"> <button>Explain</button></form><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Mappings\"><table><caption>Rules, as written</caption><thead><tr><th scope=\"col\">URI</th><th scope=\"col\">Target</th><th scope=\"col\">Host</th><th scope=\"col\">Kind</th><th scope=\"col\">From</th></tr></thead><tbody>");
        let view = self.view;
        let owned = view
            .groups
            .iter()
            .flat_map(|group| &group.mappings)
            .chain(view.workers.iter().flat_map(|worker| &worker.mappings));
        for mapping in owned.chain(&view.own_mappings) {
            self.mapping(mapping);
        }
        self.raw("</tbody></table></div></section>");
    }

    fn mapping(&mut self, mapping: &Mapping) {
        let host = if mapping.server.is_empty() { "any" } else { &mapping.server };
        self.raw("<tr><th scope=\"row\"><code>");
        self.text(&mapping.uri);
        self.raw("</code></th>");
        for value in [mapping.target.as_str(), host, &mapping.kind(), &mapping.source] {
            self.raw("<td>");
            self.text(value);
            self.raw("</td>");
        }
        self.raw("</tr>");
    }

    fn listeners(&mut self) {
        self.raw("<section><h2>Listeners</h2><table><caption>Where clients connect</caption><thead><tr><th scope=\"col\">Listener</th><th scope=\"col\">Address</th><th scope=\"col\">Open</th><th scope=\"col\">Accepted</th><th scope=\"col\">Times full</th></tr></thead><tbody>");
        for listener in &self.view.listeners {
            self.raw("<tr><th scope=\"row\">");
            self.text(&listener.name);
            self.raw("</th><td>");
            self.text(&listener.address);
            let _infallible = write!(
                self.out,
                "</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                listener.open, listener.accepted, listener.full
            );
        }
        self.raw("</tbody></table></section>");
    }
}

fn percent(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    out
}
