//! mod_jk's three outputs for scripts: XML, text lines and properties, field by field as it writes them.

use std::fmt::Write as _;

use crate::command::{Cmd, Mime, Request};
use crate::fields::{self, Field};
use crate::view::{Mapping, StatusView};

/// mod_jk's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    Error(String),
}

/// The whole answer to a command in one of the three forms. `dump`: the configuration as mod_jk's properties.
#[must_use]
pub fn legacy(
    view: &StatusView,
    request: &Request,
    (cmd, mime): (Option<Cmd>, Mime),
    outcome: &Outcome,
    dump: &[(String, String)],
) -> String {
    if let Some(answer) = request.jk2().and_then(|query| query.answer(view)) {
        return answer;
    }
    let mut out = Writer { out: String::new(), view, mime };
    out.begin();
    if let (Some(cmd), Outcome::Ok) = (cmd, outcome) {
        out.body(cmd, request, dump);
    }
    out.result(outcome);
    if mime == Mime::Xml {
        let _infallible = writeln!(out.out, "</{}status>", view.options.ns);
    }
    out.out
}

struct Writer<'a> {
    out: String,
    view: &'a StatusView,
    mime: Mime,
}

/// mod_jk's bits of `opt`.
const HIDE_MEMBERS: i64 = 1;
const HIDE_MAPS: i64 = 2;
const HIDE_LB: i64 = 8;
const HIDE_AJP: i64 = 16;

#[allow(clippy::wildcard_enum_match_arm, reason = "three forms: XML, text, and else properties")]
impl Writer<'_> {
    fn begin(&mut self) {
        if self.mime != Mime::Xml {
            return;
        }
        let options = &self.view.options;
        self.out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
        if let Some(doctype) = &options.doctype {
            let _infallible = writeln!(self.out, "{doctype}");
        }
        let _infallible = write!(self.out, "<{}status", options.ns);
        if !options.xmlns.is_empty() {
            let _infallible = write!(self.out, "\n  {}", options.xmlns);
        }
        self.out.push_str(">\n");
    }

    fn body(&mut self, cmd: Cmd, request: &Request, dump: &[(String, String)]) {
        let opt = request.number("opt");
        match cmd {
            Cmd::Update | Cmd::Reset | Cmd::Recover => {}
            Cmd::Edit => self.server(),
            Cmd::Version => self.head(),
            Cmd::Dump => {
                self.head();
                self.dump(dump);
            }
            Cmd::List => {
                self.head();
                self.list(opt);
            }
            Cmd::Show => {
                self.head();
                let (w, sw) = (request.get("w").unwrap_or_default(), request.get("sw"));
                self.groups(opt, Some((w, sw)));
                self.workers(opt, Some(w));
            }
        }
    }

    fn head(&mut self) {
        self.server();
        let view = self.view;
        let software = |name| [("web_server", view.software.clone()), (name, view.software.clone())];
        match self.mime {
            Mime::Xml => {
                self.element(
                    "",
                    "time",
                    &[
                        ("datetime", view.datetime.clone()),
                        ("tz", view.tz.clone()),
                        ("unix", view.now.to_string()),
                    ],
                );
                self.element("", "software", &software("jk_version"));
            }
            Mime::Txt => {
                let _infallible =
                    writeln!(self.out, "Time: datetime={} tz={} unix={}", view.datetime, view.tz, view.now);
                let _infallible = writeln!(
                    self.out,
                    "Software: web_server=\"{0}\" jk_version={0}",
                    text_value(&view.software)
                );
            }
            _ => {
                for (name, value) in [
                    ("time_datetime", &view.datetime),
                    ("time_tz", &view.tz),
                    ("time_unix", &view.now.to_string()),
                    ("web_server", &view.software),
                    ("jk_version", &view.software),
                ] {
                    self.property(&[], name, value);
                }
            }
        }
    }

    fn server(&mut self) {
        let view = self.view;
        match self.mime {
            Mime::Xml => {
                self.element("", "server", &[("name", view.server.clone()), ("port", view.port.to_string())])
            }
            Mime::Txt => {
                let _infallible =
                    writeln!(self.out, "Server: name={} port={}", text_value(&view.server), view.port);
            }
            _ => {
                self.property(&[], "server_name", &view.server);
                self.property(&[], "server_port", &view.port.to_string());
            }
        }
    }

    fn list(&mut self, opt: i64) {
        let view = self.view;
        if !view.groups.is_empty() && opt & HIDE_LB == 0 {
            self.open("balancers", "Balancer Workers", "lb_count", view.groups.len());
            self.groups(opt, None);
            self.close("balancers");
        }
        if !view.workers.is_empty() && opt & HIDE_AJP == 0 {
            self.open("ajp_workers", "AJP Workers", "ajp_count", view.workers.len());
            self.workers(opt, None);
            self.close("ajp_workers");
        }
    }

    fn open(&mut self, element: &str, words: &str, property: &str, count: usize) {
        match self.mime {
            Mime::Xml => {
                let _infallible =
                    writeln!(self.out, "<{}{element}\n  count=\"{count}\"\n>", self.view.options.ns);
            }
            Mime::Txt => {
                let _infallible = writeln!(self.out, "{words}: count={count}");
            }
            _ => self.property(&[], property, &count.to_string()),
        }
    }

    fn close(&mut self, element: &str) {
        if self.mime == Mime::Xml {
            let _infallible = writeln!(self.out, "</{}{element}>", self.view.options.ns);
        }
    }

    fn groups(&mut self, opt: i64, only: Option<(&str, Option<&str>)>) {
        let view = self.view;
        let xml = self.mime == Mime::Xml;
        for group in view.groups.iter().filter(|group| only.is_none_or(|(name, _)| group.name == name)) {
            let own = fields::group(group, view);
            if self.mime == Mime::Prop {
                self.property(&[], "list", &group.name);
            }
            self.object(("  ", "balancer"), "Balancer Worker", &own, false);
            let sub = only.and_then(|(_, sub)| sub);
            let members = group.members.iter().filter(|member| sub.is_none_or(|sub| member.ajp.name == sub));
            for member in members.filter(|_| opt & HIDE_MEMBERS == 0) {
                if self.mime == Mime::Prop {
                    self.property(&[&group.name], "balance_workers", &member.ajp.name);
                }
                self.object(("      ", "member"), "Member", &fields::member(member, view, xml), true);
            }
            self.maps(opt, &group.name, &group.mappings);
            if xml {
                let _infallible = writeln!(self.out, "  </{}balancer>", view.options.ns);
            }
        }
    }

    fn workers(&mut self, opt: i64, only: Option<&str>) {
        let view = self.view;
        let xml = self.mime == Mime::Xml;
        for worker in view.workers.iter().filter(|worker| only.is_none_or(|name| worker.ajp.name == name)) {
            if self.mime == Mime::Prop {
                self.property(&[&worker.ajp.name], "list", &worker.ajp.name);
            }
            self.object(("  ", "ajp"), "AJP Worker", &fields::worker(worker, view, xml), true);
            self.maps(opt, &worker.ajp.name, &worker.mappings);
        }
    }

    fn maps(&mut self, opt: i64, owner: &str, mappings: &[Mapping]) {
        if opt & HIDE_MAPS != 0 {
            return;
        }
        for (index, mapping) in mappings.iter().enumerate() {
            let fields = fields::mapping(mapping, index, &self.view.server);
            if self.mime == Mime::Prop {
                let id = (index + 1).to_string();
                for field in fields.iter().skip(1) {
                    self.property(&[owner, "map", &id], field.name, &field.value);
                }
                continue;
            }
            self.object(("      ", "map"), "Map", &fields, true);
        }
    }

    /// One object with its fields, one a line in XML, all on a line in text.
    fn object(&mut self, (indent, element): (&str, &str), words: &str, fields: &[Field], ends: bool) {
        match self.mime {
            Mime::Xml => {
                let _infallible = writeln!(self.out, "{indent}<{}{element}", self.view.options.ns);
                for field in fields {
                    let _infallible =
                        writeln!(self.out, "{indent}  {}=\"{}\"", field.name, xml_value(&field.value));
                }
                let _infallible = writeln!(self.out, "{indent}{}", if ends { "/>" } else { ">" });
            }
            Mime::Txt => {
                let _infallible = write!(self.out, "{words}:");
                for field in fields {
                    let value = text_value(&field.value);
                    let _infallible = if field.quoted {
                        write!(self.out, " {}=\"{value}\"", field.name)
                    } else {
                        write!(self.out, " {}={value}", field.name)
                    };
                }
                self.out.push('\n');
            }
            _ => {
                let name = fields.first().map(|field| field.value.clone()).unwrap_or_default();
                for field in fields.iter().skip(1) {
                    self.property(&[&name], field.name, &field.value);
                }
            }
        }
    }

    fn dump(&mut self, pairs: &[(String, String)]) {
        match self.mime {
            Mime::Xml => {
                let pairs: Vec<(&str, String)> =
                    pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
                self.element("  ", "configuration", &pairs);
            }
            Mime::Txt => {
                self.out.push_str("Configuration:\n");
                for (name, value) in pairs {
                    let _infallible = writeln!(self.out, "{}={}", text_value(name), text_value(value));
                }
            }
            _ => {
                for (name, value) in pairs {
                    let _infallible = writeln!(self.out, "{}={}", text_value(name), text_value(value));
                }
            }
        }
    }

    fn result(&mut self, outcome: &Outcome) {
        let (kind, message) = match outcome {
            Outcome::Ok => ("OK", "Action finished"),
            Outcome::Error(message) => ("ERROR", message.as_str()),
        };
        match self.mime {
            Mime::Xml => {
                let ns = &self.view.options.ns;
                let message = xml_value(message);
                let _infallible =
                    writeln!(self.out, "  <{ns}result\n    type=\"{kind}\"\n    message=\"{message}\"\n  />");
            }
            Mime::Txt => {
                let _infallible =
                    writeln!(self.out, "Result: type={kind} message=\"{}\"", text_value(message));
            }
            _ => {
                self.property(&["result"], "type", kind);
                self.property(&["result"], "message", message);
            }
        }
    }

    fn element(&mut self, indent: &str, element: &str, attributes: &[(&str, String)]) {
        let ns = &self.view.options.ns;
        let _infallible = writeln!(self.out, "{indent}<{ns}{element}");
        for (name, value) in attributes {
            let _infallible = writeln!(self.out, "{indent}  {name}=\"{}\"", xml_value(value));
        }
        let _infallible = writeln!(self.out, "{indent}/>");
    }

    fn property(&mut self, path: &[&str], name: &str, value: &str) {
        self.out.push_str(&self.view.options.prefix);
        for part in path {
            self.out.push('.');
            self.out.push_str(&text_value(part));
        }
        let _infallible = writeln!(self.out, ".{name}={}", text_value(value));
    }
}

fn xml_value(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A value must not end its quotes or its line.
pub(crate) fn text_value(text: &str) -> String {
    text.chars().map(|c| if c == '"' || c.is_control() { '@' } else { c }).collect()
}
