//! One line a request, in Apache's common or combined form or as JSON, written by a thread of its own.
//!
//! A slow disk never slows a request: lines wait in a bounded queue, and what does not fit is dropped and counted.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{HOST, REFERER, USER_AGENT};
use http::{HeaderValue, Method, Request, Uri, Version};
use jk_config::{AccessLogFormat, AccessLogSpec, LogTarget};
use tracing::warn;

use crate::front::ConnInfo;
use crate::ticket::Facts;

/// The access log in force.
pub(crate) struct AccessLog {
    format: AccessLogFormat,
    target: LogTarget,
    queue: Option<SyncSender<Vec<u8>>>,
    dropped: Arc<AtomicU64>,
    reopen: Arc<AtomicBool>,
}

/// The log as a reload may replace it.
pub(crate) struct AccessLogs {
    current: arc_swap::ArcSwap<AccessLog>,
    dropped: Arc<AtomicU64>,
}

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

impl AccessLogs {
    pub(crate) fn new(spec: &AccessLogSpec) -> io::Result<Self> {
        let dropped = Arc::new(AtomicU64::new(0));
        Ok(Self { current: arc_swap::ArcSwap::from_pointee(AccessLog::open(spec, &dropped)?), dropped })
    }

    pub(crate) fn is_on(&self) -> bool {
        self.current.load().queue.is_some()
    }

    /// Lines that the disk was too slow for.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Opens what the new settings ask for; the old log stays when that fails.
    pub(crate) fn prepare(&self, spec: &AccessLogSpec) -> io::Result<Option<AccessLog>> {
        let current = self.current.load();
        if current.format == spec.format && current.target == spec.target {
            return Ok(None);
        }
        AccessLog::open(spec, &self.dropped).map(Some)
    }

    pub(crate) fn replace(&self, log: AccessLog) {
        self.current.store(Arc::new(log));
    }

    /// Opens the file by its name again, after a log rotation moved the old one away.
    pub(crate) fn reopen(&self) {
        self.current.load().reopen.store(true, Relaxed);
    }
}

impl AccessLog {
    fn open(spec: &AccessLogSpec, dropped: &Arc<AtomicU64>) -> io::Result<Self> {
        let reopen = Arc::new(AtomicBool::new(false));
        let out: Option<Out> = match &spec.target {
            LogTarget::Off => None,
            LogTarget::Stdout => Some(Out::Stdout),
            LogTarget::File(path) => Some(Out::File(open_file(path)?, path.clone())),
        };
        let queue = match out {
            None => None,
            Some(out) => {
                let (sender, receiver) = sync_channel(spec.queue.max(1));
                let reopen = Arc::clone(&reopen);
                std::thread::Builder::new()
                    .name("access-log".to_owned())
                    .spawn(move || write_lines(&receiver, out, &reopen))?;
                Some(sender)
            }
        };
        Ok(Self {
            format: spec.format,
            target: spec.target.clone(),
            queue,
            dropped: Arc::clone(dropped),
            reopen,
        })
    }

    pub(crate) fn write(logs: &AccessLogs, line: &Line, facts: &Facts, duration: Duration) {
        let log = logs.current.load();
        let Some(queue) = &log.queue else { return };
        let mut text = String::with_capacity(256);
        match log.format {
            AccessLogFormat::Common | AccessLogFormat::Combined => {
                line.apache(&mut text, facts, duration, log.format == AccessLogFormat::Combined);
            }
            AccessLogFormat::Json => line.json(&mut text, facts, duration),
        }
        text.push('\n');
        if queue.try_send(text.into_bytes()).is_err() {
            log.dropped.fetch_add(1, Relaxed);
        }
    }
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
    fn apache(&self, out: &mut String, facts: &Facts, duration: Duration, combined: bool) {
        let status = facts.status.map_or(499, |status| status.as_u16());
        let _infallible = write!(out, "{} - - [{}] \"", self.peer.peer_text, now_apache());
        escape(out, self.method.as_str().as_bytes());
        out.push(' ');
        escape(out, target(&self.uri).as_bytes());
        let _infallible = write!(out, " {:?}\" {status} ", self.version);
        match facts.bytes {
            0 => out.push('-'),
            bytes => {
                let _infallible = write!(out, "{bytes}");
            }
        }
        if combined {
            for header in [&self.referer, &self.agent] {
                out.push_str(" \"");
                match header {
                    Some(value) => escape(out, value.as_bytes()),
                    None => out.push('-'),
                }
                out.push('"');
            }
        }
        let _infallible = write!(
            out,
            " {} group={} worker={} choice={} tries={} ttfb={} time={}",
            facts.outcome,
            facts.group.as_deref().unwrap_or("-"),
            facts.worker.as_deref().unwrap_or("-"),
            if facts.choice.is_empty() { "-" } else { facts.choice },
            facts.attempts,
            facts.first_byte.map_or_else(|| "-".to_owned(), |time| time.as_micros().to_string()),
            duration.as_micros(),
        );
        if !self.id.is_empty() {
            let _infallible = write!(out, " id={}", self.id);
        }
    }

    fn json(&self, out: &mut String, facts: &Facts, duration: Duration) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let _infallible = write!(out, "{{\"time\":{}.{:03}", time.as_secs(), time.subsec_millis());
        text_field(out, "client", self.peer.peer_text.as_bytes());
        text_field(out, "listener", self.peer.listener.name.as_bytes());
        text_field(out, "method", self.method.as_str().as_bytes());
        text_field(out, "host", self.host.as_ref().map_or(b"", HeaderValue::as_bytes));
        text_field(out, "target", target(&self.uri).as_bytes());
        text_field(out, "protocol", format!("{:?}", self.version).as_bytes());
        let _infallible = write!(out, ",\"status\":{}", facts.status.map_or(499, |status| status.as_u16()));
        text_field(out, "outcome", facts.outcome.as_bytes());
        text_field(out, "group", facts.group.as_deref().unwrap_or("").as_bytes());
        text_field(out, "worker", facts.worker.as_deref().unwrap_or("").as_bytes());
        text_field(out, "choice", facts.choice.as_bytes());
        let _infallible = write!(out, ",\"tries\":{},\"bytes\":{}", facts.attempts, facts.bytes);
        if let Some(first) = facts.first_byte {
            let _infallible = write!(out, ",\"ttfb_us\":{}", first.as_micros());
        }
        let _infallible = write!(out, ",\"time_us\":{}", duration.as_micros());
        text_field(out, "referer", self.referer.as_ref().map_or(b"", HeaderValue::as_bytes));
        text_field(out, "agent", self.agent.as_ref().map_or(b"", HeaderValue::as_bytes));
        text_field(out, "id", self.id.as_bytes());
        out.push('}');
    }
}

fn target(uri: &Uri) -> &str {
    uri.path_and_query().map_or("*", |target| target.as_str())
}

fn text_field(out: &mut String, name: &str, value: &[u8]) {
    let _infallible = write!(out, ",\"{name}\":\"");
    for character in String::from_utf8_lossy(value).chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => {
                let _infallible = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// As httpd does it: what could end the field or the line, or is not printable ASCII, as `\xHH`.
fn escape(out: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7E => out.push(char::from(byte)),
            _ => {
                let _infallible = write!(out, "\\x{byte:02x}");
            }
        }
    }
}

/// Local time in Apache's form, made once a second.
fn now_apache() -> Arc<str> {
    static CACHE: Mutex<Option<(u64, Arc<str>)>> = Mutex::new(None);
    let second = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((cached, text)) = &*cache
        && *cached == second
    {
        return Arc::clone(text);
    }
    let text: Arc<str> = jiff::ZonedDateTime::now().strftime("%d/%b/%Y:%H:%M:%S %z").to_string().into();
    *cache = Some((second, Arc::clone(&text)));
    text
}

enum Out {
    Stdout,
    File(std::fs::File, PathBuf),
}

impl Out {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => io::stdout().lock().write_all(bytes),
            Self::File(file, _) => file.write_all(bytes),
        }
    }
}

fn open_file(path: &std::path::Path) -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().append(true).create(true).open(path)
}

/// Until the last sender is gone. Lines that have piled up are written in one go.
fn write_lines(lines: &Receiver<Vec<u8>>, mut out: Out, reopen: &AtomicBool) {
    let mut failing = false;
    while let Ok(mut batch) = lines.recv() {
        while batch.len() < BATCH
            && let Ok(line) = lines.try_recv()
        {
            batch.extend_from_slice(&line);
        }
        if reopen.swap(false, Relaxed)
            && let Out::File(file, path) = &mut out
        {
            match open_file(path) {
                Ok(fresh) => *file = fresh,
                Err(error) => warn!(path = %path.display(), %error, "Cannot open the access log again."),
            }
        }
        match out.write_all(&batch) {
            Ok(()) => failing = false,
            Err(error) if !std::mem::replace(&mut failing, true) => {
                warn!(%error, "Cannot write the access log; lines are lost until this ends.");
            }
            Err(_) => {}
        }
    }
}

const BATCH: usize = 64 * 1024;
