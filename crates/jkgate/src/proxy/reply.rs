//! A worker's reply head as an HTTP response head.

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use hyper::ext::ReasonPhrase;
use jk_ajp::{ReplyHead, ReplyName};
use jk_channel::Framing;

use super::translate::{is_hop_by_hop, parse_length};

/// A reply that cannot be passed on: 502.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadReply {
    Status(u16),
    ContentLength,
}

impl std::fmt::Display for BadReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(f, "status {status} cannot be a final answer's"),
            Self::ContentLength => {
                f.write_str("its Content-Length is no number, or there are two different ones")
            }
        }
    }
}

/// Status, headers, and how the client will know where the body ends.
///
/// `table` is emptied and used for the headers.
pub(crate) fn translate(
    head: &ReplyHead,
    method: &Method,
    mut table: HeaderMap,
) -> Result<(Response<()>, Framing), BadReply> {
    // A final reply with a provisional status would leave the client waiting for ever.
    let status = StatusCode::from_u16(head.status).map_err(|_| BadReply::Status(head.status))?;
    if status.is_informational() {
        return Err(BadReply::Status(head.status));
    }
    table.clear();
    let mut length = None;
    copy_headers(head, &mut table, &mut length)?;
    let framing = frame(status, method, length, &mut table);
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.headers_mut() = table;
    if let Some(reason) = own_reason(head, status) {
        response.extensions_mut().insert(reason);
    }
    Ok((response, framing))
}

/// A worker's Content-Length, as a number and as it wrote it.
struct Length {
    bytes: u64,
    text: HeaderValue,
}

fn copy_headers(
    head: &ReplyHead,
    headers: &mut HeaderMap,
    length: &mut Option<Length>,
) -> Result<(), BadReply> {
    headers.reserve(head.len());
    let mut connection = None;
    for (name, value) in head.headers() {
        let name = match name {
            ReplyName::Known(known) => known.header_name(),
            // A name that is no HTTP token would break the client's framing.
            ReplyName::Other(bytes) => match HeaderName::from_bytes(bytes) {
                Ok(name) => name,
                Err(_) => continue,
            },
        };
        if is_hop_by_hop(&name) {
            if name == CONNECTION {
                connection = Some(value);
            }
            continue;
        }
        if name == CONTENT_LENGTH {
            let announced = announced(value)?;
            if length.as_ref().is_some_and(|other| other.bytes != announced.bytes) {
                return Err(BadReply::ContentLength);
            }
            *length = Some(announced);
            continue;
        }
        if let Ok(value) = HeaderValue::from_maybe_shared(value) {
            append(headers, name, value);
        }
    }
    if let Some(connection) = connection {
        drop_named(&connection, headers);
    }
    Ok(())
}

fn announced(value: Bytes) -> Result<Length, BadReply> {
    let bytes = parse_length(value.trim_ascii()).ok_or(BadReply::ContentLength)?;
    let is_plain = value.first().is_some_and(|first| (b'1'..=b'9').contains(first));
    let text = match HeaderValue::from_maybe_shared(value) {
        Ok(text) if is_plain && text.as_bytes().last().is_some_and(u8::is_ascii_digit) => text,
        // Zeros in front, blanks around: written anew.
        Ok(_) | Err(_) => HeaderValue::from(bytes),
    };
    Ok(Length { bytes, text })
}

/// Headers that a response may have once only: the last one counts (httpd keeps them in a table).
fn append(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    use http::header::{CONTENT_TYPE, LAST_MODIFIED, LOCATION};
    if name == CONTENT_TYPE || name == LOCATION || name == LAST_MODIFIED {
        headers.insert(name, value);
    } else {
        headers.append(name, value);
    }
}

/// What a worker's Connection header names is meant for us alone.
fn drop_named(connection: &Bytes, headers: &mut HeaderMap) {
    for named in connection.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
        if let Ok(name) = HeaderName::from_bytes(named) {
            headers.remove(&name);
        }
    }
}

/// A phrase of the application's own. Tomcat sends the number, which says nothing.
fn own_reason(head: &ReplyHead, status: StatusCode) -> Option<ReasonPhrase> {
    let reason = head.reason();
    if reason.is_empty()
        || reason == status.as_str().as_bytes()
        || status.canonical_reason().is_some_and(|usual| usual.as_bytes() == reason)
    {
        return None;
    }
    ReasonPhrase::try_from(reason).ok()
}

/// RFC 9112 §6.3, from the sender's side.
fn frame(status: StatusCode, method: &Method, length: Option<Length>, headers: &mut HeaderMap) -> Framing {
    match status {
        StatusCode::NO_CONTENT => return Framing::NoBody,
        StatusCode::NOT_MODIFIED => {
            // Tomcat says 0 where it means nothing; the length of the unchanged body is never that by accident.
            if let Some(length) = length.filter(|length| length.bytes > 0) {
                headers.insert(CONTENT_LENGTH, length.text);
            }
            return Framing::NoBody;
        }
        StatusCode::RESET_CONTENT => {
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
            return Framing::NoBody;
        }
        _ => {}
    }
    let framing = match (method, &length) {
        (&Method::HEAD, _) => Framing::NoBody,
        (_, Some(length)) => Framing::Length(length.bytes),
        (_, None) => Framing::UntilEnd,
    };
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, length.text);
    }
    framing
}
