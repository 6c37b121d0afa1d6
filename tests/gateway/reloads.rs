//! Two hundred reloads of every kind under full load, in the real program.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use jk_worker::Worker;
use test_support::http::Client;
use test_support::servers::{Footprint, Jkgate, free_port};
use tokio::task::JoinHandle;

const ROUNDS: usize = 200;
const KINDS: usize = 8;
const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

/// What may change. Group `one` is of `a…`, group `two` of `b`; nobody else may serve their paths.
struct Shape {
    /// Name and address of each member of group `one`.
    one: Vec<(&'static str, SocketAddr)>,
    two: SocketAddr,
    weight: usize,
    extra_mappings: usize,
    extra_listener: bool,
    log: bool,
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
            _ => {}
        }
        self
    }

    fn text(&self, port: u16, extra: u16, admin: &Path, log: &Path) -> String {
        let target = if self.log { log.display().to_string() } else { "off".to_owned() };
        let mut text = format!(
            "[listener.main]\naddress = \"127.0.0.1:{port}\"\n[access_log]\ntarget = \"{target}\"\n[admin]\naddress = \"unix:{}\"\n\
             [process]\nthreads = 2\n[lb.one]\n[lb.two]\n",
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
    };
    let extra = free_port();
    let gateway = {
        // The port is the program's own; what it starts with is the usual shape.
        let text = usual().text(0, extra, Path::new("@ADMIN@"), Path::new("off"));
        let text = text.replace("127.0.0.1:0\"", "127.0.0.1:@PORT@\"").replace("unix:@ADMIN@", "@ADMIN@");
        Jkgate::start(PROGRAM, &text)
    };
    let admin = gateway.folder().join("admin.sock");
    let log = gateway.folder().join("access.log");
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<JoinHandle<u32>> =
        (0..6).map(|number| tokio::spawn(ask(gateway.address(), number, Arc::clone(&stop)))).collect();
    let (mut settled, mut visited) = (None, 0);
    for round in 0..ROUNDS {
        let shape = usual().changed(round, first, second);
        let is_broken = round % KINDS == 7;
        let text = if is_broken {
            "[listener.main\n".to_owned()
        } else {
            shape.text(gateway.port, extra, &admin, &log)
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
    assert_eq!(visited, ROUNDS / KINDS);
    let (before, after) = (settled.unwrap(), Footprint::of(gateway.server.pid()));
    assert!(after.files <= before.files + 10, "{before:?}, then {after:?}");
    // Reloads are made by threads that stay for a while; a leak would be one for each.
    assert!(after.threads <= before.threads + 8, "{before:?}, then {after:?}");
    assert!(after.memory_kb <= before.memory_kb + 10_000, "{before:?}, then {after:?}");
}

/// Requests one after the other until told to stop; each must be served, by a worker that it is mapped to.
async fn ask(address: SocketAddr, number: usize, stop: Arc<AtomicBool>) -> u32 {
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
    }
    n
}
