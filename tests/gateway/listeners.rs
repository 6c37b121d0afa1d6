//! Where clients come in, what each listener allows, and the door for the operator's probes.

use std::path::Path;
use std::time::{Duration, Instant};

use jk_worker::{Pings, Worker};
use test_support::http::{Client, PATIENCE};
use test_support::servers::{Jkgate, free_port};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::harness::Gateway;

/// One worker behind a listener with some keys of its own.
fn with(worker: &Worker, keys: &str, more: &str) -> Gateway {
    Gateway::with(&format!(
        "[listener.main]\naddress = \"127.0.0.1:0\"\n{keys}\n{more}\n[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n\
         [uri]\n\"/*\" = \"lb\"\n",
        worker.address()
    ))
}

async fn over_unix(path: &Path, request: &str) -> String {
    let mut stream = UnixStream::connect(path).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn several_listeners_of_every_kind_serve_the_same() {
    let worker = Worker::polite().await;
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("http.sock");
    let more = format!(
        "[listener.six]\naddress = \"[::1]:0\"\n[listener.other]\naddress = \"127.0.0.1:0\"\nscheme = \"https\"\n\
         [listener.local]\naddress = \"unix:{}\"\n",
        socket.display()
    );
    let gateway = with(&worker, "", &more);
    for name in ["main", "six", "other"] {
        let address = gateway.running.address(name).unwrap();
        assert_eq!(Client::connect(address).await.get("/a").await.status, 200, "{name}");
    }
    let answer = over_unix(&socket, "GET /unix HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("GET /unix t1 0"), "{answer}");
    let seen = worker.log().requests();
    assert_eq!(seen.iter().map(|request| request.is_ssl).collect::<Vec<_>>(), [false, false, true, false]);
}

#[tokio::test]
async fn a_head_that_takes_too_long_and_a_client_that_says_nothing_are_given_up() {
    let worker = Worker::polite().await;
    let gateway = with(&worker, "header_timeout = \"300ms\"\nidle_timeout = \"500ms\"", "");
    let mut slow = gateway.client().await;
    // One byte now and then is no progress.
    let drip = async {
        for byte in "GET /slow HTTP/1.1\r\nHost: a\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaa".bytes() {
            slow.send([byte]).await;
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    };
    drip.await;
    assert_eq!(slow.response("GET").await.status, 408);
    assert!(slow.is_closed().await);
    let mut silent = gateway.client().await;
    assert!(silent.is_closed().await);
    let mut idle = gateway.client().await;
    assert_eq!(idle.get("/a").await.status, 200);
    assert!(idle.is_closed().await);
    assert_eq!(worker.log().requests().len(), 1);
    gateway.until("nobody is left", |running| running.under_way() == (0, 0)).await;
}

#[tokio::test]
async fn a_full_listener_lets_the_next_one_in_when_one_leaves() {
    let worker = Worker::polite().await;
    let gateway = with(&worker, "max_connections = 2", "");
    let (mut first, mut second) = (gateway.client().await, gateway.client().await);
    assert_eq!((first.get("/a").await.status, second.get("/b").await.status), (200, 200));
    let mut third = gateway.client().await;
    third.send("GET /c HTTP/1.1\r\nHost: a\r\n\r\n").await;
    // It waits: the others are served meanwhile, it is not.
    for _ in 0..20 {
        assert_eq!(first.get("/a").await.status, 200);
    }
    assert!(worker.log().requests().iter().all(|request| request.uri != "/c"));
    drop(second);
    assert_eq!(third.response("GET").await.text(), "GET /c t1 0");
}

#[tokio::test]
async fn a_head_larger_than_allowed_is_refused() {
    let worker = Worker::polite().await;
    let gateway = with(&worker, "max_header_size = \"8KiB\"", "");
    for (size, status) in [(4000, 200), (20_000, 431)] {
        let mut client = gateway.client().await;
        let long = "x".repeat(size);
        client.send(format!("GET /a HTTP/1.1\r\nHost: a\r\nX-Long: {long}\r\n\r\n")).await;
        assert_eq!(client.response("GET").await.status, status, "{size}");
    }
    assert_eq!(worker.log().requests().len(), 1);
}

#[tokio::test]
async fn idle_channels_are_pinged_by_interval_and_the_deaf_are_closed() {
    let worker = Worker::polite().await;
    let keys = "ping_mode = [\"interval\"]\nping_interval = \"1s\"\nping_timeout = \"200ms\"";
    let gateway = Gateway::before(&worker, keys).await;
    assert_eq!(gateway.get("/a").await.status, 200);
    worker.log().wait_for("it is pinged while it is idle", |log| log.n_pings() > 0).await;
    assert_eq!(worker.log().n_open(), 1);
    worker.set_pings(Pings::Ignored);
    worker.log().wait_for("the deaf channel is closed", |log| log.n_open() == 0).await;
    worker.set_pings(Pings::Answered);
    assert_eq!(gateway.get("/a").await.status, 200);
}

#[tokio::test]
async fn probes_see_life_and_readiness() {
    let worker = Worker::polite().await;
    let admin = free_port();
    let mut gateway = Jkgate::start(
        env!("CARGO_BIN_EXE_jkgate"),
        &format!(
            "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"127.0.0.1:{admin}\"\n\
             [process]\nshutdown_delay = \"3s\"\n[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n",
            worker.address()
        ),
    );
    let admin = ([127, 0, 0, 1], admin).into();
    // The door opens only for who knows that it is on loopback; a page that a name was bent to does not.
    let ask = async |path: &str, host: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        Client::connect(admin).await.exchange(request, "GET").await.status
    };
    assert_eq!(ask("/healthz", "elsewhere.example.test").await, 403);
    let status = async |path: &str| ask(path, "localhost").await;
    assert_eq!((status("/healthz").await, status("/readyz").await), (200, 200));
    gateway.server.signal("TERM");
    let begin = Instant::now();
    while status("/readyz").await != 503 {
        assert!(begin.elapsed() < PATIENCE, "it stays ready");
    }
    // Alive, and still serving whom a load balancer has not sent elsewhere yet.
    assert_eq!(status("/healthz").await, 200);
    assert_eq!(Client::connect(gateway.address()).await.get("/a").await.status, 200);
    assert_eq!(gateway.server.wait(PATIENCE), Some(0));
}

#[test]
fn an_explanation_names_the_listener_and_its_scheme() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "[listener.main]\naddress = \"127.0.0.1:8180\"\n[listener.inside]\naddress = \"127.0.0.1:8181\"\nscheme = \"https\"\n\
                [admin]\naddress = \"off\"\n[lb.lb]\n[ajp13.t1]\naddress = \"127.0.0.1:8009\"\ngroup = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n";
    std::fs::write(&file, text).unwrap();
    for (url, listener, scheme) in [
        ("http://a:8180/x", "main at 127.0.0.1:8180\n", "http"),
        ("http://a:8181/x", "inside at 127.0.0.1:8181\n", "https"),
        ("https://a/x", "main at 127.0.0.1:8180, inside at 127.0.0.1:8181, any of them\n", "https"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jkgate"));
        let output = command.args(["explain", url, "-c"]).arg(file.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!("  listener: {listener}")), "{url}: {text}");
        assert!(text.contains(&format!("Tomcat sees: scheme {scheme},")), "{url}: {text}");
    }
}
