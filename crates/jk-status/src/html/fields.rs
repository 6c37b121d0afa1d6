//! Settings as form fields, under mod_jk's parameters.

use crate::change::method_key;
use crate::view::{Ajp, Group, Member};

pub(super) struct Set {
    pub(super) title: &'static str,
    pub(super) fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) parameter: &'static str,
    pub(super) label: &'static str,
    /// Of workers.toml.
    pub(super) key: &'static str,
    pub(super) help: &'static str,
    pub(super) value: String,
    pub(super) is_number: bool,
    pub(super) choices: &'static [&'static str],
    /// mod_jk can set it for all members at once.
    pub(super) can_bulk: bool,
}

/// Parameter, label, key, help.
type Words = (&'static str, &'static str, &'static str, &'static str);

fn text((parameter, label, key, help): Words, value: &str) -> Field {
    let value = value.to_owned();
    Field { parameter, label, key, help, value, is_number: false, choices: &[], can_bulk: true }
}

fn number(words: Words, value: u64) -> Field {
    Field { is_number: true, ..text(words, &value.to_string()) }
}

fn choice(words: Words, value: &str, choices: &'static [&'static str]) -> Field {
    Field { choices, ..text(words, value) }
}

const YES_NO: &[&str] = &["true", "false"];
const ACTIVATIONS: &[&str] = &["active", "disabled", "stopped"];
const METHODS: &[&str] = &["requests", "sessions", "traffic", "busyness", "next", "power_of_two", "latency"];

pub(super) fn of_group(group: &Group) -> Vec<Set> {
    let yes = |flag: bool| if flag { "true" } else { "false" };
    let fields = vec![
        choice(("vlm", "Method", "method", ": how a member is chosen"), method_key(&group.method), METHODS),
        choice(("vls", "Sticky sessions", "sticky_session", ""), yes(group.sticky), YES_NO),
        choice(
            ("vlf", "Sticky by force", "sticky_session_force", ": 503 rather than another member"),
            yes(group.sticky_force),
            YES_NO,
        ),
        number(("vlr", "Retries", "retries", ": 1 sends to one member only"), u64::from(group.retries)),
        number(("vlt", "Recover time", "recover_time", ", s"), group.recover_time),
        number(
            ("vlee", "Error escalation time", "error_escalation_time", ", s"),
            group.error_escalation_time,
        ),
        number(
            ("vlx", "Reply timeouts allowed", "max_reply_timeouts", ": more put a member in error"),
            u64::from(group.max_reply_timeouts),
        ),
    ];
    vec![Set { title: "Balancing", fields }]
}

pub(super) fn of_member(member: &Member) -> Vec<Set> {
    let fields = vec![
        choice(
            ("vwa", "Activation", "activation", ": what you want it to be"),
            member.activation.word(),
            ACTIVATIONS,
        ),
        number(
            ("vwf", "Weight", "lbfactor", ": twice the number, twice the requests"),
            u64::from(member.lbfactor),
        ),
        number(
            ("vwd", "Distance", "distance", ": only when no nearer member is usable"),
            u64::from(member.distance),
        ),
        text(("vwn", "Route", "route", ": Tomcat’s jvmRoute"), &member.route),
        text(("vwr", "Redirect", "redirect", ": route of the preferred stand-in"), &member.redirect),
        text(("vwc", "Domain", "domain", ": members that share sessions"), &member.domain),
    ];
    let mut sets = vec![Set { title: "Balancing", fields }];
    sets.extend(of_worker(&member.ajp));
    sets
}

pub(super) fn of_worker(ajp: &Ajp) -> Vec<Set> {
    let once = |field: Field| Field { can_bulk: false, ..field };
    let fields = vec![
        once(text(("vahst", "Host", "address", ""), &ajp.host)),
        once(number(("vaprt", "Port", "address", ""), u64::from(ajp.port))),
        number(
            ("vabl", "Busy limit", "busy_limit", ": requests at one time, 0 for no limit"),
            u64::from(ajp.busy_limit),
        ),
        number(("vart", "Reply timeout", "reply_timeout", ", ms; 0 waits for ever"), ajp.reply_timeout),
        number(
            ("vact", "CPing after connect", "connect_timeout", ", ms to wait for the answer"),
            ajp.connect_timeout,
        ),
        number(
            ("vapt", "CPing before a request", "prepost_timeout", ", ms to wait for the answer"),
            ajp.prepost_timeout,
        ),
        number(
            ("vacpt", "Idle channels close after", "connection_pool_timeout", ", s; 0 for never"),
            ajp.pool_timeout,
        ),
        number(
            ("vamps", "Packet size", "max_packet_size", ", bytes; must equal Tomcat’s packetSize"),
            ajp.max_packet_size,
        ),
        number(
            ("varo", "Recovery options", "recovery_options", ": mod_jk’s bits"),
            u64::from(ajp.recovery_options),
        ),
    ];
    vec![Set { title: "Channels", fields }]
}
