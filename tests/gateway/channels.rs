//! Channels: reuse, death, limits.

use std::sync::Arc;

use jk_worker::{Event, Gone, Pings, Worker};
use tokio::sync::Semaphore;

use crate::harness::{Gateway, pattern};

#[tokio::test]
async fn channels_that_died_while_idle_are_noticed_before_use() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    assert_eq!(client.get("/a").await.status, 200);
    for round in 1..=5 {
        worker.stop();
        worker.start_again().await;
        let response = client.post("/b", &pattern(3000)).await;
        assert_eq!((response.status, response.text().as_str()), (200, "POST /b t1 3000"), "round {round}");
    }
    // Delivered once each.
    let posts = worker.log().requests().iter().filter(|request| request.method == "POST").count();
    assert_eq!(posts, 5);
    gateway.is_clean().await;
}

#[tokio::test]
async fn all_idle_channels_may_die_at_once() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let worker = Worker::start(move |mut exchange| {
        let held = Arc::clone(&held);
        async move {
            if exchange.request.uri == "/hold" {
                let _permit = held.acquire().await;
            }
            exchange.answer(200, &[("Content-Length", "2")], b"ok").await;
            exchange
        }
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut clients = Vec::new();
    for _ in 0..10 {
        let mut client = gateway.client().await;
        client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n").await;
        clients.push(client);
    }
    worker.log().wait_for("ten channels", |log| log.requests().len() == 10).await;
    gate.add_permits(10);
    for client in &mut clients {
        assert_eq!(client.response("GET").await.status, 200);
    }
    worker.stop();
    worker.start_again().await;
    for client in &mut clients {
        assert_eq!(client.post("/x", b"abc").await.status, 200);
    }
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_channel_that_must_not_be_reused_is_closed_at_once() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.head(403, &[("Content-Length", "0")]).await;
        exchange.end(false).await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for n in 1..=3 {
        assert_eq!(client.get("/a").await.status, 403);
        worker.log().wait_for("closed", |log| log.n_open() == 0).await;
        assert_eq!(worker.log().n_connects(), n);
    }
    assert!(worker.log().events().contains(&Event::Gone { channel: 1, how: Gone::Closed }));
}

#[tokio::test]
async fn a_full_pool_makes_requests_wait_and_then_refuses() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let worker = Worker::start(move |mut exchange| {
        let held = Arc::clone(&held);
        async move {
            if let Ok(permit) = held.acquire().await {
                permit.forget();
            }
            exchange.answer(200, &[("Content-Length", "2")], b"ok").await;
            exchange
        }
    })
    .await;
    let gateway =
        Gateway::before(&worker, "connection_pool_size = 2\nacquire_queue = 1\nacquire_timeout = \"20s\"")
            .await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = gateway.client().await;
        client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await;
        clients.push(client);
    }
    worker.log().wait_for("two under way", |log| log.requests().len() == 2).await;
    gateway.until("the third has begun", |running| running.under_way().1 == 3).await;
    gate.add_permits(3);
    for client in &mut clients {
        assert_eq!(client.response("GET").await.status, 200);
    }
    assert_eq!(worker.log().n_connects(), 2);
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_client_that_leaves_while_waiting_leaves_nothing() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let worker = Worker::start(move |mut exchange| {
        let held = Arc::clone(&held);
        async move {
            if let Ok(permit) = held.acquire().await {
                permit.forget();
            }
            exchange.answer(200, &[("Content-Length", "2")], b"ok").await;
            exchange
        }
    })
    .await;
    let gateway = Gateway::before(&worker, "connection_pool_size = 1\nacquire_timeout = \"20s\"").await;
    let mut first = gateway.client().await;
    first.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await;
    worker.log().wait_for("one under way", |log| log.requests().len() == 1).await;
    for _ in 0..20 {
        let mut client = gateway.client().await;
        client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n").await;
        gateway.until("it waits", |running| running.under_way().1 == 2).await;
        client.reset();
        gateway.until("it has left", |running| running.under_way().1 == 1).await;
    }
    gate.add_permits(2);
    assert_eq!(first.response("GET").await.status, 200);
    assert_eq!(gateway.get("/c").await.status, 200);
    assert_eq!(worker.log().requests().len(), 2);
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_worker_that_does_not_answer_a_ping_is_not_used() {
    let worker = Worker::polite().await;
    for pings in [Pings::Ignored, Pings::Garbled, Pings::Closed] {
        worker.set_pings(pings);
        let gateway = Gateway::before(&worker, "ping_timeout = \"100ms\"").await;
        assert_eq!(gateway.get("/a").await.status, 503, "{pings:?}");
        gateway.is_clean().await;
    }
    assert!(worker.log().requests().is_empty());
}

#[tokio::test]
async fn a_ping_precedes_each_request_if_the_operator_wants_it() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "prepost_idle = \"0s\"").await;
    let mut client = gateway.client().await;
    for _ in 0..10 {
        assert_eq!(client.get("/a").await.status, 200);
    }
    // One after the connect, one before each of the others.
    assert_eq!(worker.log().n_pings(), 10);
    assert_eq!(worker.log().n_connects(), 1);
}

#[tokio::test]
async fn idle_channels_are_closed_in_time_down_to_the_minimum() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "connection_pool_timeout = \"100ms\"").await;
    assert_eq!(gateway.get("/a").await.status, 200);
    worker.log().wait_for("closed", |log| log.n_open() == 0).await;
    gateway.until("no channel", |running| running.member("lb", "t1").unwrap().2 == (0, 0)).await;
}

#[tokio::test]
async fn a_silent_worker_is_given_up_after_the_reply_timeout() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.hang().await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "reply_timeout = \"150ms\"").await;
    let mut client = gateway.client().await;
    assert_eq!(client.get("/a").await.status, 504);
    assert_eq!(client.post("/a", b"abc").await.status, 504);
    worker.log().wait_for("closed", |log| log.n_open() == 0).await;
    gateway.is_clean().await;
    // A slow answer takes nobody out.
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "OK/IDLE");
}

#[tokio::test]
async fn an_end_that_comes_late_is_waited_for_outside_the_reply() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let worker = Worker::start(move |mut exchange| {
        let held = Arc::clone(&held);
        async move {
            exchange.head(200, &[("Content-Length", "2")]).await;
            exchange.data(b"ok").await;
            tokio::select! {
                permit = held.acquire() => permit.unwrap().forget(),
                () = exchange.hang() => {}
            }
            exchange.end(true).await;
            exchange
        }
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for _ in 0..20 {
        // The client has all it was promised although END_RESPONSE is still to come.
        assert_eq!(client.get("/a").await.text(), "ok");
        gate.add_permits(1);
        gateway.until("the channel is back", |running| running.member("lb", "t1").unwrap().2 == (1, 1)).await;
    }
    assert_eq!(worker.log().n_connects(), 1);
    // One that never comes costs its channel, not the client.
    assert_eq!(client.get("/a").await.text(), "ok");
    worker.log().wait_for("closed", |log| log.n_open() == 0).await;
    gateway.is_clean().await;
}
