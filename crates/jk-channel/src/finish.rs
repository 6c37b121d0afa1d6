//! Waiting for END_RESPONSE after the client has had its answer.
//!
//! One long-lived task a core does this for all its channels, so that no task is spawned for an exchange and no reply body has to
//! outlive what hyper grants it. The list is short: Tomcat sends END_RESPONSE right behind the last byte.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use jk_ajp::{Event, Exchange, Reply};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use crate::channel::{Channel, READ_SIZE};
use crate::lease::Lease;

/// What the gateway still owes the worker.
pub(crate) struct Owed {
    /// The worker has had the client's whole body, so that a further GET_BODY_CHUNK can be answered with an empty packet.
    pub(crate) body_is_complete: bool,
    /// It has asked for that already.
    pub(crate) end_of_body: bool,
}

/// Hands a channel to this core's finisher, which gives it back after a clean END_RESPONSE and closes it otherwise.
pub(crate) fn hand_over(lease: Lease, exchange: Exchange, Owed { body_is_complete, end_of_body }: Owed) {
    let owes_end_of_body = end_of_body;
    let mut item = Item {
        lease,
        exchange,
        body_is_complete,
        owes_end_of_body,
        discarded: 0,
        deadline: Instant::now() + PATIENCE,
    };
    // Often it has come meanwhile and nobody needs to wait.
    match item.try_now() {
        Some(true) => item.lease.give_back(Instant::now().into_std()),
        Some(false) => {}
        None => crate::core::with_finisher(|finisher| finisher.push(item)),
    }
}

/// True when nothing is left in the buffer that the next request could take for its answer. A late flush is no answer.
pub(crate) fn is_at_rest(channel: &mut Channel) -> bool {
    loop {
        match channel.packets.next(&mut channel.input) {
            Ok(Some(payload)) => {
                if !matches!(Reply::parse(payload), Ok(Reply::SendBodyChunk(data)) if data.is_empty()) {
                    return false;
                }
            }
            Ok(None) => return channel.input.is_empty(),
            Err(_) => return false,
        }
    }
}

pub(crate) struct Finisher {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    arrived: Mutex<Vec<Item>>,
    wake: Notify,
}

struct Item {
    lease: Lease,
    exchange: Exchange,
    body_is_complete: bool,
    owes_end_of_body: bool,
    /// Body bytes thrown away.
    discarded: usize,
    deadline: Instant,
}

impl Finisher {
    /// Starts the task on the current runtime. It ends when the finisher is dropped and its list is empty.
    pub(crate) fn start() -> Self {
        let shared = Arc::new(Shared::default());
        tokio::spawn(run(Arc::clone(&shared)));
        Self { shared }
    }

    fn push(&self, item: Item) {
        if let Some(pool) = item.lease.pool() {
            pool.note_finishing(true);
        }
        self.shared.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(item);
        self.shared.wake.notify_one();
    }
}

impl Drop for Finisher {
    fn drop(&mut self) {
        self.shared.wake.notify_one();
    }
}

async fn run(shared: Arc<Shared>) {
    let mut items: Vec<Item> = Vec::new();
    let mut alarm = pin!(tokio::time::sleep(PATIENCE));
    loop {
        let arrived = shared.wake.notified();
        poll_fn(|cx| poll_items(&mut items, alarm.as_mut(), cx).map(|()| ())).or(arrived).await;
        items.append(&mut shared.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        if items.is_empty() && Arc::strong_count(&shared) == 1 {
            return;
        }
    }
}

/// Ready when the list changed.
fn poll_items(items: &mut Vec<Item>, mut alarm: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
    let before = items.len();
    let mut at = 0;
    while let Some(item) = items.get_mut(at) {
        let done = match item.poll(cx) {
            Poll::Ready(clean) => Some(clean),
            Poll::Pending if item.deadline <= Instant::now() => Some(false),
            Poll::Pending => None,
        };
        match done {
            Some(clean) => items.swap_remove(at).close(clean),
            None => at += 1,
        }
    }
    let Some(next) = items.iter().map(|item| item.deadline).min() else {
        return if before == 0 { Poll::Pending } else { Poll::Ready(()) };
    };
    if alarm.deadline() != next {
        alarm.as_mut().reset(next);
    }
    if before != items.len() || alarm.poll(cx).is_ready() { Poll::Ready(()) } else { Poll::Pending }
}

impl Item {
    fn close(self, clean: bool) {
        if let Some(pool) = self.lease.pool() {
            pool.note_finishing(false);
        }
        if clean {
            self.lease.give_back(Instant::now().into_std());
        }
    }

    /// Looks at what is there without waiting. `Some(true)`: ended cleanly.
    fn try_now(&mut self) -> Option<bool> {
        if self.owes_end_of_body {
            return None;
        }
        let channel = self.lease.channel()?;
        channel.input.reserve(READ_SIZE);
        match channel.socket.try_read(&mut channel.input) {
            Ok(0) => return Some(false),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return Some(false),
        }
        self.parse()
    }

    /// Ready(true): END_RESPONSE came, with reuse, and nothing after it.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        loop {
            if let Some(clean) = self.parse() {
                return Poll::Ready(clean);
            }
            let Some(channel) = self.lease.channel() else { return Poll::Ready(false) };
            if self.owes_end_of_body {
                if channel.output.is_empty() {
                    jk_ajp::write_empty_body(&mut channel.output);
                }
                match pin!(channel.socket.write_all_buf(&mut channel.output)).poll(cx) {
                    Poll::Ready(Ok(())) => {
                        self.owes_end_of_body = false;
                        self.exchange.body_sent();
                    }
                    Poll::Ready(Err(_)) => return Poll::Ready(false),
                    Poll::Pending => return Poll::Pending,
                }
            }
            channel.input.reserve(READ_SIZE);
            match pin!(channel.socket.read_buf(&mut channel.input)).poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(n)) if n > 0 => {}
                Poll::Ready(_) => return Poll::Ready(false),
            }
        }
    }

    fn parse(&mut self) -> Option<bool> {
        let channel = self.lease.channel()?;
        loop {
            let payload = match channel.packets.next(&mut channel.input) {
                Ok(Some(payload)) => payload,
                Ok(None) => return None,
                Err(_) => return Some(false),
            };
            let Ok(reply) = Reply::parse(payload) else { return Some(false) };
            match self.exchange.handle(reply) {
                Ok(Event::End { reuse }) => {
                    return Some(reuse && !self.owes_end_of_body && is_at_rest(channel));
                }
                Ok(Event::Data(data)) => {
                    self.discarded += data.len();
                    if self.discarded > MAX_DISCARDED {
                        return Some(false);
                    }
                }
                Ok(Event::Flush | Event::Ignore) => {}
                Ok(Event::WantBody { .. }) if self.body_is_complete => self.owes_end_of_body = true,
                Ok(Event::WantBody { .. } | Event::Head(_)) | Err(_) => return Some(false),
            }
        }
    }
}

/// Runs a future until it or another one is ready.
trait Or: Future<Output = ()> + Sized {
    async fn or(self, other: impl Future<Output = ()>) {
        let (mut this, mut other) = (pin!(self), pin!(other));
        poll_fn(|cx| {
            if this.as_mut().poll(cx).is_ready() || other.as_mut().poll(cx).is_ready() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

impl<F: Future<Output = ()>> Or for F {}

/// How long END_RESPONSE may be late before its channel is closed.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much of a body that the client must not see (HEAD, too long a reply) is read to save the channel.
const MAX_DISCARDED: usize = 64 * 1024;
