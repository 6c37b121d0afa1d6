//! One line a request, in Apache's common or combined form or as JSON, written by a thread of its own.
//!
//! A slow disk never slows a request: lines wait in bounded buffers, one a core, and what does not fit is dropped and counted.

mod line;
mod writer;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use jk_config::{AccessLogFormat, AccessLogSpec, LogTarget};

use line::Ended;
pub(crate) use line::Line;
use writer::Writer;

use crate::ticket::Facts;

/// The access log in force.
pub(crate) struct AccessLog {
    format: AccessLogFormat,
    target: LogTarget,
    writer: Option<Writer>,
    dropped: Arc<AtomicU64>,
}

/// The log as a reload may replace it.
pub(crate) struct AccessLogs {
    current: arc_swap::ArcSwap<AccessLog>,
    dropped: Arc<AtomicU64>,
}

impl AccessLogs {
    pub(crate) fn new(spec: &AccessLogSpec) -> io::Result<Self> {
        let dropped = Arc::new(AtomicU64::new(0));
        Ok(Self { current: arc_swap::ArcSwap::from_pointee(AccessLog::open(spec, &dropped)?), dropped })
    }

    pub(crate) fn is_on(&self) -> bool {
        self.current.load().writer.is_some()
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
        if let Some(writer) = &self.current.load().writer {
            writer.reopen();
        }
    }

    /// Waits until every line is written, but not for long: the disk may be stuck.
    pub(crate) fn finish(&self) {
        if let Some(writer) = &self.current.load().writer {
            writer.finish(Duration::from_secs(2));
        }
    }

    pub(crate) fn write(&self, line: &Line, facts: &Facts, duration: Duration) {
        let log = self.current.load();
        let Some(writer) = &log.writer else { return };
        let ended = Ended { facts, duration };
        let is_taken = writer.add(|out, clock| match log.format {
            AccessLogFormat::Common => line.apache(out, clock, ended, false),
            AccessLogFormat::Combined => line.apache(out, clock, ended, true),
            AccessLogFormat::Json => line.json(out, ended),
        });
        if !is_taken {
            log.dropped.fetch_add(1, Relaxed);
        }
    }
}

impl AccessLog {
    fn open(spec: &AccessLogSpec, dropped: &Arc<AtomicU64>) -> io::Result<Self> {
        let writer = match &spec.target {
            LogTarget::Off => None,
            LogTarget::Stdout => Some(Writer::to_stdout(spec.queue)?),
            LogTarget::File(path) => Some(Writer::to_file(path, spec.queue)?),
        };
        Ok(Self { format: spec.format, target: spec.target.clone(), writer, dropped: Arc::clone(dropped) })
    }
}
