//! Channels that Tomcat closes, and clients that leave.

use std::collections::BTreeSet;

use test_support::http::Client;
use test_support::request::pattern;
use test_support::servers::{Jkgate, SECRET, Tomcat};

use crate::harness::{PROGRAM, TOMCAT, TURN, get, seed, seen, until};

/// The local ports of connections to a port of loopback that are open on both sides.
fn channels(port: u16) -> BTreeSet<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let remote = format!("0100007F:{port:04X}");
    let open = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    open.filter(|fields| fields.len() > 3 && fields[2] == remote && fields[3] == "01")
        .map(|fields| fields[1].to_owned())
        .collect()
}

/// Opens so many channels, by as many requests at one time.
async fn fill(gateway: &Jkgate, n: usize) {
    let mut clients = Vec::new();
    for _ in 0..n {
        let mut client = Client::connect(gateway.address()).await;
        client.send("GET /echo/sleep?ms=100 HTTP/1.1\r\nHost: a\r\n\r\n").await;
        clients.push(client);
    }
    for mut client in clients {
        assert_eq!(client.response("GET").await.status, 200);
    }
}

#[tokio::test]
async fn channels_that_tomcat_closed_while_idle_hurt_nobody() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp_idle, ""));
    for round in 0..3 {
        fill(&gateway, 4).await;
        until("Tomcat closes idle channels", || channels(TOMCAT.ajp_idle).is_empty()).await;
        // Unsafe ones, which nobody may send twice.
        let mut client = Client::connect(gateway.address()).await;
        for n in 0..4 {
            let response = client.post("/echo/dump", b"abc").await;
            assert_eq!(
                (response.status, &seen(&response)["body"]["length"]),
                (200, &3.into()),
                "{round} {n}"
            );
        }
    }
}

#[tokio::test]
async fn the_only_tomcat_restarts() {
    let _turn = TURN.lock().await;
    let mut tomcat = Tomcat::start("t1");
    let gateway = Jkgate::start(PROGRAM, &seed(tomcat.ajp, ""));
    for how in ["stop", "kill"] {
        fill(&gateway, 5).await;
        if how == "stop" {
            tomcat.stop()
        } else {
            tomcat.kill()
        }
        for _ in 0..3 {
            let response = get(&gateway, "/echo/dump").await;
            assert_eq!(response.status, 503, "{how}");
            assert!(response.text().contains("not available at the moment"), "{}", response.text());
        }
        tomcat.start_again();
        // At once: nobody waits for recover_time when there is nobody else.
        let mut client = Client::connect(gateway.address()).await;
        for n in 0..10 {
            assert_eq!(client.post("/echo/dump", b"abc").await.status, 200, "{how} {n}");
        }
    }
    let log = gateway.server.output();
    assert!(log.contains("t1"), "{log}");
}

#[tokio::test]
async fn a_client_that_leaves_leaves_nothing_for_the_next_one() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, "connection_pool_size = 2"));
    for n in 0..30 {
        let mut leaving = Client::connect(gateway.address()).await;
        if n % 3 == 0 {
            leaving.send("GET /echo/big?bytes=4000000 HTTP/1.1\r\nHost: a\r\n\r\n").await;
            assert_eq!(leaving.head().await.unwrap().status, 200);
            assert!(leaving.more().await.is_some());
        } else {
            leaving.send("POST /echo/dump HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n").await;
            leaving.send(pattern(if n % 3 == 1 { 100 } else { 9000 })).await;
        }
        leaving.reset();
        let mut next = Client::connect(gateway.address()).await;
        let response = next.get("/echo/big?bytes=30000").await;
        assert!(response.complete && response.body == pattern(30_000), "{n}");
        assert_eq!(seen(&next.post("/echo/dump", b"next").await)["body"]["length"], 4, "{n}");
    }
}

#[tokio::test]
async fn a_thousand_requests_open_one_channel() {
    // One thread, as channels belong to the threads that opened them; one seat, as a request would rather open a second channel than
    // wait for a Tomcat that is slow to end the exchange before. A channel that is lost on the way shows as another local port.
    let config = format!("{}\n[process]\nthreads = 1\n", seed(TOMCAT.ajp_open, "connection_pool_size = 1"));
    let gateway = Jkgate::start(PROGRAM, &config);
    let mut client = Client::connect(gateway.address()).await;
    let targets = [
        "/echo/dump",
        "/echo/status?code=204",
        "/echo/status?code=304",
        "/echo/big?bytes=20000",
        "/echo/chunks?n=3&flush=1",
    ];
    let before = channels(TOMCAT.ajp_open);
    let mut ours = BTreeSet::new();
    for n in 0..200 {
        for target in targets {
            let response = client.get(target).await;
            assert!(response.complete && matches!(response.status, 200 | 204 | 304), "{n} {target}");
            ours.extend(channels(TOMCAT.ajp_open).difference(&before).cloned());
            assert_eq!(ours.len(), 1, "after {n} {target}");
        }
    }
}

#[tokio::test]
async fn a_head_larger_than_a_packet_says_what_to_raise() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    client.send(format!("GET /echo/dump HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n\r\n", "x".repeat(9000))).await;
    assert_eq!(client.response("GET").await.status, 431);
    // It was nobody's fault, and the connection goes on.
    assert_eq!(client.get("/echo/dump").await.status, 200);
    until("the log says it", || {
        let log = gateway.server.output();
        log.contains("max_packet_size") && log.contains("packetSize")
    })
    .await;
}

/// The other way round: packets as large as Tomcat does not take them.
#[tokio::test]
async fn a_tomcat_that_wants_smaller_packets_shows_in_the_log() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, "max_packet_size = \"64KiB\""));
    for _ in 0..5 {
        let mut client = Client::connect(gateway.address()).await;
        let long = "x".repeat(9000);
        client.send(format!("GET /echo/dump HTTP/1.1\r\nHost: a\r\nX-Long: {long}\r\n\r\n")).await;
        assert_eq!(client.response("GET").await.status, 400);
        // What Tomcat makes of the rest of that head is nobody else's trouble.
        assert_eq!(seen(&client.post("/echo/dump", b"abc").await)["body"]["length"], 3);
        // A body in such packets is an error that Tomcat itself explains.
        let response = client.post("/echo/dump", &pattern(20_000)).await;
        assert_eq!(response.status, 500);
        assert!(response.text().contains("packetSize is only [8,192]"), "{}", response.text());
        assert_eq!(seen(&client.post("/echo/dump", b"abc").await)["body"]["length"], 3);
    }
    until("the log says it", || gateway.server.output().contains("Is Tomcat's packetSize as large as")).await;
}

/// `jkgate ping` says which of Tomcat's settings to change.
#[tokio::test]
async fn ping_tells_what_a_connector_takes() {
    let folder = tempfile::tempdir().unwrap();
    let (right, wrong) = (folder.path().join("right"), folder.path().join("wrong"));
    std::fs::write(&right, format!("{SECRET}\n")).unwrap();
    std::fs::write(&wrong, "guess").unwrap();
    let ping = |port: u16, more: &[&str]| {
        let mut command = std::process::Command::new(PROGRAM);
        let output =
            command.args(["ping", &format!("127.0.0.1:{port}"), "-n", "1"]).args(more).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    let (right, wrong) = (right.to_str().unwrap(), wrong.to_str().unwrap());
    for (port, more, success, words) in [
        (TOMCAT.ajp, &[][..], true, "CPong in"),
        (TOMCAT.ajp_secret, &["--secret-file", right], true, "the secret is accepted"),
        (TOMCAT.ajp_secret, &["--secret-file", wrong], false, "the secret is not the one of this connector"),
        (TOMCAT.ajp, &["--packet-size", "8KiB"], true, "packets of 8192 bytes are accepted"),
        (TOMCAT.ajp, &["--packet-size", "16KiB"], false, "set packetSize=\"16384\" at this connector"),
        (TOMCAT.ajp_large, &["--packet-size", "64KiB"], true, "packets of 65536 bytes are accepted"),
        (TOMCAT.ajp_secret, &["--packet-size", "8KiB"], false, "wants a secret"),
        (TOMCAT.ajp_secret, &["--packet-size", "8KiB", "--secret-file", right], true, "packets of 8192"),
        (TOMCAT.http, &[], false, "Is this an AJP port?"),
        (TOMCAT.ajp, &["--packet-size", "4KiB"], false, "expected 8KiB to 64KiB"),
    ] {
        let (ended_well, text) = ping(port, more);
        assert!(ended_well == success && text.contains(words), "{more:?}: {text}");
    }
}
