//! One connection to a worker with its buffers.

use std::time::Instant;

use bytes::BytesMut;
use jk_ajp::{PacketSize, Packets};

use crate::socket::Socket;
use crate::timer::Timer;

pub(crate) struct Channel {
    pub(crate) socket: Socket,
    pub(crate) input: BytesMut,
    pub(crate) output: BytesMut,
    pub(crate) packets: Packets,
    pub(crate) timer: Timer,
    pub(crate) size: PacketSize,
    /// Whose reactor the socket is registered with.
    pub(crate) core: usize,
    pub(crate) idle_since: Instant,
    /// When the last interval CPing was answered, or the channel last came back.
    pub(crate) proven: Instant,
}

impl Channel {
    pub(crate) fn new(socket: Socket, size: PacketSize, now: Instant) -> Self {
        Self {
            socket,
            input: BytesMut::new(),
            output: BytesMut::new(),
            packets: Packets::new(size),
            timer: Timer::default(),
            size,
            core: crate::core::current(),
            idle_since: now,
            proven: now,
        }
    }

    /// Registers the socket with this core's reactor. `None`: the channel is dead or not silent.
    pub(crate) fn adopt(mut self: Box<Self>) -> Option<Box<Self>> {
        let core = crate::core::current();
        if self.core == core {
            return self.is_quiet().then_some(self);
        }
        self.timer.forget();
        let Self { socket, input, output, packets, timer, size, idle_since, proven, .. } = *self;
        let detached = socket.detach().ok()?;
        if !detached.is_quiet() || !input.is_empty() {
            return None;
        }
        let socket = detached.attach().ok()?;
        Some(Box::new(Self { socket, input, output, packets, timer, size, core, idle_since, proven }))
    }

    /// True when the worker has neither closed the channel nor sent anything since its last END_RESPONSE.
    ///
    /// A FIN that came before the client's request is always seen: the reactor learns of both in order, and this thread
    /// runs the request only after the reactor told.
    pub(crate) fn is_quiet(&self) -> bool {
        // Without the read buffer: the client may still hold the last reply in it, and a new one would be had for nothing.
        self.input.is_empty() && self.socket.is_silent()
    }
}

/// First size of the read buffer: a small reply whole, or one packet of the default size.
pub(crate) const READ_SIZE: usize = 8192;
