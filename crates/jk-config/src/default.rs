//! What holds where the file says nothing. Deviations from mod_jk's defaults stand in `docs/differences.md`.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::name::{GroupName, Route, WorkerName};
use crate::section::LOOPBACK;
use crate::spec::*;

impl ListenerSpec {
    #[must_use]
    pub fn new(name: &str, address: ListenAddress) -> Self {
        Self {
            name: name.to_owned(),
            address,
            backlog: 511,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            max_header_size: 64 * 1024,
            max_headers: 100,
            max_connections: 10_000,
            scheme: None,
            trusted_proxies: Vec::new(),
        }
    }
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Self {
            pool_size: 150,
            pool_minsize: 0,
            pool_timeout: Some(Duration::from_secs(60)),
            acquire_timeout: Duration::from_secs(5),
            acquire_queue: 1000,
            socket_connect_timeout: Duration::from_secs(2),
            connect_ping: Some(Duration::from_secs(1)),
            prepost_ping: Some(Duration::from_secs(1)),
            prepost_idle: Duration::from_secs(1),
            interval_ping: None,
            keepalive: true,
            reply_timeout: Some(Duration::from_secs(300)),
            send_timeout: Duration::from_secs(30),
            max_packet_size: 8192,
        }
    }
}

impl WorkerSpec {
    #[must_use]
    pub fn new(name: WorkerName, address: WorkerAddress) -> Self {
        Self {
            name,
            address,
            channel: ChannelSettings::default(),
            secret: None,
            busy_limit: None,
            method_by_name: false,
            fail_on_status: Vec::new(),
            recovery: RecoveryOptions::default(),
            health_check: None,
        }
    }
}

impl GroupSpec {
    #[must_use]
    pub fn new(name: GroupName) -> Self {
        Self {
            name,
            members: Vec::new(),
            method: Method::Requests,
            stickiness: Stickiness::Prefer,
            session_cookie: "JSESSIONID".to_owned(),
            session_path: "jsessionid".to_owned(),
            set_session_cookie: None,
            retries: 2,
            retry_interval: Duration::from_millis(100),
            recover_time: Duration::from_secs(60),
            error_escalation_time: Duration::from_secs(30),
            max_reply_timeouts: None,
            maintain: Duration::from_secs(60),
            slow_start: None,
            retry_budget: 20,
            outlier_failures: NonZeroU32::new(10),
            queue: QueueSpec { size: 1000, timeout: Duration::from_secs(5) },
            unavailable: Unavailable { status: 503, retry_after: None, page: None },
            forward_uri: ForwardUri::Proxy,
            lock: Lock::Optimistic,
        }
    }
}

impl MemberSpec {
    /// # Panics
    ///
    /// Never: every name is a route.
    #[must_use]
    #[allow(clippy::expect_used, reason = "names and routes obey one rule")]
    pub fn new(worker: WorkerName) -> Self {
        let route = Route::new(worker.as_str()).expect("every name is a route");
        Self {
            worker,
            route,
            lbfactor: NonZeroU32::MIN,
            distance: 0,
            domain: None,
            redirect: None,
            activation: Activation::Active,
            busy_limit: None,
        }
    }
}

impl Default for StatusSpec {
    fn default() -> Self {
        let loopback = || LOOPBACK.iter().filter_map(|net| net.parse().ok()).collect();
        Self {
            readable_from: loopback(),
            writable_from: loopback(),
            get_updates_from: Vec::new(),
            read_only: false,
            user: Vec::new(),
            users: None,
            user_case_insensitive: false,
            css: None,
            prefix: "worker".to_owned(),
            ns: "jk:".to_owned(),
            xmlns: "xmlns:jk=\"http://tomcat.apache.org\"".to_owned(),
            doctype: None,
            good: None,
            bad: None,
        }
    }
}

impl Default for AdminSpec {
    fn default() -> Self {
        Self { address: Some(ListenAddress::Unix("/run/jkgate/admin.sock".into())) }
    }
}

impl Default for AccessLogSpec {
    fn default() -> Self {
        Self { target: LogTarget::Stdout, format: AccessLogFormat::Combined, queue: 8192 }
    }
}

impl Default for LogSpec {
    fn default() -> Self {
        Self { filter: "info".to_owned(), json: false }
    }
}

impl Default for ProcessSpec {
    fn default() -> Self {
        Self {
            threads: None,
            cpu_affinity: true,
            shutdown_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(30),
        }
    }
}
