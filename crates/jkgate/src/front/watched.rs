//! A client's socket that notes what happens on it, so that one sweep a second can tell a slow client from a quiet one.
//!
//! hyper has a timer of its own for request heads; armed and disarmed for every request, it costs more than all of this.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::sweep::{Pulse, SideEnded};

pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

pub(crate) struct Watched {
    pub(crate) stream: Stream,
    pub(crate) pulse: Arc<Pulse>,
    /// Read before this connection was put to sleep.
    pub(crate) unread: Bytes,
}

impl AsyncRead for Watched {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        if !this.unread.is_empty() {
            let piece = this.unread.split_to(this.unread.len().min(buf.remaining()));
            buf.put_slice(&piece);
            this.pulse.bytes_came();
            return Poll::Ready(Ok(()));
        }
        let read = match &mut this.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        };
        if buf.filled().len() > before {
            this.pulse.bytes_came();
        } else if matches!(read, Poll::Ready(Ok(()))) && buf.remaining() > 0 {
            // The client has ended its side: it has left, or it waits for the answer. Both look the same, so it gets some time;
            // the server would take it for gone.
            match this.pulse.side_ended() {
                SideEnded::Wait => return Poll::Pending,
                SideEnded::LookAgain => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                SideEnded::Gone => {}
            }
        }
        read
    }
}

impl Watched {
    fn written(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &result {
            Poll::Pending => self.pulse.write_blocked(),
            Poll::Ready(_) => self.pulse.bytes_went(),
        }
        result
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = match &mut this.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        };
        this.written(result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = match &mut this.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        };
        this.written(result)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Nothing: the socket is closed right after, or lingers.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Stream {
    /// Ready when there is something to read, or the end.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.readable().await,
            Self::Unix(stream) => stream.readable().await,
        }
    }

    /// Ends our side and reads what the client is still sending, for a while: to close a socket with unread bytes resets it, and the client
    /// may then never see the answer (RFC 9112 §9.6).
    pub(crate) async fn linger(self) {
        let over = match self {
            Self::Tcp(stream) => tokio::time::timeout(LINGER, read_away(stream)).await,
            Self::Unix(stream) => tokio::time::timeout(LINGER, read_away(stream)).await,
        };
        let _whoever_still_sends_is_cut_off = over;
    }

    /// Writes what fits at once; for a last word to a client that is being turned away.
    pub(crate) fn try_write(&self, bytes: &[u8]) {
        let _best_effort = match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
        };
    }
}

async fn read_away(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut left = MOST_READ_AWAY;
    let mut piece = vec![0; 16 * 1024];
    if stream.shutdown().await.is_err() {
        return;
    }
    while let Ok(n @ 1..) = stream.read(&mut piece).await {
        match left.checked_sub(n) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// How long a client that is still sending is listened to after its answer.
const LINGER: std::time::Duration = std::time::Duration::from_secs(2);

/// And how much it may send meanwhile, in bytes.
const MOST_READ_AWAY: usize = 1 << 20;
