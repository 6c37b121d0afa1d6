//! The worker's reply as a body for the HTTP server, and the end of the exchange behind it.
//!
//! hyper asks a body for nothing more once Content-Length is met, and never asks the body of a reply that has none. So the exchange
//! ends when the last announced byte is handed out, not when END_RESPONSE comes: that is read from what is buffered, or else by
//! this core's finisher. Only a body that is dropped before that was abandoned by its client.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use jk_ajp::Event;

use crate::drive::{Drive, Started};
use crate::failure::{Cause, Failure};

/// What is told when the exchange is over, once and exactly once.
pub trait Tail {
    /// `now` is when the last byte was handed out, or when it was clear that it never will be.
    fn done(self, ending: Ending, moved: Moved, now: Instant);
}

#[derive(Debug)]
pub enum Ending {
    /// The client was handed everything.
    Complete,
    /// The client left before.
    ClientGone,
    Failed(Failure),
}

/// Bytes moved in one attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// To and from the worker, AJP framing included (mod_jk: transferred, read).
    pub to_worker: u64,
    pub from_worker: u64,
    /// Body bytes handed to the client.
    pub to_client: u64,
}

/// How the client will know where the reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// HEAD, 204, 304: no body whatever the worker sends.
    NoBody,
    Length(u64),
    UntilEnd,
}

/// The reply's body. An error means that the reply broke off: the connection must not be ended as if it were complete.
pub struct ReplyBody<B, T: Tail> {
    /// Boxed: the HTTP server moves a response several times, and most are whole already.
    live: Option<Box<Live<B, T>>>,
    /// A reply that was complete before its head was handed on.
    whole: Bytes,
}

/// The reply broke off; the [`Tail`] knows why.
#[derive(Debug)]
pub struct BrokenOff;

struct Live<B, T> {
    drive: Box<Drive<B>>,
    tail: T,
    framing: Framing,
    /// Body bytes handed out.
    given: u64,
}

impl<B> Started<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: fmt::Display,
{
    /// If the whole reply has arrived with its head, which is the usual case: its body, and the exchange is over.
    pub fn take_whole(mut self, framing: Framing, now: Instant) -> Result<(Bytes, Moved), Self> {
        let Some((data, reuse)) = self.drive.peek_whole() else { return Err(self) };
        let fits = match framing {
            Framing::NoBody | Framing::UntilEnd => true,
            Framing::Length(length) => u64::try_from(data.len()) == Ok(length),
        };
        if !fits {
            self.drive.unpeek(data, reuse);
            return Err(self);
        }
        let whole = if framing == Framing::NoBody { Bytes::new() } else { data };
        let moved = Moved { to_client: len(&whole), ..self.drive.moved() };
        self.drive.conclude(reuse, now);
        Ok((whole, moved))
    }

    /// The body to answer with. A reply without a body ends the exchange here and now.
    pub fn into_body<T: Tail>(self, framing: Framing, tail: T) -> ReplyBody<B, T> {
        let live = Live { drive: self.drive, tail, framing, given: 0 };
        if matches!(framing, Framing::NoBody | Framing::Length(0)) {
            live.complete();
            return ReplyBody { live: None, whole: Bytes::new() };
        }
        ReplyBody { live: Some(Box::new(live)), whole: Bytes::new() }
    }

    /// True when the request has no body.
    #[must_use]
    pub fn is_bodiless(&self) -> bool {
        self.drive.is_bodiless()
    }

    /// Gives the reply up: the channel is closed. For replies that are not handed to the client.
    #[must_use]
    pub fn discard(self) -> Moved {
        self.drive.moved()
    }

    /// Lets the worker end its reply unheard, so that the channel can be used again; what it still sends is thrown away.
    pub fn ignore_rest(self) -> Moved {
        let moved = self.drive.moved();
        self.drive.finish_later();
        moved
    }
}

impl<B, T: Tail> Live<B, T>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: fmt::Display,
{
    /// Everything announced has been handed out.
    fn complete(self) {
        let moved = Moved { to_client: self.given, ..self.drive.moved() };
        self.drive.finish_later();
        self.tail.done(Ending::Complete, moved, Instant::now());
    }

    fn end(self, ending: Ending) {
        self.tail.done(ending, Moved { to_client: self.given, ..self.drive.moved() }, Instant::now());
    }
}

impl<B, T: Tail> ReplyBody<B, T> {
    /// A reply that is over already; see [`Started::take_whole`].
    #[must_use]
    pub fn whole(body: Bytes) -> Self {
        Self { live: None, whole: body }
    }
}

impl<B, T> Body for ReplyBody<B, T>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: fmt::Display,
    T: Tail + Unpin,
{
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        loop {
            if !self.whole.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.whole)))));
            }
            let Some(live) = self.live.as_mut() else { return Poll::Ready(None) };
            let event = ready!(live.drive.poll_event(cx));
            let Some(mut live) = self.live.take() else { return Poll::Ready(None) };
            match event {
                Ok(Event::Data(data)) if !data.is_empty() => {
                    let (piece, is_last) = live.clip(data);
                    live.given += len(&piece);
                    if is_last {
                        live.complete();
                    } else {
                        self.live = Some(live);
                    }
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
                // The server flushes whenever the body has nothing more to give, so a flush needs nothing of us.
                Ok(Event::Data(_) | Event::Flush | Event::Ignore | Event::WantBody { .. }) => {
                    self.live = Some(live)
                }
                Ok(Event::Head(_)) => {
                    let failure = live.drive.malformed("a second SEND_HEADERS");
                    live.end(Ending::Failed(failure));
                    return Poll::Ready(Some(Err(BrokenOff)));
                }
                Ok(Event::End { reuse }) => return Poll::Ready(live.conclude(reuse).err().map(Err)),
                Err(failure) => {
                    live.end(Ending::Failed(failure));
                    return Poll::Ready(Some(Err(BrokenOff)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.live.is_none() && self.whole.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.live {
            None => SizeHint::with_exact(len(&self.whole)),
            Some(live) => match live.framing {
                Framing::Length(length) => SizeHint::with_exact(length.saturating_sub(live.given)),
                Framing::UntilEnd | Framing::NoBody => SizeHint::new(),
            },
        }
    }
}

impl<B, T: Tail> Live<B, T>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: fmt::Display,
{
    /// Cuts off what exceeds the announced length; true when that is reached.
    fn clip(&self, mut data: Bytes) -> (Bytes, bool) {
        let Framing::Length(length) = self.framing else { return (data, false) };
        let rest = length.saturating_sub(self.given);
        if len(&data) < rest {
            return (data, false);
        }
        data.truncate(usize::try_from(rest).unwrap_or(usize::MAX));
        (data, true)
    }

    fn conclude(self, reuse: bool) -> Result<(), BrokenOff> {
        let missing = match self.framing {
            Framing::Length(length) => length.saturating_sub(self.given),
            Framing::UntilEnd | Framing::NoBody => 0,
        };
        if missing > 0 {
            self.end(Ending::Failed(Failure {
                stage: crate::Stage::Stream,
                cause: Cause::Truncated { missing },
            }));
            return Err(BrokenOff);
        }
        let moved = Moved { to_client: self.given, ..self.drive.moved() };
        let now = Instant::now();
        self.drive.conclude(reuse, now);
        self.tail.done(Ending::Complete, moved, now);
        Ok(())
    }
}

impl<B, T: Tail> Drop for ReplyBody<B, T> {
    fn drop(&mut self) {
        if let Some(live) = self.live.take() {
            let Live { drive, tail, given, .. } = *live;
            let moved = Moved { to_client: given, ..drive.moved };
            drop(drive);
            tail.done(Ending::ClientGone, moved, Instant::now());
        }
    }
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the worker's reply broke off")
    }
}

impl std::error::Error for BrokenOff {}

fn len(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
