//! Framing: magic, length, payload.

use bytes::{Buf, Bytes, BytesMut};

use crate::error::DecodeError;

/// Smallest and default packet size, in bytes.
pub const MIN_PACKET: usize = 8192;

/// Largest packet size, in bytes.
pub const MAX_PACKET: usize = 65536;

/// The packet size in force for a channel, its 4-byte header included: 8192 to 65536, equal on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketSize(usize);

impl PacketSize {
    /// `None` outside [`MIN_PACKET`] to [`MAX_PACKET`].
    #[must_use]
    pub fn new(bytes: usize) -> Option<Self> {
        (MIN_PACKET..=MAX_PACKET).contains(&bytes).then_some(Self(bytes))
    }

    #[must_use]
    pub fn get(self) -> usize {
        self.0
    }

    /// Largest payload.
    #[must_use]
    pub fn max_payload(self) -> usize {
        self.0 - HEADER
    }

    /// Most request body data in one packet.
    #[must_use]
    pub fn max_body(self) -> usize {
        self.0 - HEADER - 2
    }
}

impl Default for PacketSize {
    fn default() -> Self {
        Self(MIN_PACKET)
    }
}

/// Cuts what a worker sends into payloads.
#[derive(Debug, Clone)]
pub struct Packets {
    limit: PacketSize,
}

impl Packets {
    #[must_use]
    pub fn new(limit: PacketSize) -> Self {
        Self { limit }
    }

    /// Takes the next payload out of `buf`, without its header and without copying; `None`: it is not complete yet.
    ///
    /// Err: the stream cannot be read any further; the channel must be closed.
    pub fn next(&mut self, buf: &mut BytesMut) -> Result<Option<Bytes>, DecodeError> {
        let Some(&[first, second, high, low]) = buf.first_chunk::<HEADER>() else {
            return Self::check_magic(buf).map(|()| None);
        };
        if [first, second] != MAGIC {
            return Err(DecodeError::Magic { found: [first, second] });
        }
        let len = usize::from(u16::from_be_bytes([high, low]));
        // mod_jk takes a payload up to the packet size itself, and so do we.
        if len > self.limit.get() {
            return Err(DecodeError::TooLong { len: len + HEADER, limit: self.limit.get() });
        }
        if len == 0 {
            return Err(DecodeError::Empty);
        }
        if buf.len() < HEADER + len {
            return Ok(None);
        }
        buf.advance(HEADER);
        Ok(Some(buf.split_to(len).freeze()))
    }

    /// Bytes that are certainly missing until the next payload is complete.
    #[must_use]
    pub fn missing(&self, buf: &BytesMut) -> usize {
        match buf.first_chunk::<HEADER>() {
            None => HEADER - buf.len(),
            Some(&[_, _, high, low]) => {
                (HEADER + usize::from(u16::from_be_bytes([high, low]))).saturating_sub(buf.len())
            }
        }
    }

    /// A wrong first byte is told at once, not when the fourth has come.
    fn check_magic(buf: &BytesMut) -> Result<(), DecodeError> {
        let agrees = buf.iter().zip(MAGIC).all(|(found, due)| *found == due);
        if agrees {
            return Ok(());
        }
        let at = |index| buf.get(index).copied().unwrap_or_default();
        Err(DecodeError::Magic { found: [at(0), at(1)] })
    }
}

/// "AB": from the worker.
const MAGIC: [u8; 2] = [0x41, 0x42];

/// Magic and length.
pub(crate) const HEADER: usize = 4;
