//! One client connection: hyper while there is something to do, the bare socket while there is not.
//!
//! hyper holds a read buffer and its state for an idle client. After a moment of silence both are given back and only the socket is
//! waited on; the next byte brings them again. A busy connection never pays for this.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use super::info::ConnInfo;
use super::listener::Front;
use super::sweep::{self, Order, Pulse};
use super::watched::{Stream, Watched};
use crate::stack::{Arrival, Stack};

/// Counts a connection out when it ends.
pub(crate) struct Doorman {
    front: Arc<Front>,
}

impl Doorman {
    pub(super) fn new(front: Arc<Front>) -> Self {
        Self { front }
    }
}

impl Drop for Doorman {
    fn drop(&mut self) {
        self.front.depart();
    }
}

/// Serves a connection until it ends.
pub(super) async fn serve(stream: Stream, info: Arc<ConnInfo>, stack: Arc<Stack>, doorman: Doorman) {
    let pulse = Pulse::new();
    if stack.is_draining() {
        pulse.give_order(Order::Drain);
    }
    let mut rest = Some((stream, Bytes::new()));
    while let Some((stream, unread)) = rest {
        sweep::watch(&pulse, &info.listener);
        let io = Watched { stream, pulse: Arc::clone(&pulse), unread };
        rest = match Box::pin(talk(io, &info, &stack, &pulse)).await {
            Some((stream, unread)) if unread.is_empty() => {
                // An empty piece still holds the whole read buffer.
                drop(unread);
                wait(stream, &pulse).await
            }
            rest => rest,
        };
    }
    drop(doorman);
}

/// Speaks HTTP until the connection ends (`None`) or has nothing to do (its socket and what was read of it).
async fn talk(
    io: Watched,
    info: &Arc<ConnInfo>,
    stack: &Arc<Stack>,
    pulse: &Arc<Pulse>,
) -> Option<(Stream, Bytes)> {
    let service = service_fn(|request| {
        pulse.request_begins();
        stack.call(Arrival::new(request, Arc::clone(info), Arc::clone(pulse)))
    });
    let mut builder = http1::Builder::new();
    let limits = &info.listener;
    builder.title_case_headers(true).max_headers(limits.max_headers).max_header_size(limits.max_header_size);
    builder.max_buf_size(info.listener.max_header_size.max(READ_BUFFER));
    let mut conn = builder.serve_connection(TokioIo::new(io), service);
    let parked = poll_fn(|cx| {
        loop {
            if Pin::new(&mut conn).poll(cx).is_ready() {
                return Poll::Ready(false);
            }
            pulse.set_waker(cx.waker());
            let order = pulse.order();
            if order == Order::Go {
                return Poll::Pending;
            }
            pulse.order_done();
            match order {
                Order::Park if pulse.may_park() => return Poll::Ready(true),
                Order::Go | Order::Park => {}
                // Once more around: an idle connection ends at once.
                Order::Drain => Pin::new(&mut conn).graceful_shutdown(),
                Order::HeadTooSlow | Order::Close => {
                    pulse.give_order(order);
                    return Poll::Ready(true);
                }
            }
        }
    })
    .await;
    if !parked {
        if pulse.has_left_over() {
            conn.into_parts().io.into_inner().stream.linger().await;
        }
        return None;
    }
    let parts = conn.into_parts();
    let Watched { stream, .. } = parts.io.into_inner();
    match pulse.order() {
        Order::HeadTooSlow => {
            stream.try_write(TOO_SLOW);
            None
        }
        Order::Close => None,
        Order::Go | Order::Park | Order::Drain => Some((stream, parts.read_buf)),
    }
}

/// Waits for the next byte, or the end.
async fn wait(stream: Stream, pulse: &Arc<Pulse>) -> Option<(Stream, Bytes)> {
    let ordered = poll_fn(|cx| {
        pulse.set_waker(cx.waker());
        match pulse.order() {
            Order::Go => Poll::Pending,
            Order::Park => {
                pulse.order_done();
                Poll::Pending
            }
            Order::Drain | Order::HeadTooSlow | Order::Close => Poll::Ready(()),
        }
    });
    tokio::select! {
        biased;
        ready = stream.readable() => ready.is_ok(),
        () = ordered => false,
    }
    .then_some((stream, Bytes::new()))
}

/// The last word to a client whose request head does not come.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// What one read of a body may take.
const READ_BUFFER: usize = 128 * 1024;
