//! The way of one request: who is meant, who serves it, and what the client gets.
//!
//! Read [`serve`] from top to bottom; everything else is a step of it.

mod exchange;
mod forwarded;
mod host;
mod refusal;
mod reply;
mod tail;
mod translate;
mod verdict;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use jk_balance::{Normal, Scratch};
use jk_config::{EncodedSlash, ForwardUri, MappingSpec, Target};

pub(crate) use self::refusal::Refusal;
pub(crate) use self::tail::ExchangeTail;
pub(crate) use self::translate::Ends;
use crate::answer::{Always, Answer, ClientBody};
use crate::control::Group;
use crate::status;
use crate::ticket::Ticket;

/// Answers every request, one way or the other.
pub(crate) fn serve(
    (mut ticket, request): (Ticket, Request<Incoming>),
) -> impl Future<Output = Always> + Send + use<> {
    let (mut parts, incoming) = request.into_parts();
    let body = ClientBody::new(incoming, Arc::clone(&ticket.pulse));
    // A block, not an async fn: that would keep a second copy of its arguments.
    async move {
        let plan = ticket.stack.plan();
        if let Some(refusal) = refuse_early(&parts) {
            return Ok(refuse(ticket, &refusal));
        }
        let conn = Arc::clone(&ticket.conn);
        let Ok(ends) = translate::ends(&conn, parts.version, &parts.uri, &parts.headers) else {
            return Ok(refuse(ticket, &Refusal::BAD_HOST));
        };
        if parts.method == Method::OPTIONS && parts.uri.path() == "*" {
            return Ok(options(ticket));
        }
        let raw = if parts.uri.path().is_empty() { "/" } else { parts.uri.path() };
        let mut scratch = Scratch::default();
        let Ok(normal) = jk_balance::normalise(raw.as_bytes(), &mut scratch) else {
            return Ok(refuse(ticket, &Refusal::BAD_PATH));
        };
        let Some(found) = plan.hosts.find(&ends.server_name, ends.server_port, normal.matched) else {
            return Ok(refuse(ticket, &Refusal::NO_MAPPING));
        };
        let mapping = found.mapping;
        if normal.escaped_slash && mapping.options.encoded_slash != Some(EncodedSlash::Forward) {
            return Ok(refuse(ticket, &Refusal::BAD_PATH));
        }
        let group = match found.target {
            // Boxed, so that every other request's future is not as large as this one's.
            Target::Status => return Ok(Box::pin(status::serve(ticket, &parts, body, &ends)).await),
            Target::Metrics => return Ok(Box::pin(status::metrics(ticket, &parts, &ends)).await),
            Target::Group(_) | Target::Worker(_) => plan.groups.get(found.target),
        };
        let Some(group) = group else {
            return Ok(refuse(ticket, &Refusal::NO_MAPPING));
        };
        let Ok(path) = forwarded_path(raw.as_bytes(), normal, mapping, group) else {
            return Ok(refuse(ticket, &Refusal::BAD_PATH));
        };
        let Ok(length) = translate::body_length(&parts, http_body::Body::size_hint(&body).exact()) else {
            return Ok(refuse(ticket, &Refusal::BAD_BODY));
        };
        let order =
            exchange::Order { parts: &parts, ends: &ends, raw: raw.as_bytes(), path: &path, mapping, group };
        let served = match exchange::forward(&mut ticket, &order, (body, length)).await {
            Ok(served) => served,
            Err(refusal) => return Ok(refuse(ticket, &refusal)),
        };
        let asked = exchange::Asked { method: &parts.method, is_https: ends.is_https, mapping, group };
        // The request's header table becomes the response's: the server keeps one a connection.
        let table = std::mem::take(&mut parts.headers);
        Ok(exchange::answer(ticket, &asked, served, table))
    }
}

/// Methods that a gateway does not pass on, and a target that is none: "GET name" reads like the one of a CONNECT.
fn refuse_early(parts: &Parts) -> Option<Refusal> {
    if parts.method == Method::CONNECT || parts.method == Method::TRACE {
        return Some(Refusal::METHOD);
    }
    (parts.uri.authority().is_some() && parts.uri.scheme().is_none()).then_some(Refusal::BAD_PATH)
}

/// `OPTIONS *` asks the gateway itself.
fn options(mut ticket: Ticket) -> Response<Answer> {
    ticket.facts.status = Some(StatusCode::OK);
    ticket.facts.outcome = "ok";
    let mut response = Response::new(Answer::own(bytes::Bytes::new(), ticket));
    let allow = http::HeaderValue::from_static("GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH");
    response.headers_mut().insert(http::header::ALLOW, allow);
    response
}

/// The form of the path that goes to the worker; never one that was not matched.
fn forwarded_path<'a>(
    raw: &'a [u8],
    normal: Normal<'a>,
    mapping: &MappingSpec,
    group: &Group,
) -> Result<std::borrow::Cow<'a, [u8]>, jk_balance::BadPath> {
    Ok(match mapping.options.forward_uri.unwrap_or(group.spec.forward_uri) {
        ForwardUri::Proxy => normal.proxy.into(),
        ForwardUri::Escaped => jk_balance::escaped(normal.proxy).into(),
        ForwardUri::Unparsed => {
            jk_balance::check_unparsed(raw, normal.matched)?;
            raw.into()
        }
    })
}

/// An answer of the gateway's own.
pub(crate) fn refuse(mut ticket: Ticket, refusal: &Refusal) -> Response<Answer> {
    ticket.facts.status = Some(refusal.status);
    ticket.facts.outcome = refusal.word;
    ticket.gateway().stats.refused.fetch_add(1, Relaxed);
    let id = ticket.id();
    refusal.response(&id).map(|body| Answer::own(body, ticket))
}
