//! Which message may come when, and what it asks of the gateway.
//!
//! ```text
//!            SEND_HEADERS                          END_RESPONSE
//!   Head ───────────────────► Body ─────────────────────────────► Ended
//!    │ GET_BODY_CHUNK ↺         │ GET_BODY_CHUNK ↺  SEND_BODY_CHUNK ↺
//!    │ empty chunk: ignored     │ empty chunk: flush
//!    └ a chunk with data, END_RESPONSE, a CPONG: out of order
//! ```
//!
//! mod_jk makes up a "200 OK" for a reply without SEND_HEADERS; no servlet container sends one, and a made-up success hides a
//! broken worker, so here it is an error.

use bytes::Bytes;

use crate::error::OutOfOrder;
use crate::reply::{Reply, ReplyHead};

/// What the request head announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestBody {
    None,
    /// At least 1. One body packet follows the head unasked.
    Length(u64),
    Chunked,
}

/// From FORWARD_REQUEST to END_RESPONSE.
#[derive(Debug, Clone)]
pub struct Exchange {
    phase: Phase,
    /// The worker waits for a body packet.
    owed: bool,
}

/// What the gateway has to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Head(ReplyHead),
    /// Never empty.
    Data(Bytes),
    Flush,
    /// Send one body packet of at most this many bytes, or an empty one at the end of the body.
    WantBody {
        max: usize,
    },
    End {
        reuse: bool,
    },
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    Body,
    Ended,
}

impl Exchange {
    #[must_use]
    pub fn new(announced: RequestBody) -> Self {
        Self { phase: Phase::Head, owed: matches!(announced, RequestBody::Length(_)) }
    }

    /// A body packet was sent, with data or without: the worker may ask for the next one.
    pub fn body_sent(&mut self) {
        self.owed = false;
    }

    /// Takes the next message. Err: the channel must be closed.
    pub fn handle(&mut self, reply: Reply) -> Result<Event, OutOfOrder> {
        match (self.phase, reply) {
            (Phase::Ended, _) => Err(OutOfOrder::AfterEnd),
            (_, Reply::CPong) => Err(OutOfOrder::CPong),
            (_, Reply::GetBodyChunk { max: 0 }) => Err(OutOfOrder::AskedNothing),
            (_, Reply::GetBodyChunk { max }) => {
                if std::mem::replace(&mut self.owed, true) {
                    return Err(OutOfOrder::AskedTwice);
                }
                Ok(Event::WantBody { max: usize::from(max) })
            }
            (Phase::Head, Reply::SendHeaders(head)) => {
                self.phase = Phase::Body;
                Ok(Event::Head(head))
            }
            (Phase::Body, Reply::SendHeaders(_)) => Err(OutOfOrder::SecondHead),
            (Phase::Head, Reply::SendBodyChunk(data)) if data.is_empty() => Ok(Event::Ignore),
            (Phase::Head, Reply::SendBodyChunk(_)) => Err(OutOfOrder::BodyBeforeHead),
            (Phase::Body, Reply::SendBodyChunk(data)) if data.is_empty() => Ok(Event::Flush),
            (Phase::Body, Reply::SendBodyChunk(data)) => Ok(Event::Data(data)),
            (Phase::Head, Reply::EndResponse { .. }) => Err(OutOfOrder::EndBeforeHead),
            (Phase::Body, Reply::EndResponse { reuse }) => {
                self.phase = Phase::Ended;
                Ok(Event::End { reuse })
            }
        }
    }
}
