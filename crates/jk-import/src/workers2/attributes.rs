//! What may stand in which section: one row an attribute.

/// What an attribute takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Text,
    Number {
        min: i64,
        max: i64,
    },
    /// 0 or 1.
    Flag,
    /// Anything: mod_jk2 looked only whether it was there.
    Presence,
    /// A log level.
    Level,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    /// Every occurrence counts, not only the last one.
    pub(super) is_list: bool,
    /// Why it is left out; empty: it is taken over.
    pub(super) dropped: &'static str,
}

const fn used(name: &'static str, takes: Takes) -> Row {
    Row { name, takes, is_list: false, dropped: "" }
}

const fn list(name: &'static str) -> Row {
    Row { name, takes: Text, is_list: true, dropped: "" }
}

const fn dropped(name: &'static str, takes: Takes, why: &'static str) -> Row {
    Row { name, takes, is_list: false, dropped: why }
}

const fn number(min: i64, max: i64) -> Takes {
    Takes::Number { min, max }
}

use Takes::{Flag, Level, Presence, Text};

const ANY: Takes = number(0, MAX);
const MAX: i64 = i32::MAX as i64;
const STATISTICS: &str = "the gateway is one process and needs no shared memory";
const INDICATOR: &str = "TLS data comes from the connection or from trusted proxies";
const NEVER: &str = "it never had an effect";

/// Sections that people wrote.
pub(super) const KINDS: &[&str] = &[
    "config",
    "workerEnv",
    "uriMap",
    "shm",
    "logger",
    "logger.file",
    "logger.apache2",
    "channel.socket",
    "channel.un",
    "ajp13",
    "lb",
    "status",
    "uri",
];

/// Sections of the Java machine inside the web server, and of platforms.
pub(super) const PLATFORM: &[&str] =
    &["vm", "worker.jni", "channel.jni", "logger.win32", "run", "user", "signal"];

/// In every section.
const COMMON: &[Row] = &[
    used("info", Text),
    dropped("debug", number(0, MAX), "say what to log with [log] filter"),
    used("disabled", Flag),
    dropped("ver", number(i64::MIN, i64::MAX), "files are compared by content"),
    dropped("name", Text, NEVER),
];

const WORKER: &[Row] = &[
    list("group"),
    used("route", Text),
    used("tomcatId", Text),
    used("routeRedirect", Text),
    used("lb_factor", number(0, 255)),
    used("level", ANY),
    used("graceful", Flag),
    used("max_connections", ANY),
    used("connectTimeout", ANY),
    used("prepostTimeout", ANY),
    used("replyTimeout", ANY),
    used("secretkey", Text),
    used("channel", Text),
];

const SOCKET: &[Row] = &[
    used("host", Text),
    used("port", number(1, 65535)),
    used("timeout", ANY),
    used("keepalive", Flag),
    dropped("nodelay", Flag, "it is always on"),
];

const UN: &[Row] = &[
    used("file", Text),
    dropped("soLinger", ANY, NEVER),
    dropped("listen", ANY, "only Tomcat's side listens"),
];

const LB: &[Row] = &[
    list("worker"),
    used("stickySession", Flag),
    used("recovery", ANY),
    used("noWorkerCode", number(100, 599)),
    used("noWorkerMsg", Text),
    dropped(
        "noErrorHeader",
        Flag,
        "what is answered when no member is usable is the group's unavailable = { page = … }",
    ),
    used("hwBalanceErr", number(0, 599)),
    dropped("attempts", ANY, NEVER),
    dropped("timeout", ANY, NEVER),
];

const URI: &[Row] = &[
    used("group", Text),
    used("worker", Text),
    used("context", Text),
    used("inheritGlobals", Flag),
    list("alias"),
    used("path", Text),
    used("vhost", Text),
    used("uri", Text),
    dropped("timing", Flag, "the gateway always takes the time"),
    dropped("servlet", Text, NEVER),
    dropped("host", Text, "it could only be read"),
    dropped("match_type", Text, "it could only be read"),
    dropped("prefix", Text, "it could only be read"),
    dropped("suffix", Text, "it could only be read"),
];

const STATUS: &[Row] = &[
    dropped("styleMode", number(0, 3), "the page has a style; [status] css names another"),
    dropped("stylePath", Text, "the page has a style; [status] css names another"),
];

const SHM: &[Row] = &[
    dropped("file", Text, STATISTICS),
    dropped("size", ANY, STATISTICS),
    dropped("slots", ANY, STATISTICS),
    dropped("useMemory", Flag, STATISTICS),
    dropped("resetEndpointStats", Flag, STATISTICS),
];

const WORKER_ENV: &[Row] = &[
    dropped("logger", Text, "the gateway logs to standard error"),
    dropped("timing", Flag, "the gateway always takes the time"),
    dropped("sslEnable", Presence, "it was always on"),
    dropped("httpsIndicator", Text, INDICATOR),
    dropped("certsIndicator", Text, INDICATOR),
    dropped("cipherIndicator", Text, INDICATOR),
    dropped("sessionIndicator", Text, INDICATOR),
    dropped("keySizeIndicator", Text, INDICATOR),
    dropped("forwardKeySize", Presence, "the key size is sent whenever it is known"),
    used("forwardURICompat", Presence),
    used("forwardURICompatUnparsed", Presence),
    used("forwardURIEscaped", Presence),
    used("noRecoveryIfRequestSent", Presence),
    used("noRecoveryIfHeaderSent", Presence),
];

const CONFIG: &[Row] = &[
    dropped("file", Text, "the file on the command line counts"),
    dropped("debugEnv", ANY, "say what to log with [log] filter"),
    dropped("save", Text, "the gateway writes into its file only when an operator asks for it"),
];

const LOGGER: &[Row] = &[
    used("level", Level),
    dropped("file", Text, "the gateway logs to standard error, and requests to [access_log]"),
    dropped("timeFormat", Text, NEVER),
];

/// The rows of a kind of section, those of every section left out.
fn rows(kind: &str) -> [&'static [Row]; 2] {
    match kind {
        "channel.socket" => [SOCKET, WORKER],
        "channel.un" => [UN, WORKER],
        "ajp13" => [WORKER, &[]],
        "lb" => [LB, &[]],
        "uri" => [URI, &[]],
        "status" => [STATUS, &[]],
        "shm" => [SHM, &[]],
        "workerEnv" => [WORKER_ENV, &[]],
        "config" => [CONFIG, &[]],
        "logger" | "logger.file" | "logger.apache2" => [LOGGER, &[]],
        _ => [&[], &[]],
    }
}

pub(super) fn row(kind: &str, name: &str) -> Option<&'static Row> {
    rows(kind).into_iter().flatten().chain(COMMON).find(|row| row.name == name)
}

pub(super) fn names(kind: &str) -> impl Iterator<Item = &'static str> {
    rows(kind).into_iter().flatten().chain(COMMON).map(|row| row.name)
}

/// Of any section.
pub(super) fn is_attribute(name: &str) -> bool {
    KINDS.iter().any(|kind| row(kind, name).is_some())
}

/// Whether there can be several of the kind, so that each needs a colon and a name.
pub(super) fn is_named(kind: &str) -> bool {
    matches!(kind, "status" | "lb" | "ajp13" | "uri" | "channel.socket" | "channel.un" | "logger.file")
}

/// Its value is never shown.
pub(super) fn is_secret(name: &str) -> bool {
    name.to_ascii_lowercase().contains("secret")
}
