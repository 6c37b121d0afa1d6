//! Two hundred reloads of every kind under full load, in the real program.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use jk_worker::Worker;
use test_support::http::Client;
use test_support::servers::{Footprint, Jkgate, free_port};
use tokio::net::unix::pipe::{OpenOptions, Sender};
use tokio::task::JoinHandle;

const ROUNDS: usize = 200;
const KINDS: usize = 9;
const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");
/// A pipe: whoever reads it waits for who writes.
const SLOW: &str = "slow.html";

/// What may change. Group `one` is of `a…`, group `two` of `b`; nobody else may serve their paths.
struct Shape {
    /// Name and address of each member of group `one`.
    one: Vec<(&'static str, SocketAddr)>,
    two: SocketAddr,
    weight: usize,
    extra_mappings: usize,
    extra_listener: bool,
    log: bool,
    /// Its preparation waits until some more requests have been served: a file on a disk that takes its time.
    slow: bool,
}

impl Shape {
    /// One kind of change after the other.
    fn changed(mut self, round: usize, first: SocketAddr, second: SocketAddr) -> Self {
        match round % KINDS {
            0 => self.one.truncate(1),
            1 => self.weight = 1 + round % 9,
            2 => self.one.push(("a3", second)),
            3 => self.one = vec![("a1", second), ("a2", first)],
            4 => self.extra_mappings = 1 + round,
            5 => self.extra_listener = true,
            6 => self.log = true,
            8 => self.slow = true,
            _ => {}
        }
        self
    }

    fn text(&self, port: u16, extra: u16, admin: &Path, folder: &Path) -> String {
        let target =
            if self.log { folder.join("access.log").display().to_string() } else { "off".to_owned() };
        let page = if self.slow {
            format!("unavailable = {{ page = \"{}\" }}\n", folder.join(SLOW).display())
        } else {
            String::new()
        };
        let mut text = format!(
            "[listener.main]\naddress = \"127.0.0.1:{port}\"\n[access_log]\ntarget = \"{target}\"\n[admin]\naddress = \"unix:{}\"\n\
             [process]\nthreads = 2\n[lb.one]\n{page}[lb.two]\n",
            admin.display()
        );
        if self.extra_listener {
            text += &format!("[listener.extra]\naddress = \"127.0.0.1:{extra}\"\n");
        }
        for (name, address) in &self.one {
            text += &format!(
                "[ajp13.{name}]\naddress = \"{address}\"\ngroup = \"one\"\nlbfactor = {}\n",
                self.weight
            );
        }
        text += &format!("[ajp13.b]\naddress = \"{}\"\ngroup = \"two\"\n", self.two);
        text += "[uri]\n\"/one/*\" = \"one\"\n\"/two/*\" = \"two\"\n";
        for number in 0..self.extra_mappings {
            text += &format!("\"/more{number}/*\" = \"two\"\n");
        }
        text
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_reloads_of_every_kind_lose_nothing() {
    let workers = [Worker::polite().await, Worker::polite().await, Worker::polite().await];
    let [first, second, third] = [workers[0].address(), workers[1].address(), workers[2].address()];
    let usual = || Shape {
        one: vec![("a1", first), ("a2", second)],
        two: third,
        weight: 1,
        extra_mappings: 0,
        extra_listener: false,
        log: false,
        slow: false,
    };
    let extra = free_port();
    let gateway = {
        // The port is the program's own; what it starts with is the usual shape.
        let text = usual().text(0, extra, Path::new("@ADMIN@"), Path::new(""));
        let text = text.replace("127.0.0.1:0\"", "127.0.0.1:@PORT@\"").replace("unix:@ADMIN@", "@ADMIN@");
        Jkgate::start(PROGRAM, &text)
    };
    let admin = gateway.folder().join("admin.sock");
    let stop = Arc::new(AtomicBool::new(false));
    let served = Arc::new(AtomicUsize::new(0));
    feed(pipe(gateway.folder()), Arc::clone(&served));
    let clients: Vec<JoinHandle<u32>> = (0..6)
        .map(|number| tokio::spawn(ask(gateway.address(), number, Arc::clone(&stop), Arc::clone(&served))))
        .collect();
    let (mut settled, mut visited) = (None, 0);
    for round in 0..ROUNDS {
        let shape = usual().changed(round, first, second);
        let is_broken = round % KINDS == 7;
        let text = if is_broken {
            "[listener.main\n".to_owned()
        } else {
            shape.text(gateway.port, extra, &admin, gateway.folder())
        };
        let fresh = gateway.folder().join("fresh");
        fs::write(&fresh, text).unwrap();
        fs::rename(&fresh, &gateway.config).unwrap();
        let (code, output, errors) = gateway.run(PROGRAM, &["reload"]);
        assert_eq!(code == Some(0), !is_broken, "round {round}: {output}{errors}");
        if shape.extra_listener && !is_broken {
            let mut client = Client::connect(SocketAddr::from(([127, 0, 0, 1], extra))).await;
            assert_eq!(client.get("/two/x").await.status, 200);
            visited += 1;
        }
        if round == ROUNDS / 4 {
            settled = Some(Footprint::of(gateway.server.pid()));
        }
    }
    stop.store(true, Relaxed);
    for client in clients {
        assert!(client.await.unwrap() > 100);
    }
    assert_eq!(visited, (0..ROUNDS).filter(|round| round % KINDS == 5).count());
    let (before, after) = (settled.unwrap(), Footprint::of(gateway.server.pid()));
    assert!(after.files <= before.files + 10, "{before:?}, then {after:?}");
    // Reloads are made by threads that stay for a while; a leak would be one for each.
    assert!(after.threads <= before.threads + 8, "{before:?}, then {after:?}");
    assert!(after.memory_kb <= before.memory_kb + 10_000, "{before:?}, then {after:?}");
}

/// Requests one after the other until told to stop; each must be served, by a worker that it is mapped to.
async fn ask(address: SocketAddr, number: usize, stop: Arc<AtomicBool>, served: Arc<AtomicUsize>) -> u32 {
    let mut client = Client::connect(address).await;
    let mut n = 0;
    while !stop.load(Relaxed) {
        let (path, workers) = if number.is_multiple_of(2) { ("/one/x", "a") } else { ("/two/x", "b") };
        let response = if number < 3 { client.get(path).await } else { client.post(path, b"abc").await };
        assert_eq!(response.status, 200, "{}", response.text());
        let text = response.text();
        let route = text.split(' ').nth(2).unwrap_or_default();
        assert!(route.starts_with(workers), "{path} was served by {text}");
        // An answer may say that this connection is the last one's.
        if response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            client = Client::connect(address).await;
        }
        n += 1;
        served.fetch_add(1, Relaxed);
    }
    n
}

fn pipe(folder: &Path) -> PathBuf {
    let path = folder.join(SLOW);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Whoever reads the pipe gets its text when some more requests have been served: while it was read, the gateway was not idle.
fn feed(path: PathBuf, served: Arc<AtomicUsize>) {
    let more = move || {
        let before = served.load(Relaxed);
        while served.load(Relaxed) < before + 30 {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    // It ends with the test process: nothing wakes a thread that waits for a pipe's reader.
    std::thread::spawn(move || {
        while let Ok(mut file) = fs::File::options().write(true).open(&path) {
            more();
            let _reader_has_left = file.write_all(b"back soon");
            drop(file);
            // The reader sees the end only while nobody has it open for writing.
            more();
        }
    });
}

/// A reload that waits for a disk holds up nothing but reloads.
#[tokio::test]
async fn nothing_waits_for_a_slow_reload() {
    let worker = Worker::polite().await;
    let text = format!(
        "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[lb.one]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"one\"\n\
         [uri]\n\"/one/*\" = \"one\"\n\"/jkstatus\" = \"status\"\n\
         [access_log]\ntarget = \"@DIR@/log\"\n[admin]\naddress = \"@ADMIN@\"\n",
        worker.address()
    );
    let mut gateway = Jkgate::start(PROGRAM, &text);
    let text = fs::read_to_string(&gateway.config).unwrap();
    let path = pipe(gateway.folder());
    let slow = text.replace("[lb.one]", &format!("[lb.one]\nunavailable = {{ page = \"{SLOW}\" }}"));
    fs::write(&gateway.config, slow).unwrap();
    gateway.server.signal("HUP");
    // The other end is there: a reload waits for it, that of the signal or that of the file's change.
    let first = reader(&path).await;
    gateway.server.signal("HUP");
    let mut client = Client::connect(gateway.address()).await;
    assert_eq!(client.get("/one/x").await.status, 200);
    assert_eq!(client.get("/jkstatus").await.status, 200);
    let log = gateway.folder().join("log");
    fs::rename(&log, gateway.folder().join("log.1")).unwrap();
    gateway.server.signal("USR1");
    gateway.server.wait_until(Duration::from_secs(20), || log.exists());
    drop(first);
    // What was told meanwhile is done afterwards.
    while gateway.server.output().matches("by=SIGHUP").count() < 2 {
        drop(OpenOptions::new().open_sender(&path));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Nor does it keep the process from ending.
    gateway.server.signal("HUP");
    let _reader = reader(&path).await;
    assert_eq!(client.get("/one/x").await.status, 200);
    gateway.server.signal("TERM");
    assert_eq!(gateway.server.wait(Duration::from_secs(20)), Some(0));
}

/// Waits until somebody reads the pipe, and keeps him waiting.
async fn reader(path: &Path) -> Sender {
    loop {
        if let Ok(sender) = OpenOptions::new().open_sender(path) {
            return sender;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
