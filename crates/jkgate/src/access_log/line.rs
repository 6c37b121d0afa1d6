//! What a line says.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{HOST, REFERER, USER_AGENT};
use http::{HeaderValue, Method, Request, Uri, Version};

use crate::front::ConnInfo;
use crate::ticket::Facts;

/// What a line keeps of the request: references to hyper's buffers, no copies.
pub(crate) struct Line {
    pub(crate) id: String,
    peer: Arc<ConnInfo>,
    method: Method,
    uri: Uri,
    version: Version,
    host: Option<HeaderValue>,
    referer: Option<HeaderValue>,
    agent: Option<HeaderValue>,
}

/// What is known when the request is over.
#[derive(Clone, Copy)]
pub(super) struct Ended<'a> {
    pub(super) facts: &'a Facts,
    pub(super) duration: Duration,
}

impl Line {
    pub(crate) fn begin<B>(request: &Request<B>, conn: &Arc<ConnInfo>) -> Self {
        let header = |name| request.headers().get(name).cloned();
        Self {
            id: String::new(),
            peer: Arc::clone(conn),
            method: request.method().clone(),
            uri: request.uri().clone(),
            version: request.version(),
            host: header(HOST),
            referer: header(REFERER),
            agent: header(USER_AGENT),
        }
    }

    /// Apache's form, with our own fields behind it as `name=value`.
    pub(super) fn apache(&self, out: &mut Vec<u8>, clock: &mut Clock, ended: Ended<'_>, combined: bool) {
        let Ended { facts, duration } = ended;
        put(out, &[&self.peer.peer_text, " - - [", clock.now(), "] \""]);
        escape(out, self.method.as_str().as_bytes());
        out.push(b' ');
        escape(out, target(&self.uri).as_bytes());
        put(out, &[" ", version(self.version), "\" "]);
        number(out, u64::from(status(facts)));
        out.push(b' ');
        match facts.bytes {
            0 => out.push(b'-'),
            bytes => number(out, bytes),
        }
        if combined {
            for header in [&self.referer, &self.agent] {
                out.extend_from_slice(b" \"");
                match header {
                    Some(value) => escape(out, value.as_bytes()),
                    None => out.push(b'-'),
                }
                out.push(b'"');
            }
        }
        let group = facts.group.as_deref().unwrap_or("-");
        let worker = facts.worker.as_deref().unwrap_or("-");
        let choice = if facts.choice.is_empty() { "-" } else { facts.choice };
        put(out, &[" ", facts.outcome, " group=", group, " worker=", worker]);
        put(out, &[" choice=", choice, " tries="]);
        number(out, u64::from(facts.attempts));
        out.extend_from_slice(b" ttfb=");
        match facts.first_byte {
            Some(time) => number(out, micros(time)),
            None => out.push(b'-'),
        }
        out.extend_from_slice(b" time=");
        number(out, micros(duration));
        if !self.id.is_empty() {
            put(out, &[" id=", &self.id]);
        }
    }

    pub(super) fn json(&self, out: &mut Vec<u8>, ended: Ended<'_>) {
        let Ended { facts, duration } = ended;
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let _infallible = write!(out, "{{\"time\":{}.{:03}", time.as_secs(), time.subsec_millis());
        text_field(out, "client", self.peer.peer_text.as_bytes());
        text_field(out, "listener", self.peer.listener.name.as_bytes());
        text_field(out, "method", self.method.as_str().as_bytes());
        text_field(out, "host", self.host.as_ref().map_or(b"", HeaderValue::as_bytes));
        text_field(out, "target", target(&self.uri).as_bytes());
        text_field(out, "protocol", version(self.version).as_bytes());
        number_field(out, "status", u64::from(status(facts)));
        text_field(out, "outcome", facts.outcome.as_bytes());
        text_field(out, "group", facts.group.as_deref().unwrap_or("").as_bytes());
        text_field(out, "worker", facts.worker.as_deref().unwrap_or("").as_bytes());
        text_field(out, "choice", facts.choice.as_bytes());
        number_field(out, "tries", u64::from(facts.attempts));
        number_field(out, "bytes", facts.bytes);
        if let Some(first) = facts.first_byte {
            number_field(out, "ttfb_us", micros(first));
        }
        number_field(out, "time_us", micros(duration));
        text_field(out, "referer", self.referer.as_ref().map_or(b"", HeaderValue::as_bytes));
        text_field(out, "agent", self.agent.as_ref().map_or(b"", HeaderValue::as_bytes));
        text_field(out, "id", self.id.as_bytes());
        out.push(b'}');
    }
}

/// Local time in Apache's form, made once a second.
#[derive(Debug, Default)]
pub(super) struct Clock {
    second: u64,
    text: String,
}

impl Clock {
    fn now(&mut self) -> &str {
        let second = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if second != self.second || self.text.is_empty() {
            self.second = second;
            self.text = jiff::ZonedDateTime::now().strftime("%d/%b/%Y:%H:%M:%S %z").to_string();
        }
        &self.text
    }
}

/// A client that left without an answer has nginx's 499.
fn status(facts: &Facts) -> u16 {
    facts.status.map_or(499, |status| status.as_u16())
}

fn target(uri: &Uri) -> &str {
    uri.path_and_query().map_or("*", |target| target.as_str())
}

fn version(version: Version) -> &'static str {
    if version == Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn put(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn number_field(out: &mut Vec<u8>, name: &str, value: u64) {
    put(out, &[",\"", name, "\":"]);
    number(out, value);
}

fn text_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    put(out, &[",\"", name, "\":\""]);
    let text = String::from_utf8_lossy(value);
    for &byte in text.as_bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0..0x20 => {
                let _infallible = write!(out, "\\u{byte:04x}");
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// As httpd does it: what could end the field or the line, or is not printable ASCII, as `\xHH`.
fn escape(out: &mut Vec<u8>, bytes: &[u8]) {
    if !bytes.iter().any(|byte| matches!(byte, b'"' | b'\\') || !(0x20..=0x7E).contains(byte)) {
        out.extend_from_slice(bytes);
        return;
    }
    for &byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x20..=0x7E => out.push(byte),
            _ => {
                let _infallible = write!(out, "\\x{byte:02x}");
            }
        }
    }
}
