//! Keys of a group: who is chosen, what becomes of failures, and what waits.

use std::time::Duration;

use jk_worker::Worker;

use super::{Holding, breaking, group, server_of, servers_of};
use crate::harness::Gateway;

#[tokio::test]
async fn a_method_is_what_members_are_compared_by() {
    let [first, second] = [Holding::start().await, Holding::start().await];
    for (method, expected) in
        [("requests", "t2 t1 t2 t1"), ("busyness", "t2 t2 t2 t2"), ("next", "t1 t2 t1 t2")]
    {
        let gateway = group(&[(&first.worker, ""), (&second.worker, "")], &format!("method = \"{method}\""));
        // A session, whose member is the next one to be chosen anyway.
        let _held = first.hold(&gateway).await;
        assert_eq!(servers_of(&gateway, 4, "").await, expected, "{method}");
    }
}

#[tokio::test]
async fn forced_sessions_have_their_member_or_none() {
    let [first, second] = [Worker::polite().await, Worker::polite().await];
    let session = "Cookie: JSESSIONID=x.t1\r\n";
    let members = [(&first, "activation = \"stopped\""), (&second, "")];
    assert_eq!(servers_of(&group(&members, ""), 2, session).await, "t2 t2");
    assert_eq!(servers_of(&group(&members, "sticky_session_force = true"), 2, session).await, "503 503");
}

#[tokio::test]
async fn retries_are_for_requests_that_may_go_elsewhere() {
    let (broken, good) = (breaking().await, Worker::polite().await);
    for (keys, status) in [("retries = 2", 200), ("retries = 1", 502), ("retry_budget = 0", 200)] {
        let gateway = group(&[(&broken, ""), (&good, "")], keys);
        assert_eq!(gateway.get("/a").await.status, status, "{keys}");
    }
}

/// A POST that breaks off is no proof: the worker answers a CPing.
#[tokio::test]
async fn how_many_failures_or_how_long_puts_a_member_in_error() {
    let broken = breaking().await;
    let health = |gateway: &Gateway| gateway.running.member("lb", "t1").unwrap().0;
    let never = "outlier_failures = 0\nerror_escalation_time = \"1h\"";
    for (keys, posts, in_error) in [
        (never, 30, false),
        ("outlier_failures = 3\nerror_escalation_time = \"1h\"", 2, false),
        ("outlier_failures = 3\nerror_escalation_time = \"1h\"", 3, true),
    ] {
        let gateway = group(&[(&broken, "")], keys);
        let mut client = gateway.client().await;
        for _ in 0..posts {
            assert_eq!(client.post("/a", b"x").await.status, 502);
        }
        assert_eq!(health(&gateway) == "ERR", in_error, "{keys} {posts}");
    }
    let gateway = group(&[(&broken, "")], "outlier_failures = 0\nerror_escalation_time = \"50ms\"");
    let mut client = gateway.client().await;
    let begin = std::time::Instant::now();
    while health(&gateway) != "ERR" {
        assert_eq!(client.post("/a", b"x").await.status, 502);
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
    assert!(begin.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn reply_timeouts_may_put_a_member_in_error() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.hang().await;
        exchange
    })
    .await;
    for (limit, in_error) in [("max_reply_timeouts = 1", true), ("", false)] {
        let gateway = group(&[(&worker, "reply_timeout = \"50ms\"")], limit);
        for _ in 0..2 {
            assert_eq!(gateway.get("/a").await.status, 504);
        }
        assert_eq!(gateway.running.member("lb", "t1").unwrap().0 == "ERR", in_error, "{limit}");
    }
}

#[tokio::test]
async fn a_member_without_traffic_is_idle_after_maintenance() {
    let worker = Worker::polite().await;
    let gateway = group(&[(&worker, "")], "maintain = \"1s\"");
    let seldom = group(&[(&worker, "")], "maintain = \"1h\"");
    for gateway in [&gateway, &seldom] {
        assert_eq!(gateway.get("/a").await.status, 200);
        assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "OK");
    }
    gateway.until("it is idle", |running| running.member("lb", "t1").unwrap().0 == "OK/IDLE").await;
    assert_eq!(seldom.running.member("lb", "t1").unwrap().0, "OK");
}

#[tokio::test]
async fn a_member_that_returns_begins_slowly() {
    for (keys, slowly) in [("slow_start = \"1h\"", true), ("", false)] {
        let [first, second] = [Worker::polite().await, Worker::polite().await];
        let gateway = group(&[(&first, ""), (&second, "")], &format!("recover_time = \"1s\"\n{keys}"));
        first.stop();
        servers_of(&gateway, 2, "").await;
        assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "ERR");
        first.start_again().await;
        let mut client = gateway.client().await;
        gateway.until("it may be tried", |running| running.member("lb", "t1").unwrap().0 == "ERR/REC").await;
        while server_of(&mut client, "/a", "").await != "t1" {}
        let servers = servers_of(&gateway, 20, "").await;
        assert_eq!(servers.matches("t1").count() < 5, slowly, "{keys}: {servers}");
    }
}

#[tokio::test]
async fn requests_wait_for_a_full_group_as_long_as_they_may() {
    let holding = Holding::start().await;
    let full = [(&holding.worker, "connection_pool_size = 1")];
    for keys in ["queue = 0\nqueue_timeout = \"1h\"", "queue_timeout = \"50ms\""] {
        let gateway = group(&full, keys);
        let _held = holding.hold(&gateway).await;
        assert_eq!(servers_of(&gateway, 1, "").await, "503", "{keys}");
    }
    let gateway = group(&full, "queue_timeout = \"1h\"");
    let mut held = holding.hold(&gateway).await;
    let mut client = gateway.client().await;
    client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await;
    gateway.until("it waits", |running| running.under_way().1 == 2).await;
    holding.let_go();
    assert_eq!(held.response("GET").await.status, 200);
    assert_eq!(client.response("GET").await.status, 200);
}

#[tokio::test]
async fn nobody_there_is_told_with_the_groups_own_status() {
    let worker = Worker::polite().await;
    worker.stop();
    for (keys, status) in [("", 503), ("unavailable = { status = 429 }", 429)] {
        assert_eq!(group(&[(&worker, "")], keys).get("/a").await.status, status);
    }
}

/// They change nothing else; scripts that set them find them set.
#[tokio::test]
async fn what_is_kept_for_the_status_interface_is_shown_there() {
    let worker = Worker::polite().await;
    let gateway = Gateway::with(&format!(
        "[lb.lb]\nretry_interval = \"7s\"\nlock = \"pessimistic\"\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n\
         [uri]\n\"/*\" = \"lb\"\n\"/jkstatus\" = \"status\"\n",
        worker.address()
    ));
    let listed = gateway.get("/jkstatus?mime=prop").await.text();
    assert!(listed.contains("worker.lb.lock=Pessimistic\n"), "{listed}");
    let json = gateway.get("/jkstatus?mime=json").await.text();
    assert!(json.contains("\"retry_interval_ms\":7000,"), "{json}");
    // To set what is set is no change.
    for (value, changes) in [("7000", false), ("9000", true)] {
        let mut client = gateway.client().await;
        let target = format!("/jkstatus?cmd=update&w=lb&vlri={value}&mime=json");
        client.send(format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")).await;
        let response = client.response("POST").await;
        assert_eq!(response.text().contains("lb.lb.retry_interval"), changes, "{}", response.text());
    }
}
