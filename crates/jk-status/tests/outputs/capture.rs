//! Reads a capture of mod_jk's XML back into a view, so that the same state can be written by both.

use std::collections::BTreeMap;

use jk_status::{Activation, Ajp, Group, Mapping, Member, Options, Plain, StatusView};

/// The captured answers by query, as one file holds them.
pub(crate) fn answers(file: &str) -> BTreeMap<String, String> {
    let mut answers = BTreeMap::new();
    for part in file.split("### ").skip(1) {
        let (query, answer) = part.split_once('\n').unwrap();
        answers.insert(query.to_owned(), answer.to_owned());
    }
    answers
}

type Attributes = BTreeMap<String, String>;

/// Elements with their attributes, in order; the capture has one attribute a line and no escapes.
fn elements(xml: &str) -> Vec<(String, Attributes)> {
    let mut all: Vec<(String, Attributes)> = Vec::new();
    for line in xml.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("<jk:") {
            all.push((name.to_owned(), Attributes::new()));
        } else if let (Some((name, value)), Some(last)) = (line.split_once("=\""), all.last_mut()) {
            last.1.insert(name.to_owned(), value.trim_end_matches('"').to_owned());
        }
    }
    all
}

pub(crate) fn view(xml: &str) -> StatusView {
    let mut view = StatusView {
        software: SOFTWARE.to_owned(),
        options: Options {
            prefix: "worker".to_owned(),
            ns: "jk:".to_owned(),
            xmlns: "xmlns:jk=\"http://tomcat.apache.org\"".to_owned(),
            ..Options::default()
        },
        ..StatusView::default()
    };
    let mut is_group = true;
    for (name, attributes) in elements(xml) {
        let at = Reader(&attributes);
        match name.as_str() {
            "server" => (view.server, view.port) = (at.text("name"), at.number("port")),
            "time" => {
                (view.datetime, view.tz, view.now) = (at.text("datetime"), at.text("tz"), at.number("unix"));
            }
            "balancer" => {
                is_group = true;
                view.groups.push(group(&at));
            }
            "member" => view.groups.last_mut().unwrap().members.push(member(&at)),
            "ajp" => {
                is_group = false;
                view.workers.push(Plain { ajp: ajp(&at, "used"), state: "OK", mappings: Vec::new() });
            }
            "map" if is_group => view.groups.last_mut().unwrap().mappings.push(mapping(&at)),
            "map" => view.workers.last_mut().unwrap().mappings.push(mapping(&at)),
            _ => {}
        }
    }
    view
}

pub(crate) const SOFTWARE: &str = "jkgate/0.0.0";

struct Reader<'a>(&'a Attributes);

impl Reader<'_> {
    fn text(&self, name: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| panic!("{name} in {:?}", self.0))
    }

    fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(&self, name: &str) -> T {
        self.text(name).parse().unwrap()
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.text(name) == value
    }
}

fn group(at: &Reader<'_>) -> Group {
    let min: u64 = at.number("time_to_maintenance_min");
    Group {
        name: at.text("name"),
        sticky: at.is("sticky_session", "True"),
        sticky_force: at.is("sticky_session_force", "True"),
        retries: at.number("retries"),
        retry_interval: 100,
        recover_time: at.number("recover_time"),
        error_escalation_time: at.number("error_escalation_time"),
        max_reply_timeouts: at.number("max_reply_timeouts"),
        method: at.text("method"),
        lock: at.text("lock"),
        to_maintenance: min,
        maintain: at.number::<u64>("time_to_maintenance_max") - min,
        reset_at: at.number("last_reset_at"),
        ..Group::default()
    }
}

fn member(at: &Reader<'_>) -> Member {
    Member {
        ajp: ajp(at, "elected"),
        activation: match at.text("activation").as_str() {
            "ACT" => Activation::Active,
            "DIS" => Activation::Disabled,
            "STP" => Activation::Stopped,
            other => panic!("{other}"),
        },
        state: match at.text("state").as_str() {
            "OK" => "OK",
            "OK/IDLE" => "OK/IDLE",
            "ERR" => "ERR",
            other => panic!("{other}"),
        },
        lbfactor: at.number("lbfactor"),
        route: at.text("route"),
        redirect: at.text("redirect"),
        domain: at.text("domain"),
        distance: at.number("distance"),
        mult: at.number("lbmult"),
        value: at.number("lbvalue"),
        sessions: at.number("sessions"),
        recover_min: at.number("time_to_recover_min"),
        recover_max: at.number("time_to_recover_max"),
        ..Member::default()
    }
}

fn ajp(at: &Reader<'_>, elected: &str) -> Ajp {
    Ajp {
        name: at.text("name"),
        host: at.text("host"),
        port: at.number("port"),
        address: at.text("address"),
        pool_timeout: at.number("connection_pool_timeout"),
        ping_timeout: at.number("ping_timeout"),
        connect_timeout: at.number("connect_timeout"),
        prepost_timeout: at.number("prepost_timeout"),
        reply_timeout: at.number("reply_timeout"),
        ping_interval: at.number("connection_ping_interval"),
        retries: at.number("retries"),
        recovery_options: at.number("recovery_options"),
        busy_limit: at.number("busy_limit"),
        max_packet_size: at.number("max_packet_size"),
        elected: at.number(elected),
        errors: at.number("errors"),
        client_errors: at.number("client_errors"),
        reply_timeouts: at.number("reply_timeouts"),
        transferred: at.number("transferred"),
        read: at.number("read"),
        busy: at.number("busy"),
        max_busy: at.number("max_busy"),
        connected: at.number("connected"),
        max_connected: at.number("max_connected"),
        reset_at: at.number("last_reset_at"),
        error_at: at.0.get("error_time_unix_seconds").map(|at| at.parse().unwrap()),
        ..Ajp::default()
    }
}

fn mapping(at: &Reader<'_>) -> Mapping {
    let kind = at.text("type");
    Mapping {
        server: at.text("server"),
        uri: at.text("uri"),
        excludes: kind.contains("Unmount"),
        enabled: !kind.contains("Disabled"),
        source: at.text("source"),
        target: String::new(),
        reply_timeout: at.number("reply_timeout"),
        sticky_ignore: at.is("sticky_ignore", "1"),
        stateless: at.is("stateless", "1"),
        fail_on_status: at.text("fail_on_status"),
        active: at.text("active"),
        disabled: at.text("disabled"),
        stopped: at.text("stopped"),
        use_server_errors: at.number("use_server_errors"),
    }
}
