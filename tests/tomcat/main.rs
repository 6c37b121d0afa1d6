//! End to end: the real program in front of a real Tomcat.

use std::sync::LazyLock;
use std::time::Duration;

use test_support::http::{Client, Response};
use test_support::servers::{Jkgate, SECRET, Tomcat};
use tokio::sync::Mutex;

const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

/// One Tomcat for all tests of this file that do not hurt it.
static TOMCAT: LazyLock<Tomcat> = LazyLock::new(|| Tomcat::start("t1"));

/// Tests that start further Tomcats take turns: each needs a core to start.
static TURN: Mutex<()> = Mutex::const_new(());

/// The seed's configuration, in front of any AJP port.
fn seed(ajp: u16, extra: &str) -> String {
    format!(
        "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n\n[lb.lb]\n\n[ajp13.t1]\naddress = \"127.0.0.1:{ajp}\"\ngroup   = \"lb\"\n{extra}\n\n\
         [uri]\n\"/servlets-examples|/*\" = \"lb\"\n\"/jsp-examples|/*\"      = \"lb\"\n\"/examples|/*\"          = \"lb\"\n\"/echo|/*\"              = \"lb\"\n\"/jkstatus|/*\"          = \"status\"\n\n\
         [access_log]\ntarget = \"stdout\"\n\n[admin]\naddress = \"@ADMIN@\"\n"
    )
}

async fn get(gateway: &Jkgate, path: &str) -> Response {
    Client::connect(gateway.address()).await.get(path).await
}

/// What Tomcat saw of a request, as the echo application tells it.
fn seen(response: &Response) -> serde_json::Value {
    serde_json::from_slice(&response.body).unwrap_or_else(|error| panic!("{error}: {}", response.text()))
}

#[tokio::test]
async fn the_seed_works() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let hello = get(&gateway, "/servlets-examples/servlet/HelloWorldExample").await;
    assert_eq!(hello.status, 200);
    assert!(hello.text().contains("<h1>Hello World!</h1>"));
    assert_eq!(hello.header("content-type"), Some("text/html;charset=UTF-8"));
    assert_eq!(get(&gateway, "/jsp-examples/").await.status, 200);
    assert!(
        get(&gateway, "/examples/servlets/servlet/HelloWorldExample").await.text().contains("Hello World!")
    );
    assert_eq!(get(&gateway, "/examples").await.status, 302);
    assert_eq!(get(&gateway, "/elsewhere").await.status, 404);
    let log = gateway.server.output();
    assert!(log.contains("\"GET /servlets-examples/servlet/HelloWorldExample HTTP/1.1\" 200"), "{log}");
    assert!(log.contains("group=lb worker=t1"), "{log}");
}

#[tokio::test]
async fn a_session_keeps_its_route() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    let first = client.get("/servlets-examples/servlet/SessionExample").await;
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert!(cookie.ends_with(".t1"), "{cookie}");
    for visit in 2..5 {
        client.send(format!("GET /servlets-examples/servlet/SessionExample HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n")).await;
        assert!(client.response("GET").await.text().contains(&format!("visits {visit}")));
    }
}

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
async fn statuses_heads_and_methods() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    for (code, reason) in [
        (200, "OK"),
        (201, "Created"),
        (204, "No Content"),
        (304, "Not Modified"),
        (404, "Not Found"),
        (500, "Internal Server Error"),
    ] {
        let response = client.get(&format!("/echo/status?code={code}")).await;
        assert_eq!((response.status, response.reason.as_str()), (code, reason));
    }
    client.send("HEAD /echo/big?bytes=12345 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let head = client.response("HEAD").await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("12345")));
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "FOO"] {
        client.send(format!("{method} /echo/dump HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")).await;
        assert_eq!(seen(&client.response(method).await)["method"], method);
    }
    let cookies = client.get("/echo/setcookies?n=3").await;
    assert_eq!(cookies.all("set-cookie").len(), 3);
    // A servlet that ignores the body, and the next request behind it.
    assert_eq!(client.post("/echo/ignore-body?code=200", &[b'x'; 100]).await.status, 200);
    assert_eq!(client.get("/echo/dump").await.status, 200);
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

#[tokio::test]
async fn the_secret_is_told_and_a_wrong_one_shows() {
    let right = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp_secret, &format!("secret = \"{SECRET}\"")));
    assert_eq!(get(&right, "/echo/dump").await.status, 200);
    let wrong = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp_secret, "secret = \"wrong\""));
    assert_eq!(get(&wrong, "/echo/dump").await.status, 403);
    let log = wrong.server.output() + &right.server.output();
    assert!(!log.contains(SECRET) && !log.contains("wrong\""), "a secret was logged");
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
async fn a_tomcat_that_restarts_is_found_again_and_nothing_is_lost_elsewhere() {
    let _turn = TURN.lock().await;
    let mut second = Tomcat::start("t2");
    let config = format!(
        "{}\n[ajp13.t2]\naddress = \"127.0.0.1:{}\"\ngroup = \"lb\"\n[defaults.lb]\nrecover_time = \"1s\"\n",
        seed(TOMCAT.ajp, ""),
        second.ajp
    );
    let gateway = Jkgate::start(PROGRAM, &config);
    let mut client = Client::connect(gateway.address()).await;
    for _ in 0..4 {
        assert_eq!(client.get("/echo/dump").await.status, 200);
    }
    second.kill();
    for n in 0..20 {
        let response =
            if n % 2 == 0 { client.get("/echo/dump").await } else { client.post("/echo/dump", b"abc").await };
        assert_eq!(response.status, 200, "request {n}");
    }
    second.start_again();
    let begin = std::time::Instant::now();
    loop {
        client.send("GET /echo/session?action=create HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let response = client.response("GET").await;
        assert_eq!(response.status, 200);
        if response.header("set-cookie").is_some_and(|cookie| cookie.contains(".t2")) {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "the second Tomcat was never used again");
    }
}

#[tokio::test]
async fn it_ends_well() {
    let mut gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let address = gateway.address();
    let mut slow = Client::connect(address).await;
    slow.send("GET /echo/sleep?ms=1500 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut idle = Client::connect(address).await;
    assert_eq!(idle.get("/echo/dump").await.status, 200);
    gateway.server.signal("TERM");
    let response = slow.response("GET").await;
    assert_eq!(response.status, 200);
    assert!(idle.is_closed().await);
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
async fn the_commands_talk_to_the_running_gateway() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let (code, out, errors) = gateway.run(PROGRAM, &["check"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    assert!(out.contains("is good: 1 listener, 1 group, 1 worker"), "{out}");
    let (code, out, _) = gateway.run(PROGRAM, &["explain", "/servlets-examples/x"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("member now: t1"), "{out}");
    let (code, out, errors) = gateway.run(PROGRAM, &["set", "lb/t1", "activation=stopped"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    assert_eq!(get(&gateway, "/echo/dump").await.status, 503);
    let (code, _, _) = gateway.run(PROGRAM, &["set", "lb/t1", "activation=active"]);
    assert_eq!(code, Some(0));
    assert_eq!(get(&gateway, "/echo/dump").await.status, 200);
    let (code, _, errors) = gateway.run(PROGRAM, &["set", "lb/t1", "activation=sleepy"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("\"active\", \"disabled\", \"stopped\""), "{errors}");
    let (code, out, _) = gateway.run(PROGRAM, &["reload"]);
    assert_eq!(code, Some(0), "{out}");
}
