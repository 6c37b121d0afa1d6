//! Workers that are not there, or are slow: what it costs everybody else.

use std::net::SocketAddr;
use std::time::Duration;

use jk_worker::{Pings, Worker};
use test_support::hole::Hole;

use crate::harness::Gateway;

fn two(first: SocketAddr, second: SocketAddr, member: &str, group: &str) -> Gateway {
    Gateway::with(&format!(
        "[lb.lb]\n{group}\n[ajp13.t1]\naddress = \"{first}\"\ngroup = \"lb\"\n{member}\n\
         [ajp13.t2]\naddress = \"{second}\"\ngroup = \"lb\"\n{member}\n[uri]\n\"/*\" = \"lb\"\n"
    ))
}

#[tokio::test]
async fn an_address_that_swallows_connects_costs_one_timeout_and_no_answer() {
    let (hole, good) = (Hole::dig(), Worker::polite().await);
    let gateway = two(hole.address(), good.address(), "socket_connect_timeout = \"200ms\"", "");
    let mut client = gateway.client().await;
    for n in 0..10 {
        // A POST, too: the worker has seen nothing of it.
        let response = if n % 2 == 0 { client.post("/a", b"abc").await } else { client.get("/a").await };
        assert_eq!(response.status, 200);
    }
    assert!(matches!(gateway.running.member("lb", "t1").unwrap().0, "ERR" | "ERR/REC"));
    assert_eq!(good.log().requests().len(), 10);
    // Alone it is a 503.
    let alone = two(hole.address(), hole.address(), "socket_connect_timeout = \"200ms\"", "");
    assert_eq!(alone.get("/a").await.status, 503);
    alone.is_clean().await;
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_worker_that_is_slow_but_not_silent_is_waited_for() {
    let worker = Worker::start(|mut exchange| async move {
        let reply = [
            jk_worker::packets::headers(200, &[("Content-Length", "10")]),
            jk_worker::packets::chunk(b"0123456789"),
            jk_worker::packets::end(true),
        ]
        .concat();
        for byte in reply {
            tokio::time::sleep(Duration::from_millis(15)).await;
            exchange.send(&[byte]).await;
        }
        exchange
    })
    .await;
    // All of it takes much longer than one silence may.
    let gateway = Gateway::before(&worker, "reply_timeout = \"250ms\"").await;
    assert_eq!(gateway.get("/a").await.text(), "0123456789");
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_member_that_hangs_takes_only_its_own_requests_with_it() {
    let stuck = Worker::start(|mut exchange| async move {
        exchange.hang().await;
        exchange
    })
    .await;
    let good = Worker::polite().await;
    let settings = "connection_pool_size = 2\nacquire_queue = 0\nreply_timeout = \"never\"";
    let gateway = two(stuck.address(), good.address(), settings, "");
    // Two hang; from then on the stuck member is full and everybody is served by the other.
    let mut hanging = Vec::new();
    while stuck.log().requests().len() < 2 {
        let mut client = gateway.client().await;
        client.send("GET /a HTTP/1.1\r\nHost: a\r\nCookie: JSESSIONID=x.t1\r\n\r\n").await;
        hanging.push(client);
        let expected = hanging.len().min(2);
        stuck.log().wait_for("it has it", |log| log.requests().len() >= expected).await;
    }
    for n in 0..20 {
        let mut client = gateway.client().await;
        let response = if n % 2 == 0 { client.post("/a", b"abc").await } else { client.get("/a").await };
        assert_eq!(response.status, 200, "{n}");
    }
    assert_eq!(stuck.log().requests().len(), 2);
    drop(hanging);
    gateway.is_clean().await;
}

#[tokio::test]
async fn the_quick_member_gets_what_the_slow_one_cannot_take() {
    let slow = Worker::start(|mut exchange| async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        exchange.answer(200, &[], b"slow").await;
        exchange
    })
    .await;
    let quick = Worker::start(|mut exchange| async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        exchange.answer(200, &[], b"quick").await;
        exchange
    })
    .await;
    for method in ["busyness", "latency", "power_of_two"] {
        let gateway =
            std::sync::Arc::new(two(slow.address(), quick.address(), "", &format!("method = \"{method}\"")));
        let (slow_before, quick_before) = (slow.log().requests().len(), quick.log().requests().len());
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let gateway = std::sync::Arc::clone(&gateway);
                tokio::spawn(async move {
                    let mut client = gateway.client().await;
                    for _ in 0..25 {
                        assert_eq!(client.get("/a").await.status, 200);
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
        let served = |worker: &Worker, before| worker.log().requests().len() - before;
        let (by_slow, by_quick) = (served(&slow, slow_before), served(&quick, quick_before));
        assert_eq!(by_slow + by_quick, 200);
        assert!(by_quick > 2 * by_slow, "{method}: {by_slow} slow, {by_quick} quick");
        gateway.is_clean().await;
    }
}

#[tokio::test]
async fn a_worker_that_answers_no_ping_is_out_until_it_does() {
    let (deaf, good) = (Worker::polite().await, Worker::polite().await);
    deaf.set_pings(Pings::Ignored);
    let gateway = two(deaf.address(), good.address(), "ping_timeout = \"100ms\"", "recover_time = \"1s\"");
    let mut client = gateway.client().await;
    for _ in 0..6 {
        assert_eq!(client.get("/a").await.status, 200);
    }
    assert_eq!(deaf.log().requests().len(), 0);
    deaf.set_pings(Pings::Answered);
    while deaf.log().requests().is_empty() {
        assert_eq!(client.get("/a").await.status, 200);
    }
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "OK");
    gateway.is_clean().await;
}
