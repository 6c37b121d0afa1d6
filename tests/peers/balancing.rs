//! The same workers, the same requests in the same order: mod_jk and jkgate choose the same members, and think the same of them.
//!
//! Scripted workers answer with their letter. Each case is a group of its own over them, with its own members' names, so that no
//! case changes another's state. A query tells one worker to misbehave.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use jk_worker::Worker;
use test_support::http::{Client, Response};
use test_support::servers::{Apache, ApacheOptions, Jkgate};
use tokio::sync::watch;

use crate::cases::{CASES, Case, Step};

/// Each case is played with so many groups of mod_jk, all alike: in a few cases, those of ids with an unknown route and of forced sessions
/// of a dead member, it does not always decide in the same way.
const ROUNDS: usize = 4;

#[tokio::test]
async fn the_same_requests_are_served_by_the_same_members() {
    let stage = Stage::build().await;
    let apache = apache(&stage);
    let gateway = jkgate(&stage);
    let (mut wrong, mut unsteady) = (Vec::new(), Vec::new());
    for (number, case) in CASES.iter().enumerate() {
        let ours = stage.play(gateway.address(), number * ROUNDS, case).await;
        let mut theirs = Vec::new();
        for round in 0..ROUNDS {
            theirs.push(stage.play(apache.address(), number * ROUNDS + round, case).await);
        }
        if theirs.iter().any(|one| *one != theirs[0]) {
            unsteady.push(case.name);
        }
        if !theirs.contains(&ours) {
            wrong.push(format!("{}:\n  mod_jk {theirs:?}\n  jkgate {ours:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases differ:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
    assert!(unsteady.len() <= 4, "mod_jk disagrees with itself: {unsteady:?}");
}

/// The workers that all groups share.
struct Stage {
    workers: Vec<Worker>,
    dead: SocketAddr,
    /// True: requests with `?hold` are kept waiting.
    holding: Arc<watch::Sender<bool>>,
}

impl Stage {
    async fn build() -> Self {
        let holding = Arc::new(watch::Sender::new(false));
        let mut workers = Vec::new();
        for own in 'a'..='e' {
            workers.push(letter(own, &holding).await);
        }
        let dead = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).unwrap();
        Self { workers, dead, holding }
    }

    fn worker(&self, letter: char) -> &Worker {
        &self.workers[usize::from(letter as u8 - b'a')]
    }

    fn address(&self, letter: char) -> SocketAddr {
        if matches!(letter, 'x' | 'y') { self.dead } else { self.worker(letter).address() }
    }

    fn n_requests(&self) -> usize {
        self.workers.iter().map(|worker| worker.log().requests().len()).sum()
    }

    /// Who served each request, or which status came; and at the end what each member's state is.
    async fn play(&self, address: SocketAddr, number: usize, case: &Case) -> Vec<String> {
        let (mut seen, mut held) = (Vec::new(), Vec::new());
        for step in case.steps {
            match step {
                Step::Ask(method, times, cookie, rest) => {
                    for _ in 0..*times {
                        let mut client = ask(address, method, number, cookie, rest).await;
                        seen.push(word(client.try_response(method).await.as_ref()));
                    }
                }
                Step::Hold(cookie) => {
                    self.holding.send_replace(true);
                    let before = self.n_requests();
                    let client = ask(address, "GET", number, cookie, "?hold").await;
                    while self.n_requests() == before {
                        tokio::task::yield_now().await;
                    }
                    held.push(client);
                }
                Step::Release => {
                    self.holding.send_replace(false);
                    for mut client in held.drain(..) {
                        seen.push(word(client.try_response("GET").await.as_ref()));
                    }
                }
                Step::Stop(letter) => self.worker(*letter).stop(),
                Step::Start(letter) => self.worker(*letter).start_again().await,
                Step::Command(letter, command) => {
                    let place = case.members.iter().position(|(own, _)| own == letter).unwrap();
                    let names = format!("w=c{number}&sw=c{number}m{place}");
                    let path = format!("/jkstatus/?{command}&{names}&mime=prop");
                    let result = Client::connect(address).await.get(&path).await.text();
                    assert!(result.contains("result.type=OK"), "{path}: {result}");
                }
            }
        }
        if case.states {
            let listed = Client::connect(address).await.get("/jkstatus/?cmd=list&mime=prop").await.text();
            for place in 0..case.members.len() {
                let prefix = format!("worker.c{number}m{place}.state=");
                let state = listed.lines().find_map(|line| line.strip_prefix(&prefix));
                seen.push(state.unwrap_or("?").to_owned());
            }
        }
        seen
    }
}

async fn ask(address: SocketAddr, method: &str, number: usize, cookie: &str, rest: &str) -> Client {
    let mut client = Client::connect(address).await;
    let cookie = if cookie.is_empty() { String::new() } else { format!("Cookie: {cookie}\r\n") };
    let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
    client.send(format!("{method} /c{number}/a{rest} HTTP/1.1\r\nHost: a\r\n{cookie}{length}\r\n")).await;
    client
}

/// The letter or the status, and the cookie that the front set.
fn word(response: Option<&Response>) -> String {
    let Some(response) = response else { return "nothing".to_owned() };
    let who = if response.status == 200 { response.text() } else { response.status.to_string() };
    match response.header("Set-Cookie") {
        Some(cookie) => format!("{who} {cookie}"),
        None => who,
    }
}

/// Answers with its letter; `?KIND=LETTERS` makes the named ones misbehave.
async fn letter(own: char, holding: &Arc<watch::Sender<bool>>) -> Worker {
    let holding = Arc::clone(holding);
    Worker::start(move |mut exchange| {
        let mut holding = holding.subscribe();
        async move {
            let query = exchange.request.query.clone().unwrap_or_default();
            if query == "hold" {
                let _the_test_has_ended = holding.wait_for(|holding| !holding).await;
            }
            match query.split_once('=') {
                Some((kind, letters)) if kind != "jsessionid" && letters.contains(own) => match kind {
                    "close" => exchange.close(),
                    "hang" => exchange.hang().await,
                    status => exchange.answer(status.parse().unwrap_or(200), &[], b"").await,
                },
                _ => {
                    exchange.body().await;
                    exchange.answer(200, &[], own.to_string().as_bytes()).await;
                }
            }
            exchange
        }
    })
    .await
}

/// Every case, ROUNDS times, with a number for each.
fn rounds() -> impl Iterator<Item = (usize, &'static Case)> {
    CASES.iter().flat_map(|case| std::iter::repeat_n(case, ROUNDS)).enumerate()
}

/// In a mapping, the member with that letter: `@a` becomes its name.
fn named(text: &str, number: usize, case: &Case) -> String {
    case.members.iter().enumerate().fold(text.to_owned(), |text, (place, (letter, _))| {
        text.replace(&format!("@{letter}"), &format!("c{number}m{place}"))
    })
}

fn apache(stage: &Stage) -> Apache {
    let mut workers = String::from("worker.jkstatus.type=status\n");
    let (mut names, mut mounts) =
        (vec!["jkstatus".to_owned()], String::from("JkMount /jkstatus/* jkstatus\n"));
    for (number, case) in rounds() {
        let mut members = Vec::new();
        for (place, (letter, keys)) in case.members.iter().enumerate() {
            let name = format!("c{number}m{place}");
            let at = stage.address(*letter);
            workers += &format!(
                "worker.{name}.type=ajp13\nworker.{name}.host={}\nworker.{name}.port={}\n",
                at.ip(),
                at.port()
            );
            workers += &format!("worker.{name}.route={letter}\n");
            for (key, value, _) in *keys {
                workers += &format!("worker.{name}.{key}={value}\n");
            }
            members.push(name);
        }
        workers +=
            &format!("worker.c{number}.type=lb\nworker.c{number}.balance_workers={}\n", members.join(","));
        for (key, value, _) in case.group {
            workers += &format!("worker.c{number}.{key}={value}\n");
        }
        let mut target = format!("c{number}");
        for (key, value, _) in case.mapping {
            target += &format!(";{key}={}", named(value, number, case));
        }
        mounts += &format!("JkMount /c{number}/* {target}\n");
        names.push(format!("c{number}"));
    }
    workers += &format!("worker.list={}\n", names.join(","));
    Apache::start(&ApacheOptions { workers: &workers, conf: &mounts, ..ApacheOptions::default() })
}

fn jkgate(stage: &Stage) -> Jkgate {
    let (mut text, mut uris) = (String::new(), String::from("[uri]\n\"/jkstatus/*\" = \"status\"\n"));
    for (number, case) in rounds() {
        text += &format!("[lb.c{number}]\n");
        for (key, _, value) in case.group {
            text += &format!("{key} = {value}\n");
        }
        for (place, (letter, keys)) in case.members.iter().enumerate() {
            let at = stage.address(*letter);
            text += &format!(
                "[ajp13.c{number}m{place}]\naddress = \"{at}\"\ngroup = \"c{number}\"\nroute = \"{letter}\"\n"
            );
            for (key, _, value) in *keys {
                text += &format!("{key} = {value}\n");
            }
        }
        let mut options = format!("group = \"c{number}\"");
        for (key, _, value) in case.mapping {
            options += &format!(", {key} = {}", named(value, number, case));
        }
        uris += &format!("\"/c{number}/*\" = {{ {options} }}\n");
    }
    let rest = "[status]\nget_updates_from = [\"127.0.0.0/8\"]\n\
                [listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[access_log]\ntarget = \"off\"\n\
                [admin]\naddress = \"off\"\n[process]\nthreads = 1\n";
    Jkgate::start(env!("CARGO_BIN_EXE_jkgate"), &format!("{text}{uris}{rest}"))
}
