//! Bodies, both ways.

use std::io::Write;
use std::process::{Command, Stdio};

use test_support::http::Client;
use test_support::request::{Body, Request, pattern};
use test_support::servers::Jkgate;

use crate::harness::{PROGRAM, TOMCAT, get, seed, seen};

#[tokio::test]
async fn bodies_arrive_whole() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    for len in [0usize, 1, 514, 2600, 8186, 8187, 100_000, 3_000_000] {
        let body: Vec<u8> = (0..len).map(|at| b"0123456789abcdef"[at % 16]).collect();
        let response = client.post("/echo/dump", &body).await;
        let told = seen(&response)["body"].clone();
        assert_eq!(told["length"], len, "{told}");
        client.send("POST /echo/dump HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        for piece in body.chunks(7000) {
            client.send([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()).await;
        }
        client.send("0\r\n\r\n").await;
        let chunked = seen(&client.response("POST").await)["body"].clone();
        assert_eq!((&chunked["length"], &chunked["sha256"]), (&told["length"], &told["sha256"]));
    }
    for target in
        ["/echo/big?bytes=5000000", "/echo/big?bytes=5000000&length=0", "/echo/chunks?n=50&size=999&flush=1"]
    {
        let response = client.get(target).await;
        assert!(response.complete && response.body.starts_with(b"0000000\n0000008\n"), "{target}");
    }
}

#[tokio::test]
async fn large_packets() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp_large, "max_packet_size = \"64KiB\""));
    let mut client = Client::connect(gateway.address()).await;
    client
        .send(format!("GET /echo/dump HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n\r\n", "x".repeat(50_000)))
        .await;
    assert_eq!(client.response("GET").await.status, 200);
    let body = vec![b'y'; 200_000];
    assert_eq!(seen(&client.post("/echo/dump", &body).await)["body"]["length"], 200_000);
}

#[tokio::test]
async fn a_servlet_that_fails_half_way_never_looks_complete() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, "reply_timeout = \"1s\""));
    for target in ["/echo/abort?bytes=20000", "/echo/abort?bytes=20000&length=50000"] {
        let mut client = Client::connect(gateway.address()).await;
        client.send(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        let response = client.try_response("GET").await;
        assert!(response.is_none_or(|response| !response.complete), "{target}");
    }
    assert_eq!(get(&gateway, "/echo/dump").await.status, 200);
}

/// What another program makes of the same bytes.
fn sha256(bytes: &[u8]) -> String {
    let mut sum = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    sum.stdin.take().unwrap().write_all(bytes).unwrap();
    String::from_utf8(sum.wait_with_output().unwrap().stdout).unwrap()[..64].to_owned()
}

#[tokio::test]
async fn an_upload_is_the_same_byte_for_byte() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let body = pattern(1_234_567);
    let expected = sha256(&body);
    let chunks = body.chunks(9_999).map(<[u8]>::to_vec).collect();
    for body in [Body::Length(body), Body::Chunked(chunks)] {
        let mut client = Client::connect(gateway.address()).await;
        client.send(Request::new("PUT", "/echo/dump").body(body).bytes()).await;
        assert_eq!(seen(&client.response("PUT").await)["body"]["sha256"], expected);
    }
}

/// The servlet sends what it reads while it reads: neither side may wait for the end of the other.
#[tokio::test]
async fn ten_megabytes_go_in_and_come_back_at_the_same_time() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let whole = pattern(10_000_000);
    let chunks: Vec<Vec<u8>> = whole.chunks(50_000).map(<[u8]>::to_vec).collect();
    let mut client = Client::connect(gateway.address()).await;
    for (target, body, chunked) in [
        ("/echo/mirror?length=1", Body::Length(whole.clone()), false),
        ("/echo/mirror", Body::Length(whole.clone()), true),
        ("/echo/mirror", Body::Chunked(chunks), true),
    ] {
        let response = client.exchange(Request::new("POST", target).body(body).bytes(), "POST").await;
        assert_eq!((response.status, response.complete, response.chunked), (200, true, chunked), "{target}");
        assert!(response.body == whole, "{target}: {} bytes, not the same", response.body.len());
    }
    assert_eq!(client.get("/echo/dump").await.status, 200);
}

#[tokio::test]
async fn a_client_that_sends_byte_by_byte() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    for body in [Body::Length(pattern(300)), Body::Chunked(vec![pattern(300), pattern(17)])] {
        let len = body.whole().len();
        client.send_in_pieces(Request::new("POST", "/echo/dump").body(body).bytes(), 1).await;
        assert_eq!(seen(&client.response("POST").await)["body"]["length"], len);
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    let method = |n: usize| ["GET", "POST", "HEAD", "PUT"][n % 4];
    let requests = (0..40).map(|n| {
        let body = if n % 2 == 0 { Body::None } else { Body::Length(pattern(n * 211)) };
        Request::new(method(n), &format!("/echo/dump/{n}")).body(body).bytes()
    });
    client.send(requests.collect::<Vec<_>>().concat()).await;
    for n in 0..40 {
        let response = client.response(method(n)).await;
        assert_eq!(response.status, 200, "{n}");
        if method(n) != "HEAD" {
            let told = seen(&response);
            assert_eq!((&told["method"], &told["pathInfo"]), (&method(n).into(), &format!("/{n}").into()));
        }
    }
}

#[tokio::test]
async fn a_client_may_wait_for_100() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    let request = Request::new("POST", "/echo/expect")
        .header("Expect", "100-continue")
        .body(Body::Length(pattern(9000)));
    client.send(request.head()).await;
    assert_eq!(client.head().await.unwrap().status, 100);
    client.send(request.wire_body()).await;
    assert_eq!(seen(&client.response("POST").await)["body"]["length"], 9000);
    // What is not mapped needs no body: the answer comes at once, without a 100 before it.
    let request = Request { target: "/nowhere".to_owned(), ..request };
    client.send(request.head()).await;
    let refused = client.response("POST").await;
    assert_eq!((refused.status, refused.interim.as_slice()), (404, [].as_slice()));
}

/// The client sends all of it before it reads a byte; the servlet answers at once and reads nothing.
#[tokio::test]
async fn an_answer_before_the_end_of_the_body_arrives() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    for len in [100_000, 1_000_000, 20_000_000] {
        let mut client = Client::connect(gateway.address()).await;
        let response = client.post("/echo/ignore-body?code=403", &pattern(len)).await;
        assert_eq!((response.status, response.complete), (403, true), "{len}");
    }
    assert_eq!(get(&gateway, "/echo/dump").await.status, 200);
}

#[tokio::test]
async fn what_is_flushed_arrives_while_the_servlet_still_works() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    client.send("GET /echo/chunks?n=3&size=100&flush=1&sleepMs=400 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut response = client.head().await.unwrap();
    let first = client.more().await.unwrap();
    assert_eq!(first.as_ref(), [b"64\r\n", &pattern(100)[..], b"\r\n"].concat());
    client.rest(&mut response, "GET").await;
    assert_eq!((response.complete, response.chunks.as_slice()), (true, [100, 100].as_slice()));
    assert_eq!(response.body, pattern(300)[100..]);
}
