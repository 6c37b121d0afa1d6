//! The program's life: starts, reloads, ends.

use std::time::{Duration, Instant};

use test_support::http::Client;
use test_support::servers::Jkgate;

use crate::harness::{PROGRAM, TOMCAT, get, seed, until};

#[tokio::test]
async fn it_finishes_what_is_under_way_and_takes_nothing_new() {
    let mut gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let address = gateway.address();
    let mut slow = Client::connect(address).await;
    slow.send("GET /echo/chunks?n=6&size=100&flush=1&sleepMs=150 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut response = slow.head().await.unwrap();
    let mut idle = Client::connect(address).await;
    assert_eq!(idle.get("/echo/dump").await.status, 200);
    gateway.server.signal("TERM");
    assert!(idle.is_closed().await);
    let begin = Instant::now();
    while Client::try_connect(address).await.is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(10), "it still takes connections");
    }
    slow.rest(&mut response, "GET").await;
    assert!(response.complete && response.body.len() == 600, "{response:?}");
    assert!(slow.is_closed().await);
    assert_eq!(gateway.server.wait(Duration::from_secs(20)), Some(0));
}

#[tokio::test]
async fn its_patience_with_what_is_under_way_has_an_end() {
    let config = format!("{}\n[process]\ndrain_timeout = \"300ms\"\n", seed(TOMCAT.ajp, ""));
    let mut gateway = Jkgate::start(PROGRAM, &config);
    let mut slow = Client::connect(gateway.address()).await;
    slow.send("GET /echo/chunks?n=30&size=10&flush=1&sleepMs=500 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut response = slow.head().await.unwrap();
    gateway.server.signal("TERM");
    gateway.server.wait(Duration::from_secs(10));
    slow.rest(&mut response, "GET").await;
    assert!(!response.complete, "cut, and it must show: {response:?}");
    let output = gateway.server.output();
    assert!(output.contains("\"GET /echo/chunks?n=30&size=10"), "it has a line in the log: {output}");
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let mut gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut slow = Client::connect(gateway.address()).await;
    slow.send("GET /echo/chunks?n=30&size=10&flush=1&sleepMs=500 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(slow.head().await.unwrap().status, 200);
    gateway.server.signal("TERM");
    gateway.server.wait_for_output("Ending:", Duration::from_secs(10));
    gateway.server.signal("INT");
    gateway.server.wait(Duration::from_secs(10));
}

/// A supervisor may send one as soon as the port answers, and a large configuration is still being put in place then.
#[tokio::test]
async fn a_signal_right_behind_the_start_is_not_lost() {
    use std::fmt::Write as _;
    let mut more = String::from("[uri]\n");
    for number in 0..20_000 {
        writeln!(more, "\"/more{number}/*\" = \"lb\"").unwrap();
    }
    let config = seed(TOMCAT.ajp, "").replace("[uri]\n", &more);
    let mut gateway = Jkgate::start(PROGRAM, &config);
    gateway.server.signal("HUP");
    gateway.server.wait_for_output("by=SIGHUP", Duration::from_secs(20));
    gateway.server.signal("TERM");
    assert_eq!(gateway.server.wait(Duration::from_secs(20)), Some(0));
}

#[tokio::test]
async fn a_taken_port_is_said_in_a_sentence() {
    let first = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let (code, _, errors) = first.run(PROGRAM, &["serve"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("another program already listens on"), "{errors}");
}

#[tokio::test]
async fn a_changed_file_is_read_on_hup_and_a_bad_one_changes_nothing() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    assert_eq!(get(&gateway, "/examples/index.html").await.status, 200);
    let good = std::fs::read_to_string(&gateway.config).unwrap();
    let mut kept = Client::connect(gateway.address()).await;
    assert_eq!(kept.get("/echo/dump").await.status, 200);
    std::fs::write(&gateway.config, good.replace("\"/examples|/*\"          = \"lb\"", "")).unwrap();
    gateway.server.signal("HUP");
    let begin = Instant::now();
    while get(&gateway, "/examples/index.html").await.status == 200 {
        assert!(begin.elapsed() < Duration::from_secs(10), "{}", gateway.server.output());
    }
    assert_eq!(kept.get("/echo/dump").await.status, 200, "the connection outlives a reload");
    std::fs::write(&gateway.config, good.replace("[lb.lb]", "[lb.other]")).unwrap();
    gateway.server.signal("HUP");
    until("the log says why", || gateway.server.output().contains("\"lb\"")).await;
    assert_eq!(kept.get("/echo/dump").await.status, 200);
    let (code, out, errors) = gateway.run(PROGRAM, &["check"]);
    assert_eq!(code, Some(1), "{out}{errors}");
    assert!(format!("{out}{errors}").contains("workers.toml:"), "{out}{errors}");
    let (code, _, _) = gateway.run(PROGRAM, &["reload"]);
    assert_eq!(code, Some(1));
}
