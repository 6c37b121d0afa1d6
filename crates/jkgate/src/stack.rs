//! What every request passes, outermost first. A layer here knows nothing of workers; what does is a line in `proxy::serve`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use http::{Request, Response};
use hyper::body::Incoming;
use tower::{Service, ServiceBuilder};

use crate::answer::{self, Answer};
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
    gateway: Arc<Gateway>,
    draining: AtomicBool,
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
        let stack = Arc::clone(self);
        let last = self.is_draining();
        ServiceBuilder::new()
            // Clients that keep their connection are told to come back elsewhere while we drain.
            .map_response(move |response| answer::closing_if(last, response))
            // Outermost but one, so that every answer carries its log line, made up by us or not.
            .map_request(move |arrival| Ticket::open(arrival, &stack.gateway))
            .service_fn(proxy::serve)
            .call(arrival)
    }
}
