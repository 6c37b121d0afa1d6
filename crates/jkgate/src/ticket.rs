//! One request's ticket through the gateway: the facts for its log line, written exactly once, whatever becomes of the request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use hyper::body::Incoming;

use crate::access_log::Line;
use crate::front::{ConnInfo, Pulse};
use crate::gateway::Gateway;
use crate::stack::{Arrival, Stack};

/// Dropping it writes the log line and says that the request is over.
pub(crate) struct Ticket {
    pub(crate) stack: Arc<Stack>,
    pub(crate) conn: Arc<ConnInfo>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) began: Instant,
    pub(crate) facts: Facts,
    /// Set by whoever knows better than the ticket's drop.
    pub(crate) ended: Option<Instant>,
    /// `None` while the access log is off: then nothing is kept for it.
    line: Option<Box<Line>>,
}

/// What became of the request.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) status: Option<StatusCode>,
    /// A fixed word: `ok`, `client_gone`, a refusal's or a failure's.
    pub(crate) outcome: &'static str,
    pub(crate) group: Option<Arc<str>>,
    pub(crate) worker: Option<Arc<str>>,
    /// How the member was chosen.
    pub(crate) choice: &'static str,
    /// Members tried.
    pub(crate) attempts: u32,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) bytes: u64,
}

impl Ticket {
    pub(crate) fn open(arrival: Arrival, stack: Arc<Stack>) -> (Self, Request<Incoming>) {
        let Arrival { request, conn, pulse, began } = arrival;
        let gateway = &stack.gateway;
        let line = gateway.access_log.is_on().then(|| Box::new(Line::begin(&request, &conn)));
        let facts = Facts { outcome: "client_gone", ..Facts::default() };
        gateway.stats.begin();
        (Self { stack, conn, pulse, began, facts, ended: None, line }, request)
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        &self.stack.gateway
    }

    /// True if somebody will read the names of group and worker.
    pub(crate) fn is_logged(&self) -> bool {
        self.line.is_some()
    }

    /// A name for this request that a person can look for in the logs.
    pub(crate) fn id(&mut self) -> String {
        let id = self.stack.gateway.stats.request_id();
        if let Some(line) = &mut self.line {
            line.id.clone_from(&id);
        }
        id
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pulse.request_ends();
        let duration = self.ended.unwrap_or_else(Instant::now).saturating_duration_since(self.began);
        self.stack.gateway.stats.count(&self.facts, duration);
        if let Some(line) = self.line.take() {
            self.stack.gateway.access_log.write(&line, &self.facts, duration);
        }
    }
}
