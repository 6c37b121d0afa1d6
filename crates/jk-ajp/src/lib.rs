//! AJP13 as a gateway speaks it: bytes to messages and back, and the order of an exchange. No I/O.
//!
//! Messages to the worker are appended to a buffer that the caller owns ([`HeadWriter`], [`write_body`], [`write_cping`]); what
//! comes back is cut into packets ([`Packets`]), parsed without copying ([`Reply`]) and put in order ([`Exchange`]).
//!
//! Source of every rule: Tomcat's AJPv13 protocol page, and the traffic of mod_jk and Tomcat where the page is silent.

mod body;
mod code;
mod error;
mod exchange;
mod head;
mod packet;
mod reply;

pub use body::{body_len, write_body, write_body_header, write_cping, write_empty_body};
pub use code::KnownHeader;
pub use error::{DecodeError, EncodeError, OutOfOrder};
pub use exchange::{Event, Exchange, RequestBody};
pub use head::{AttributeWriter, HeadWriter, RequestLine};
pub use packet::{MAX_PACKET, MIN_PACKET, PacketSize, Packets};
pub use reply::{Headers, Reply, ReplyHead, ReplyName};
