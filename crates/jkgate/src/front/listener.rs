//! Accepting: one loop a core and address, which stops while the listener has all the connections it may have.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use jk_config::ListenerSpec;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{Notify, watch};
use tracing::warn;

use super::conn::{Doorman, serve};
use super::info::{self, ConnInfo};
use super::watched::Stream;
use crate::stack::Stack;

/// A listener in service: what its cores share.
pub(crate) struct Front {
    /// Replaced by a reload that changes limits only; connections keep what they began with.
    pub(crate) spec: arc_swap::ArcSwap<ListenerSpec>,
    /// Where it really listens.
    pub(crate) local: Option<SocketAddr>,
    /// The address of every connection, unless it listens on all of them.
    local_text: Option<Arc<str>>,
    pub(crate) stats: FrontStats,
    room: Notify,
    /// True: stop accepting.
    closed: watch::Sender<bool>,
}

/// Counters of a listener.
#[derive(Debug, Default)]
pub(crate) struct FrontStats {
    pub(crate) open: AtomicUsize,
    pub(crate) accepted: AtomicU64,
    /// Times the limit on connections was reached.
    pub(crate) full: AtomicU64,
}

impl Front {
    pub(crate) fn new(spec: Arc<ListenerSpec>, local: Option<SocketAddr>) -> Arc<Self> {
        Arc::new(Self {
            spec: arc_swap::ArcSwap::new(spec),
            local,
            local_text: local
                .filter(|local| !local.ip().is_unspecified())
                .map(|local| info::text(local.ip()).into()),
            stats: FrontStats::default(),
            room: Notify::new(),
            closed: watch::Sender::new(false),
        })
    }

    /// Stops accepting, after what waits in the queue has been taken in.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
        self.room.notify_waiters();
    }

    /// A connection has ended.
    pub(super) fn depart(&self) {
        self.stats.open.fetch_sub(1, Relaxed);
        self.room.notify_one();
    }

    async fn wait_for_room(&self) {
        loop {
            let room = self.room.notified();
            if self.stats.open.load(Relaxed) < self.spec.load().max_connections {
                return;
            }
            self.stats.full.fetch_add(1, Relaxed);
            room.await;
        }
    }

    fn admit(self: &Arc<Self>) -> Doorman {
        self.stats.open.fetch_add(1, Relaxed);
        self.stats.accepted.fetch_add(1, Relaxed);
        Doorman::new(Arc::clone(self))
    }

    /// Accepts on this core until the listener is closed.
    pub(crate) async fn accept_tcp(self: Arc<Self>, socket: std::net::TcpListener, stack: Arc<Stack>) {
        let Ok(socket) = TcpListener::from_std(socket) else { return };
        let mut closed = self.closed.subscribe();
        loop {
            tokio::select! {
                biased;
                () = self.wait_for_room() => {}
                _ = closed.wait_for(|closed| *closed) => break,
            }
            let accepted = tokio::select! {
                accepted = socket.accept() => accepted,
                _ = closed.wait_for(|closed| *closed) => break,
            };
            match accepted {
                Ok((stream, peer)) => self.greet(stream, peer, &stack),
                Err(error) => pause_after(&error, &self.spec.load().name).await,
            }
        }
        // Whoever is in the queue, or on the way to it, has been told "connected" by the kernel and would be reset.
        let end = tokio::time::Instant::now() + LAST_CALL;
        while let Ok(Ok((stream, peer))) = tokio::time::timeout_at(end, socket.accept()).await {
            self.greet(stream, peer, &stack);
        }
    }

    fn greet(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, stack: &Arc<Stack>) {
        let own = || stream.local_addr().ok().map(|local| info::text(local.ip()).into());
        let Some(local) = self.local_text.clone().or_else(own) else { return };
        let info = ConnInfo::new(self.spec.load_full(), (peer.ip(), peer.port()), local);
        tokio::spawn(serve(Stream::Tcp(stream), Arc::new(info), Arc::clone(stack), self.admit()));
    }

    /// A unix socket has one acceptor.
    pub(crate) async fn accept_unix(
        self: Arc<Self>,
        socket: std::os::unix::net::UnixListener,
        stack: Arc<Stack>,
    ) {
        let Ok(socket) = UnixListener::from_std(socket) else { return };
        let mut closed = self.closed.subscribe();
        loop {
            tokio::select! {
                biased;
                () = self.wait_for_room() => {}
                _ = closed.wait_for(|closed| *closed) => return,
            }
            let accepted = tokio::select! {
                accepted = socket.accept() => accepted,
                _ = closed.wait_for(|closed| *closed) => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    let info = Arc::new(ConnInfo::local(self.spec.load_full()));
                    tokio::spawn(serve(Stream::Unix(stream), info, Arc::clone(&stack), self.admit()));
                }
                Err(error) => pause_after(&error, &self.spec.load().name).await,
            }
        }
    }
}

/// A client that left before it was accepted is nothing; anything else (no file descriptors) would spin.
async fn pause_after(error: &io::Error, listener: &str) {
    if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        return;
    }
    warn!(listener, %error, "Cannot accept a connection; trying again.");
    tokio::time::sleep(Duration::from_millis(100)).await;
}

/// How long a listener that closes still takes connections whose first bytes are on their way.
const LAST_CALL: Duration = Duration::from_millis(20);
