//! Packets to the worker that are not heads.

use bytes::{BufMut, BytesMut};

use crate::head::TO_WORKER;
use crate::packet::PacketSize;

/// How many bytes the next body packet may carry when `available` are there and the worker asked for `wanted`.
///
/// A body packet has no type byte; the high byte of its data length stands where other packets have one. Lengths that would look
/// like a message are not used: a shorter packet is legal, and the worker asks for the rest.
#[must_use]
pub fn body_len(available: usize, wanted: usize, size: PacketSize) -> usize {
    match available.min(wanted).min(size.max_body()) {
        512..=767 => 511,
        2560..=2815 => 2559,
        len => len,
    }
}

/// What stands in front of the data of a body packet of `len` bytes: 1 to [`PacketSize::max_body`].
pub fn write_body_header(out: &mut BytesMut, len: usize) {
    debug_assert!(len > 0 && len <= 65530);
    let len = u16::try_from(len).unwrap_or(u16::MAX - 2);
    out.put_slice(&TO_WORKER);
    out.put_u16(len + 2);
    out.put_u16(len);
}

/// A whole body packet.
pub fn write_body(out: &mut BytesMut, data: &[u8]) {
    write_body_header(out, data.len());
    out.put_slice(data);
}

/// The end of a body of unknown length, and the answer to a worker that asks for more than there is.
///
/// Never for a body that broke off: Tomcat takes it for a complete one.
pub fn write_empty_body(out: &mut BytesMut) {
    out.put_slice(&[0x12, 0x34, 0x00, 0x00]);
}

/// "Are you there?"
pub fn write_cping(out: &mut BytesMut) {
    out.put_slice(&[0x12, 0x34, 0x00, 0x01, 0x0A]);
}
