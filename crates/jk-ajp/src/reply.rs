//! What a worker says.

use std::ops::Range;

use bytes::Bytes;

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
    count: u16,
    payload: Bytes,
    /// Where the reason phrase lies in the payload.
    reason: Range<usize>,
    /// Where the first header begins.
    headers_at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyName<'a> {
    Known(KnownHeader),
    /// As the worker wrote it.
    Other(&'a [u8]),
}

/// Headers in the order in which they came.
#[derive(Debug, Clone)]
pub struct Headers<'a> {
    left: u16,
    payload: &'a Bytes,
    rest: Cursor<'a>,
}

impl Reply {
    /// Reads a payload as [`crate::Packets`] cuts it.
    pub fn parse(payload: Bytes) -> Result<Self, DecodeError> {
        let mut rest = Cursor { bytes: &payload, at: 0 };
        let Some(kind) = payload.first().copied() else { return Err(DecodeError::Empty) };
        rest.at = 1;
        match kind {
            SEND_BODY_CHUNK => body_chunk(&payload),
            SEND_HEADERS => ReplyHead::parse(payload).map(Self::SendHeaders),
            END_RESPONSE => {
                let reuse = rest.u8("END_RESPONSE")? != 0;
                rest.end().map(|()| Self::EndResponse { reuse })
            }
            GET_BODY_CHUNK => {
                let max = rest.u16("GET_BODY_CHUNK")?;
                rest.end().map(|()| Self::GetBodyChunk { max })
            }
            CPONG => rest.end().map(|()| Self::CPong),
            other => Err(DecodeError::UnknownType(other)),
        }
    }
}

impl ReplyHead {
    fn parse(payload: Bytes) -> Result<Self, DecodeError> {
        let mut rest = Cursor { bytes: &payload, at: 1 };
        let status = rest.u16("the status")?;
        if !(100..=999).contains(&status) {
            return Err(DecodeError::Status(status));
        }
        let reason = rest.string("the reason phrase")?.unwrap_or_default();
        let count = rest.u16("the number of headers")?;
        let headers_at = rest.at;
        // Looked through once here, so that nobody who reads them has to be ready for a bad one.
        for _ in 0..count {
            rest.header()?;
        }
        rest.end()?;
        Ok(Self { status, count, payload, reason, headers_at })
    }

    /// As sent; Tomcat sends the status in digits. Empty if null.
    #[must_use]
    pub fn reason(&self) -> &[u8] {
        self.payload.get(self.reason.clone()).unwrap_or_default()
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
    pub fn headers(&self) -> Headers<'_> {
        let rest = Cursor { bytes: &self.payload, at: self.headers_at };
        Headers { left: self.count, payload: &self.payload, rest }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (ReplyName<'a>, Bytes);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // Parsed once before, when the head was made.
        let (name, value) = self.rest.header().ok()?;
        Some((name, self.payload.slice(value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

fn body_chunk(payload: &Bytes) -> Result<Reply, DecodeError> {
    let mut rest = Cursor { bytes: payload, at: 1 };
    let len = usize::from(rest.u16("the length of SEND_BODY_CHUNK")?);
    let end = rest.at + len;
    // Tomcat ends the data with a NUL; mod_jk does not insist on it.
    match payload.get(end..) {
        None => Err(DecodeError::Short("SEND_BODY_CHUNK")),
        Some([] | [0]) => Ok(Reply::SendBodyChunk(payload.slice(rest.at..end))),
        Some(more) => Err(DecodeError::Trailing { count: more.len() }),
    }
}

/// Reads a payload from front to back. It counts no references: only what is kept is made a [`Bytes`] of its own.
#[derive(Debug, Clone)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        let value = self.rest().first().copied().ok_or(DecodeError::Short(what))?;
        self.at += 1;
        Ok(value)
    }

    fn u16(&mut self, what: &'static str) -> Result<u16, DecodeError> {
        let value = self.rest().first_chunk::<2>().copied().ok_or(DecodeError::Short(what))?;
        self.at += 2;
        Ok(u16::from_be_bytes(value))
    }

    /// Where a string lies, without its NUL; `None`: a null string.
    fn string(&mut self, what: &'static str) -> Result<Option<Range<usize>>, DecodeError> {
        let len = self.u16(what)?;
        if len == u16::MAX {
            return Ok(None);
        }
        let text = self.at..self.at + usize::from(len);
        match self.bytes.get(text.end) {
            None => Err(DecodeError::Short(what)),
            Some(0) => {
                self.at = text.end + 1;
                Ok(Some(text))
            }
            Some(_) => Err(DecodeError::Unterminated(what)),
        }
    }

    /// A header's name, and where its value lies.
    fn header(&mut self) -> Result<(ReplyName<'a>, Range<usize>), DecodeError> {
        let name = match self.rest().first_chunk::<2>() {
            Some(&[0xA0, low]) => {
                let code = u16::from_be_bytes([0xA0, low]);
                self.at += 2;
                ReplyName::Known(KnownHeader::from_code(code).ok_or(DecodeError::HeaderCode(code))?)
            }
            _ => {
                let name = self.string("a header name")?.ok_or(DecodeError::Null("a header name"))?;
                ReplyName::Other(self.bytes.get(name).unwrap_or_default())
            }
        };
        let value = self.string("a header value")?.ok_or(DecodeError::Null("a header value"))?;
        Ok((name, value))
    }

    fn end(&self) -> Result<(), DecodeError> {
        match self.rest() {
            [] => Ok(()),
            more => Err(DecodeError::Trailing { count: more.len() }),
        }
    }
}

const SEND_BODY_CHUNK: u8 = 3;
const SEND_HEADERS: u8 = 4;
const END_RESPONSE: u8 = 5;
const GET_BODY_CHUNK: u8 = 6;
const CPONG: u8 = 9;
