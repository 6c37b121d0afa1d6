//! Request and response heads.

use jk_worker::Worker;

use crate::harness::Gateway;

#[tokio::test]
async fn the_worker_sees_the_request_as_it_was() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "secret = \"s3cret\"").await;
    let mut client = gateway.client().await;
    client
        .send(
            "PATCH /a/b;v=1?x=%41&y HTTP/1.1\r\nHost: WWW.Example.test:8081\r\nX_Under: 1\r\nX-Two: a\r\nX-Two: b\r\n\
             Cookie: a=1\r\nCookie: b=2\r\nAccept-Language: de\r\nX-Bytes: \u{e9}\r\n\
             Connection: keep-alive, X-Hop\r\nX-Hop: gone\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: websocket\r\nProxy-Connection: close\r\n\r\n",
        )
        .await;
    assert_eq!(client.response("PATCH").await.status, 200);
    let request = &worker.log().requests()[0];
    assert_eq!((request.method.as_str(), request.method_by_code), ("PATCH", false));
    assert_eq!((request.uri.as_str(), request.query.as_deref()), ("/a/b;v=1", Some("x=%41&y")));
    assert_eq!(
        (request.server_name.as_str(), request.server_port, request.is_ssl),
        ("www.example.test", 8081, false)
    );
    assert_eq!((request.remote_addr.as_str(), request.remote_host.as_deref()), ("127.0.0.1", None));
    assert_eq!((request.secret.as_deref(), request.route.as_deref()), (Some("s3cret"), Some("t1")));
    assert_eq!(request.attribute("JK_LB_ACTIVATION"), Some("ACT"));
    assert_eq!(request.attribute("AJP_LOCAL_ADDR"), Some("127.0.0.1"));
    assert!(request.attribute("AJP_REMOTE_PORT").unwrap().parse::<u16>().is_ok());
    assert_eq!(request.header("cookie"), Some("a=1; b=2"));
    assert_eq!(request.header("x_under"), Some("1"));
    assert_eq!(request.header("x-bytes"), Some("\u{c3}\u{a9}"));
    let twice: Vec<&str> = request
        .headers
        .iter()
        .filter(|header| header.name == "x-two")
        .map(|header| header.value.as_str())
        .collect();
    assert_eq!(twice, ["a", "b"]);
    for hop in ["connection", "keep-alive", "te", "upgrade", "proxy-connection", "x-hop", "transfer-encoding"]
    {
        assert_eq!(request.header(hop), None, "{hop}");
    }
    let last = request.headers.last().unwrap();
    assert_eq!((last.name.as_str(), last.value.as_str(), last.by_code), ("content-length", "0", true));
    assert!(request.headers.iter().find(|header| header.name == "accept-language").unwrap().by_code);
}

#[tokio::test]
async fn methods_go_by_code_or_by_name() {
    let worker = Worker::polite().await;
    let by_code = Gateway::before(&worker, "").await;
    let by_name = Gateway::before(&worker, "method_by_name = true").await;
    for gateway in [&by_code, &by_name] {
        for method in ["GET", "DELETE", "OPTIONS", "PROPFIND", "VERSION-CONTROL", "FOO"] {
            let mut client = gateway.client().await;
            client.send(format!("{method} /a HTTP/1.1\r\nHost: a\r\n\r\n")).await;
            assert_eq!(client.response(method).await.status, 200);
        }
    }
    let codes: Vec<(String, bool)> =
        worker.log().requests().into_iter().map(|request| (request.method, request.method_by_code)).collect();
    assert_eq!(codes[1], ("DELETE".to_owned(), true));
    assert_eq!(codes[5], ("FOO".to_owned(), false));
    assert!(codes[6..].iter().all(|(_, by_code)| !by_code));
    assert_eq!(codes[7].0, "DELETE");
}

/// Bytes of a request, and the status it gets from the gateway alone.
const REFUSED: &[(&str, u16)] = &[
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    ("GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /../a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a/..;x/..;y/b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a%5cb HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 200),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
    ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("GET no-slash HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n", 400),
    ("nonsense\r\n\r\n", 400),
];

#[tokio::test]
async fn what_no_worker_should_see_is_answered_here() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    for (bytes, status) in REFUSED {
        let mut client = gateway.client().await;
        client.send(bytes).await;
        let method = bytes.split(' ').next().unwrap();
        let response = client.response(method).await;
        assert_eq!(response.status, *status, "{bytes:?}");
    }
    assert!(worker.log().requests().is_empty(), "{:?}", worker.log().requests());
}

#[tokio::test]
async fn a_length_beside_chunked_never_reaches_the_worker() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    for head in
        ["Content-Length: 3\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 3"]
    {
        let mut client = gateway.client().await;
        client.send(format!("POST /a HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        let response = client.response("POST").await;
        match response.status {
            400 => {}
            200 => assert_eq!(response.text(), "POST /a t1 5"),
            other => panic!("{other}"),
        }
        assert!(client.is_closed().await, "the connection goes on after {head}");
    }
    for request in worker.log().requests() {
        assert_eq!((request.uri.as_str(), request.header("content-length")), ("/a", None));
    }
}

#[tokio::test]
async fn an_absolute_target_names_the_host() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    client.send("GET http://Other.example.test:81/x?y HTTP/1.1\r\nHost: ignored\r\n\r\n").await;
    assert_eq!(client.response("GET").await.status, 200);
    client.send("GET http://other.example.test HTTP/1.1\r\nHost: ignored\r\n\r\n").await;
    assert_eq!(client.response("GET").await.status, 200);
    let requests = worker.log().requests();
    assert_eq!(
        (requests[0].uri.as_str(), requests[0].server_name.as_str(), requests[0].server_port),
        ("/x", "other.example.test", 81)
    );
    assert_eq!(requests[0].header("host"), Some("Other.example.test:81"));
    assert_eq!(requests[1].uri, "/");
}

#[tokio::test]
async fn old_clients_are_served() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    client.send("GET /a HTTP/1.0\r\n\r\n").await;
    let response = client.response("GET").await;
    assert_eq!(response.status, 200);
    assert!(!response.chunked);
    assert_eq!(worker.log().requests()[0].protocol, "HTTP/1.0");
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    let many: String = (0..20).map(|n| format!("GET /{n} HTTP/1.1\r\nHost: a\r\n\r\n")).collect();
    client.send(many).await;
    for n in 0..20 {
        assert_eq!(client.response("GET").await.text(), format!("GET /{n} t1 0"));
    }
}

#[tokio::test]
async fn a_head_around_the_packet_size_is_sent_or_refused_but_never_cut() {
    let worker = Worker::polite().await;
    let gateway = Gateway::before(&worker, "").await;
    let mut seen = (0, 0);
    for len in 7700..8300 {
        let mut client = gateway.client().await;
        client.send(format!("GET /a HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n\r\n", "x".repeat(len))).await;
        match client.response("GET").await.status {
            200 => seen.0 += 1,
            431 => seen.1 += 1,
            other => panic!("{len}: {other}"),
        }
    }
    assert!(seen.0 > 100 && seen.1 > 100, "{seen:?}");
    let largest = worker.log().requests().iter().map(|request| request.packet).max();
    assert_eq!(largest, Some(8192));
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "OK");
    gateway.is_clean().await;
    // Far too long, and too many.
    let mut client = gateway.client().await;
    client.send(format!("GET /a HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n\r\n", "x".repeat(70_000))).await;
    assert_eq!(client.response("GET").await.status, 431);
}

#[tokio::test]
async fn response_heads_are_translated() {
    let worker = Worker::start(|mut exchange| async move {
        exchange
            .answer(
                299,
                &[
                    ("Set-Cookie", "a=1"),
                    ("Set-Cookie", "b=2"),
                    ("Content-Type", "text/plain"),
                    ("X-own-header", "\u{e9}"),
                    ("Connection", "close, X-Hop"),
                    ("X-Hop", "gone"),
                    ("Keep-Alive", "timeout=5"),
                    ("Transfer-Encoding", "chunked"),
                    ("Upgrade", "websocket"),
                    ("Trailer", "X-T"),
                    ("bad header name", "x"),
                ],
                b"body",
            )
            .await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    let response = client.get("/a").await;
    assert_eq!(response.status, 299);
    assert_eq!(response.all("set-cookie"), ["a=1", "b=2"]);
    assert_eq!(response.header("x-own-header"), Some("\u{e9}"));
    for hop in ["x-hop", "keep-alive", "transfer-encoding", "upgrade", "trailer", "connection"] {
        assert_eq!(response.header(hop), None, "{hop}");
    }
    assert!(response.headers.iter().any(|(name, _)| name == "X-Own-Header"));
    assert!(response.header("date").is_some());
    assert_eq!(response.text(), "body");
    assert_eq!(client.get("/b").await.text(), "body");
}

#[tokio::test]
async fn only_trusted_proxies_say_who_the_client_is() {
    let worker = Worker::polite().await;
    let config = |trusted: &str| {
        format!(
            "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n[listener.behind]\naddress = \"127.0.0.1:0\"\n{trusted}\n",
            worker.address()
        )
    };
    let trusting = Gateway::with(&config("trusted_proxies = [\"127.0.0.0/8\"]"));
    let other = Gateway::with(&config("scheme = \"https\""));
    let head = "GET /a HTTP/1.1\r\nHost: inside:8080\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: www.example.test\r\n\r\n";
    for gateway in [&trusting, &other] {
        let address = gateway.running.address("behind").unwrap();
        let mut client = test_support::http::Client::connect(address).await;
        client.send(head).await;
        assert_eq!(client.response("GET").await.status, 200);
    }
    let requests = worker.log().requests();
    let [trusted, fixed] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((trusted.remote_addr.as_str(), trusted.is_ssl), ("192.0.2.7", true));
    assert_eq!(
        (trusted.server_name.as_str(), trusted.server_port, trusted.header("host")),
        ("www.example.test", 443, Some("www.example.test"))
    );
    assert_eq!((fixed.remote_addr.as_str(), fixed.is_ssl), ("127.0.0.1", true));
    assert_eq!(
        (fixed.server_name.as_str(), fixed.server_port, fixed.header("host")),
        ("inside", 8080, Some("inside:8080"))
    );
    assert_eq!(fixed.header("x-forwarded-for"), Some("192.0.2.7"));
    assert!(
        requests.iter().all(|request| !request.attributes.iter().any(|(name, _)| name.starts_with("ssl_")))
    );
}

#[tokio::test]
async fn more_header_fields_than_allowed_are_refused() {
    let worker = Worker::polite().await;
    let address = worker.address();
    for (limit, key) in [(100, ""), (3, "max_headers = 3\n"), (150, "max_headers = 150\n")] {
        let gateway = Gateway::with(&format!(
            "[ajp13.t1]\naddress = \"{address}\"\n[uri]\n\"/*\" = \"t1\"\n\
             [listener.main]\naddress = \"127.0.0.1:0\"\n{key}"
        ));
        for (count, status) in [(limit, 200), (limit + 1, 431)] {
            let fields: String = (1..count).map(|n| format!("X-{n}: v\r\n")).collect();
            let mut client = gateway.client().await;
            client.send(format!("GET /a HTTP/1.1\r\nHost: a\r\n{fields}\r\n")).await;
            assert_eq!(client.response("GET").await.status, status, "{count} of {limit}");
        }
    }
    assert_eq!(worker.log().requests().len(), 3);
}

/// As `nc -N` does, and some checks of load balancers.
#[tokio::test]
async fn a_client_that_ends_its_side_behind_its_request_is_answered() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.body().await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        exchange.answer(200, &[], b"here you are").await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    for request in [
        "GET /a HTTP/1.0\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ] {
        let mut client = gateway.client().await;
        client.send(request).await;
        client.finish().await;
        let response = client.response("GET").await;
        assert_eq!((response.status, response.text().as_str()), (200, "here you are"), "{request}");
        assert!(client.is_closed().await);
        gateway.is_clean().await;
    }
    // What is cut short is not a request.
    let before = worker.log().requests().len();
    let mut client = gateway.client().await;
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\nabc").await;
    client.finish().await;
    assert!(client.try_response("POST").await.is_none_or(|response| response.status == 400));
    gateway.is_clean().await;
    assert!(worker.log().bodies().len() <= before + 1);
}

/// As long as it gets something: were it gone, writing would tell.
#[tokio::test]
async fn an_answer_under_way_outlasts_a_client_that_has_ended_its_side() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.head(200, &[("Content-Type", "text/event-stream")]).await;
        for _ in 0..15 {
            exchange.data(b"one").await;
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        exchange.end(true).await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    let mut client = gateway.client().await;
    client.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.finish().await;
    assert_eq!(client.response("GET").await.text(), "one".repeat(15));
    assert!(client.is_closed().await);
}
