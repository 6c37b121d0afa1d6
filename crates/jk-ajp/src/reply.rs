//! What a worker says.

use bytes::{Buf, Bytes};

use crate::code::KnownHeader;
use crate::error::DecodeError;

/// One message of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    SendHeaders(ReplyHead),
    /// Empty: a flush.
    SendBodyChunk(Bytes),
    /// The worker wants up to this many bytes of the request's body.
    GetBodyChunk {
        max: u16,
    },
    /// `reuse` false: the channel must be closed by us, at once; Tomcat does not close it.
    EndResponse {
        reuse: bool,
    },
    CPong,
}

/// Status and headers of a reply. Parsed already, so that reading it cannot fail; names and values are slices of the packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyHead {
    pub status: u16,
    reason: Bytes,
    count: u16,
    /// The headers as they came.
    rest: Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyName {
    Known(KnownHeader),
    Other(Bytes),
}

/// Headers in the order in which they came.
#[derive(Debug, Clone)]
pub struct Headers {
    left: u16,
    rest: Bytes,
}

impl Reply {
    /// Reads a payload as [`crate::Packets`] cuts it.
    pub fn parse(payload: Bytes) -> Result<Self, DecodeError> {
        let mut rest = payload;
        let Some(kind) = rest.first().copied() else { return Err(DecodeError::Empty) };
        rest.advance(1);
        match kind {
            SEND_BODY_CHUNK => body_chunk(rest),
            SEND_HEADERS => ReplyHead::parse(rest).map(Self::SendHeaders),
            END_RESPONSE => {
                let reuse = take_u8(&mut rest, "END_RESPONSE")? != 0;
                nothing_left(&rest).map(|()| Self::EndResponse { reuse })
            }
            GET_BODY_CHUNK => {
                let max = take_u16(&mut rest, "GET_BODY_CHUNK")?;
                nothing_left(&rest).map(|()| Self::GetBodyChunk { max })
            }
            CPONG => nothing_left(&rest).map(|()| Self::CPong),
            other => Err(DecodeError::UnknownType(other)),
        }
    }
}

impl ReplyHead {
    fn parse(mut rest: Bytes) -> Result<Self, DecodeError> {
        let status = take_u16(&mut rest, "the status")?;
        if !(100..=999).contains(&status) {
            return Err(DecodeError::Status(status));
        }
        let reason = take_string(&mut rest, "the reason phrase")?.unwrap_or_default();
        let count = take_u16(&mut rest, "the number of headers")?;
        let headers = rest.clone();
        for _ in 0..count {
            take_header(&mut rest)?;
        }
        nothing_left(&rest)?;
        Ok(Self { status, reason, count, rest: headers })
    }

    /// As sent; Tomcat sends the status in digits. Empty if null.
    #[must_use]
    pub fn reason(&self) -> &[u8] {
        &self.reason
    }

    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[must_use]
    pub fn headers(&self) -> Headers {
        Headers { left: self.count, rest: self.rest.clone() }
    }
}

impl Iterator for Headers {
    type Item = (ReplyName, Bytes);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // Parsed once before, when the head was made.
        take_header(&mut self.rest).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

fn body_chunk(mut rest: Bytes) -> Result<Reply, DecodeError> {
    let len = usize::from(take_u16(&mut rest, "the length of SEND_BODY_CHUNK")?);
    if rest.len() < len {
        return Err(DecodeError::Short("SEND_BODY_CHUNK"));
    }
    let data = rest.split_to(len);
    // Tomcat ends the data with a NUL; mod_jk does not insist on it.
    match rest.as_ref() {
        [] | [0] => Ok(Reply::SendBodyChunk(data)),
        more => Err(DecodeError::Trailing { count: more.len() }),
    }
}

fn take_header(rest: &mut Bytes) -> Result<(ReplyName, Bytes), DecodeError> {
    let name = match rest.first_chunk::<2>() {
        Some(&[0xA0, low]) => {
            let code = u16::from_be_bytes([0xA0, low]);
            rest.advance(2);
            ReplyName::Known(KnownHeader::from_code(code).ok_or(DecodeError::HeaderCode(code))?)
        }
        _ => ReplyName::Other(take_string(rest, "a header name")?.ok_or(DecodeError::Null("a header name"))?),
    };
    let value = take_string(rest, "a header value")?.ok_or(DecodeError::Null("a header value"))?;
    Ok((name, value))
}

/// `None`: a null string.
fn take_string(rest: &mut Bytes, what: &'static str) -> Result<Option<Bytes>, DecodeError> {
    let len = take_u16(rest, what)?;
    if len == u16::MAX {
        return Ok(None);
    }
    let len = usize::from(len);
    match rest.get(len) {
        None => Err(DecodeError::Short(what)),
        Some(0) => {
            let text = rest.split_to(len);
            rest.advance(1);
            Ok(Some(text))
        }
        Some(_) => Err(DecodeError::Unterminated(what)),
    }
}

fn take_u8(rest: &mut Bytes, what: &'static str) -> Result<u8, DecodeError> {
    let value = rest.first().copied().ok_or(DecodeError::Short(what))?;
    rest.advance(1);
    Ok(value)
}

fn take_u16(rest: &mut Bytes, what: &'static str) -> Result<u16, DecodeError> {
    let value = rest.first_chunk::<2>().copied().ok_or(DecodeError::Short(what))?;
    rest.advance(2);
    Ok(u16::from_be_bytes(value))
}

fn nothing_left(rest: &Bytes) -> Result<(), DecodeError> {
    if rest.is_empty() { Ok(()) } else { Err(DecodeError::Trailing { count: rest.len() }) }
}

const SEND_BODY_CHUNK: u8 = 3;
const SEND_HEADERS: u8 = 4;
const END_RESPONSE: u8 = 5;
const GET_BODY_CHUNK: u8 = 6;
const CPONG: u8 = 9;
