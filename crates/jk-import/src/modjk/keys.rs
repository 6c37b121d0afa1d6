//! mod_jk's worker attributes: what happens when one stands twice, and what the old names mean.

/// What a second line for one key does (`jk_map_read_property`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twice {
    /// Joined with a comma.
    Appends,
    /// The last one counts.
    Last,
    /// Joined with a star, so that a number keeps its first value.
    First,
    /// Of the Java machine inside the web server, which is gone.
    Gone,
    /// Of ColdFusion's own build of the connector, which no other build starts with.
    ColdFusion,
}

pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) twice: Twice,
    /// The name that counts today.
    pub(super) now: &'static str,
}

impl Key {
    /// Why it says nothing here, if it does not.
    pub(super) fn without_meaning(&self) -> Option<&'static str> {
        match self.twice {
            Twice::Gone => Some("was given up by mod_jk and does nothing"),
            Twice::ColdFusion => {
                Some("is known to ColdFusion's own connector only; every channel is used again here")
            }
            Twice::Appends | Twice::Last | Twice::First => None,
        }
    }
}

const fn list(name: &'static str) -> Key {
    Key { name, twice: Twice::Appends, now: name }
}

const fn last(name: &'static str) -> Key {
    Key { name, twice: Twice::Last, now: name }
}

const fn first(name: &'static str) -> Key {
    Key { name, twice: Twice::First, now: name }
}

const fn old(name: &'static str, now: &'static str) -> Key {
    Key { name, twice: Twice::Last, now }
}

const fn gone(name: &'static str) -> Key {
    Key { name, twice: Twice::Gone, now: "" }
}

pub(super) fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(|key| key.now == key.name).map(|key| key.name)
}

/// Its value is never shown.
pub(crate) fn is_secret(name: &str) -> bool {
    name.to_ascii_lowercase().contains("secret")
}

const KEYS: &[Key] = &[
    last("type"),
    last("reference"),
    list("mount"),
    // ajp13
    last("host"),
    last("port"),
    last("source"),
    last("prefer_ipv6"),
    last("socket_timeout"),
    last("socket_connect_timeout"),
    last("socket_keepalive"),
    last("socket_buffer"),
    last("ping_mode"),
    last("ping_timeout"),
    last("connect_timeout"),
    last("prepost_timeout"),
    last("connection_ping_interval"),
    last("reply_timeout"),
    last("retries"),
    last("retry_interval"),
    last("recovery_options"),
    last("connection_pool_size"),
    last("connection_pool_minsize"),
    last("connection_pool_timeout"),
    last("connection_acquire_timeout"),
    last("busy_limit"),
    last("max_packet_size"),
    list("fail_on_status"),
    last("secret"),
    first("secretkey"),
    // members
    last("lbfactor"),
    first("distance"),
    last("route"),
    last("domain"),
    last("redirect"),
    last("activation"),
    // lb
    list("balance_workers"),
    last("sticky_session"),
    last("sticky_session_force"),
    last("method"),
    last("lock"),
    last("lb_retries"),
    last("recover_time"),
    last("error_escalation_time"),
    last("max_reply_timeouts"),
    last("session_cookie"),
    last("session_path"),
    last("set_session_cookie"),
    last("session_cookie_path"),
    // status
    last("css"),
    last("read_only"),
    list("user"),
    last("user_case_insensitive"),
    list("good"),
    list("bad"),
    last("prefix"),
    last("ns"),
    last("xmlns"),
    last("doctype"),
    // deprecated
    old("cachesize", "connection_pool_size"),
    old("cache_timeout", "connection_pool_timeout"),
    Key { name: "balanced_workers", twice: Twice::Appends, now: "balance_workers" },
    old("jvm_route", "route"),
    old("disabled", "disabled"),
    old("stopped", "stopped"),
    Key { name: "max_reuse_connections", twice: Twice::ColdFusion, now: "" },
    gone("recycle_timeout"),
    gone("local_worker"),
    gone("local_worker_only"),
    gone("sysprops"),
    gone("stdout"),
    gone("stderr"),
    gone("mx"),
    gone("ms"),
    gone("class_path"),
    gone("bridge"),
    gone("jvm_lib"),
    gone("ld_path"),
    gone("cmd_line"),
    gone("native_lib"),
];
