//! Workers that break the protocol: each gets a status, and its channel is closed.

use jk_worker::{Worker, packets};

use crate::harness::{Gateway, logged};

fn framed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![b'A', b'B'];
    bytes.extend_from_slice(&u16::try_from(payload.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// What a worker says in place of an answer, and what the operator reads about it.
fn broken_packets() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let head = packets::headers(200, &[]);
    vec![
        ("closes without a word", vec![], "the worker closed the channel"),
        (
            "http",
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            "a packet begins with 48 54 where 41 42 is due; is this an AJP13 port?",
        ),
        ("wrong magic", b"\x12\x34\x00\x01\x09".to_vec(), "a packet begins with 12 34"),
        ("an empty packet", b"AB\x00\x00".to_vec(), "a packet without a message type"),
        (
            "a packet longer than agreed",
            [b"AB\xff\xff".to_vec(), vec![4; 100]].concat(),
            "longer than the packet size of 8192; both sides must have the same",
        ),
        ("half a packet", head[..head.len() - 2].to_vec(), "the worker closed the channel"),
        ("an unknown message", framed(&[11]), "message type 11 does not exist"),
        ("a CPONG", packets::cpong(), "a CPONG that nobody asked for"),
    ]
}

/// Sound packets at the wrong time, or with what no answer may say.
fn broken_answers() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    vec![
        ("data before the head", packets::chunk(b"data"), "SEND_BODY_CHUNK before SEND_HEADERS"),
        ("an end without a head", packets::end(true), "END_RESPONSE without SEND_HEADERS"),
        ("an end without its flag", framed(&[5]), "the packet ends inside END_RESPONSE"),
        ("status 0", packets::headers(0, &[]), "status 0 is not one of HTTP's"),
        ("status 99", packets::headers(99, &[]), "status 99 is not one of HTTP's"),
        (
            "a final 100",
            [packets::headers(100, &[]), packets::end(true)].concat(),
            "status 100 cannot be a final answer's",
        ),
        (
            "a final 103",
            [packets::headers(103, &[]), packets::end(true)].concat(),
            "status 103 cannot be a final answer's",
        ),
        (
            "two lengths",
            [packets::headers(200, &[("Content-Length", "1"), ("Content-Length", "2")]), packets::end(true)]
                .concat(),
            "its Content-Length is no number, or there are two different ones",
        ),
        (
            "a length that is none",
            [packets::headers(200, &[("Content-Length", "+1")]), packets::end(true)].concat(),
            "its Content-Length is no number, or there are two different ones",
        ),
    ]
}

/// Fields that do not fit their message.
fn broken_fields() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    vec![
        (
            "header code A000",
            framed(&[4, 0, 200, 0, 0, 0, 0, 1, 0xA0, 0, 0, 1, b'x', 0]),
            "header code a000 does not exist",
        ),
        (
            "header code A00C",
            framed(&[4, 0, 200, 0, 0, 0, 0, 1, 0xA0, 12, 0, 1, b'x', 0]),
            "header code a00c does not exist",
        ),
        (
            "a null header name",
            framed(&[4, 0, 200, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0, 1, b'x', 0]),
            "a header name is null",
        ),
        (
            "a null header value",
            framed(&[4, 0, 200, 0, 0, 0, 0, 1, 0, 1, b'a', 0, 0xFF, 0xFF]),
            "a header value is null",
        ),
        (
            "a string beyond the packet",
            framed(&[4, 0, 200, 0, 50, b'x', 0]),
            "the packet ends inside the reason phrase",
        ),
        (
            "a string without its NUL",
            framed(&[4, 0, 200, 0, 1, b'x', b'y', 0, 0]),
            "the reason phrase does not end with a NUL byte",
        ),
        ("asks for no bytes", packets::get_body(0), "GET_BODY_CHUNK for no bytes"),
        (
            "asks twice at once",
            [packets::get_body(10), packets::get_body(10)].concat(),
            "GET_BODY_CHUNK while one is unanswered",
        ),
    ]
}

#[tokio::test]
async fn each_violation_is_a_502_has_its_line_and_costs_its_channel() {
    for (what, bytes, said) in [broken_packets(), broken_answers(), broken_fields()].concat() {
        let worker = Worker::start(move |mut exchange| {
            let bytes = bytes.clone();
            async move {
                if exchange.request.uri == "/good" {
                    exchange.answer(200, &[("Content-Length", "2")], b"ok").await;
                } else {
                    exchange.send(&bytes).await;
                    exchange.close();
                }
                exchange
            }
        })
        .await;
        let gateway = Gateway::before(&worker, "").await;
        let mut client = gateway.client().await;
        assert_eq!(client.get("/bad").await.status, 502, "{what}");
        assert_eq!(client.post("/bad", b"").await.status, 502, "{what}: POST");
        let lines = logged(&worker.address().to_string());
        assert!(
            lines.iter().any(|line| line.contains(said) && line.contains("worker=t1")),
            "{what}: {lines:#?}"
        );
        worker.log().wait_for("closed", |log| log.requests().len() >= 2 && log.n_open() == 0).await;
        // One visitor's bad answer takes nobody out: the worker still answers a CPing.
        assert_eq!(client.get("/good").await.text(), "ok", "{what}");
        gateway.is_clean().await;
    }
}

#[tokio::test]
async fn what_is_harmless_is_passed_over() {
    let rows: Vec<(&str, Vec<u8>)> = vec![
        (
            "a flush before the head",
            [
                packets::chunk(b""),
                packets::headers(200, &[("Content-Length", "2")]),
                packets::chunk(b"ok"),
                packets::end(true),
            ]
            .concat(),
        ),
        (
            "flushes in the body",
            [
                packets::headers(200, &[]),
                packets::chunk(b"o"),
                packets::chunk(b""),
                packets::chunk(b"k"),
                packets::chunk(b""),
                packets::end(true),
            ]
            .concat(),
        ),
        (
            "a flush behind the end",
            [packets::headers(200, &[]), packets::chunk(b"ok"), packets::end(true), packets::chunk(b"")]
                .concat(),
        ),
        (
            "no reason phrase",
            [packets::headers_with_reason(200, b"", &[]), packets::chunk(b"ok"), packets::end(true)].concat(),
        ),
    ];
    for (what, bytes) in rows {
        let worker = Worker::start(move |mut exchange| {
            let bytes = bytes.clone();
            async move {
                exchange.send(&bytes).await;
                exchange
            }
        })
        .await;
        let gateway = Gateway::before(&worker, "").await;
        let mut client = gateway.client().await;
        for _ in 0..5 {
            let response = client.get("/a").await;
            assert_eq!(
                (response.status, response.reason.as_str(), response.text().as_str()),
                (200, "OK", "ok"),
                "{what}"
            );
        }
        gateway.is_clean().await;
    }
}

#[tokio::test]
async fn a_reply_cut_at_any_byte_is_the_same_reply() {
    let whole = [
        packets::headers(200, &[("Content-Type", "text/plain"), ("X-Own", "1")]),
        packets::chunk(b"hello "),
        packets::chunk(b""),
        packets::chunk(b"world"),
        packets::end(true),
    ]
    .concat();
    let len = whole.len();
    let worker = Worker::start(move |mut exchange| {
        let whole = whole.clone();
        async move {
            let cut: usize = exchange.request.query.clone().unwrap_or_default().parse().unwrap_or(0);
            exchange.send(&whole[..cut]).await;
            tokio::task::yield_now().await;
            exchange.send(&whole[cut..]).await;
            exchange
        }
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for cut in 0..=len {
        let response = client.get(&format!("/a?{cut}")).await;
        assert_eq!(
            (response.status, response.header("x-own"), response.text().as_str()),
            (200, Some("1"), "hello world"),
            "{cut}"
        );
    }
    assert_eq!(worker.log().n_connects(), 1);
    gateway.is_clean().await;
}
