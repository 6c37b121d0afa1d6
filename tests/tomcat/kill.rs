//! Two Tomcats under load, one of which dies again and again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use test_support::http::{Client, Response};
use test_support::servers::{Jkgate, Tomcat};

use crate::harness::{PROGRAM, TURN, seed_of_two, seen};

const DEATHS: usize = 10;

/// What all clients share.
struct Load {
    gateway: Jkgate,
    over: AtomicBool,
    next: AtomicUsize,
    served: AtomicUsize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn one_of_two_dies_ten_times_and_no_visitor_of_the_other_notices() {
    let _turn = TURN.lock().await;
    let (first, mut second) = (Tomcat::start("t1"), Tomcat::start("t2"));
    let load = Arc::new(Load {
        gateway: Jkgate::start(PROGRAM, &seed_of_two(first.ajp, second.ajp)),
        over: AtomicBool::new(false),
        next: AtomicUsize::new(0),
        served: AtomicUsize::new(0),
    });
    let gets: Vec<_> = (0..4).map(|_| tokio::spawn(get(Arc::clone(&load)))).collect();
    let posts: Vec<_> = (0..3).map(|_| tokio::spawn(post(Arc::clone(&load)))).collect();
    let session = tokio::spawn(stay(Arc::clone(&load)));
    for _ in 0..DEATHS {
        // Not before it serves again, so that each death meets requests on their way.
        let before = second.tally().len();
        while second.tally().len() < before + 20 {
            tokio::task::yield_now().await;
        }
        second.kill();
        let (served, more) = (load.served.load(SeqCst), 200);
        while load.served.load(SeqCst) < served + more {
            tokio::task::yield_now().await;
        }
        tokio::task::block_in_place(|| second.start_again());
    }
    load.over.store(true, SeqCst);
    for task in gets {
        task.await.unwrap();
    }
    session.await.unwrap();
    let mut answered = BTreeMap::new();
    for task in posts {
        answered.extend(task.await.unwrap());
    }
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for id in first.tally().into_iter().chain(second.tally()) {
        *times.entry(id).or_default() += 1;
    }
    assert!(answered.len() > 300, "{}", answered.len());
    for (id, status) in &answered {
        let times = times.get(id).copied().unwrap_or(0);
        assert!(times <= 1, "{id} was executed {times} times");
        assert!(times == 1 || *status != 200, "{id} was answered and never executed");
        assert!([200, 502, 503].contains(status), "{id}: {status}");
    }
    // What was on its way to the one that died is all that was lost.
    let lost = answered.values().filter(|status| **status != 200).count();
    assert!(lost <= DEATHS * 3, "{lost} of {} POSTs were lost", answered.len());
}

/// Asks for what may be asked for twice, and always gets it.
async fn get(load: Arc<Load>) {
    let mut client = Client::connect(load.gateway.address()).await;
    while !load.over.load(SeqCst) {
        let response = client.get("/echo/tally?id=get&ms=4").await;
        assert_eq!(response.status, 200, "{}", response.text());
        load.served.fetch_add(1, SeqCst);
    }
}

/// Asks for what must not be done twice.
async fn post(load: Arc<Load>) -> Vec<(String, u16)> {
    let mut answered = Vec::new();
    let mut client = Client::connect(load.gateway.address()).await;
    while !load.over.load(SeqCst) {
        let id = format!("post{}", load.next.fetch_add(1, SeqCst));
        let response = client.post(&format!("/echo/tally?id={id}&ms=4"), b"do it").await;
        answered.push((id, response.status));
    }
    answered
}

/// Has a session on the Tomcat that lives.
async fn stay(load: Arc<Load>) {
    let mut client = Client::connect(load.gateway.address()).await;
    let cookie = loop {
        let first = client.get("/echo/session?action=create").await;
        let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        if cookie.ends_with(".t1") {
            break cookie;
        }
    };
    while !load.over.load(SeqCst) {
        client.send(format!("GET /echo/session HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n")).await;
        let response: Response = client.response("GET").await;
        assert_eq!((response.status, seen(&response)["jvmRoute"].as_str()), (200, Some("t1")));
        assert_eq!(response.header("set-cookie"), None, "the session was lost");
    }
}
