//! From a group to an answer: choosing, sending, and choosing again where that is safe.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use bytes::BytesMut;
use http::header::{COOKIE, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};
use jk_ajp::EncodeError;
use jk_balance::{Ask, Attempt, NoMember, Outcome, Picked, Tried};
use jk_channel::{BodyLength, Failure, Limits, Lost, Moved, ReplyBody, RequestBody, Started};
use jk_config::{FailStatus, MappingSpec, ReplyTimeout, Stickiness};
use tracing::warn;

use super::refusal::{Refusal, page};
use super::tail::{self, ExchangeTail, report, traffic};
use super::translate::{self, Addressee, Ends};
use super::verdict::{Answered, Circumstances, Retry, status_verdict, verdict};
use super::{refuse, reply};
use crate::answer::{Answer, ClientBody};
use crate::control::{Group, Worker};
use crate::ticket::Ticket;

/// What is to be sent, and to whom.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) parts: &'a Parts,
    pub(super) ends: &'a Ends<'a>,
    /// The path as received.
    pub(super) raw: &'a [u8],
    /// The path as forwarded.
    pub(super) path: &'a [u8],
    pub(super) mapping: &'a Arc<MappingSpec>,
    pub(super) group: &'a Arc<Group>,
}

type Body = RequestBody<ClientBody>;

/// One attempt's end that is not an answer yet.
enum Miss {
    /// Try another member, or the same on a new channel; the client gets `answer` if there is none.
    Again {
        answer: Answered,
        same: bool,
        /// The worker had to read something of the request.
        cost: bool,
    },
    Refused(Refusal),
}

/// Serves a request by a member of its group, up to the head of the reply.
pub(super) async fn forward(
    ticket: &mut Ticket,
    order: &Order<'_>,
    (body, length): (ClientBody, BodyLength),
) -> Result<Served, Refusal> {
    let mut body = Some(RequestBody::new(body, length));
    let sessions = Sessions::of(order);
    let mut routes: Vec<&str> = Vec::new();
    routes.extend(sessions.ids.iter().filter_map(|id| jk_balance::route(id)));
    let mut tried = Tried::default();
    let mut last = None;
    let mut is_costly_retry = false;
    if ticket.is_logged() {
        ticket.facts.group = Some(Arc::clone(&order.group.name));
    }
    // One look at the clock serves all that happens before the first wait.
    let mut now = ticket.began;
    loop {
        let ask = Ask {
            routes: &routes,
            has_session: !sessions.ids.is_empty(),
            stateless: order.mapping.options.stateless,
            activation: Some(&order.mapping.options.activation),
            tried: &tried,
        };
        let picked = match order.group.balancer.pick(&ask, now) {
            Ok(picked) => picked,
            Err(NoMember::AllBusy) if order.group.queue.wait(&order.group.spec.queue, ticket.began).await => {
                now = Instant::now();
                continue;
            }
            Err(_) => return Err(nobody(order, last)),
        };
        // Only what a worker had to read costs it something, and only if there is somebody left to ask.
        if is_costly_retry && !order.group.balancer.may_retry(now) {
            return Err(nobody(order, last));
        }
        let member = picked.attempt.member();
        sessions.note(order, member, now);
        match attempt(ticket, order, picked, &mut body, now).await {
            Ok(served) => return Ok(served),
            Err(Miss::Refused(refusal)) => return Err(refusal),
            Err(Miss::Again { answer, same, cost }) => {
                now = Instant::now();
                last = Some(answer);
                if !same {
                    tried.add(member);
                }
                is_costly_retry = cost;
                ticket.gateway().stats.retries.fetch_add(1, Relaxed);
            }
        }
    }
}

/// A reply head has come from a member.
pub(super) struct Served {
    started: Started<ClientBody>,
    attempt: Attempt,
    began: Instant,
    set_cookie: bool,
}

/// Sends the request to one member and waits for its head. `body` is full before, and again after a [`Miss::Again`].
async fn attempt(
    ticket: &mut Ticket,
    order: &Order<'_>,
    picked: Picked,
    body: &mut Option<Body>,
    now: Instant,
) -> Result<Served, Miss> {
    let Picked { attempt, how, set_cookie, session_lost } = picked;
    let Some(worker) = order.group.members.get(attempt.member()) else {
        return Err(Miss::Refused(Refusal::UNAVAILABLE));
    };
    ticket.facts.attempts += 1;
    if ticket.is_logged() {
        ticket.facts.worker = Some(Arc::clone(&worker.name));
    }
    ticket.facts.choice = if session_lost { "session_lost" } else { how.word() };
    if session_lost {
        ticket.gateway().stats.sessions_lost.fetch_add(1, Relaxed);
    }
    let Some(full) = body.take() else { return Err(Miss::Refused(Refusal::UNAVAILABLE)) };
    let mut head = take_buffer();
    if let Err(error) = encode(&mut head, ticket, order, (&attempt, worker), full.length()) {
        put_buffer(head);
        return Err(Miss::Refused(too_large(order, worker, error)));
    }
    let lease = match worker.pool.acquire(&worker.spec.channel, now).await {
        Ok(lease) => lease,
        Err(failure) => {
            put_buffer(head);
            let at =
                Circumstances { nothing_sent: true, ..circumstances(order, worker, full.is_replayable()) };
            *body = Some(full);
            return Err(missed(order, (attempt, worker), &failure, (at, Moved::default(), now)));
        }
    };
    let reused = lease.is_reused();
    let limits = limits(order, worker, &full, now);
    let head_size = head.len();
    let result = jk_channel::forward(lease, &mut head, full, limits);
    put_buffer(head);
    match result.await {
        Ok(started) => {
            suspect_packet_size(order, worker, head_size, started.head.status);
            check_status(order, worker, Served { started, attempt, began: now, set_cookie }, body)
        }
        Err(lost) => {
            let Lost { failure, body: back, moved } = *lost;
            let at = Circumstances {
                nothing_sent: moved.to_worker == 0,
                reused,
                ..circumstances(order, worker, back.is_replayable())
            };
            *body = Some(back);
            Err(missed(order, (attempt, worker), &failure, (at, moved, now)))
        }
    }
}

/// What a failed attempt means, for the member and for the request.
fn missed(
    order: &Order<'_>,
    (attempt, worker): (Attempt, &Arc<Worker>),
    failure: &Failure,
    (at, moved, began): (Circumstances, Moved, Instant),
) -> Miss {
    let verdict = verdict(failure, at);
    report(order.group, worker, failure, verdict.outcome, attempt.member());
    attempt.settle(verdict.outcome, traffic(moved), began.elapsed(), Instant::now());
    order.group.queue.freed.notify_one();
    match verdict.retry {
        Retry::SameMember => Miss::Again { answer: verdict.answer, same: true, cost: false },
        Retry::Elsewhere if retries_allowed(order) => {
            Miss::Again { answer: verdict.answer, same: false, cost: !at.nothing_sent }
        }
        Retry::Elsewhere | Retry::No => Miss::Refused(ended(order, verdict.answer)),
    }
}

fn retries_allowed(order: &Order<'_>) -> bool {
    order.group.spec.retries > 1 && !order.mapping.options.no_retry
}

/// A reply whose status the operator counts as a failure of the worker (mod_jk: `fail_on_status`).
fn check_status(
    order: &Order<'_>,
    worker: &Worker,
    served: Served,
    body: &mut Option<Body>,
) -> Result<Served, Miss> {
    let list = order.mapping.options.fail_on_status.as_ref().unwrap_or(&worker.spec.fail_on_status);
    let status = served.started.head.status;
    let Some(FailStatus { soft, .. }) = list.iter().find(|entry| entry.code == status).copied() else {
        return Ok(served);
    };
    let Served { started, attempt, began, .. } = served;
    let verdict = status_verdict(soft, circumstances(order, worker, started.is_bodiless()));
    let moved = started.ignore_rest();
    worker.trouble.note(format!("replied with {status}, which fail_on_status counts as a failure"));
    if worker.trouble.may_log() {
        warn!(
            group = %order.group.name,
            worker = %worker.name,
            address = %worker.spec.address,
            status,
            "Reply counts as a failure."
        );
    }
    attempt.settle(verdict.outcome, traffic(moved), began.elapsed(), Instant::now());
    order.group.queue.freed.notify_one();
    match verdict.retry {
        Retry::Elsewhere if retries_allowed(order) => {
            // Without a body, so that there is nothing to take back from the exchange.
            *body = Some(RequestBody::none());
            Err(Miss::Again { answer: verdict.answer, same: false, cost: true })
        }
        Retry::Elsewhere | Retry::SameMember | Retry::No => Err(Miss::Refused(ended(order, verdict.answer))),
    }
}

/// What the answer has to know of the question.
pub(super) struct Asked<'a> {
    pub(super) method: &'a http::Method,
    pub(super) is_https: bool,
    pub(super) mapping: &'a MappingSpec,
    pub(super) group: &'a Arc<Group>,
}

/// The worker's reply as the client's response. `table` is a used header table whose memory serves once more.
pub(super) fn answer(
    mut ticket: Ticket,
    asked: &Asked<'_>,
    served: Served,
    table: HeaderMap,
) -> Response<Answer> {
    let Served { started, attempt, began, set_cookie } = served;
    let Some(worker) = asked.group.members.get(attempt.member()) else {
        return refuse(ticket, &Refusal::UNAVAILABLE);
    };
    let now = Instant::now();
    let latency = now.saturating_duration_since(began);
    let (head, framing) = match reply::translate(&started.head, asked.method, table) {
        Ok(translated) => translated,
        Err(bad) => {
            let moved = started.discard();
            warn!(
                group = %asked.group.name,
                worker = %worker.name,
                address = %worker.spec.address,
                error = %bad,
                "Reply cannot be passed on."
            );
            worker.trouble.note(format!("a reply that cannot be passed on: {bad} ({})", worker.spec.address));
            attempt.settle(Outcome::Protocol, traffic(moved), latency, now);
            return refuse(ticket, &Refusal::BAD_GATEWAY);
        }
    };
    ticket.facts.status = Some(head.status());
    ticket.facts.first_byte = Some(now.saturating_duration_since(ticket.began));
    let cookie = set_cookie.then(|| route_cookie(asked, &attempt)).flatten();
    if asked.mapping.options.use_server_errors.is_some_and(|from| head.status().as_u16() >= from) {
        let moved = started.ignore_rest();
        attempt.settle(Outcome::Served, traffic(moved), latency, now);
        asked.group.queue.freed.notify_one();
        return own_error(ticket, &head);
    }
    let body = match started.take_whole(framing, now) {
        Ok((whole, moved)) => {
            tail::complete((&mut ticket, attempt), asked.group, moved, latency, now);
            ReplyBody::whole(whole)
        }
        Err(started) => {
            let (group, worker) = (Arc::clone(asked.group), Arc::clone(worker));
            started.into_body(framing, ExchangeTail { ticket, attempt, group, worker, latency })
        }
    };
    let mut response = head.map(|()| Answer::Worker(body));
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The gateway's page in place of a reply (mod_jk: `use_server_errors`). A challenge is kept, or nobody could log in.
fn own_error(mut ticket: Ticket, head: &Response<()>) -> Response<Answer> {
    use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
    ticket.facts.outcome = "own_error_page";
    let id = ticket.id();
    let text = page(head.status(), "The application could not answer this request.", &id);
    let mut response = Response::new(Answer::own(text.into(), ticket));
    *response.status_mut() = head.status();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    for challenge in head.headers().get_all(WWW_AUTHENTICATE) {
        response.headers_mut().append(WWW_AUTHENTICATE, challenge.clone());
    }
    response
}

/// mod_jk's `set_session_cookie`: a cookie whose value is a dot and the route.
fn route_cookie(asked: &Asked<'_>, attempt: &Attempt) -> Option<HeaderValue> {
    let spec = &asked.group.spec;
    let path = match &spec.set_session_cookie {
        Some(cookie) => cookie.path.as_str(),
        None if asked.mapping.options.set_session_cookie => "/",
        None => return None,
    };
    let route = &attempt.spec()?.route;
    let mut text = format!("{}=.{route}", spec.session_cookie);
    if !path.is_empty() {
        text.push_str(";PATH=");
        text.push_str(path);
    }
    text.push_str(";HttpOnly");
    if asked.is_https {
        text.push_str(";Secure");
    }
    HeaderValue::try_from(text).ok()
}

fn encode(
    out: &mut BytesMut,
    ticket: &Ticket,
    order: &Order<'_>,
    (attempt, worker): (&Attempt, &Worker),
    length: BodyLength,
) -> Result<(), EncodeError> {
    let to = Addressee {
        size: worker.size,
        method_by_name: worker.spec.method_by_name,
        secret: worker.spec.secret.as_ref().map(jk_config::Secret::expose),
        route: (!order.group.is_solo).then(|| attempt.spec().map(|spec| spec.route.as_str())).flatten(),
        activation: attempt.activation(),
        path: order.path,
    };
    translate::encode(out, order.parts, order.ends, &ticket.conn, (&to, length))
}

/// Tomcat answers 400 or 500 to a head that is larger than its packetSize; the application's own look the same, so this is a hint only.
fn suspect_packet_size(order: &Order<'_>, worker: &Worker, head_size: usize, status: u16) {
    if matches!(status, 400 | 500) && head_size > jk_ajp::MIN_PACKET && worker.trouble.may_log() {
        warn!(
            group = %order.group.name,
            worker = %worker.name,
            address = %worker.spec.address,
            head_size,
            status,
            "Worker refused a head larger than 8192 bytes. Is Tomcat's packetSize as large as max_packet_size? Set both to the same value."
        );
    }
}

/// 431, and in the log what to raise, on both sides.
fn too_large(order: &Order<'_>, worker: &Worker, error: EncodeError) -> Refusal {
    match error {
        EncodeError::TooLarge { needed, limit } => warn!(
            group = %order.group.name,
            worker = %worker.name,
            needed,
            limit,
            "Request head does not fit an AJP packet; raise max_packet_size here and packetSize in Tomcat to the same value (65536 at most)."
        ),
        EncodeError::StringTooLong { .. }
        | EncodeError::TooManyHeaders { .. }
        | EncodeError::AmbiguousName => {
            warn!(group = %order.group.name, worker = %worker.name, %error, "Request head cannot travel over AJP.");
        }
    }
    Refusal::HEAD_TOO_LARGE
}

fn circumstances(order: &Order<'_>, worker: &Worker, is_replayable: bool) -> Circumstances {
    let method = &order.parts.method;
    let bits = worker.spec.recovery;
    let rescued = (bits.always_get() && method == http::Method::GET)
        || (bits.always_head() && method == http::Method::HEAD);
    Circumstances {
        is_safe: translate::is_safe(method),
        is_replayable,
        may_resend: !order.mapping.options.no_retry && (!bits.abort_if_sent() || rescued),
        nothing_sent: false,
        reused: false,
    }
}

fn limits(order: &Order<'_>, worker: &Worker, body: &Body, now: Instant) -> Limits {
    let at = circumstances(order, worker, body.is_replayable());
    let hold_head =
        at.is_safe && at.may_resend && body.length() == BodyLength::None && retries_allowed(order);
    let reply_timeout = match order.mapping.options.reply_timeout {
        None => worker.spec.channel.reply_timeout,
        Some(ReplyTimeout::Never) => None,
        Some(ReplyTimeout::After(limit)) => Some(limit),
    };
    Limits { reply_timeout, send_timeout: worker.spec.channel.send_timeout, now, hold_head }
}

/// Nobody is left to ask: the last failure's answer, or the operator's page.
fn nobody(order: &Order<'_>, last: Option<Answered>) -> Refusal {
    ended(order, last.unwrap_or(Answered::Unavailable))
}

fn ended(order: &Order<'_>, answer: Answered) -> Refusal {
    let refusal = answer.refusal();
    if answer != Answered::Unavailable {
        return refusal;
    }
    let spec = order.mapping.options.unavailable.as_ref().unwrap_or(&order.group.spec.unavailable);
    Refusal {
        status: http::StatusCode::from_u16(spec.status).unwrap_or(refusal.status),
        retry_after: spec.retry_after,
        page: spec.page.clone(),
        ..refusal
    }
}

/// The session ids of a request, if anybody wants to know.
struct Sessions<'a> {
    ids: Vec<&'a [u8]>,
}

impl<'a> Sessions<'a> {
    fn of(order: &Order<'a>) -> Self {
        let Order { parts, raw, mapping, group, .. } = order;
        if group.spec.stickiness == Stickiness::Off || mapping.options.sticky_ignore {
            return Self { ids: Vec::new() };
        }
        let cookie = mapping.options.session_cookie.as_deref().unwrap_or(&group.spec.session_cookie);
        let parameter = mapping.options.session_path.as_deref().unwrap_or(&group.spec.session_path);
        let cookies = parts.headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
        Self { ids: jk_balance::session_ids(raw, parameter, cookies, cookie).collect() }
    }

    fn note(&self, order: &Order<'_>, member: usize, now: Instant) {
        if let Some(id) = self.ids.first() {
            // Any spread will do; the ids are Tomcat's random ones.
            let hash = id
                .iter()
                .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
            order.group.balancer.note_session(member, hash, now);
        }
    }
}

thread_local! {
    /// A buffer for heads: each exchange trades it for its channel's empty one.
    static BUFFER: Cell<BytesMut> = Cell::default();
}

fn take_buffer() -> BytesMut {
    BUFFER.take()
}

fn put_buffer(mut buffer: BytesMut) {
    buffer.clear();
    BUFFER.set(buffer);
}
