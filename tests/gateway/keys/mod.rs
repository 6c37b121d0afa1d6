//! Every key of the configuration, set and seen to act on what comes out at the other end. `seen.txt` says which test shows which key.

mod group;
mod listener;
mod mapping;
mod page;
mod program;
mod stay;
mod worker;

use std::collections::HashSet;
use std::fs;

use jk_worker::Worker;
use test_support::http::Client;
use test_support::servers::root;
use tokio::sync::watch;

use crate::harness::Gateway;

/// Workers `t1`, `t2`, … each with keys of its own, in group `lb` with its keys; everything is mapped to it.
fn group(members: &[(&Worker, &str)], keys: &str) -> Gateway {
    let mut text = format!("[lb.lb]\n{keys}\n");
    for (n, (worker, keys)) in members.iter().enumerate() {
        text += &format!("[ajp13.t{}]\naddress = \"{}\"\ngroup = \"lb\"\n{keys}\n", n + 1, worker.address());
    }
    Gateway::with(&format!("{text}[uri]\n\"/*\" = \"lb\"\n"))
}

/// Who serves a GET with some header lines: a worker's name, or the status of who refuses.
async fn server_of(client: &mut Client, path: &str, headers: &str) -> String {
    client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n")).await;
    let response = client.response("GET").await;
    let text = response.text();
    text.split(' ')
        .nth(2)
        .filter(|_| response.status == 200)
        .unwrap_or(&response.status.to_string())
        .to_owned()
}

/// Who serves `n` GETs one after the other, as text: `t1 t2 t1`.
async fn servers_of(gateway: &Gateway, n: usize, headers: &str) -> String {
    let mut client = gateway.client().await;
    let mut names = Vec::new();
    for _ in 0..n {
        names.push(server_of(&mut client, "/a", headers).await);
    }
    names.join(" ")
}

/// A worker that takes each request and ends the channel.
async fn breaking() -> Worker {
    Worker::start(|mut exchange| async move {
        exchange.body().await;
        exchange.close();
        exchange
    })
    .await
}

/// A worker that keeps `/hold…` until it is let go, and answers everything else.
struct Holding {
    worker: Worker,
    held: watch::Sender<bool>,
}

impl Holding {
    async fn start() -> Self {
        let held = watch::Sender::new(true);
        let gate = held.clone();
        let worker = Worker::start(move |mut exchange| {
            let mut gate = gate.subscribe();
            async move {
                exchange.body().await;
                if exchange.request.uri.starts_with("/hold") {
                    let _test_has_ended = gate.wait_for(|held| !held).await.is_err();
                }
                let route = exchange.request.route.clone().unwrap_or_default();
                exchange.answer(200, &[], format!("GET {} {route} 0", exchange.request.uri).as_bytes()).await;
                exchange
            }
        })
        .await;
        Self { worker, held }
    }

    /// A client whose request it has, by a session of `t1`'s.
    async fn hold(&self, gateway: &Gateway) -> Client {
        let before = self.worker.log().requests().len();
        let mut client = gateway.client().await;
        client.send("GET /hold HTTP/1.1\r\nHost: a\r\nCookie: JSESSIONID=x.t1\r\n\r\n").await;
        self.worker.log().wait_for("it has it", |log| log.requests().len() > before).await;
        client
    }

    fn let_go(&self) {
        self.held.send_replace(false);
    }
}

/// `seen.txt` has a line for every key, and the test that it names exists and sets the key.
#[test]
fn every_key_is_seen_to_act() {
    let mut missing: HashSet<String> =
        jk_config::KEYS.iter().map(|key| format!("{}.{}", key.section, key.name)).collect();
    for line in include_str!("seen.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [key, file, test] = words[..] else { panic!("{line}: a key, a file and a test") };
        assert!(missing.remove(key), "{key} is no key, or has two lines");
        let text = fs::read_to_string(root().join("tests").join(file)).unwrap_or_default();
        let body = text.split(&format!("fn {test}(")).nth(1);
        let body = body.unwrap_or_else(|| panic!("{line}: there is no such test")).split("\n}\n").next();
        let name = key.split('.').nth(1).unwrap();
        assert!(body.unwrap().contains(name), "{line}: it does not set the key");
    }
    assert!(missing.is_empty(), "no test shows what these do: {missing:?}");
}
