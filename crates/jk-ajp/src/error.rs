//! What can be wrong with a message.

use std::fmt;

/// A request that AJP13 cannot carry. Nothing of it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodeError {
    /// The head does not fit one packet, and AJP cannot split it.
    TooLarge {
        /// Size of the packet that would hold it, in bytes, its 4-byte header included.
        needed: usize,
        /// The packet size in force.
        limit: usize,
    },
    /// A string of more than 65534 bytes: its length has no representation.
    StringTooLong { len: usize },
    /// More than 65535 headers.
    TooManyHeaders { count: usize },
    /// A header name that would be read as one of the protocol's codes.
    AmbiguousName,
}

/// Bytes that are not a message of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// A packet does not begin with "AB".
    Magic {
        found: [u8; 2],
    },
    /// A packet is longer than the packet size in force.
    TooLong {
        len: usize,
        limit: usize,
    },
    /// A packet without a type.
    Empty,
    UnknownType(u8),
    /// A field reaches beyond the end of its packet.
    Short(&'static str),
    /// A string is not followed by its NUL byte.
    Unterminated(&'static str),
    /// A null string where the protocol needs one.
    Null(&'static str),
    /// A header code that does not exist.
    HeaderCode(u16),
    /// Not a status of three digits.
    Status(u16),
    /// Bytes follow the message inside its packet.
    Trailing {
        count: usize,
    },
}

/// A message that may not come at this point of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfOrder {
    BodyBeforeHead,
    SecondHead,
    EndBeforeHead,
    AfterEnd,
    CPong,
    /// The worker asks for body data before it got what it asked for.
    AskedTwice,
    /// The worker asks for zero bytes.
    AskedNothing,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { needed, limit } => {
                write!(f, "the request head needs a packet of {needed} bytes, the packet size is {limit}")
            }
            Self::StringTooLong { len } => {
                write!(f, "a value of {len} bytes is longer than the 65534 that AJP13 can carry")
            }
            Self::TooManyHeaders { count } => write!(f, "{count} headers are more than AJP13 can count"),
            Self::AmbiguousName => f.write_str("a header name begins like one of AJP13's codes"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { found: [a, b] } => {
                write!(f, "a packet begins with {a:02x} {b:02x} where 41 42 is due; is this an AJP13 port?")
            }
            Self::TooLong { len, limit } => write!(
                f,
                "a packet of {len} bytes is longer than the packet size of {limit}; both sides must have the same"
            ),
            Self::Empty => f.write_str("a packet without a message type"),
            Self::UnknownType(code) => write!(f, "message type {code} does not exist"),
            Self::Short(what) => write!(f, "the packet ends inside {what}"),
            Self::Unterminated(what) => write!(f, "{what} does not end with a NUL byte"),
            Self::Null(what) => write!(f, "{what} is null"),
            Self::HeaderCode(code) => write!(f, "header code {code:04x} does not exist"),
            Self::Status(status) => write!(f, "status {status} is not one of HTTP's"),
            Self::Trailing { count } => write!(f, "{count} bytes follow the message inside its packet"),
        }
    }
}

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BodyBeforeHead => "SEND_BODY_CHUNK before SEND_HEADERS",
            Self::SecondHead => "a second SEND_HEADERS",
            Self::EndBeforeHead => "END_RESPONSE without SEND_HEADERS",
            Self::AfterEnd => "a message after END_RESPONSE",
            Self::CPong => "a CPONG that nobody asked for",
            Self::AskedTwice => "GET_BODY_CHUNK while one is unanswered",
            Self::AskedNothing => "GET_BODY_CHUNK for no bytes",
        })
    }
}

impl std::error::Error for EncodeError {}
impl std::error::Error for DecodeError {}
impl std::error::Error for OutOfOrder {}
