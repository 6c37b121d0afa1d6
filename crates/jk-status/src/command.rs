//! mod_jk's query interface (`status_parse_uri`, `check_worker`, `commit_member`).

use std::collections::BTreeMap;

use crate::view::StatusView;

/// A query, decoded.
#[derive(Debug, Clone, Default)]
pub struct Request {
    params: BTreeMap<String, String>,
    bad_escape: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cmd {
    List,
    Show,
    Edit,
    Update,
    Reset,
    Recover,
    Version,
    Dump,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mime {
    Html,
    Xml,
    Txt,
    Prop,
    Json,
    Prometheus,
    Toml,
    Text,
    Nagios,
}

/// A wish to change something: a key of workers.toml, and its value as an operator would type it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// `lb` or `ajp13`.
    pub section: &'static str,
    pub name: String,
    pub key: &'static str,
    pub value: String,
}

impl Request {
    /// Reads a query string. The last of equal names counts, as in mod_jk.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut request = Self::default();
        for pair in query.split('&') {
            let Some((name, value)) = pair.split_once('=') else { continue };
            match decode(value) {
                Some(value) => {
                    request.params.insert(name.to_owned(), value);
                }
                None => request.bad_escape = true,
            }
        }
        request
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(String::as_str)
    }

    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        self.get(name).map_or(0, atoi)
    }

    /// Err: the message of mod_jk's result.
    pub fn cmd(&self) -> Result<Cmd, &'static str> {
        if self.bad_escape {
            return Err("Error during parsing of URI");
        }
        match self.get("cmd").unwrap_or("list") {
            "list" => Ok(Cmd::List),
            "show" => Ok(Cmd::Show),
            "edit" => Ok(Cmd::Edit),
            "update" => Ok(Cmd::Update),
            "reset" => Ok(Cmd::Reset),
            "recover" => Ok(Cmd::Recover),
            "version" => Ok(Cmd::Version),
            "dump" => Ok(Cmd::Dump),
            _ => Err("Invalid command."),
        }
    }

    /// Err: the message of mod_jk's result, told in property form.
    pub fn mime(&self) -> Result<Mime, &'static str> {
        match self.get("mime").unwrap_or("html") {
            "html" => Ok(Mime::Html),
            "xml" => Ok(Mime::Xml),
            "txt" => Ok(Mime::Txt),
            "prop" => Ok(Mime::Prop),
            "json" => Ok(Mime::Json),
            "prometheus" => Ok(Mime::Prometheus),
            "toml" => Ok(Mime::Toml),
            "text" => Ok(Mime::Text),
            "nagios" => Ok(Mime::Nagios),
            _ => Err("Invalid mime type."),
        }
    }

    /// Worker and sub worker of a command that needs them. Err: the message of mod_jk's result.
    pub fn target(&self, view: &StatusView, cmd: Cmd) -> Result<(String, Option<String>), &'static str> {
        let w = self.get("w").filter(|w| !w.is_empty()).ok_or("NULL or EMPTY worker param")?;
        let sw = self.get("sw");
        if sw == Some("") {
            return Err("EMPTY sub worker param");
        }
        if sw.is_some_and(|sw| sw.contains(['*', '?'])) && cmd != Cmd::Update {
            return Err("wildcard not allowed in sub worker for this command");
        }
        if let Some(group) = view.groups.iter().find(|group| group.name == w) {
            if let Some(sw) = sw.filter(|sw| !sw.contains(['*', '?']))
                && !group.members.iter().any(|member| member.ajp.name == sw)
            {
                return Err("could not find sub worker");
            }
            return Ok((w.to_owned(), sw.map(str::to_owned)));
        }
        if !view.workers.iter().any(|worker| worker.ajp.name == w) {
            return Err("Could not find given worker");
        }
        if sw.is_some() { Err("worker types does not have sub workers") } else { Ok((w.to_owned(), None)) }
    }
}

impl Cmd {
    #[must_use]
    pub fn changes_something(self) -> bool {
        matches!(self, Self::Edit | Self::Update | Self::Reset | Self::Recover)
    }
}

/// Parameter, key of workers.toml, and how mod_jk's value is to be read.
type UpdateKey = (&'static str, &'static str, Reading);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Number { min: i64 },
    Millis { min: i64 },
    Seconds { min: i64 },
    Flag,
    Method,
    Lock,
    Activation,
    Text,
    Packet,
}

const GROUP_KEYS: &[UpdateKey] = &[
    ("vlr", "retries", Reading::Number { min: 1 }),
    ("vlri", "retry_interval", Reading::Millis { min: 1 }),
    ("vlt", "recover_time", Reading::Seconds { min: 1 }),
    ("vlee", "error_escalation_time", Reading::Seconds { min: 1 }),
    ("vlx", "max_reply_timeouts", Reading::Number { min: 0 }),
    ("vls", "sticky_session", Reading::Flag),
    ("vlf", "sticky_session_force", Reading::Flag),
    ("vlm", "method", Reading::Method),
    ("vll", "lock", Reading::Lock),
];

const MEMBER_KEYS: &[UpdateKey] = &[
    ("vwa", "activation", Reading::Activation),
    ("vwf", "lbfactor", Reading::Number { min: 1 }),
    ("vwn", "route", Reading::Text),
    ("vwr", "redirect", Reading::Text),
    ("vwc", "domain", Reading::Text),
    ("vwd", "distance", Reading::Number { min: 0 }),
    ("vacpt", "connection_pool_timeout", Reading::Seconds { min: 1 }),
    ("vapng", "ping_timeout", Reading::Millis { min: 1 }),
    ("vact", "connect_timeout", Reading::Millis { min: 1 }),
    ("vapt", "prepost_timeout", Reading::Millis { min: 1 }),
    ("vart", "reply_timeout", Reading::Millis { min: 0 }),
    ("vacpi", "ping_interval", Reading::Seconds { min: 1 }),
    ("varo", "recovery_options", Reading::Number { min: 0 }),
    ("vabl", "busy_limit", Reading::Number { min: 0 }),
    ("vamps", "max_packet_size", Reading::Packet),
];

/// All parameters that change something, for forms: (parameter, key).
pub const UPDATE_KEYS: &[(&str, &str)] = &[
    ("vwa", "activation"),
    ("vwf", "lbfactor"),
    ("vwn", "route"),
    ("vwr", "redirect"),
    ("vwc", "domain"),
    ("vwd", "distance"),
    ("vart", "reply_timeout"),
    ("vabl", "busy_limit"),
];

/// What an update wants changed. A value that mod_jk would ignore silently is left out here, too. Err: mod_jk's message.
pub fn changes(request: &Request, view: &StatusView) -> Result<Vec<Change>, &'static str> {
    let (w, sw) = request.target(view, Cmd::Update)?;
    let Some(group) = view.groups.iter().find(|group| group.name == w) else {
        return Ok(values(request, MEMBER_KEYS, ("ajp13", &w)));
    };
    let mut all = Vec::new();
    if let Some(att) = request.get("att") {
        // One attribute of all members: val0, val1, … in their order.
        let Some((_, key, reading)) = MEMBER_KEYS.iter().find(|(parameter, _, _)| *parameter == att) else {
            return Ok(all);
        };
        for (index, member) in group.members.iter().enumerate() {
            if let Some(value) = request.get(&format!("val{index}")).and_then(|value| reading.read(value)) {
                all.push(Change { section: "ajp13", name: member.ajp.name.clone(), key, value });
            }
        }
        return Ok(all);
    }
    match sw {
        None => {
            all.extend(values(request, GROUP_KEYS, ("lb", &w)));
            // Names of Tomcat's old Ant task.
            for (old, key, reading) in [
                ("lr", "retries", Reading::Number { min: 1 }),
                ("lt", "recover_time", Reading::Seconds { min: 1 }),
                ("ls", "sticky_session", Reading::Flag),
                ("lf", "sticky_session_force", Reading::Flag),
            ] {
                if let Some(value) = request.get(old).and_then(|value| reading.read(value)) {
                    all.push(Change { section: "lb", name: w.clone(), key, value });
                }
            }
        }
        Some(sw) => {
            let matching =
                group.members.iter().filter(|member| wild(sw.as_bytes(), member.ajp.name.as_bytes()));
            for member in matching {
                all.extend(values(request, MEMBER_KEYS, ("ajp13", &member.ajp.name)));
                all.extend(address(request, &member.ajp.name, (&member.ajp.host, member.ajp.port)));
            }
        }
    }
    Ok(all)
}

fn values(request: &Request, keys: &[UpdateKey], (section, name): (&'static str, &str)) -> Vec<Change> {
    let wanted = keys.iter().filter_map(|(parameter, key, reading)| {
        let value = reading.read(request.get(parameter)?)?;
        Some(Change { section, name: name.to_owned(), key, value })
    });
    wanted.collect()
}

/// Host and port are one key here.
fn address(request: &Request, name: &str, (host, port): (&str, u16)) -> Option<Change> {
    let (new_host, new_port) = (request.get("vahst"), request.get("vaprt"));
    if new_host.is_none() && new_port.is_none() {
        return None;
    }
    let host = new_host.filter(|host| !host.is_empty()).unwrap_or(host);
    let port = new_port.map_or(i64::from(port), atoi);
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    Some(Change { section: "ajp13", name: name.to_owned(), key: "address", value: format!("{host}:{port}") })
}

impl Reading {
    /// As an operator would write it; `None`: mod_jk ignores it.
    fn read(self, value: &str) -> Option<String> {
        let number = atoi(value);
        let letter = value.trim().to_ascii_lowercase().chars().next();
        match self {
            Self::Number { min } => (number >= min).then(|| number.to_string()),
            Self::Millis { min } if number >= min => {
                Some(if number == 0 { "never".to_owned() } else { format!("{number}ms") })
            }
            Self::Seconds { min } if number >= min => Some(format!("{number}s")),
            Self::Millis { .. } | Self::Seconds { .. } => None,
            Self::Flag => match letter {
                Some('t' | 'y' | '1') => Some("true".to_owned()),
                Some('f' | 'n' | '0') => Some("false".to_owned()),
                Some('o') => Some(value.trim().eq_ignore_ascii_case("on").to_string()),
                _ => None,
            },
            Self::Method => Some(
                match letter {
                    Some('s' | '3') => "sessions",
                    Some('t' | '1') => "traffic",
                    Some('b' | '2') => "busyness",
                    Some('n' | '4') => "next",
                    Some('p') => "power_of_two",
                    Some('l') => "latency",
                    _ => "requests",
                }
                .to_owned(),
            ),
            Self::Lock => {
                Some(if matches!(letter, Some('p' | '1')) { "pessimistic" } else { "optimistic" }.to_owned())
            }
            Self::Activation => Some(
                match letter {
                    Some('d' | '1') => "disabled",
                    Some('s' | '2') => "stopped",
                    _ => "active",
                }
                .to_owned(),
            ),
            Self::Text => (!value.is_empty() && value.len() <= 63).then(|| value.to_owned()),
            Self::Packet => {
                (8192..=65536).contains(&number).then(|| format!("{}KiB", (number + 1023) / 1024))
            }
        }
    }
}

fn wild(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            wild(rest, text) || text.split_first().is_some_and(|(_, text)| wild(pattern, text))
        }
        (Some((b'?', rest)), Some((_, text))) => wild(rest, text),
        (Some((a, rest)), Some((b, text))) => a == b && wild(rest, text),
        _ => false,
    }
}

/// C's: leading digits, else 0.
fn atoi(text: &str) -> i64 {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end).and_then(|digits| digits.parse::<i64>().ok()).map_or(0, |number| sign * number)
}

/// Percent escapes; a plus stays a plus. `None`: a bad escape.
fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits = text.get(at + 1..at + 3)?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Ajp, Group, Member};

    fn view() -> StatusView {
        let member = |name: &str| Member {
            ajp: Ajp { name: name.to_owned(), host: "a".to_owned(), port: 8009, ..Ajp::default() },
            ..Member::default()
        };
        StatusView {
            groups: vec![Group {
                name: "lb".to_owned(),
                members: vec![member("n1"), member("n2")],
                ..Group::default()
            }],
            ..StatusView::default()
        }
    }

    fn check(query: &str, expected: &str) {
        let shown = match changes(&Request::parse(query), &view()) {
            Ok(changes) => changes
                .iter()
                .map(|c| format!("{}.{}.{}={}", c.section, c.name, c.key, c.value))
                .collect::<Vec<_>>()
                .join(" "),
            Err(message) => message.to_owned(),
        };
        assert_eq!(shown, expected, "{query}");
    }

    #[test]
    fn updates() {
        check("cmd=update&w=lb&sw=n1&vwa=1", "ajp13.n1.activation=disabled");
        check("cmd=update&w=lb&sw=n*&vwa=d", "ajp13.n1.activation=disabled ajp13.n2.activation=disabled");
        check(
            "cmd=update&w=lb&sw=n1&vwa=garbage&vwf=0&vwd=3",
            "ajp13.n1.activation=active ajp13.n1.distance=3",
        );
        check("cmd=update&w=lb&att=vwf&val0=2&val1=3", "ajp13.n1.lbfactor=2 ajp13.n2.lbfactor=3");
        check(
            "cmd=update&w=lb&vlr=3&vlt=90&vlm=b&vls=0",
            "lb.lb.retries=3 lb.lb.recover_time=90s lb.lb.sticky_session=false lb.lb.method=busyness",
        );
        check("cmd=update&w=lb&sw=n1&vahst=b.example.test&vaprt=9", "ajp13.n1.address=b.example.test:9");
        check("cmd=update&w=lb&sw=n1&vamps=8193", "ajp13.n1.max_packet_size=9KiB");
        check("cmd=update&w=nope", "Could not find given worker");
        check("cmd=update&w=lb&sw=n9&vwa=1", "could not find sub worker");
        check("cmd=update", "NULL or EMPTY worker param");
        check("cmd=update&w=lb&sw=", "EMPTY sub worker param");
    }
}
