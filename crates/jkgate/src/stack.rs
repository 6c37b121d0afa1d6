//! What every request passes, outermost first. A layer here knows nothing of workers; what does is a line in `proxy::serve`.

use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use http::{Request, Response};
use hyper::body::Incoming;
use tower::{Service, ServiceBuilder};

use crate::answer::{self, Answer};
use crate::control::Plan;
use crate::front::{ConnInfo, Pulse};
use crate::gateway::Gateway;
use crate::proxy;
use crate::ticket::Ticket;

/// A request as it came from a connection.
pub(crate) struct Arrival {
    pub(crate) request: Request<Incoming>,
    pub(crate) conn: Arc<ConnInfo>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) began: Instant,
}

/// The way of a request on one core.
pub(crate) struct Stack {
    pub(crate) gateway: Arc<Gateway>,
    draining: AtomicBool,
}

/// This core's hold on the plan. Requests count themselves here and not at the plan, so that cores do not take the counter from
/// each other.
pub(crate) struct Held(Arc<Plan>);

impl std::ops::Deref for Held {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.0
    }
}

thread_local! {
    static HELD: RefCell<Option<Arc<Held>>> = const { RefCell::new(None) };
}

impl Arrival {
    pub(crate) fn new(request: Request<Incoming>, conn: Arc<ConnInfo>, pulse: Arc<Pulse>) -> Self {
        Self { request, conn, pulse, began: Instant::now() }
    }
}

impl Stack {
    pub(crate) fn new(gateway: Arc<Gateway>) -> Arc<Self> {
        Arc::new(Self { gateway, draining: AtomicBool::new(false) })
    }

    /// The one snapshot a request works with.
    pub(crate) fn plan(&self) -> Arc<Held> {
        let current = self.gateway.plan.load();
        HELD.with_borrow_mut(|held| match held {
            Some(held) if Arc::ptr_eq(&held.0, &current) => Arc::clone(held),
            _ => Arc::clone(held.insert(Arc::new(Held(Arc::clone(&current))))),
        })
    }

    pub(crate) fn drain(&self) {
        self.draining.store(true, Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Relaxed)
    }

    pub(crate) fn call(
        self: &Arc<Self>,
        arrival: Arrival,
    ) -> impl Future<Output = Result<Response<Answer>, Infallible>> + Send + use<> {
        let last = self.is_draining();
        ServiceBuilder::new()
            // Clients that keep their connection are told to come back elsewhere while we drain.
            .map_response(move |response| answer::closing_if(last, response))
            // Outermost but one, so that every answer carries its log line, made up by us or not.
            .map_request(move |arrival| Ticket::open(arrival, Arc::clone(self)))
            .service_fn(proxy::serve)
            .call(arrival)
    }
}
