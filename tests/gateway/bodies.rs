//! Bodies both ways.

use jk_worker::Worker;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{Gateway, pattern};

/// Answers with what it got.
async fn echo() -> Worker {
    Worker::start(|mut exchange| async move {
        let body = exchange.body().await;
        let length = body.len().to_string();
        exchange.head(200, &[("Content-Length", &length)]).await;
        exchange.data(&body).await;
        exchange.end(true).await;
        exchange
    })
    .await
}

#[tokio::test]
async fn every_size_arrives_whole_and_no_packet_has_a_forbidden_length() {
    let worker = echo().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for len in [
        1, 2, 511, 512, 513, 600, 767, 768, 2559, 2560, 2815, 2816, 8185, 8186, 8187, 8698, 16372, 20_000,
        100_000,
    ] {
        let body = pattern(len);
        let response = client.post("/echo", &body).await;
        assert_eq!((response.status, response.body.len()), (200, len));
        assert!(response.body == body, "{len} bytes came back changed");
    }
    assert!(worker.log().bodies().iter().all(|len| !matches!(len >> 8, 2 | 10) && *len <= 8186));
    assert_eq!(worker.log().n_connects(), 1);
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_chunked_body_is_asked_for_and_ends_with_an_empty_packet() {
    let worker = echo().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for chunks in [vec![], vec![1], vec![10, 10], vec![8186, 1], vec![20_000, 3, 700], vec![2600]] {
        let body = pattern(chunks.iter().sum());
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        let mut at = 0;
        for size in &chunks {
            client.send([format!("{size:x}\r\n").as_bytes(), &body[at..at + size], b"\r\n"].concat()).await;
            at += size;
        }
        client.send("0\r\n\r\n").await;
        let response = client.response("POST").await;
        assert!(response.body == body, "{chunks:?}");
    }
    let head = &worker.log().requests()[0];
    assert_eq!(head.header("transfer-encoding"), Some("chunked"));
    assert_eq!(head.header("content-length"), None);
    assert_eq!(worker.log().n_connects(), 1);
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_request_without_a_body_says_so() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    assert_eq!(client.get("/a").await.status, 200);
    client.send("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(client.response("POST").await.status, 200);
    for request in worker.log().requests() {
        assert_eq!(request.header("content-length"), Some("0"));
    }
    assert_eq!(worker.log().bodies(), Vec::<usize>::new());
}

#[tokio::test]
async fn a_thousand_requests_of_each_kind_make_one_connect() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.body().await;
        let body = pattern(match exchange.request.uri.as_str() {
            "/small" => 100,
            "/large" => 20_000,
            _ => 0,
        });
        let length = body.len().to_string();
        match exchange.request.query.as_deref() {
            Some("length") => exchange.head(200, &[("Content-Length", &length)]).await,
            Some("status=304") => exchange.head(304, &[]).await,
            Some("status=204") => exchange.head(204, &[]).await,
            _ => exchange.head(200, &[]).await,
        }
        exchange.data(&body).await;
        exchange.end(true).await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for target in [
        "/small?length",
        "/small",
        "/large?length",
        "/large",
        "/none?status=304",
        "/none?status=204",
        "/none?length",
    ] {
        for _ in 0..1000 {
            let response = client.get(target).await;
            assert!(response.complete);
        }
        for _ in 0..50 {
            client.send(format!("HEAD {target} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
            assert!(client.response("HEAD").await.body.is_empty());
        }
    }
    assert_eq!(worker.log().n_connects(), 1);
    gateway.is_clean().await;
}

#[tokio::test]
async fn replies_without_a_body_have_none() {
    let worker = Worker::start(|mut exchange| async move {
        let status = exchange.request.uri.trim_start_matches('/').parse().unwrap_or(200);
        exchange.head(status, &[("Content-Length", "5")]).await;
        exchange.data(b"hello").await;
        exchange.end(true).await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for (method, status, length) in
        [("HEAD", 200, Some("5")), ("GET", 204, None), ("GET", 205, Some("0")), ("GET", 304, None)]
    {
        client.send(format!("{method} /{status} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        let response = client.response(method).await;
        assert_eq!(
            (response.status, response.header("content-length")),
            (status, length),
            "{method} {status}"
        );
        assert_eq!(response.header("transfer-encoding"), None);
        assert!(response.body.is_empty());
    }
    assert_eq!(client.get("/200").await.text(), "hello");
    assert_eq!(worker.log().n_connects(), 1);
    gateway.is_clean().await;
}

#[tokio::test]
async fn data_is_delivered_as_it_comes() {
    let (step, steps) = tokio::sync::mpsc::unbounded_channel::<()>();
    let steps = std::sync::Arc::new(tokio::sync::Mutex::new(steps));
    let worker = Worker::start(move |mut exchange| {
        let steps = std::sync::Arc::clone(&steps);
        async move {
            let mut steps = steps.lock().await;
            exchange.head(200, &[("Content-Type", "text/event-stream")]).await;
            for event in ["one", "two", "three"] {
                steps.recv().await;
                exchange.data(format!("data: {event}\n\n").as_bytes()).await;
            }
            steps.recv().await;
            exchange.end(true).await;
            exchange
        }
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    client.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.head().await.unwrap().status, 200);
    for event in ["one", "two", "three"] {
        step.send(()).unwrap();
        let piece = client.more().await.unwrap();
        assert!(String::from_utf8_lossy(&piece).contains(event), "{piece:?}");
    }
    step.send(()).unwrap();
    assert_eq!(client.more().await.unwrap().as_ref(), b"0\r\n\r\n");
    gateway.is_clean().await;
}

#[tokio::test]
async fn ten_megabytes_go_both_ways_at_once() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.head(200, &[]).await;
        while let Some(piece) = exchange.piece(8186).await {
            exchange.data(&piece).await;
        }
        exchange.end(true).await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let body = pattern(10_000_000);
    let stream = TcpStream::connect(gateway.address).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    let sent = body.clone();
    let writing = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        let head = format!(
            "POST /duplex HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            sent.len()
        );
        to.write_all(head.as_bytes()).await.unwrap();
        to.write_all(&sent).await.unwrap();
        to
    });
    let mut answer = Vec::new();
    from.read_to_end(&mut answer).await.unwrap();
    writing.await.unwrap();
    let start = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    let mut rest = &answer[start..];
    let mut back = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        back.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    assert!(back == body, "{} bytes came back", back.len());
    gateway.is_clean().await;
}

#[tokio::test]
async fn an_early_answer_reaches_a_client_that_is_still_sending() {
    let worker = Worker::start(|mut exchange| async move {
        if exchange.request.method == "POST" {
            exchange.read_packet().await;
        }
        exchange.head(413, &[("Content-Length", "3")]).await;
        exchange.data(b"no!").await;
        exchange.end(true).await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n").await;
    client.send(pattern(5000)).await;
    let response = client.response("POST").await;
    assert_eq!((response.status, response.text().as_str()), (413, "no!"));
    gateway.is_clean().await;
    assert_eq!(gateway.get("/a").await.status, 413);
}

#[tokio::test]
async fn the_client_is_told_to_continue_once_a_channel_is_ready() {
    let worker = echo().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n").await;
    assert_eq!(client.head().await.unwrap().status, 100);
    client.send("hello").await;
    assert_eq!(client.response("POST").await.text(), "hello");
    // What the gateway refuses by itself it refuses without asking for the body.
    client.send("POST /%zz HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n").await;
    let refused = client.response("POST").await;
    assert_eq!((refused.status, refused.interim.as_slice()), (400, [].as_slice()));
    assert!(client.is_closed().await);
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_reply_that_breaks_off_never_looks_complete() {
    let worker = Worker::start(|mut exchange| async move {
        let headers: &[(&str, &str)] =
            if exchange.request.uri == "/length" { &[("Content-Length", "100")] } else { &[] };
        exchange.head(200, headers).await;
        exchange.data(b"0123456789").await;
        match exchange.request.query.as_deref() {
            Some("close") => exchange.close(),
            Some("reset") => exchange.reset(),
            Some("end") => exchange.end(true).await,
            Some("garbage") => exchange.send(b"garbage garbage").await,
            Some("second-head") => exchange.head(200, &[]).await,
            _ => {}
        }
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    for target in [
        "/length?close",
        "/length?reset",
        "/length?end",
        "/length?garbage",
        "/length?second-head",
        "/none?close",
        "/none?reset",
        "/none?garbage",
        "/none?second-head",
    ] {
        let mut client = gateway.client().await;
        client.send(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        // A reply that breaks off before its head was written comes to nothing at all.
        let response = client.try_response("GET").await;
        assert!(
            response.as_ref().is_none_or(|response| !response.complete),
            "{target} looked complete: {response:?}"
        );
        gateway.is_clean().await;
    }
}

#[tokio::test]
async fn more_than_announced_is_cut_and_never_seen_again() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.head(200, &[("Content-Length", "4")]).await;
        exchange.data(b"0123456789").await;
        exchange.end(true).await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    for _ in 0..20 {
        let response = client.get("/a").await;
        assert_eq!(response.text(), "0123");
    }
    gateway.is_clean().await;
}

/// Carried whole by hand, before a real Tomcat; here, that no count on the way has only 32 bits.
#[tokio::test]
async fn lengths_beyond_four_gigabytes_stay_what_they_are() {
    let worker = Worker::start(|mut exchange| async move {
        let announced = exchange.request.header("content-length").unwrap_or("none").to_owned();
        if exchange.request.method == "PUT" {
            exchange.answer(413, &[("X-Announced", &announced)], b"").await;
        } else {
            exchange.head(200, &[("Content-Length", "5000000000")]).await;
            exchange.data(b"0123456789").await;
            // Until the client has left.
            exchange.read_packet().await;
        }
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    client.send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000000\r\n\r\n0123456789").await;
    assert_eq!(client.response("PUT").await.header("x-announced"), Some("5000000000"));
    let mut client = gateway.client().await;
    client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.head().await.unwrap().header("content-length"), Some("5000000000"));
    drop(client);
    gateway.is_clean().await;
}

/// To close a socket that holds unread bytes resets it, and a reset may overtake the answer.
#[tokio::test]
async fn a_client_that_is_still_sending_gets_its_answer_and_no_reset() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.answer(403, &[], b"no").await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    // One that the worker answers without reading, one that the gateway refuses by itself.
    for (target, status) in [("/a", "403"), ("/%zz", "400")] {
        let mut client = TcpStream::connect(gateway.address).await.unwrap();
        let head = format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        client.write_all(&pattern(20_000)).await.unwrap();
        let mut answer = vec![0; 12];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), format!("HTTP/1.1 {status}"));
        for _ in 0..10 {
            client.write_all(&pattern(20_000)).await.unwrap();
        }
        client.shutdown().await.unwrap();
        // A reset would be an error here, and might have eaten the rest of the answer.
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap();
        gateway.until("nobody is connected", |running| running.under_way().0 == 0).await;
    }
    gateway.is_clean().await;
}
