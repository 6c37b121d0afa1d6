//! Members that are looked after without traffic, groups that are full or empty, and what the operator is told of it.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering::SeqCst};

use jk_worker::{Pings, Worker};
use test_support::http::Client;
use test_support::servers::Jkgate;
use tokio::sync::watch;

use crate::harness::Gateway;

const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

#[tokio::test]
async fn a_dead_worker_is_found_before_a_user_finds_it() {
    let [first, second] = [Worker::polite().await, Worker::polite().await];
    let check = "health_check = { interval = \"1s\", timeout = \"500ms\", fall = 2, rise = 2 }";
    let gateway = Gateway::before_two([&first, &second], "recover_time = \"1h\"", check).await;
    let health = |running: &jkgate::Running| running.member("lb", "t1").unwrap().0;
    for round in 0..2 {
        if round == 0 {
            first.stop();
        } else {
            first.set_pings(Pings::Ignored);
        }
        gateway.until("it is out", |running| health(running) == "ERR").await;
        assert_eq!(first.log().requests().len() + second.log().requests().len(), 8 * round);
        for _ in 0..4 {
            assert_eq!(gateway.get("/a").await.status, 200);
        }
        if round == 0 {
            first.start_again().await;
        } else {
            first.set_pings(Pings::Answered);
        }
        gateway.until("it is back", |running| health(running) == "ERR/REC").await;
        for _ in 0..4 {
            assert_eq!(gateway.get("/a").await.status, 200);
        }
        assert_eq!(health(&gateway.running), "OK");
    }
}

#[tokio::test]
async fn a_worker_whose_application_is_sick_is_out_until_it_is_well() {
    let status = Arc::new(AtomicU16::new(200));
    let told = Arc::clone(&status);
    let worker = Worker::start(move |mut exchange| {
        let status = if exchange.request.uri == "/health" { told.load(SeqCst) } else { 200 };
        async move {
            exchange.answer(status, &[], b"").await;
            exchange
        }
    })
    .await;
    let other = Worker::polite().await;
    let check = "connection_pool_size = 1\nhealth_check = { kind = \"request\", path = \"/health\", status = [200, 204], interval = \"1s\", fall = 1, rise = 1 }";
    let gateway = Gateway::before_two([&worker, &other], "recover_time = \"1h\"", check).await;
    let health = |running: &jkgate::Running| running.member("lb", "t1").unwrap().0;
    worker.log().wait_for("it was asked", |log| !log.requests().is_empty()).await;
    let asked = &worker.log().requests()[0];
    assert_eq!((asked.method.as_str(), asked.uri.as_str()), ("GET", "/health"));
    status.store(503, SeqCst);
    gateway.until("it is out", |running| health(running) == "ERR").await;
    status.store(204, SeqCst);
    gateway.until("it is back", |running| health(running) == "ERR/REC").await;
    gateway.is_clean().await;
}

/// A worker with all its channels at work is alive, whatever the check cannot ask it.
#[tokio::test]
async fn a_full_worker_is_not_sick() {
    let waiting = watch::Sender::new(true);
    let gate = waiting.clone();
    let worker = Worker::start(move |mut exchange| {
        let mut gate = gate.subscribe();
        async move {
            if exchange.request.uri == "/long" {
                let _test_has_ended = gate.wait_for(|waiting| !waiting).await.is_err();
            }
            exchange.answer(200, &[], b"").await;
            exchange
        }
    })
    .await;
    let other = Worker::polite().await;
    let check = "connection_pool_size = 1\nhealth_check = { kind = \"request\", interval = \"1s\", timeout = \"100ms\", fall = 1 }";
    let gateway = Gateway::before_two([&worker, &other], "", check).await;
    let mut client = gateway.client().await;
    client.send("GET /long HTTP/1.1\r\nHost: a\r\nCookie: JSESSIONID=1.t1\r\n\r\n").await;
    worker
        .log()
        .wait_for("it has it", |log| log.requests().iter().any(|request| request.uri == "/long"))
        .await;
    // The other one is checked at the same times: three checks of it are about three that this one could not have.
    let checks = || other.log().requests().len();
    let before = checks();
    gateway.until("three rounds of checks", |_| checks() >= before + 3).await;
    assert!(!gateway.running.member("lb", "t1").unwrap().0.starts_with("ERR"));
    waiting.send_replace(false);
    assert_eq!(client.response("GET").await.status, 200);
    gateway.is_clean().await;
}

#[tokio::test]
async fn nobody_there_has_a_page_and_says_when_to_return() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("sorry.html");
    fs::write(&page, "<h1>Back at noon</h1>").unwrap();
    let worker = Worker::polite().await;
    worker.stop();
    let gateway = Gateway::with(&format!(
        "[lb.lb]\nunavailable = {{ status = 503, retry_after = \"90s\", page = \"{}\" }}\n\
         [ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n\
         \"/own/*\" = {{ group = \"lb\", unavailable = {{ status = 504 }} }}\n",
        page.display(),
        worker.address()
    ));
    for method in ["GET", "POST"] {
        let mut client = gateway.client().await;
        client.send(format!("{method} /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")).await;
        let response = client.response(method).await;
        assert_eq!((response.status, response.header("retry-after")), (503, Some("90")));
        assert_eq!(response.text(), "<h1>Back at noon</h1>");
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
    assert_eq!(gateway.get("/own/a").await.status, 504);
}

#[tokio::test]
async fn a_dying_group_is_not_hammered_by_its_own_gateway() {
    let close = |mut exchange: jk_worker::Exchange| async move {
        exchange.close();
        exchange
    };
    let workers = [Worker::start(close).await, Worker::start(close).await];
    let group = "retry_budget = 0\noutlier_failures = 0";
    let gateway = Gateway::before_two([&workers[0], &workers[1]], group, "").await;
    for _ in 0..40 {
        assert_eq!(gateway.get("/a").await.status, 502);
    }
    // Ten retries in ten seconds are always allowed; a slow machine may see a second window begin.
    let sent: usize = workers.iter().map(|worker| worker.log().requests().len()).sum();
    assert!((50..=60).contains(&sent), "{sent}");
}

#[tokio::test]
async fn the_log_says_that_a_session_lost_its_member() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let [first, second] = [Worker::polite().await, Worker::polite().await];
    let gateway = Gateway::with(&format!(
        "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[ajp13.t2]\naddress = \"{}\"\ngroup = \"lb\"\n\
         [uri]\n\"/*\" = \"lb\"\n[access_log]\ntarget = \"{}\"\n",
        first.address(),
        second.address(),
        file.display()
    ));
    let ask = async || {
        let mut client = gateway.client().await;
        client.send("GET /a HTTP/1.1\r\nHost: a\r\nCookie: JSESSIONID=1.t1\r\n\r\n").await;
        assert_eq!(client.response("GET").await.status, 200);
    };
    ask().await;
    first.stop();
    ask().await;
    ask().await;
    let log = || fs::read_to_string(&file).unwrap_or_default();
    gateway.until("three lines", |_| log().lines().count() == 3).await;
    let seen: Vec<_> = log()
        .lines()
        .map(|line| {
            let word = |key: &str| line.split_once(key).unwrap().1.split(' ').next().unwrap().to_owned();
            (word("worker="), word("choice="), word("tries="))
        })
        .collect();
    let row = |worker: &str, choice: &str, tries: &str| (worker.into(), choice.into(), tries.into());
    assert_eq!(
        seen,
        [row("t1", "sticky", "1"), row("t2", "session_lost", "2"), row("t2", "session_lost", "1")]
    );
}

/// `jkgate set … --wait` returns when the member may be stopped, not before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_is_waited_for() {
    let waiting = watch::Sender::new(true);
    let gate = waiting.clone();
    let worker = Worker::start(move |mut exchange| {
        let mut gate = gate.subscribe();
        async move {
            let _test_has_ended = gate.wait_for(|waiting| !waiting).await.is_err();
            exchange.answer(200, &[], b"").await;
            exchange
        }
    })
    .await;
    let gateway = Jkgate::start(
        PROGRAM,
        &format!(
            "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[lb.shop]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"shop\"\n\
             [uri]\n\"/*\" = \"shop\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"@ADMIN@\"\n",
            worker.address()
        ),
    );
    let mut client = Client::connect(gateway.address()).await;
    client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await;
    worker.log().wait_for("it has it", |log| log.requests().len() == 1).await;
    let mut command = Command::new(PROGRAM);
    command.args(["set", "shop/t1", "activation=disabled", "--wait", "-c"]).arg(&gateway.config);
    let mut waiter = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 200];
    let n = std::io::Read::read(waiter.stderr.as_mut().unwrap(), &mut said).unwrap();
    assert!(String::from_utf8_lossy(&said[..n]).starts_with("waiting: 1 requests under way"));
    assert!(waiter.try_wait().unwrap().is_none());
    waiting.send_replace(false);
    assert_eq!(client.response("GET").await.status, 200);
    let output = waiter.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("free: shop/t1 has no request under way"), "{text}");
}
