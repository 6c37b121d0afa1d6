//! What a checked configuration holds: plain data that the rest of the program reads and nobody checks again.
//!
//! Names and defaults follow mod_jk where the meaning is mod_jk's; every duration is a [`Duration`].

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;

use crate::name::{GroupName, Route, WorkerName};
use crate::users::User;

/// One place where clients connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerSpec {
    pub name: String,
    pub address: ListenAddress,
    /// Length of the accept queue, default 511.
    pub backlog: u32,
    /// From the first byte of a request to the end of its head, default 10 s.
    pub header_timeout: Duration,
    /// Between two requests, and the longest silence of a client that is sending or receiving a body, default 60 s.
    pub idle_timeout: Duration,
    /// Largest request head in bytes, default 65536.
    pub max_header_size: usize,
    /// Header fields of a request, default 100.
    pub max_headers: usize,
    /// Connections at one time, default 10000.
    pub max_connections: usize,
    /// What Tomcat is told the scheme is; `None`: from the connection and trusted proxies.
    pub scheme: Option<Scheme>,
    /// Peers whose X-Forwarded-* and Forwarded headers count.
    pub trusted_proxies: Vec<IpNet>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListenAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

/// One Tomcat: where it is and how channels to it behave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSpec {
    pub name: WorkerName,
    pub address: WorkerAddress,
    pub channel: ChannelSettings,
    /// The connector's `secret`. Its `Debug` does not show it.
    pub secret: Option<Secret>,
    /// Requests at one time over all channels; `None`: no limit of its own. mod_jk: `busy_limit`.
    pub busy_limit: Option<NonZeroU32>,
    /// Sends every method by name, for Tomcat releases whose table of codes is off by one.
    pub method_by_name: bool,
    /// Response statuses that count as a failure of the worker.
    pub fail_on_status: Vec<FailStatus>,
    pub recovery: RecoveryOptions,
    /// `max_reply_timeouts`-independent: how the worker's own health is looked after without traffic.
    pub health_check: Option<HealthCheck>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WorkerAddress {
    /// Host is a name or an IP literal without brackets.
    Tcp {
        host: String,
        port: u16,
    },
    Unix(PathBuf),
}

/// A secret never prints itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

/// Everything about channels that a reload may change under a living pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelSettings {
    /// Channels at one time over all cores, default 150.
    pub pool_size: u32,
    /// Idle channels that the idle timeout leaves open, default 0.
    pub pool_minsize: u32,
    /// An idle channel is closed after this, default 60 s; `None`: never.
    pub pool_timeout: Option<Duration>,
    /// Longest wait for a channel when the pool is full, default 5 s.
    pub acquire_timeout: Duration,
    /// Requests that may wait at one time, default 1000.
    pub acquire_queue: u32,
    /// TCP connect, default 2 s.
    pub socket_connect_timeout: Duration,
    /// Wait for CPONG after a connect; `None`: no CPing then. From `ping_mode` and `ping_timeout` or `connect_timeout`.
    pub connect_ping: Option<Duration>,
    /// Wait for CPONG before a request on a pooled channel; `None`: no CPing then.
    pub prepost_ping: Option<Duration>,
    /// A channel that was used less than this ago is not pinged before a request, default 1 s; zero pings always, as mod_jk does.
    pub prepost_idle: Duration,
    /// Idle channels are pinged this often; `None`: not.
    pub interval_ping: Option<IntervalPing>,
    pub keepalive: bool,
    /// Longest silence of the worker while a reply is due, default 5 min; `None` ("never"): wait for ever.
    pub reply_timeout: Option<Duration>,
    /// Longest time a write to the worker may make no progress, default 30 s (mod_jk never gives up).
    pub send_timeout: Duration,
    /// Size of an AJP packet in bytes, header included, 8192 to 65536; must equal Tomcat's packetSize.
    pub max_packet_size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalPing {
    pub every: Duration,
    pub timeout: Duration,
}

/// mod_jk's `fail_on_status` entry: positive codes put the member in error, negative ones only fail over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailStatus {
    pub code: u16,
    pub soft: bool,
}

/// mod_jk's `recovery_options` bits (jk_ajp_common.h); 8 and 16 work together here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecoveryOptions(pub u8);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthCheck {
    pub kind: HealthCheckKind,
    /// Default 5 s, spread by up to a tenth.
    pub interval: Duration,
    pub timeout: Duration,
    /// Good answers in a row before a member in error is used again, default 2.
    pub rise: u32,
    /// Bad answers in a row before a member is taken out, default 3.
    pub fall: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthCheckKind {
    CPing,
    /// GET of a path through AJP; any status from the list is good.
    Request {
        path: String,
        status: Vec<u16>,
    },
}

/// A load-balancer group (`[lb.NAME]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSpec {
    pub name: GroupName,
    /// In the order in which the file defines the workers.
    pub members: Vec<MemberSpec>,
    pub method: Method,
    pub stickiness: Stickiness,
    /// Default JSESSIONID.
    pub session_cookie: String,
    /// Name of the path parameter without its semicolon, default jsessionid.
    pub session_path: String,
    /// The group's own routing cookie (mod_jk: `set_session_cookie`, `session_cookie_path`).
    pub set_session_cookie: Option<RouteCookie>,
    /// Rounds over the members, default 2.
    pub retries: u32,
    /// Sleep before each further round, default 100 ms.
    pub retry_interval: Duration,
    /// Error to recovering after this, default 60 s.
    pub recover_time: Duration,
    /// A local error becomes global after this, default half of `recover_time`.
    pub error_escalation_time: Duration,
    /// More (decayed) reply timeouts than this put a member in error; `None`: never (mod_jk: 0 means "the first").
    pub max_reply_timeouts: Option<u32>,
    /// Interval of the balancer's maintenance (mod_jk: worker.maintain), default 60 s.
    pub maintain: Duration,
    /// Time over which a recovered member comes back to its full share; `None`: at once, as mod_jk.
    pub slow_start: Option<Duration>,
    /// Retries allowed per hundred requests, default 20, with a floor of a few per second.
    pub retry_budget: u32,
    /// A member that fails this many exchanges in a row counts as in error; `None`: off.
    pub outlier_failures: Option<NonZeroU32>,
    /// Requests that may wait in the group, and for how long, when every usable member is full.
    pub queue: QueueSpec,
    pub unavailable: Unavailable,
    pub forward_uri: ForwardUri,
    /// Only kept for the status interface: mod_jk's `lock`.
    pub lock: Lock,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSpec {
    pub size: u32,
    pub timeout: Duration,
}

/// A worker as a member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberSpec {
    pub worker: WorkerName,
    /// Tomcat's jvmRoute; default: the worker's name.
    pub route: Route,
    pub lbfactor: NonZeroU32,
    pub distance: u32,
    /// Session replication group; empty text is `None`. Default: the part of the route before its first dot.
    pub domain: Option<String>,
    /// Route (not name) of the preferred stand-in for sticky requests.
    pub redirect: Option<Route>,
    pub activation: Activation,
    /// Copied from the worker: what `busy_limit` says.
    pub busy_limit: Option<NonZeroU32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Requests,
    Sessions,
    Traffic,
    Busyness,
    Next,
    /// Two members drawn at random, the less busy one taken.
    PowerOfTwo,
    /// Least peak-EWMA latency times requests under way.
    Latency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stickiness {
    Off,
    Prefer,
    Force,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    Active,
    Disabled,
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    Optimistic,
    Pessimistic,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteCookie {
    /// Empty: no Path attribute.
    pub path: String,
}

/// What is answered when no member is usable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    pub status: u16,
    pub retry_after: Option<Duration>,
    /// Body of the answer, read when the configuration is read; `None`: the built-in page.
    pub page: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardUri {
    Proxy,
    Unparsed,
    Escaped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodedSlash {
    Reject,
    Forward,
}

/// A rule from URI pattern to target, in the order in which it was written. Patterns are kept as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappingSpec {
    /// One pattern: `|` already expanded, `!` and `-` taken off.
    pub pattern: String,
    pub kind: MappingKind,
    pub enabled: bool,
    /// As written in the file, with its prefix, for messages and the status page.
    pub written: String,
    /// `path/to/file.toml:12`, for messages and the status page.
    pub origin: String,
    pub options: Arc<MappingOptions>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MappingKind {
    Map(Target),
    /// An exclusion for one target, or for every target.
    Exclude(Option<Target>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    Group(GroupName),
    /// A worker without a group.
    Worker(WorkerName),
    Status,
    Metrics,
}

/// What mod_jk calls rule extensions, and ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MappingOptions {
    /// `Some(None)` cannot be written: "never" is `ReplyTimeout::Never`.
    pub reply_timeout: Option<ReplyTimeout>,
    pub sticky_ignore: bool,
    pub stateless: bool,
    /// Members whose activation this rule replaces.
    pub activation: BTreeMap<WorkerName, Activation>,
    /// Replaces the worker's list.
    pub fail_on_status: Option<Vec<FailStatus>>,
    /// Responses from this status on are replaced by the gateway's own page.
    pub use_server_errors: Option<u16>,
    pub session_cookie: Option<String>,
    pub session_path: Option<String>,
    pub set_session_cookie: bool,
    /// `false`: a request is sent to one member only.
    pub no_retry: bool,
    pub forward_uri: Option<ForwardUri>,
    pub encoded_slash: Option<EncodedSlash>,
    pub unavailable: Option<Unavailable>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyTimeout {
    Never,
    After(Duration),
}

/// A virtual host (`[host."NAME"]`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSpec {
    /// The name and its aliases.
    pub names: Vec<HostPattern>,
    /// Own mappings win over the global ones, which are looked at next unless this is false.
    pub inherit: bool,
    pub mappings: Vec<MappingSpec>,
}

/// `name`, `name:port` or `*:port`; the name in lower case, without brackets for IPv6.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPattern {
    /// `None`: any name.
    pub name: Option<String>,
    pub port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSpec {
    pub readable_from: Vec<IpNet>,
    pub writable_from: Vec<IpNet>,
    pub get_updates_from: Vec<IpNet>,
    pub read_only: bool,
    /// Users of `users_file` who may read; empty: all of them.
    pub user: Vec<String>,
    /// Who is in `users_file`; `None`: no Basic authentication.
    pub users: Option<Vec<User>>,
    pub user_case_insensitive: bool,
    pub css: Option<String>,
    pub prefix: String,
    /// XML element prefix with its colon; empty: none.
    pub ns: String,
    pub xmlns: String,
    pub doctype: Option<String>,
    /// mod_jk's `good` and `bad` lists as written; `None`: mod_jk's default masks.
    pub good: Option<String>,
    pub bad: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminSpec {
    /// `None`: no admin channel. A TCP address is a loopback one.
    pub address: Option<ListenAddress>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLogSpec {
    pub target: LogTarget,
    pub format: AccessLogFormat,
    /// Lines that may wait for the disk; more are dropped and counted.
    pub queue: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTarget {
    Off,
    Stdout,
    File(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLogFormat {
    Common,
    Combined,
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSpec {
    /// tracing's filter syntax, default `info`.
    pub filter: String,
    pub json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSpec {
    /// Threads that serve requests; `None`: one a core.
    pub threads: Option<NonZeroU32>,
    /// Each thread on a CPU of its own, default true.
    pub cpu_affinity: bool,
    /// Between the signal to end and the end of accepting, default 0.
    pub shutdown_delay: Duration,
    /// How long requests under way may take after that, default 30 s.
    pub drain_timeout: Duration,
}

impl Secret {
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// For the wire only.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl RecoveryOptions {
    /// No retry once the head has been sent and nothing came back.
    #[must_use]
    pub fn abort_if_sent(self) -> bool {
        self.0 & 1 != 0
    }
    /// No retry once the reply's head has come.
    #[must_use]
    pub fn abort_if_head(self) -> bool {
        self.0 & 2 != 0
    }
    #[must_use]
    pub fn always_head(self) -> bool {
        self.0 & 8 != 0
    }
    #[must_use]
    pub fn always_get(self) -> bool {
        self.0 & 16 != 0
    }
}

impl std::fmt::Display for WorkerAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl std::fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
