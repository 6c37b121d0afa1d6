//! Sessions and the Tomcats that hold them.

use std::collections::BTreeSet;
use std::time::Duration;

use test_support::http::Client;
use test_support::servers::{Jkgate, Tomcat};

use crate::harness::{PROGRAM, SECOND, TOMCAT, TURN, seed, seed_of_two, seen};

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

const VISIT: &str = "/servlets-examples/servlet/SessionExample";

/// A visit with a cookie; the page's text.
async fn visit(gateway: &Jkgate, cookie: &str) -> String {
    let mut client = Client::connect(gateway.address()).await;
    client.send(format!("GET {VISIT} HTTP/1.1\r\nHost: a\r\nCookie: other=1; {cookie}\r\n\r\n")).await;
    let response = client.response("GET").await;
    assert_eq!(response.status, 200);
    response.text()
}

/// A first visit; the session's cookie.
async fn arrive(gateway: &Jkgate) -> String {
    let first = Client::connect(gateway.address()).await.get(VISIT).await;
    first.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn newcomers_are_spread_and_sessions_stay() {
    let gateway = Jkgate::start(PROGRAM, &seed_of_two(TOMCAT.ajp, SECOND.ajp));
    let mut cookies = Vec::new();
    for _ in 0..10 {
        cookies.push(arrive(&gateway).await);
    }
    let of = |route: &str| cookies.iter().filter(|cookie| cookie.ends_with(route)).count();
    assert_eq!((of(".t1"), of(".t2")), (5, 5), "{cookies:?}");
    // In an order that taking turns would not follow.
    for number in 2..5 {
        for cookie in cookies.iter().rev() {
            assert!(visit(&gateway, cookie).await.contains(&format!("visits {number}\n")), "{cookie}");
        }
    }
}

#[tokio::test]
async fn a_session_in_the_path_stays_too() {
    let gateway = Jkgate::start(PROGRAM, &seed_of_two(TOMCAT.ajp, SECOND.ajp));
    for (route, ajp) in [("t1", TOMCAT.ajp), ("t2", SECOND.ajp), ("t1", TOMCAT.ajp), ("t1", TOMCAT.ajp)] {
        let path = format!("/echo/session;jsessionid=0123456789ABCDEF.{route}?action=create");
        let response = Client::connect(gateway.address()).await.get(&path).await;
        assert_eq!(seen(&response)["jvmRoute"], route, "{ajp}");
    }
}

#[tokio::test]
async fn a_disabled_member_keeps_its_sessions_and_gets_no_new_ones() {
    let gateway = Jkgate::start(PROGRAM, &seed_of_two(TOMCAT.ajp, SECOND.ajp));
    let mut old = arrive(&gateway).await;
    while old.ends_with(".t1") {
        old = arrive(&gateway).await;
    }
    let (code, out, errors) = gateway.run(PROGRAM, &["set", "lb/t2", "activation=disabled"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    let mut routes = BTreeSet::new();
    for _ in 0..6 {
        routes.insert(arrive(&gateway).await.rsplit('.').next().unwrap().to_owned());
    }
    assert_eq!(routes, BTreeSet::from(["t1".to_owned()]));
    assert!(visit(&gateway, &old).await.contains("visits 2\n"));
    let (code, _, _) = gateway.run(PROGRAM, &["set", "lb/t2", "activation=stopped"]);
    assert_eq!(code, Some(0));
    // A stopped member serves nobody: the session begins again elsewhere.
    assert!(visit(&gateway, &old).await.contains("visits 1\n"));
}

#[tokio::test]
async fn a_tomcat_that_restarts_is_found_again_and_nothing_is_lost_elsewhere() {
    let _turn = TURN.lock().await;
    let mut second = Tomcat::start("t2");
    let gateway = Jkgate::start(PROGRAM, &seed_of_two(TOMCAT.ajp, second.ajp));
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
