//! The thread that writes, and the buffers where lines wait for it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use tracing::warn;

use super::line::Clock;

/// Dropping it ends the thread, once it has written what is there.
pub(super) struct Writer {
    queue: Arc<Queue>,
    thread: JoinHandle<()>,
}

struct Queue {
    /// One a core, so that cores do not wait for each other.
    waiting: Box<[Waiting]>,
    /// Lines that one of them holds.
    limit: usize,
    /// The thread has found nothing to do and sleeps until somebody wakes it.
    asleep: AtomicBool,
    reopen: AtomicBool,
    closed: AtomicBool,
}

/// Two cache lines, so that no two cores write to one.
#[repr(align(128))]
#[derive(Default)]
struct Waiting(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    n: usize,
    clock: Clock,
}

impl Writer {
    pub(super) fn to_stdout(limit: usize) -> io::Result<Self> {
        Self::start(Out::Stdout, limit)
    }

    pub(super) fn to_file(path: &Path, limit: usize) -> io::Result<Self> {
        Self::start(Out::File(open_file(path)?, path.to_owned()), limit)
    }

    /// `limit`: lines that may wait at one time.
    fn start(out: Out, limit: usize) -> io::Result<Self> {
        // Not every thread that writes a line is a core; the count of cores may grow behind the first listener.
        let n = thread::available_parallelism().map_or(1, usize::from).max(jk_channel::n_cores());
        let queue = Arc::new(Queue {
            waiting: std::iter::repeat_with(Waiting::default).take(n).collect(),
            limit: limit.div_ceil(n),
            asleep: AtomicBool::new(false),
            reopen: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        });
        let own = Arc::clone(&queue);
        let thread =
            thread::Builder::new().name("access-log".to_owned()).spawn(move || write_lines(&own, out))?;
        Ok(Self { queue, thread })
    }

    /// Adds a line, without its end. False: there is no room.
    pub(super) fn add(&self, line: impl FnOnce(&mut Vec<u8>, &mut Clock)) -> bool {
        let queue = &*self.queue;
        let Some(own) = queue.waiting.get(jk_channel::current_core() % queue.waiting.len()) else {
            return false;
        };
        {
            let mut lines = own.0.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.n >= queue.limit {
                return false;
            }
            let Lines { bytes, n, clock } = &mut *lines;
            line(bytes, clock);
            bytes.push(b'\n');
            *n += 1;
        }
        if queue.asleep.load(SeqCst) && queue.asleep.swap(false, SeqCst) {
            self.thread.thread().unpark();
        }
        true
    }

    pub(super) fn reopen(&self) {
        self.queue.reopen.store(true, SeqCst);
        self.thread.thread().unpark();
    }

    /// Ends it, and waits until everything is written or `patience` is over.
    pub(super) fn finish(&self, patience: Duration) {
        self.close();
        let begin = Instant::now();
        while !self.thread.is_finished() && begin.elapsed() < patience {
            sleep(Duration::from_millis(1));
        }
    }

    fn close(&self) {
        self.queue.closed.store(true, SeqCst);
        self.thread.thread().unpark();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

enum Out {
    Stdout,
    File(File, PathBuf),
}

impl Out {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()
            }
            Self::File(file, _) => file.write_all(bytes),
        }
    }

    fn reopen(&mut self) {
        if let Self::File(file, path) = self {
            match open_file(path) {
                Ok(fresh) => *file = fresh,
                Err(error) => warn!(path = %path.display(), %error, "Cannot open the access log again."),
            }
        }
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

/// How long lines are gathered: long enough that a busy gateway writes a few times a second only, short enough for `tail -f`.
const GATHER: Duration = Duration::from_millis(20);

/// What a buffer may keep for the next time.
const KEPT: usize = 1 << 20;

fn write_lines(queue: &Queue, mut out: Out) {
    let mut spare = Vec::new();
    let mut is_failing = false;
    loop {
        // Looked at first: what was added before it was closed is found below.
        let closed = queue.closed.load(SeqCst);
        if queue.reopen.swap(false, SeqCst) {
            out.reopen();
        }
        let mut found = false;
        for own in &queue.waiting {
            own.take(&mut spare);
            if spare.is_empty() {
                continue;
            }
            found = true;
            match out.write_all(&spare) {
                Ok(()) => is_failing = false,
                Err(error) if !std::mem::replace(&mut is_failing, true) => {
                    warn!(%error, "Cannot write the access log; lines are lost until this ends.");
                }
                Err(_) => {}
            }
            spare.clear();
            spare.shrink_to(KEPT);
        }
        match (found, closed) {
            (true, _) => sleep(GATHER),
            (false, true) => return,
            (false, false) => queue.wait(),
        }
    }
}

impl Waiting {
    /// Takes the lines, and leaves an empty buffer for the next ones.
    fn take(&self, into: &mut Vec<u8>) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut lines.bytes, into);
        lines.n = 0;
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).n == 0
    }
}

impl Queue {
    /// Sleeps until there is something to do. Says first that it is about to: so either it sees a line, or who adds it sees that.
    fn wait(&self) {
        self.asleep.store(true, SeqCst);
        let is_idle = self.waiting.iter().all(Waiting::is_empty);
        if is_idle && !self.closed.load(SeqCst) && !self.reopen.load(SeqCst) {
            thread::park();
        }
        self.asleep.store(false, SeqCst);
    }
}
