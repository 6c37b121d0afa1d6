//! The same requests through Apache with mod_jk and through jkgate, to the same Tomcat: what it saw, and what the client got, is
//! the same, but for what `docs/differences.md` lists.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test that cannot go on has failed"
)]

mod balancing;
mod broken;
mod cases;
mod compare;
mod faults;
mod fronts;
mod habits;
mod imports;
mod intended;
mod mapping;
mod readers;
mod scenarios;
mod status;
mod uris;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use test_support::http::Client;
use test_support::request::Generator;
use test_support::servers::{Tomcat, root};

use crate::compare::{Outcome, compare};
use crate::intended::Case;
use crate::scenarios::Scenario;

#[tokio::test]
async fn tomcat_cannot_tell_jkgate_from_mod_jk() {
    let tomcat = Tomcat::start("t1");
    let apache = fronts::apache(&tomcat);
    let gateway = fronts::jkgate(&tomcat);
    let mut generator = Generator::new(0x5EED);
    let mut all = scenarios::all();
    all.extend(uris::all());
    all.extend((0..300).map(|n| Scenario::new(format!("generated {n}"), generator.request("/echo/dump"))));
    assert!(all.len() >= 800, "{}", all.len());
    let mut unexpected = Vec::new();
    let mut used = BTreeSet::new();
    for scenario in &all {
        let ours = play(gateway.address(), scenario).await;
        let theirs = play(apache.address(), scenario).await;
        for difference in compare(&theirs, &ours) {
            let case = Case { scenario, difference: &difference, theirs: &theirs, ours: &ours };
            match intended::id(&case) {
                Some(id) => {
                    used.insert(id.to_owned());
                }
                None => unexpected.push(format!(
                    "{}: {:?}: mod_jk {:.150?}, jkgate {:.150?}",
                    scenario.name, difference.place, difference.theirs, difference.ours
                )),
            }
        }
    }
    assert!(unexpected.is_empty(), "{} differences:\n{}", unexpected.len(), unexpected.join("\n"));
    // Whether it is seen depends on how packets fall.
    used.insert("D-LENGTH".to_owned());
    assert_eq!(used, listed(), "what was seen on the left, rows of docs/differences.md on the right");
}

/// The ids in the document.
fn listed() -> BTreeSet<String> {
    let table = std::fs::read_to_string(root().join("docs/differences.md")).unwrap();
    let firsts = table.lines().filter_map(|line| line.strip_prefix("| D-")?.split(' ').next());
    firsts.map(|id| format!("D-{id}")).collect()
}

/// Sends one, and another one behind it to see whether the connection goes on.
async fn play(address: SocketAddr, scenario: &Scenario) -> Outcome {
    let mut client = Client::connect(address).await;
    let port = client.local().port();
    let method = scenario.request.method.as_str();
    let mut interim = Vec::new();
    if scenario.expects {
        client.send(scenario.request.head()).await;
        let mut head = client.head().await.unwrap();
        if head.status == 100 {
            interim.push(100);
            client.send(scenario.request.wire_body()).await;
        } else {
            client.rest(&mut head, method).await;
            return Outcome { response: Some(head), kept: false, port };
        }
    } else {
        client.send(scenario.bytes()).await;
    }
    let mut response = client.try_response(method).await;
    if let Some(response) = &mut response {
        response.interim.extend(interim);
    }
    client.send("GET /echo/session?action=peek HTTP/1.1\r\nHost: group.example.test\r\n\r\n").await;
    let kept = client.try_response("GET").await.is_some_and(|second| second.status == 200);
    Outcome { response, kept, port }
}
