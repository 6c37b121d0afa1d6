//! What there is to show, at one instant.

/// Everything.
#[derive(Debug, Clone, Default)]
pub struct StatusView {
    /// Host and port that the reader asked.
    pub server: String,
    pub port: u16,
    pub now: u64,
    /// `YYYYMMDDHHMMSS` and `+hhmm`, local.
    pub datetime: String,
    pub tz: String,
    /// `jkgate/0.1.0`.
    pub software: String,
    pub uptime: u64,
    pub config: String,
    pub generation: u64,
    pub loaded_ago: u64,
    pub reload: Reload,
    /// Changes in force that the file does not have, as `section.name.key = value`.
    pub edits: Vec<String>,
    pub listeners: Vec<Listener>,
    pub totals: Totals,
    pub groups: Vec<Group>,
    /// Workers that mappings point to without a group.
    pub workers: Vec<Plain>,
    /// Mappings that no group or worker owns.
    pub own_mappings: Vec<Mapping>,
    pub options: Options,
}

#[derive(Debug, Clone, Default)]
pub struct Reload {
    pub ago: u64,
    pub by: String,
    pub failed: bool,
    pub lines: Vec<String>,
    pub good: u64,
    pub bad: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Listener {
    pub name: String,
    pub address: String,
    pub open: u64,
    pub accepted: u64,
    pub full: u64,
}

/// Counters of the whole gateway.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// By the hundreds of the status; the first counts clients that left before one.
    pub by_class: [u64; 6],
    pub under_way: u64,
    pub retries: u64,
    pub sessions_lost: u64,
    pub refused: u64,
    pub log_dropped: u64,
    /// Upper bound in seconds and count, not cumulative; the last bound is infinity.
    pub durations: Vec<(f64, u64)>,
    pub duration_sum: f64,
}

/// How the page and the legacy outputs look.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub read_only: bool,
    pub css: Option<String>,
    pub prefix: String,
    pub ns: String,
    pub xmlns: String,
    pub doctype: Option<String>,
    pub good: Option<String>,
    pub bad: Option<String>,
    /// For forms.
    pub token: String,
}

#[derive(Debug, Clone, Default)]
pub struct Group {
    pub name: String,
    pub sticky: bool,
    pub sticky_force: bool,
    pub retries: u32,
    /// In ms.
    pub retry_interval: u64,
    pub recover_time: u64,
    pub error_escalation_time: u64,
    pub max_reply_timeouts: u32,
    /// mod_jk's word; ours for methods that it has not.
    pub method: String,
    pub lock: String,
    pub to_maintenance: u64,
    pub maintain: u64,
    pub reset_at: u64,
    /// Requests that wait for a member with room.
    pub waiting: u32,
    pub members: Vec<Member>,
    pub mappings: Vec<Mapping>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    #[default]
    Active,
    Disabled,
    Stopped,
}

impl Activation {
    /// mod_jk's code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Active => "ACT",
            Self::Disabled => "DIS",
            Self::Stopped => "STP",
        }
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Stopped => "stopped",
        }
    }
}

/// Settings and counters of a worker; times in milliseconds unless said otherwise, 0 meaning none.
#[derive(Debug, Clone, Default)]
pub struct Ajp {
    pub name: String,
    pub host: String,
    pub port: u16,
    pub address: String,
    /// Seconds.
    pub pool_timeout: u64,
    pub ping_timeout: u64,
    pub connect_timeout: u64,
    pub prepost_timeout: u64,
    pub reply_timeout: u64,
    /// Seconds.
    pub ping_interval: u64,
    pub retries: u32,
    pub recovery_options: u8,
    pub busy_limit: u32,
    pub max_packet_size: u64,
    pub elected: u64,
    pub errors: u64,
    pub client_errors: u64,
    pub reply_timeouts: u64,
    pub transferred: u64,
    pub read: u64,
    pub busy: u32,
    pub max_busy: u32,
    pub connected: u32,
    pub max_connected: u32,
    pub idle: u32,
    pub waiting: u32,
    pub reset_at: u64,
    pub error_at: Option<u64>,
    /// When and what, in a sentence.
    pub last_error: Option<(u64, String)>,
}

#[derive(Debug, Clone, Default)]
pub struct Member {
    pub ajp: Ajp,
    pub activation: Activation,
    /// mod_jk's word: `OK`, `ERR/REC` …
    pub state: &'static str,
    /// Seconds in this state, if it ever changed.
    pub since: Option<u64>,
    pub lbfactor: u32,
    pub route: String,
    pub redirect: String,
    pub domain: String,
    pub distance: u32,
    pub mult: u64,
    pub value: u64,
    pub sessions: u64,
    pub sessions_lately: u64,
    pub recover_min: u64,
    pub recover_max: u64,
    /// Microseconds, of the last five minutes.
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p99: Option<u64>,
    /// Upper bound in seconds and count, not cumulative.
    pub latencies: Vec<(f64, u64)>,
    pub latency_sum: f64,
}

#[derive(Debug, Clone, Default)]
pub struct Plain {
    pub ajp: Ajp,
    pub state: &'static str,
    pub mappings: Vec<Mapping>,
}

#[derive(Debug, Clone, Default)]
pub struct Mapping {
    /// Empty: every host.
    pub server: String,
    pub uri: String,
    pub excludes: bool,
    pub enabled: bool,
    /// Where it was written.
    pub source: String,
    pub target: String,
    /// -1: the worker's.
    pub reply_timeout: i64,
    pub sticky_ignore: bool,
    pub stateless: bool,
    pub fail_on_status: String,
    pub active: String,
    pub disabled: String,
    pub stopped: String,
    pub use_server_errors: u16,
}

impl Mapping {
    /// mod_jk's words for the kind of rule.
    #[must_use]
    pub fn kind(&self) -> String {
        let kind = if self.uri.contains(['*', '?']) { "Wildchar" } else { "Exact" };
        let disabled = if self.enabled { "" } else { "Disabled " };
        let unmount = if self.excludes { "Unmount " } else { "" };
        format!("{disabled}{unmount}{kind}")
    }
}
