//! What an update wants changed, as keys of workers.toml (mod_jk: `commit_member`, `commit_worker`, `commit_all_members`).
//!
//! mod_jk drops a number that is out of range without a word and says OK. Here every value that is not the present one goes on as it
//! came, so that it is judged like a line of the file and refused with a reason.

use crate::command::{Cmd, Request, atoi, matches_wildcard};
use crate::view::{Activation, Ajp, Group, Member, StatusView};

/// A wish to change something: a key of workers.toml, and its value as an operator would type it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// `lb` or `ajp13`.
    pub section: &'static str,
    pub name: String,
    pub key: &'static str,
    pub value: String,
}

/// All parameters that change something, for forms: (parameter, key).
pub const UPDATE_KEYS: &[(&str, &str)] = &[
    ("vwa", "activation"),
    ("vwf", "lbfactor"),
    ("vwn", "route"),
    ("vwr", "redirect"),
    ("vwc", "domain"),
    ("vwd", "distance"),
    ("vahst", "address"),
    ("vaprt", "address"),
    ("vacpt", "connection_pool_timeout"),
    ("vapng", "ping_timeout"),
    ("vact", "connect_timeout"),
    ("vapt", "prepost_timeout"),
    ("vart", "reply_timeout"),
    ("vacpi", "ping_interval"),
    ("varo", "recovery_options"),
    ("vabl", "busy_limit"),
    ("vamps", "max_packet_size"),
    ("vlr", "retries"),
    ("vlri", "retry_interval"),
    ("vlt", "recover_time"),
    ("vlee", "error_escalation_time"),
    ("vlx", "max_reply_timeouts"),
    ("vls", "sticky_session"),
    ("vlf", "sticky_session_force"),
    ("vlm", "method"),
    ("vll", "lock"),
];

/// What an update wants changed; a value that is the present one is none. Err: mod_jk's message.
pub fn changes(request: &Request, view: &StatusView) -> Result<Vec<Change>, &'static str> {
    let (w, sw) = request.target(view, Cmd::Update)?;
    let Some(group) = view.groups.iter().find(|group| group.name == w) else {
        let worker = view.workers.iter().find(|worker| worker.ajp.name == w);
        return Ok(worker.map(|worker| of_worker(request, &worker.ajp)).unwrap_or_default());
    };
    if let Some(att) = request.get("att") {
        return Ok(of_all_members(request, group, att));
    }
    let Some(sw) = sw else { return Ok(of_group(request, group)) };
    let members = group.members.iter().filter(|member| matches_wildcard(&sw, &member.ajp.name));
    Ok(members.flat_map(|member| of_member(request, member)).collect())
}

/// How mod_jk's values are to be read.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Number,
    Millis,
    MillisOrNever,
    Seconds,
    SecondsOrNever,
    Flag,
    Method,
    Lock,
    Activation,
    Text,
    Packet,
}

/// Parameter, key of workers.toml, how its value is read, and what it is now, written like a value.
type Known<Of> = (&'static str, &'static str, Reading, fn(&Of) -> String);

const GROUP: &[Known<Group>] = &[
    ("vlr", "retries", Reading::Number, |group| group.retries.to_string()),
    ("vlri", "retry_interval", Reading::Millis, |group| millis(group.retry_interval)),
    ("vlt", "recover_time", Reading::Seconds, |group| seconds(group.recover_time)),
    ("vlee", "error_escalation_time", Reading::Seconds, |group| seconds(group.error_escalation_time)),
    ("vlx", "max_reply_timeouts", Reading::Number, |group| group.max_reply_timeouts.to_string()),
    ("vls", "sticky_session", Reading::Flag, |group| group.sticky.to_string()),
    ("vlf", "sticky_session_force", Reading::Flag, |group| group.sticky_force.to_string()),
    ("vlm", "method", Reading::Method, |group| method_key(&group.method).to_owned()),
    ("vll", "lock", Reading::Lock, |group| group.lock.to_ascii_lowercase()),
    // As Tomcat's old Ant task calls them.
    ("lr", "retries", Reading::Number, |group| group.retries.to_string()),
    ("lt", "recover_time", Reading::Seconds, |group| seconds(group.recover_time)),
    ("ls", "sticky_session", Reading::Flag, |group| group.sticky.to_string()),
    ("lf", "sticky_session_force", Reading::Flag, |group| group.sticky_force.to_string()),
];

const MEMBER: &[Known<Member>] = &[
    ("vwa", "activation", Reading::Activation, |member| member.activation.word().to_owned()),
    ("vwf", "lbfactor", Reading::Number, |member| member.lbfactor.to_string()),
    ("vwn", "route", Reading::Text, |member| member.route.clone()),
    ("vwr", "redirect", Reading::Text, |member| member.redirect.clone()),
    ("vwc", "domain", Reading::Text, |member| member.domain.clone()),
    ("vwd", "distance", Reading::Number, |member| member.distance.to_string()),
    ("wf", "lbfactor", Reading::Number, |member| member.lbfactor.to_string()),
    ("wr", "redirect", Reading::Text, |member| member.redirect.clone()),
    ("wc", "domain", Reading::Text, |member| member.domain.clone()),
];

const WORKER: &[Known<Ajp>] = &[
    ("vacpt", "connection_pool_timeout", Reading::SecondsOrNever, |ajp| or_never(ajp.pool_timeout, "s")),
    ("vapng", "ping_timeout", Reading::Millis, |ajp| millis(ajp.ping_timeout)),
    ("vact", "connect_timeout", Reading::Millis, |ajp| millis(ajp.connect_timeout)),
    ("vapt", "prepost_timeout", Reading::Millis, |ajp| millis(ajp.prepost_timeout)),
    ("vart", "reply_timeout", Reading::MillisOrNever, |ajp| or_never(ajp.reply_timeout, "ms")),
    ("vacpi", "ping_interval", Reading::Seconds, |ajp| seconds(ajp.ping_interval)),
    ("varo", "recovery_options", Reading::Number, |ajp| ajp.recovery_options.to_string()),
    ("vabl", "busy_limit", Reading::Number, |ajp| ajp.busy_limit.to_string()),
    ("vamps", "max_packet_size", Reading::Packet, |ajp| packet(ajp.max_packet_size)),
];

fn of_group(request: &Request, group: &Group) -> Vec<Change> {
    read(request, GROUP, group, ("lb", &group.name))
}

fn of_member(request: &Request, member: &Member) -> Vec<Change> {
    let mut all = read(request, MEMBER, member, ("ajp13", &member.ajp.name));
    all.extend(old_activation(request, member));
    all.extend(of_worker(request, &member.ajp));
    all
}

fn of_worker(request: &Request, ajp: &Ajp) -> Vec<Change> {
    let mut all = read(request, WORKER, ajp, ("ajp13", &ajp.name));
    all.extend(address(request, ajp));
    all
}

/// One attribute of every member: `val0`, `val1`, … in their order. Host and port cannot be set this way, as in mod_jk.
fn of_all_members(request: &Request, group: &Group, att: &str) -> Vec<Change> {
    let mut all = Vec::new();
    for (index, member) in group.members.iter().enumerate() {
        let Some(value) = request.get(&format!("val{index}")) else { continue };
        all.extend(one(value, att, MEMBER, member, &member.ajp.name));
        all.extend(one(value, att, WORKER, &member.ajp, &member.ajp.name));
    }
    all
}

fn one<Of>(value: &str, att: &str, known: &[Known<Of>], of: &Of, name: &str) -> Option<Change> {
    let (_, key, reading, now) = known.iter().find(|(parameter, ..)| *parameter == att)?;
    let value = reading.read(value, &now(of))?;
    Some(Change { section: "ajp13", name: name.to_owned(), key, value })
}

fn read<Of>(
    request: &Request,
    known: &[Known<Of>],
    of: &Of,
    (section, name): (&'static str, &str),
) -> Vec<Change> {
    let wanted = known.iter().filter_map(|(parameter, key, reading, now)| {
        let value = reading.read(request.get(parameter)?, &now(of))?;
        Some(Change { section, name: name.to_owned(), key, value })
    });
    wanted.collect()
}

/// Host and port are one key here.
fn address(request: &Request, ajp: &Ajp) -> Option<Change> {
    let (new_host, new_port) = (request.get("vahst"), request.get("vaprt"));
    if new_host.is_none() && new_port.is_none() {
        return None;
    }
    let host = new_host.map(str::trim).filter(|host| !host.is_empty()).unwrap_or(&ajp.host);
    let port = new_port.map(str::trim).filter(|port| !port.is_empty());
    if host == ajp.host && port.is_none_or(|port| port == ajp.port.to_string()) {
        return None;
    }
    let is_bare_ipv6 = host.contains(':') && !host.starts_with(['[', 'u']);
    let bracketed = if is_bare_ipv6 { format!("[{host}]") } else { host.to_owned() };
    let value = match port {
        Some(port) => format!("{bracketed}:{port}"),
        None => format!("{bracketed}:{}", ajp.port),
    };
    Some(Change { section: "ajp13", name: ajp.name.clone(), key: "address", value })
}

/// The Ant task knows two flags, disabled and stopped, where there is one activation.
fn old_activation(request: &Request, member: &Member) -> Option<Change> {
    let flag = |name| request.get(name).and_then(truth);
    let (disabled, stopped) = (flag("wd"), flag("ws"));
    let wanted = match (disabled, stopped) {
        (None, None) => return None,
        (_, Some(true)) => Activation::Stopped,
        (Some(true), _) => Activation::Disabled,
        (Some(false), None) if member.activation == Activation::Stopped => Activation::Stopped,
        (None, Some(false)) if member.activation == Activation::Disabled => Activation::Disabled,
        _ => Activation::Active,
    };
    (wanted != member.activation).then(|| Change {
        section: "ajp13",
        name: member.ajp.name.clone(),
        key: "activation",
        value: wanted.word().to_owned(),
    })
}

impl Reading {
    /// As an operator would write it. `None`: nothing to change.
    fn read(self, value: &str, now: &str) -> Option<String> {
        let trimmed = value.trim();
        let letter = value.chars().next().map(|c| c.to_ascii_lowercase());
        let wanted = match self {
            Self::Number => number(trimmed)?,
            Self::Millis => with_unit(trimmed, "ms")?,
            Self::Seconds => with_unit(trimmed, "s")?,
            // Zero is no limit, in mod_jk as here.
            Self::MillisOrNever | Self::SecondsOrNever if number(trimmed)? == "0" => "never".to_owned(),
            Self::MillisOrNever => with_unit(trimmed, "ms")?,
            Self::SecondsOrNever => with_unit(trimmed, "s")?,
            Self::Flag => truth(trimmed)?.to_string(),
            Self::Method => method(trimmed).to_owned(),
            Self::Lock => {
                if matches!(letter, Some('p' | '1')) { "pessimistic" } else { "optimistic" }.to_owned()
            }
            // Garbage is active: mod_jk's way, and the safe one for a script that means to bring a member back.
            Self::Activation => match letter {
                Some('d' | '1') => Activation::Disabled.word().to_owned(),
                Some('s' | '2') => Activation::Stopped.word().to_owned(),
                _ => Activation::Active.word().to_owned(),
            },
            Self::Text => value.to_owned(),
            Self::Packet if trimmed.is_empty() => return None,
            Self::Packet if trimmed.bytes().all(|byte| byte.is_ascii_digit()) => {
                packet(u64::try_from(atoi(trimmed)).unwrap_or(0))
            }
            Self::Packet => trimmed.to_owned(),
        };
        (wanted != now).then_some(wanted)
    }
}

/// A whole number as it is; anything else goes on to be refused. Nothing: nothing to change.
fn number(text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    Some(text.parse::<i64>().map_or_else(|_| text.to_owned(), |number| number.to_string()))
}

/// A bare number is mod_jk's and has its unit; ours are written with one.
fn with_unit(text: &str, unit: &str) -> Option<String> {
    let number = number(text)?;
    Some(if number.parse::<i64>().is_ok() { format!("{number}{unit}") } else { number })
}

fn millis(value: u64) -> String {
    format!("{value}ms")
}

fn seconds(value: u64) -> String {
    format!("{value}s")
}

fn or_never(value: u64, unit: &str) -> String {
    if value == 0 { "never".to_owned() } else { format!("{value}{unit}") }
}

/// mod_jk rounds up to whole KiB.
fn packet(bytes: u64) -> String {
    format!("{}KiB", bytes.div_ceil(1024))
}

/// mod_jk's booleans (`jk_get_bool_code`); `None`: it keeps what it has.
fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "on" => Some(true),
        "off" => Some(false),
        other => match other.chars().next()? {
            't' | 'y' | '1' => Some(true),
            'f' | 'n' | '0' => Some(false),
            _ => None,
        },
    }
}

/// A digit or a first letter, as in mod_jk; whole words for what it does not have.
fn method(text: &str) -> &'static str {
    let text = text.to_ascii_lowercase();
    if text.starts_with("power") || text.starts_with("least") {
        return if text.starts_with("power") { "power_of_two" } else { "latency" };
    }
    match text.chars().next() {
        Some('t' | '1') => "traffic",
        Some('b' | '2') => "busyness",
        Some('s' | '3') => "sessions",
        Some('n' | '4') => "next",
        Some('l') => "latency",
        _ => "requests",
    }
}

/// The key's value for mod_jk's word.
pub(crate) fn method_key(word: &str) -> &'static str {
    match word {
        "PowerOfTwo" => "power_of_two",
        word => method(word),
    }
}

#[cfg(test)]
mod tests;
