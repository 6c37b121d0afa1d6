//! A gateway, its workers, and ways to wait.

use std::net::SocketAddr;
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use jk_config::Config;
use jk_worker::Worker;
use jkgate::Running;
use test_support::http::{Client, Response};

pub struct Gateway {
    pub running: Running,
    pub address: SocketAddr,
}

impl Gateway {
    /// One worker `t1` in group `lb`, everything mapped to it; `extra` goes into the worker's section.
    pub async fn before(worker: &Worker, extra: &str) -> Self {
        Self::with(&format!(
            "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n{extra}\n[uri]\n\"/*\" = \"lb\"\n",
            worker.address()
        ))
    }

    /// Two workers `t1` and `t2` in group `lb`; `group` goes into the group's section, `member` into both workers'.
    pub async fn before_two(workers: [&Worker; 2], group: &str, member: &str) -> Self {
        let [first, second] = workers.map(Worker::address);
        Self::with(&format!(
            "[lb.lb]\n{group}\n[ajp13.t1]\naddress = \"{first}\"\ngroup = \"lb\"\n{member}\n\
             [ajp13.t2]\naddress = \"{second}\"\ngroup = \"lb\"\n{member}\n[uri]\n\"/*\" = \"lb\"\n"
        ))
    }

    /// Any configuration; a listener on a free port, no logs and no admin channel are added.
    pub fn with(config: &str) -> Self {
        let listener = "[listener.main]\naddress = \"127.0.0.1:0\"\n";
        let listener = if config.contains("[listener.main]") { "" } else { listener };
        let log = if config.contains("[access_log]") { "" } else { "[access_log]\ntarget = \"off\"\n" };
        let text = format!("{config}\n{listener}{log}[admin]\naddress = \"off\"\n");
        let text =
            if config.contains("[process]") { text } else { format!("{text}[process]\nthreads = 1\n") };
        let loaded = Config::from_toml("test", &text)
            .unwrap_or_else(|problems| panic!("{}", problems.render(jk_config::Style::Plain)));
        keep_log();
        let running = Running::start(loaded, None).unwrap_or_else(|refused| panic!("{:?}", refused.lines()));
        let address = running.address("main").unwrap();
        Self { running, address }
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// A GET on a connection of its own.
    pub async fn get(&self, path: &str) -> Response {
        self.client().await.get(path).await
    }

    /// Waits until a condition holds; fails after ten seconds.
    pub async fn until(&self, what: &str, holds: impl Fn(&Running) -> bool) {
        let begin = Instant::now();
        while !holds(&self.running) {
            assert!(
                begin.elapsed() < Duration::from_secs(10),
                "never came true: {what}: {:?}",
                self.running.member("lb", "t1")
            );
            tokio::task::yield_now().await;
        }
    }

    /// Nothing is left over: no request under way, no channel in use, and the next request is answered.
    pub async fn is_clean(&self) {
        self.until("nothing is under way", |running| {
            running.under_way().1 == 0
                && running.member("lb", "t1").is_none_or(|(_, busy, (open, idle))| busy == 0 && open == idle)
        })
        .await;
    }
}

/// What all gateways of this process have said so far.
static LOG: Mutex<String> = Mutex::new(String::new());

/// Lines of the log, warnings and errors, that name this; an address tells one test's gateway from another's.
pub fn logged(about: &str) -> Vec<String> {
    let log = LOG.lock().unwrap();
    log.lines().filter(|line| line.contains(about)).map(str::to_owned).collect()
}

fn keep_log() {
    struct Keep;
    impl std::io::Write for Keep {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            LOG.lock().unwrap().push_str(&String::from_utf8_lossy(bytes));
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
            .with_writer(|| Keep)
            .init();
    });
}

/// Filler whose every line is its own offset, so that lost, doubled or swapped pieces show.
pub fn pattern(len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 8);
    let mut at = 0;
    while bytes.len() < len {
        bytes.extend_from_slice(format!("{at:07}\n").as_bytes());
        at = (at + 8) % 10_000_000;
    }
    bytes.truncate(len);
    bytes
}
