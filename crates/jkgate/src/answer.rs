//! The body of every response: a worker's, or bytes of our own.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use jk_channel::{BrokenOff, ReplyBody};
use tokio::sync::mpsc;

use crate::front::Pulse;
use crate::proxy::ExchangeTail;
use crate::ticket::Ticket;

pub(crate) enum Answer {
    Worker(ReplyBody<ClientBody, ExchangeTail>),
    Own(Own),
    Events(Events),
}

/// A whole body of our own; the ticket is kept until the client has it.
pub(crate) struct Own {
    data: Bytes,
    /// Boxed, so that a worker's response does not have to be moved at this size.
    ticket: Option<Box<Ticket>>,
}

/// Server-sent events of the status page.
pub(crate) struct Events {
    pub(crate) receiver: mpsc::Receiver<Bytes>,
    pub(crate) ticket: Option<Box<Ticket>>,
}

impl Answer {
    pub(crate) fn own(data: Bytes, mut ticket: Ticket) -> Self {
        ticket.facts.bytes = u64::try_from(data.len()).unwrap_or(0);
        Self::Own(Own { data, ticket: Some(Box::new(ticket)) })
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            Self::Worker(body) => Pin::new(body).poll_frame(cx),
            Self::Own(own) => {
                let data = std::mem::take(&mut own.data);
                if data.is_empty() {
                    own.ticket = None;
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Self::Events(events) => {
                events.receiver.poll_recv(cx).map(|data| data.map(|data| Ok(Frame::data(data))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Worker(body) => body.is_end_stream(),
            Self::Own(own) => own.data.is_empty(),
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Worker(body) => body.size_hint(),
            Self::Own(own) => SizeHint::with_exact(u64::try_from(own.data.len()).unwrap_or(0)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(ticket) = &mut self.ticket {
            ticket.facts.outcome = "ok";
        }
    }
}

/// The client's body, telling the sweep when it is the client's turn.
pub(crate) struct ClientBody {
    body: Incoming,
    pulse: std::sync::Arc<Pulse>,
}

impl ClientBody {
    pub(crate) fn new(body: Incoming, pulse: std::sync::Arc<Pulse>) -> Self {
        Self { body, pulse }
    }
}

impl Body for ClientBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if self.pulse.body_wanted(polled.is_pending()) {
            cx.waker().wake_by_ref();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ClientBody {
    fn drop(&mut self) {
        self.pulse.body_wanted(false);
        if !self.body.is_end_stream() {
            self.pulse.body_left_over();
        }
    }
}

/// Tells the client not to keep its connection.
pub(crate) fn closing_if(last: bool, mut response: Response<Answer>) -> Response<Answer> {
    if last {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// For a service that always answers.
pub(crate) type Always = Result<Response<Answer>, Infallible>;
