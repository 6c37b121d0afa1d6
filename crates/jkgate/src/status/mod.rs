//! The status page.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use hyper::body::Incoming;

use crate::answer::Answer;
use crate::proxy::{Refusal, refuse};
use crate::ticket::Ticket;

pub(crate) async fn serve<E>(
    mut ticket: Ticket,
    _parts: &Parts,
    _body: Incoming,
    _ends: &E,
) -> Response<Answer> {
    let plan = ticket.gateway.plan();
    let mut text = String::new();
    for group in plan.groups.values() {
        text.push_str(&format!("{}: {:?}\n", group.name, group.balancer.view(std::time::Instant::now())));
    }
    ticket.facts.status = Some(StatusCode::OK);
    let mut response = Response::new(Answer::own(Bytes::from(text), ticket));
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

pub(crate) fn metrics(ticket: Ticket, _parts: &Parts) -> Response<Answer> {
    refuse(ticket, &Refusal::NO_MAPPING)
}

/// The status page on the admin channel.
pub(crate) fn admin(
    control: &std::sync::Arc<crate::control::Control>,
    _query: &str,
) -> Response<http_body_util::Full<Bytes>> {
    let _ = control;
    Response::new(http_body_util::Full::from(Bytes::new()))
}
