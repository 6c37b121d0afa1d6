//! Every key of workers.toml, once. The reader's list of known words, the documentation, the JSON Schema, the status form and the
//! importer are all made from this table.

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// `ajp13`, `lb`, `listener`, `uri` (a mapping's table) …
    pub section: &'static str,
    pub name: &'static str,
    pub kind: Kind,
    /// As it would be written; empty: none, the key may be left out.
    pub default: &'static str,
    pub doc: &'static str,
    pub reload: Reload,
    /// The status interface's parameter (`vwf`), if an operator may change it there.
    pub status: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Texts,
    Flag,
    Duration,
    /// A duration or `"never"`.
    DurationOrNever,
    Size,
    Number {
        min: u64,
        max: u64,
    },
    /// A list of numbers or of number ranges as text.
    Statuses,
    Address,
    Networks,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
    /// A table of its own; its keys stand under this section.
    Table(&'static str),
}

/// When a changed value takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    NextRequest,
    NewChannel,
    NewListener,
    Restart,
}

const fn key(
    section: &'static str,
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> Key {
    Key { section, name, kind, default, doc, reload: Reload::NextRequest, status: None }
}

impl Key {
    const fn at(mut self, reload: Reload) -> Self {
        self.reload = reload;
        self
    }

    const fn status(mut self, parameter: &'static str) -> Self {
        self.status = Some(parameter);
        self
    }
}

/// Keys of a section.
pub fn keys_of(section: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section == section)
}

const fn number(min: u64, max: u64) -> Kind {
    Kind::Number { min, max }
}

use Kind::{
    Address, Choice, Choices, Duration, DurationOrNever, Flag, Networks, Size, Statuses, Table, Text, Texts,
};
use Reload::{NewChannel, NewListener, Restart};

pub const ACTIVATIONS: &[&str] = &["active", "disabled", "stopped"];
pub const METHODS: &[&str] =
    &["requests", "sessions", "traffic", "busyness", "next", "power_of_two", "latency"];
pub(crate) const PING_MODES: &[&str] = &["connect", "prepost", "interval"];
pub(crate) const FORWARD_URIS: &[&str] = &["proxy", "unparsed", "escaped"];

/// The table.
pub const KEYS: &[Key] = &[
    key("", "include", Texts, "", "Further files, as paths or patterns relative to this file; each may hold every section."),
    // listener
    key("listener", "address", Address, "", "Where clients connect: \"0.0.0.0:8080\", \"[::]:8080\", \"127.0.0.1:8080\" or \"unix:/run/jkgate/http.sock\".").at(NewListener),
    key("listener", "backlog", number(1, 65535), "511", "Connections that may wait to be accepted.").at(NewListener),
    key("listener", "header_timeout", Duration, "10s", "From the first byte of a request to the end of its head; then 408.").at(NewListener),
    key("listener", "idle_timeout", Duration, "60s", "How long a client may be silent between requests, or while it is its turn to send or take a body.").at(NewListener),
    key("listener", "max_header_size", Size, "64KiB", "Largest request head, 1KiB to 1MiB; a larger one is answered with 431.").at(NewListener),
    key("listener", "max_headers", number(1, 10_000), "100", "Most header fields of a request (httpd: LimitRequestFields); more are answered with 431. Tomcat takes 100, too, unless its connector's maxHeaderCount says otherwise.").at(NewListener),
    key("listener", "max_connections", number(1, 10_000_000), "10000", "Connections at one time; more wait in the backlog."),
    key("listener", "scheme", Choice(&["http", "https"]), "", "What Tomcat is told the scheme is, whatever the connection says; for a TLS terminator that sends no headers.").at(NewListener),
    key("listener", "trusted_proxies", Networks, "[]", "Peers whose X-Forwarded-For, -Proto, -Host, -Port and Forwarded headers say who the client is.").at(NewListener),
    // ajp13
    key("ajp13", "address", Address, "", "The AJP connector: \"127.0.0.1:8009\", \"[::1]:8009\", \"tomcat.example.test:8009\" or \"unix:/run/tomcat/ajp.sock\". The port may be left out: 8009.").at(NewChannel).status("vahst"),
    key("ajp13", "group", Texts, "", "The group, or a list of groups, that this worker is a member of."),
    key("ajp13", "route", Text, "the worker's name", "Tomcat's jvmRoute.").status("vwn"),
    key("ajp13", "lbfactor", number(1, 1_000_000), "1", "Weight: twice the number gets twice the requests.").status("vwf"),
    key("ajp13", "distance", number(0, 1_000_000), "0", "Preference: a member is chosen only when no nearer one is usable.").status("vwd"),
    key("ajp13", "domain", Text, "the part of the route before its first dot, if it has one", "Session replication group: where a session goes when its own member is away.").status("vwc"),
    key("ajp13", "redirect", Text, "", "Route of the preferred stand-in for this member's sessions.").status("vwr"),
    key("ajp13", "activation", Choice(ACTIVATIONS), "\"active\"", "active: all requests; disabled: only requests of its own sessions; stopped: none.").status("vwa"),
    key("ajp13", "secret", Text, "", "The connector's `secret`. Never shown again.").at(NewChannel),
    key("ajp13", "secret_file", Text, "", "A file that holds the secret; better than writing it here. Read at each reload.").at(NewChannel),
    key("ajp13", "secret_env", Text, "", "The environment variable that holds the secret. It counts as it was when jkgate began.").at(NewChannel),
    key("ajp13", "connection_pool_size", number(1, 65535), "150", "Channels at one time, which is also the requests at one time.").at(Reload::NextRequest),
    key("ajp13", "connection_pool_minsize", number(0, 65535), "0", "Idle channels that connection_pool_timeout leaves open."),
    key("ajp13", "connection_pool_timeout", DurationOrNever, "60s", "An idle channel is closed after this. Keep it below Tomcat's keepAliveTimeout.").status("vacpt"),
    key("ajp13", "acquire_timeout", Duration, "5s", "Longest wait for a free channel when the pool is full."),
    key("ajp13", "acquire_queue", number(0, 1_000_000), "1000", "Requests that may wait for a free channel at one time."),
    key("ajp13", "socket_connect_timeout", Duration, "2s", "TCP connect, name look-up included."),
    key("ajp13", "ping_mode", Choices(PING_MODES), "[\"connect\", \"prepost\"]", "When a CPing asks whether the worker is there: after a connect, before a request on a channel that was idle, and at intervals."),
    key("ajp13", "ping_timeout", Duration, "1s", "Wait for the answer to a CPing.").status("vapng"),
    key("ajp13", "connect_timeout", Duration, "", "mod_jk's: wait for the CPong after a connect, in place of ping_timeout.").status("vact"),
    key("ajp13", "prepost_timeout", Duration, "", "mod_jk's: wait for the CPong before a request, in place of ping_timeout.").status("vapt"),
    key("ajp13", "prepost_idle", Duration, "1s", "A channel that was used less than this ago is not pinged before a request; \"0s\" pings always, as mod_jk does."),
    key("ajp13", "ping_interval", Duration, "100s", "How often idle channels are pinged when ping_mode has \"interval\" (mod_jk: connection_ping_interval).").status("vacpi"),
    key("ajp13", "socket_keepalive", Flag, "true", "TCP keep-alive, so that firewalls do not forget idle channels.").at(NewChannel),
    key("ajp13", "reply_timeout", DurationOrNever, "5m", "Longest silence of the worker while a reply is due; then 504.").status("vart"),
    key("ajp13", "send_timeout", Duration, "30s", "Longest time a write to the worker may make no progress."),
    key("ajp13", "max_packet_size", Size, "8KiB", "Size of an AJP packet, 8KiB to 64KiB; must equal Tomcat's packetSize.").at(NewChannel).status("vamps"),
    key("ajp13", "method_by_name", Flag, "false", "Sends every method by name; for the Tomcat releases that take DELETE for OPTIONS (9.0.110, 10.1.47, 11.0.12)."),
    key("ajp13", "busy_limit", number(0, 1_000_000), "0", "Requests at one time, over all groups; 0: no limit.").status("vabl"),
    key("ajp13", "fail_on_status", Statuses, "[]", "Response statuses that count as failure of the worker; a negative one fails over without putting it in error."),
    key("ajp13", "recovery_options", number(0, 31), "0", "mod_jk's bits: 1 no retry after the request was sent, 2 not after the reply's head, 8 but HEAD, 16 but GET.").status("varo"),
    key("ajp13", "health_check", Table("health_check"), "", "Looks after the worker without traffic."),
    key("health_check", "kind", Choice(&["cping", "request"]), "\"cping\"", "A CPing, or a GET of `path`."),
    key("health_check", "path", Text, "\"/\"", "What a request asks for."),
    key("health_check", "status", Statuses, "[200]", "Statuses that are good."),
    key("health_check", "interval", Duration, "5s", "Between two checks, spread by up to a tenth."),
    key("health_check", "timeout", Duration, "2s", "Wait for the answer."),
    key("health_check", "rise", number(1, 100), "2", "Good checks in a row before a member in error is tried again."),
    key("health_check", "fall", number(1, 100), "3", "Bad checks in a row before a member is taken out."),
    // lb
    key("lb", "method", Choice(METHODS), "\"requests\"", "How a member is chosen: see docs/balancing.md.").status("vlm"),
    key("lb", "sticky_session", Flag, "true", "Requests of a session go to the member that its id names.").status("vls"),
    key("lb", "sticky_session_force", Flag, "false", "A session whose member is away gets 503 rather than another member.").status("vlf"),
    key("lb", "session_cookie", Text, "\"JSESSIONID\"", "Cookie that holds the session id."),
    key("lb", "session_path", Text, "\"jsessionid\"", "Path parameter that holds the session id."),
    key("lb", "set_session_cookie", Flag, "false", "The gateway sets a routing cookie of its own."),
    key("lb", "session_cookie_path", Text, "\"/\"", "Path of that cookie."),
    key("lb", "retries", number(1, 100), "2", "1: a request is sent to one member only; more: every usable member may be tried once, if the request allows it.").status("vlr"),
    key("lb", "retry_interval", Duration, "100ms", "Kept for the status interface; there is no pause between members.").status("vlri"),
    key("lb", "recover_time", Duration, "60s", "A member in error is tried again after this.").status("vlt"),
    key("lb", "error_escalation_time", Duration, "half of recover_time", "Exchanges that go on breaking off for this long, with no success between them, put a member in error although it answers CPings.").status("vlee"),
    key("lb", "max_reply_timeouts", number(0, 1_000_000), "", "More reply timeouts than this (halved at each maintenance) put a member in error. Without it they never do.").status("vlx"),
    key("lb", "maintain", Duration, "60s", "Interval of decay and of the idle mark (mod_jk: worker.maintain)."),
    key("lb", "slow_start", Duration, "", "A member that returns comes back to its full share over this time."),
    key("lb", "retry_budget", number(0, 100), "20", "Retries allowed for a hundred requests; ten in ten seconds are always allowed."),
    key("lb", "outlier_failures", number(0, 1000), "10", "Exchanges that broke off, were no AJP13 or timed out, in a row, that put a member in error although it answers CPings; 0: none do."),
    key("lb", "queue", number(0, 1_000_000), "1000", "Requests that may wait when every usable member is full."),
    key("lb", "queue_timeout", Duration, "5s", "How long they wait; then 503."),
    key("lb", "unavailable", Table("unavailable"), "", "What is answered when no member is usable."),
    key("lb", "forward_uri", Choice(FORWARD_URIS), "\"proxy\"", "Form of the URI that Tomcat gets."),
    key("lb", "lock", Choice(&["optimistic", "pessimistic"]), "\"optimistic\"", "Kept for the status interface; without effect.").status("vll"),
    key("lb", "secret", Text, "", "Secret of members that have none of their own.").at(NewChannel),
    key("lb", "secret_file", Text, "", "A file that holds it.").at(NewChannel),
    key("lb", "secret_env", Text, "", "The environment variable that holds it.").at(NewChannel),
    key("unavailable", "status", number(400, 599), "503", "Its status."),
    key("unavailable", "retry_after", Duration, "", "Its Retry-After."),
    key("unavailable", "page", Text, "", "A file with its body, HTML."),
    // mappings
    key("uri", "group", Text, "", "Target: a group, a worker, \"status\" or \"metrics\"."),
    key("uri", "enabled", Flag, "true", "false: the rule is there and does nothing (mod_jk: a leading `-`)."),
    key("uri", "reply_timeout", DurationOrNever, "", "In place of the worker's."),
    key("uri", "sticky_ignore", Flag, "false", "Session ids are not looked at."),
    key("uri", "stateless", Flag, "false", "Does not count as a new session."),
    key("uri", "active", Texts, "", "Members that are active for this rule, whatever else they are."),
    key("uri", "disabled", Texts, "", "Members that are disabled for this rule."),
    key("uri", "stopped", Texts, "", "Members that are stopped for this rule."),
    key("uri", "fail_on_status", Statuses, "", "In place of the worker's list."),
    key("uri", "use_server_errors", number(400, 999), "", "Replies from this status on are replaced by the gateway's own page."),
    key("uri", "session_cookie", Text, "", "In place of the group's."),
    key("uri", "session_path", Text, "", "In place of the group's."),
    key("uri", "set_session_cookie", Flag, "false", "Sets the group's routing cookie for this rule."),
    key("uri", "retry", Flag, "true", "false: the request is sent to one member only."),
    key("uri", "forward_uri", Choice(FORWARD_URIS), "", "In place of the group's."),
    key("uri", "encoded_slash", Choice(&["reject", "forward"]), "\"reject\"", "What becomes of %2F and %5C in a path: 400, or forwarded as they are (Tomcat must allow them)."),
    key("uri", "unavailable", Table("unavailable"), "", "In place of the group's."),
    // host
    key("host", "aliases", Texts, "[]", "Further names, each with a port or without; \"*:8443\" is any name on that port."),
    key("host", "inherit", Flag, "true", "The global mappings serve what this host's own do not know."),
    key("host", "uri", Table("uri"), "", "The host's own mappings."),
    // status
    key("status", "readable_from", Networks, "[\"127.0.0.0/8\", \"::1/128\"]", "Networks that may read the status page."),
    key("status", "writable_from", Networks, "[\"127.0.0.0/8\", \"::1/128\"]", "Networks that may change things there, by POST from the page itself or with a token."),
    key("status", "get_updates_from", Networks, "[]", "Networks whose scripts may still GET ?cmd=update, reset and recover."),
    key("status", "read_only", Flag, "false", "No changes at all."),
    key("status", "user", Texts, "[]", "Users of users_file that may read; empty: all of them."),
    key("status", "user_case_insensitive", Flag, "false", "User names without regard to case."),
    key("status", "users_file", Text, "", "Basic authentication: a file of name:password lines, best with bcrypt hashes as htpasswd -B writes them; read at each reload."),
    key("status", "css", Text, "", "Address of a style sheet of your own."),
    key("status", "prefix", Text, "\"worker\"", "Of property output."),
    key("status", "ns", Text, "\"jk:\"", "Of XML elements; \"-\": none."),
    key("status", "xmlns", Text, "'xmlns:jk=\"http://tomcat.apache.org\"'", "Attribute of the XML root; \"-\": none."),
    key("status", "doctype", Text, "", "Line after the XML declaration."),
    key("status", "good", Text, "", "mod_jk's list of ratings that count as good."),
    key("status", "bad", Text, "", "mod_jk's list of ratings that count as bad."),
    // admin
    key("admin", "address", Address, "\"unix:/run/jkgate/admin.sock\"", "Where reload, status, set and explain talk to the running gateway, with /healthz and /readyz; a unix socket or a loopback port. \"off\": nowhere.").at(Restart),
    // logs
    key("access_log", "target", Text, "\"stdout\"", "\"stdout\", \"off\" or a file."),
    key("access_log", "format", Choice(&["common", "combined", "json"]), "\"combined\"", "Form of a line."),
    key("access_log", "queue", number(1, 1_000_000), "8192", "Lines that may wait for the disk; more are dropped and counted."),
    key("log", "filter", Text, "\"info\"", "error, warn, info, debug or trace; also by module, as in \"info,jkgate::proxy=debug\".").at(Restart),
    key("log", "format", Choice(&["text", "json"]), "\"text\"", "Form of the log on standard error.").at(Restart),
    // process
    key("process", "threads", number(1, 1024), "one a core", "Threads that serve requests.").at(Restart),
    key("process", "cpu_affinity", Flag, "true", "Keeps each of these threads on a CPU of its own, where there are as many threads as CPUs that the gateway may use: shorter waits under load.").at(Restart),
    key("process", "shutdown_delay", Duration, "0s", "After a signal to end, how long requests are still accepted, so that load balancers notice."),
    key("process", "drain_timeout", Duration, "30s", "How long requests under way may take after that."),
];

/// Sections whose tables carry a name: `[lb.NAME]`.
pub const NAMED: &[&str] = &["listener", "ajp13", "lb", "host"];

/// All sections that may stand at the top.
pub const SECTIONS: &[&str] = &[
    "include",
    "defaults",
    "listener",
    "ajp13",
    "lb",
    "uri",
    "host",
    "status",
    "admin",
    "access_log",
    "log",
    "process",
];
