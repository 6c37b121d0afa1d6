//! The status page and its interface: who may ask, what is done, and how it is shown. Rendering is jk-status's.

mod access;
mod run;
mod users;
mod view;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, PRAGMA, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use jk_status::{Cmd, Mime, Request};
use tokio::sync::mpsc;

use self::access::Denied;
use self::run::Done;
use crate::answer::{Answer, ClientBody, Events};
use crate::control::Control;
use crate::proxy::{Ends, Refusal, refuse};
use crate::ticket::Ticket;

/// Answers a request that a mapping sent here.
pub(crate) async fn serve(
    mut ticket: Ticket,
    parts: &Parts,
    body: ClientBody,
    ends: &Ends<'_>,
) -> Response<Answer> {
    let Some(control) = ticket.gateway().control.get().map(Arc::clone) else {
        return refuse(ticket, &Refusal::UNAVAILABLE);
    };
    let plan = ticket.gateway().plan();
    let spec = plan.config.status().clone();
    let access = match access::check(&spec, &ticket, parts, ends).await {
        Ok(access) => access,
        Err(denied) => return denied_response(ticket, &denied),
    };
    let mut query = parts.uri.query().unwrap_or_default().to_owned();
    if parts.method == Method::POST {
        let Ok(form) = Limited::new(body, MAX_FORM).collect().await else {
            return refuse(ticket, &Refusal::BAD_BODY);
        };
        let form = String::from_utf8_lossy(&form.to_bytes()).replace('+', "%20");
        query = if query.is_empty() { form } else { format!("{query}&{form}") };
    }
    let request = Request::parse(&query);
    if let Some(asset) = request.get("asset") {
        return asset_response(ticket, asset);
    }
    if request.get("events").is_some() {
        return events(ticket, &control, ends);
    }
    let wants_change = request.cmd().is_ok_and(|cmd| cmd.changes_something() && cmd != Cmd::Edit)
        || request.get("do").is_some();
    let server = (ends.server_name.to_string(), ends.server_port);
    if wants_change && let Err(denied) = access.may_change(&spec, parts, &request) {
        let done = run::refused(&control, request, server, denied.sentence.clone()).await;
        return refused_change(ticket, done, &denied);
    }
    let by = format!("{} on the status page", access.who());
    let read_only = spec.read_only || !access.may_write();
    let done = run::run(&control, request, (server, by), read_only).await;
    respond(&mut ticket, done).map(|body| Answer::own(body, ticket))
}

/// The same on the admin channel, which only its owner can open.
pub(crate) fn admin(control: &Arc<Control>, query: &str) -> Response<Full<Bytes>> {
    let request = Request::parse(query);
    let done = run::read(control, &request, &("localhost".to_owned(), 0), true);
    let mut response = Response::new(Full::from(done.body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(done.content_type));
    response
}

/// A mapping of its own for Prometheus.
pub(crate) async fn metrics(mut ticket: Ticket, parts: &Parts, ends: &Ends<'_>) -> Response<Answer> {
    let Some(control) = ticket.gateway().control.get().map(Arc::clone) else {
        return refuse(ticket, &Refusal::UNAVAILABLE);
    };
    let plan = ticket.gateway().plan();
    if let Err(denied) = access::check(plan.config.status(), &ticket, parts, ends).await {
        return denied_response(ticket, &denied);
    }
    let request = Request::parse("mime=prometheus");
    let server = (ends.server_name.to_string(), ends.server_port);
    let done = run::run(&control, request, (server, String::new()), true).await;
    respond(&mut ticket, done).map(|body| Answer::own(body, ticket))
}

fn respond(ticket: &mut Ticket, done: Done) -> Response<Bytes> {
    ticket.facts.status = Some(StatusCode::OK);
    ticket.facts.outcome = "ok";
    let mut response = Response::new(Bytes::from(done.body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(done.content_type));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static(if done.mime == Mime::Html { "no-store" } else { "no-cache" }),
    );
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    guard(headers);
    response
}

fn guard(headers: &mut http::HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(jk_status::CSP));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer"));
}

/// Who may read is told in the form that he asked for, as mod_jk tells it.
fn refused_change(mut ticket: Ticket, done: Done, denied: &Denied) -> Response<Answer> {
    let mut response = respond(&mut ticket, done);
    *response.status_mut() = denied.status;
    if denied.status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    ticket.facts.status = Some(denied.status);
    ticket.facts.outcome = "denied";
    response.map(|body| Answer::own(body, ticket))
}

fn denied_response(mut ticket: Ticket, denied: &Denied) -> Response<Answer> {
    ticket.facts.status = Some(denied.status);
    ticket.facts.outcome = "denied";
    let mut response = Response::new(Answer::own(Bytes::from(format!("{}\n", denied.sentence)), ticket));
    *response.status_mut() = denied.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if denied.status == StatusCode::UNAUTHORIZED {
        headers.insert(
            http::header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Basic realm=\"jkgate status\", charset=\"UTF-8\""),
        );
    }
    guard(headers);
    response
}

fn asset_response(mut ticket: Ticket, asset: &str) -> Response<Answer> {
    let (body, kind) = match asset {
        "style" => (jk_status::STYLE, "text/css; charset=utf-8"),
        "script" => (jk_status::SCRIPT, "text/javascript; charset=utf-8"),
        _ => return refuse(ticket, &Refusal::NO_MAPPING),
    };
    ticket.facts.status = Some(StatusCode::OK);
    ticket.facts.outcome = "ok";
    let mut response = Response::new(Answer::own(Bytes::from_static(body.as_bytes()), ticket));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    guard(response.headers_mut());
    response
}

/// Live cells, once a second, for as long as somebody looks.
fn events(mut ticket: Ticket, control: &Arc<Control>, ends: &Ends<'_>) -> Response<Answer> {
    use std::sync::atomic::Ordering::Relaxed;
    let viewers = &ticket.gateway().stats.viewers;
    if viewers.fetch_add(1, Relaxed) >= MAX_VIEWERS {
        viewers.fetch_sub(1, Relaxed);
        return refuse(ticket, &Refusal::UNAVAILABLE);
    }
    let (sender, receiver) = mpsc::channel(1);
    let (control, gateway) = (Arc::clone(control), Arc::clone(ticket.gateway()));
    let server = (ends.server_name.to_string(), ends.server_port);
    tokio::spawn(async move {
        let mut before = Vec::new();
        loop {
            let cells = jk_status::cells(&view::take(&control, (&server.0, server.1), true));
            let moved = cells.iter().filter(|cell| !before.contains(*cell));
            let pairs: Vec<String> =
                moved.map(|(id, text)| format!("{}:{}", quote(id), quote(text))).collect();
            // A comment keeps proxies from closing a quiet stream.
            let event = if pairs.is_empty() {
                ":\n\n".to_owned()
            } else {
                format!("data: {{{}}}\n\n", pairs.join(","))
            };
            before = cells;
            if sender.send(Bytes::from(event)).await.is_err() || gateway.draining.load(Relaxed) {
                break;
            }
            tokio::select! {
                () = sender.closed() => break,
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
        }
        gateway.stats.viewers.fetch_sub(1, Relaxed);
    });
    ticket.facts.status = Some(StatusCode::OK);
    let mut response = Response::new(Answer::Events(Events { receiver, ticket: Some(Box::new(ticket)) }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    guard(response.headers_mut());
    response
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

const MAX_VIEWERS: u64 = 32;
const MAX_FORM: usize = 64 * 1024;
