//! Clients that leave, at every moment: the channel is closed, nobody is blamed, and nothing reaches the next visitor.

use jk_worker::{Event, Worker};

use crate::harness::{Gateway, pattern};

/// Answers with the request's own path, slowly enough that somebody can leave.
async fn named() -> Worker {
    Worker::start(|mut exchange| async move {
        exchange.body().await;
        let text = exchange.request.uri.clone();
        exchange.answer(200, &[], text.as_bytes()).await;
        exchange
    })
    .await
}

#[tokio::test]
async fn an_upload_that_stops_anywhere_is_never_taken_for_whole() {
    let worker = named().await;
    let gateway = Gateway::before(&worker, "").await;
    for chunked in [false, true] {
        for sent in [0, 1, 100, 8186, 8187, 20_000, 49_999] {
            for reset in [false, true] {
                let mut client = gateway.client().await;
                let body = pattern(50_000);
                if chunked {
                    client.send("POST /cut HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
                    client.send([b"c350\r\n", &body[..sent]].concat()).await;
                } else {
                    client.send("POST /cut HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n").await;
                    client.send(&body[..sent]).await;
                }
                let before = worker.log().requests().len();
                worker.log().wait_for("it arrived", |log| log.requests().len() >= before.min(1)).await;
                if reset {
                    client.reset();
                } else {
                    client.finish().await;
                    assert!(client.try_response("POST").await.is_none_or(|response| response.status == 400));
                }
                gateway.is_clean().await;
                assert_eq!(gateway.get("/next").await.text(), "/next");
            }
        }
    }
    let ended = worker.log().events().iter().any(|event| matches!(event, Event::Body { len: 0, .. }));
    assert!(!ended, "a body that broke off was ended with an empty packet");
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "OK");
}

#[tokio::test]
async fn a_client_that_leaves_during_the_reply_costs_its_channel_only() {
    let worker = Worker::start(|mut exchange| async move {
        if exchange.request.uri == "/endless" {
            exchange.head(200, &[]).await;
            while !exchange.is_closed() {
                exchange.data(&pattern(8184)).await;
            }
        } else {
            exchange.answer(200, &[], b"mine").await;
        }
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    for _ in 0..10 {
        let mut client = gateway.client().await;
        client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(client.head().await.unwrap().status, 200);
        client.more().await;
        client.reset();
        gateway.is_clean().await;
        assert_eq!(gateway.get("/mine").await.text(), "mine");
    }
    worker.log().wait_for("all but one closed", |log| log.n_open() <= 1).await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_reply_lets_nothing_through() {
    let worker = Worker::start(|mut exchange| async move {
        if exchange.request.uri == "/never" {
            exchange.hang().await;
        } else {
            exchange.answer(200, &[], b"mine").await;
        }
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    for n in 1..=10 {
        let mut client = gateway.client().await;
        client.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n").await;
        worker
            .log()
            .wait_for("it arrived", |log| {
                log.requests().iter().filter(|request| request.uri == "/never").count() == n
            })
            .await;
        client.reset();
        gateway.is_clean().await;
        assert_eq!(gateway.get("/mine").await.text(), "mine");
    }
}
