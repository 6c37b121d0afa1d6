//! One exchange on a lent channel: writes the head, feeds the client's body as the worker asks for it, and hands out what the
//! worker answers. Everything is pulled: nobody is asked for more than the other side wants, so memory stays at one read buffer
//! and one body packet.
//!
//! ```text
//! forward ─► head out ─► [body packet ◄─ GET_BODY_CHUNK]* ─► SEND_HEADERS ─► Started ─► ReplyBody ─► END_RESPONSE ─► pool
//!              └──────────── the worker may answer at any time, also before it has the body ─────────┘
//! ```

use std::collections::VecDeque;
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use http_body::Body;
use jk_ajp::{Event, Exchange, Reply, ReplyHead};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::time::Sleep;

use crate::body::{BodyLength, RequestBody};
use crate::channel::READ_SIZE;
use crate::failure::{Cause, Failure, Stage};
use crate::finish;
use crate::lease::Lease;
use crate::reply::Moved;

/// How long a worker may be silent.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// While a reply is due; `None`: for ever.
    pub reply_timeout: Option<Duration>,
    /// While bytes wait to be written to it.
    pub send_timeout: Duration,
    /// The caller's clock at the start, good to a millisecond: saves the first silence a look of its own.
    pub now: Instant,
    /// The request may be sent again if the reply ends with its head: so wait a moment for what follows before handing the head on.
    pub hold_head: bool,
}

/// An exchange that came to nothing: why, and what is left of the request.
pub struct Lost<B> {
    pub failure: Failure,
    pub body: RequestBody<B>,
    pub moved: Moved,
}

/// An exchange whose reply head has come.
pub struct Started<B> {
    pub head: ReplyHead,
    pub(crate) drive: Box<Drive<B>>,
}

/// A request under way; see [`forward`].
pub struct Forward<B> {
    /// `None` once it has ended. Boxed once, so that it is not moved at its size from hand to hand.
    drive: Option<Box<Drive<B>>>,
    held: Option<Held>,
}

/// A head that waits for what follows it. A worker that is killed between the two then costs nobody an answer.
struct Held {
    head: ReplyHead,
    patience: Pin<Box<Sleep>>,
}

/// Sends a request and waits for the head of its reply.
///
/// `head` is a complete FORWARD_REQUEST; its buffer is exchanged for the channel's empty one. On failure the channel is closed and
/// the body comes back, with how much was moved, for another attempt if the caller's rules allow one.
///
/// Cancel safe: dropping the future closes the channel.
pub fn forward<B>(mut lease: Lease, head: &mut BytesMut, body: RequestBody<B>, limits: Limits) -> Forward<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    if let Some(channel) = lease.channel() {
        channel.output.clear();
        std::mem::swap(&mut channel.output, head);
    }
    Forward { drive: Some(Box::new(Drive::new(lease, body, limits))), held: None }
}

impl<B> Future for Forward<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    type Output = Result<Started<B>, Box<Lost<B>>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(drive) = this.drive.as_mut() else { return Poll::Pending };
        if this.held.is_none() {
            match ready!(drive.poll_head(cx)) {
                Ok(head) if drive.limits.hold_head && !drive.has_more() => {
                    let patience = Box::pin(tokio::time::sleep(HOLD));
                    this.held = Some(Held { head, patience });
                }
                Ok(head) => return this.started(head),
                Err(failure) => return this.lost(failure),
            }
        }
        if let Some(Held { patience, .. }) = &mut this.held {
            match drive.poll_event(cx) {
                Poll::Pending if patience.as_mut().poll(cx).is_pending() => return Poll::Pending,
                Poll::Pending => {}
                Poll::Ready(Ok(event)) => drive.stash.push_back(event),
                // Nothing of the reply was handed on: to the caller its head never came.
                Poll::Ready(Err(failure)) => {
                    return this.lost(Failure { stage: Stage::AwaitHead, cause: failure.cause });
                }
            }
        }
        match this.held.take() {
            Some(Held { head, .. }) => this.started(head),
            None => Poll::Pending,
        }
    }
}

impl<B> Forward<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    fn started(&mut self, head: ReplyHead) -> Poll<Result<Started<B>, Box<Lost<B>>>> {
        self.drive.take().map_or(Poll::Pending, |drive| Poll::Ready(Ok(Started { head, drive })))
    }

    fn lost(&mut self, failure: Failure) -> Poll<Result<Started<B>, Box<Lost<B>>>> {
        self.drive.take().map_or(Poll::Pending, |drive| Poll::Ready(Err(Box::new(drive.fail(failure)))))
    }
}

pub(crate) struct Drive<B> {
    lease: Lease,
    exchange: Exchange,
    body: RequestBody<B>,
    limits: Limits,
    /// The worker waits for a body packet of up to this many data bytes.
    want: Option<usize>,
    /// Body data whose packet header is the end of the channel's output.
    data: Bytes,
    /// Read ahead by [`Drive::peek_whole`].
    stash: VecDeque<Event>,
    broken: Option<Failure>,
    pub(crate) moved: Moved,
    stage: Stage,
    /// The head was held back once, to travel with the first of the body.
    held: bool,
    /// The time, as long as nothing was waited for.
    now: Option<Instant>,
}

impl<B> Drive<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    fn new(mut lease: Lease, body: RequestBody<B>, limits: Limits) -> Self {
        // Tomcat reads the first body packet unasked when there is a Content-Length (mod_jk: ajp_send_request).
        let (announced, want) = match body.length() {
            BodyLength::None => (jk_ajp::RequestBody::None, None),
            BodyLength::Known(length) => {
                (jk_ajp::RequestBody::Length(length), lease.channel().map(|channel| channel.size.max_body()))
            }
            BodyLength::Unknown => (jk_ajp::RequestBody::Chunked, None),
        };
        Self {
            lease,
            exchange: Exchange::new(announced),
            body,
            limits,
            want,
            data: Bytes::new(),
            stash: VecDeque::new(),
            broken: None,
            moved: Moved::default(),
            stage: Stage::SendHead,
            held: false,
            now: Some(limits.now),
        }
    }

    /// The reply's head; what may come before it is passed over.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<ReplyHead, Failure>> {
        loop {
            match ready!(self.poll_event(cx))? {
                Event::Head(head) => return Poll::Ready(Ok(head)),
                Event::Ignore | Event::Flush | Event::WantBody { .. } => {}
                Event::Data(_) | Event::End { .. } => {
                    return Poll::Ready(Err(self.malformed("a reply without SEND_HEADERS")));
                }
            }
        }
    }

    /// True when a whole packet that follows the head is here already.
    fn has_more(&mut self) -> bool {
        self.lease.channel().is_some_and(|channel| channel.packets.missing(&channel.input) == 0)
    }

    /// The next thing that concerns the client: never `WantBody`.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, Failure>> {
        loop {
            match self.next_buffered()? {
                Some(Event::WantBody { max }) => {
                    self.want = Some(max);
                    continue;
                }
                Some(Event::Ignore) => continue,
                Some(event) => return Poll::Ready(Ok(event)),
                None => {}
            }
            let client_is_slow = self.poll_feed(cx)?.is_pending();
            if client_is_slow && self.stage == Stage::SendHead && !self.held {
                // The server reads a body only after it was asked for it, so the first look always finds nothing; the second finds
                // a small body whole, and head and body leave in one write.
                self.held = true;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let sent = self.poll_send(cx);
            match self.poll_receive(cx) {
                Poll::Ready(Ok(())) => continue,
                // A worker that answered early and closed makes the write fail; what it said counts, and was read first.
                Poll::Ready(Err(failure)) => return Poll::Ready(Err(failure)),
                Poll::Pending => {}
            }
            match sent {
                Poll::Ready(Ok(true)) if self.want.is_some() => {}
                Poll::Ready(Ok(_)) => return self.poll_silence(cx, client_is_slow).map(Err),
                Poll::Ready(Err(failure)) => return Poll::Ready(Err(failure)),
                Poll::Pending => return self.poll_stuck(cx).map(Err),
            }
            if client_is_slow {
                return Poll::Pending;
            }
        }
    }

    /// What the worker sent and was not looked at, without any I/O.
    fn next_buffered(&mut self) -> Result<Option<Event>, Failure> {
        if let Some(event) = self.stash.pop_front() {
            return Ok(Some(event));
        }
        if let Some(failure) = self.broken.take() {
            return Err(failure);
        }
        let stage = self.stage;
        let malformed = |what: String| Failure::new(stage, Cause::Malformed(what));
        let Some(channel) = self.lease.channel() else { return Ok(None) };
        let Some(payload) =
            channel.packets.next(&mut channel.input).map_err(|error| malformed(error.to_string()))?
        else {
            return Ok(None);
        };
        let reply = Reply::parse(payload).map_err(|error| malformed(error.to_string()))?;
        let event = self.exchange.handle(reply).map_err(|error| malformed(error.to_string()))?;
        if matches!(event, Event::Head(_)) {
            self.stage = Stage::Stream;
        }
        Ok(Some(event))
    }

    /// Puts the next body packet behind the output when the worker waits for one. Pending: the client has nothing yet.
    fn poll_feed(&mut self, cx: &mut Context<'_>) -> Result<Poll<()>, Failure> {
        let Some(want) = self.want else { return Ok(Poll::Ready(())) };
        if !self.data.is_empty() {
            return Ok(Poll::Ready(()));
        }
        let stage = self.stage;
        let Some(channel) = self.lease.channel() else { return Ok(Poll::Ready(())) };
        let size = channel.size;
        let piece = match self.body.poll_piece(cx, |available| jk_ajp::body_len(available, want, size)) {
            Poll::Pending => return Ok(Poll::Pending),
            Poll::Ready(piece) => piece.map_err(|error| Failure::new(stage, Cause::Client(error)))?,
        };
        match piece {
            Some(piece) => {
                jk_ajp::write_body_header(&mut channel.output, piece.len());
                self.data = piece;
            }
            None => jk_ajp::write_empty_body(&mut channel.output),
        }
        self.want = None;
        self.exchange.body_sent();
        Ok(Poll::Ready(()))
    }

    /// Writes what there is. `Ready(true)`: something was written.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Failure>> {
        let stage = self.stage;
        let Some(channel) = self.lease.channel() else { return Poll::Ready(Ok(false)) };
        let mut wrote = false;
        while !channel.output.is_empty() || !self.data.is_empty() {
            let socket = Pin::new(&mut channel.socket);
            let written = if self.data.is_empty() {
                socket.poll_write(cx, &channel.output)
            } else {
                socket.poll_write_vectored(cx, &[IoSlice::new(&channel.output), IoSlice::new(&self.data)])
            };
            let n = match written {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(Failure::new(stage, Cause::Closed))),
                Poll::Ready(Ok(n)) => n,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Failure::io(stage, error))),
            };
            let from_output = n.min(channel.output.len());
            if from_output == channel.output.len() {
                // Not advanced: a buffer whose start has moved must be moved back some day.
                channel.output.clear();
            } else {
                channel.output.advance(from_output);
            }
            self.data.advance(n.saturating_sub(from_output).min(self.data.len()));
            channel.timer.quiet();
            self.moved.to_worker += u64::try_from(n).unwrap_or(0);
            wrote = true;
        }
        if self.stage == Stage::SendHead {
            self.stage = Stage::AwaitHead;
        }
        Poll::Ready(Ok(wrote))
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let stage = self.stage;
        let Some(channel) = self.lease.channel() else { return Poll::Pending };
        // A bulk reply fills the small buffer in one read; then one read takes several packets at a time.
        let room = if self.moved.from_worker > BULK { BULK_READ_SIZE } else { READ_SIZE };
        channel.input.reserve(room);
        let read = pin!(channel.socket.read_buf(&mut channel.input)).poll(cx);
        match read {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(0)) => Poll::Ready(Err(Failure::new(stage, Cause::Closed))),
            Poll::Ready(Ok(n)) => {
                channel.timer.quiet();
                self.moved.from_worker += u64::try_from(n).unwrap_or(0);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(Failure::io(stage, error))),
        }
    }

    /// Nothing to read: ready when the worker has been silent for too long. While the worker waits for the client, it is not its silence.
    fn poll_silence(&mut self, cx: &mut Context<'_>, client_is_slow: bool) -> Poll<Failure> {
        let Some(channel) = self.lease.channel() else { return Poll::Pending };
        let now = self.now.take();
        if client_is_slow {
            channel.timer.quiet();
            return Poll::Pending;
        }
        let Some(limit) = self.limits.reply_timeout else { return Poll::Pending };
        channel.timer.poll_silence(cx, limit, now).map(|()| Failure::new(self.stage, Cause::Timeout))
    }

    /// The worker takes no bytes.
    fn poll_stuck(&mut self, cx: &mut Context<'_>) -> Poll<Failure> {
        let Some(channel) = self.lease.channel() else { return Poll::Pending };
        channel
            .timer
            .poll_silence(cx, self.limits.send_timeout, self.now.take())
            .map(|()| Failure::new(self.stage, Cause::Timeout))
    }

    /// If the whole rest of the reply is in the buffer already, and is at most one piece: that piece and the reuse flag.
    ///
    /// Then the channel can go back before the client has even seen the head.
    pub(crate) fn peek_whole(&mut self) -> Option<(Bytes, bool)> {
        let mut data = None;
        loop {
            let other = match self.next_buffered() {
                Ok(Some(Event::End { reuse })) => return Some((data.unwrap_or_default(), reuse)),
                Ok(Some(Event::Ignore | Event::Flush)) => continue,
                Ok(Some(Event::Data(bytes))) if data.is_none() => {
                    data = Some(bytes);
                    continue;
                }
                Ok(Some(Event::WantBody { max })) => {
                    self.want = Some(max);
                    None
                }
                Ok(other) => other,
                Err(failure) => {
                    self.broken = Some(failure);
                    None
                }
            };
            self.stash.extend(data.map(Event::Data));
            self.stash.extend(other);
            return None;
        }
    }

    /// Undoes [`Drive::peek_whole`].
    pub(crate) fn unpeek(&mut self, data: Bytes, reuse: bool) {
        self.stash.push_back(Event::Data(data));
        self.stash.push_back(Event::End { reuse });
    }

    pub(crate) fn malformed(&self, what: &str) -> Failure {
        Failure::new(self.stage, Cause::Malformed(what.to_owned()))
    }

    pub(crate) fn is_bodiless(&self) -> bool {
        self.body.length() == BodyLength::None
    }

    pub(crate) fn moved(&self) -> Moved {
        self.moved
    }

    /// END_RESPONSE has been read.
    pub(crate) fn conclude(mut self, reuse: bool, now: Instant) {
        // Something the worker is still owed, or has said too much: the next request must not meet it.
        let owed = self.want.is_some() || !self.data.is_empty() || !self.stash.is_empty();
        let Some(channel) = self.lease.channel() else { return };
        if reuse && !owed && channel.output.is_empty() && finish::is_at_rest(channel) {
            self.lease.give_back(now);
        }
    }

    /// The client has all it was promised; END_RESPONSE may still be to come and is read outside the reply body's life.
    pub(crate) fn finish_later(mut self) {
        loop {
            match self.next_buffered() {
                Ok(Some(Event::End { reuse })) => return self.conclude(reuse, Instant::now()),
                Ok(Some(Event::WantBody { max })) => self.want = Some(max),
                Ok(Some(Event::Data(_) | Event::Flush | Event::Ignore)) => {}
                Ok(Some(Event::Head(_))) | Err(_) => return,
                Ok(None) => break,
            }
        }
        let body_is_complete = self.body.is_complete();
        let unsent =
            !self.data.is_empty() || self.lease.channel().is_none_or(|channel| !channel.output.is_empty());
        if unsent || (self.want.is_some() && !body_is_complete) {
            // A worker that waits for more of a body that nobody reads any longer cannot be satisfied.
            return;
        }
        let owed = finish::Owed { body_is_complete, end_of_body: self.want.is_some() };
        finish::hand_over(self.lease, self.exchange, owed);
    }

    fn fail(mut self, failure: Failure) -> Lost<B> {
        if self.body.is_replayable() {
            self.body.rewind();
        }
        Lost { failure, body: self.body, moved: self.moved }
    }
}

/// Replies longer than this are read in large pieces.
const BULK: u64 = 16 * 1024;

const BULK_READ_SIZE: usize = 64 * 1024;

/// How long a head waits for what follows it. Tomcat sends a flush packet behind a head that shall be seen at once, so only a worker without
/// that habit makes anybody wait.
const HOLD: Duration = Duration::from_millis(50);
