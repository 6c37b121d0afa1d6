//! The same requests through Apache with mod_jk and through jkgate, to the same Tomcat: what it saw, and what the client got, is
//! the same, but for what `docs/differences.md` lists.

mod compare;
mod requests;

use std::time::Duration;

use test_support::http::Client;
use test_support::servers::{Apache, ApacheOptions, Jkgate, Tomcat};

use crate::compare::compare;
use crate::requests::{Request, requests};

const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

#[tokio::test]
async fn tomcat_cannot_tell_jkgate_from_mod_jk() {
    let tomcat = Tomcat::start("t1");
    let workers = format!(
        "worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=t1\nworker.t1.host=127.0.0.1\nworker.t1.port={}\n",
        tomcat.ajp_open
    );
    let conf =
        "JkMount /echo lb\nJkMount /echo/* lb\nJkMount /examples/* lb\nJkMount /servlets-examples/* lb\n";
    let apache = Apache::start(&ApacheOptions { workers: &workers, conf, ..ApacheOptions::default() });
    let gateway = Jkgate::start(
        PROGRAM,
        &format!(
            "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[lb.lb]\n[ajp13.t1]\naddress = \"127.0.0.1:{}\"\ngroup = \"lb\"\n\
             [uri]\n\"/echo|/*\" = \"lb\"\n\"/examples/*\" = \"lb\"\n\"/servlets-examples/*\" = \"lb\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"off\"\n",
            tomcat.ajp_open
        ),
    );
    let requests = requests();
    assert!(requests.len() >= 300, "{}", requests.len());
    let mut unexpected = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    for request in &requests {
        let ours = send(gateway.address(), request).await;
        let theirs = send(apache.address(), request).await;
        for difference in compare(request, &theirs, &ours) {
            match difference.id {
                Some(id) => {
                    used.insert(id);
                }
                None => unexpected.push(format!("{}: {}", request.name, difference.what)),
            }
        }
    }
    assert!(unexpected.is_empty(), "{} differences:\n{}", unexpected.len(), unexpected.join("\n"));
    let table = std::fs::read_to_string(test_support::servers::root().join("docs/differences.md")).unwrap();
    for id in used {
        assert!(table.contains(&format!("| {id} |")), "docs/differences.md has no row {id}");
    }
}

async fn send(address: std::net::SocketAddr, request: &Request) -> Option<test_support::http::Response> {
    let mut client = Client::connect(address).await;
    client.send(&request.bytes).await;
    let method = request.method();
    tokio::time::timeout(Duration::from_secs(20), client.try_response(&method)).await.ok().flatten()
}
