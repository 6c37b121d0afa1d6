//! The same rules, given to mod_jk and to jkgate, lead the same URIs to the same group, or to none.
//!
//! Each set of rules is a virtual host. Tomcat tells which group served: of one the only member is active, of the other it is
//! disabled and serves what names it, as every request here does.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use test_support::http::Client;
use test_support::request::{Generator, Request};
use test_support::servers::{Apache, ApacheOptions, Jkgate, Mpm, Tomcat};

/// One line of a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    pattern: String,
    group: &'static str,
    /// `!`: what matches is not for this group.
    excludes: bool,
}

/// Sets of rules, and URIs for each.
const SETS: usize = 40;
const URIS: usize = 50;

#[tokio::test]
async fn the_same_rules_lead_to_the_same_group() {
    let mut generator = Generator::new(0x3A9);
    let sets: Vec<Vec<Rule>> = (0..SETS).map(|_| rules(&mut generator)).collect();
    let tomcat = Tomcat::start("t1");
    let apache = apache(&tomcat, &sets);
    let gateway = jkgate(&tomcat, &sets);
    let (mut mapped, mut unmapped, mut wrong) = (0, 0, Vec::new());
    for (number, set) in sets.iter().enumerate() {
        for _ in 0..URIS {
            let uri = uri(&mut generator);
            let theirs = group(apache.address(), number, &uri).await;
            let ours = group(gateway.address(), number, &uri).await;
            match theirs.as_str() {
                "active" | "disabled" => mapped += 1,
                _ => unmapped += 1,
            }
            if theirs != ours {
                wrong.push(format!("{uri}: mod_jk {theirs}, jkgate {ours}, by {set:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(mapped > SETS * URIS / 5 && unmapped > SETS * URIS / 5, "{mapped} {unmapped}");
}

/// A few rules, no two of equal rank: there the order is mod_jk's secret.
fn rules(generator: &mut Generator) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut ranks = BTreeSet::new();
    for _ in 0..3 + generator.below(6) {
        let pattern = pattern(generator);
        let expanded = match pattern.split_once('|') {
            Some((first, second)) => vec![first.to_owned(), format!("{first}{second}")],
            None => vec![pattern.clone()],
        };
        let rank = |pattern: &String| (pattern.matches('/').count(), pattern.len());
        if expanded.iter().all(|pattern| !ranks.contains(&rank(pattern))) {
            ranks.extend(expanded.iter().map(rank));
            let group = generator.one_of(&["active", "disabled"]);
            rules.push(Rule { pattern, group, excludes: generator.once_in(3) });
        }
    }
    rules
}

fn pattern(generator: &mut Generator) -> String {
    let mut pattern = "/echo".to_owned();
    for _ in 0..generator.below(3) {
        pattern.push('/');
        pattern.push_str(generator.one_of(&["a", "b", "ab", "*", "?", "a*", "?b", "*.jsp", "a*b", "c.d"]));
    }
    pattern + generator.one_of(&["", "/*", "|/*", "*", "/*.jsp", "/*.do", "/?", "/"])
}

fn uri(generator: &mut Generator) -> String {
    let mut uri = "/echo".to_owned();
    for _ in 0..generator.below(5) {
        uri.push_str(generator.one_of(&["/", "/", "/", "/", "/", "//", "/./", "/x/../", ";p=1/"]));
        uri.push_str(
            generator.one_of(&["a", "b", "ab", "axb", "c.d", "x.jsp", "a.do", "%61", "A", "b;q", ""]),
        );
    }
    uri + generator.one_of(&["", "", "?x=/a", ";jsessionid=1.t1"])
}

/// Which group served; otherwise the status.
async fn group(address: SocketAddr, number: usize, uri: &str) -> String {
    let request = Request::new("GET", uri)
        .host(&format!("h{number}.example.test"))
        .header("Cookie", "JSESSIONID=0123456789ABCDEF.t1")
        .header("Connection", "close");
    let mut client = Client::connect(address).await;
    client.send(request.bytes()).await;
    let response = client.response("GET").await;
    let told = serde_json::from_slice::<serde_json::Value>(&response.body).unwrap_or_default();
    match told["attributes"]["JK_LB_ACTIVATION"].as_str() {
        Some("ACT") => "active".to_owned(),
        Some("DIS") => "disabled".to_owned(),
        _ => response.status.to_string(),
    }
}

/// Rules of every second host come from a file, those of the others from directives.
fn apache(tomcat: &Tomcat, sets: &[Vec<Rule>]) -> Apache {
    let port = tomcat.ajp_open;
    let workers = format!(
        "worker.list=active,disabled\nworker.active.type=lb\nworker.active.balance_workers=t1\nworker.disabled.type=lb\n\
         worker.disabled.balance_workers=t1d\nworker.t1.host=127.0.0.1\nworker.t1.port={port}\nworker.t1d.host=127.0.0.1\n\
         worker.t1d.port={port}\nworker.t1d.route=t1\nworker.t1d.activation=disabled\n"
    );
    let (mut conf, mut files) =
        ("<VirtualHost *:@PORT@>\nServerName other.example.test\n</VirtualHost>\n".to_owned(), Vec::new());
    for (number, rules) in sets.iter().enumerate() {
        let lines = rules.iter().map(|rule| {
            let Rule { pattern, group, excludes } = rule;
            if number % 2 == 0 {
                format!("{}{pattern} = {group}\n", if *excludes { "!" } else { "" })
            } else {
                format!("{} {pattern} {group}\n", if *excludes { "JkUnMount" } else { "JkMount" })
            }
        });
        let mut lines: String = lines.collect();
        if number % 2 == 0 {
            files.push((format!("map{number}"), lines));
            lines = format!("JkMountFile @DIR@/map{number}\n");
        }
        conf.push_str(&format!(
            "<VirtualHost *:@PORT@>\nServerName h{number}.example.test\n{lines}</VirtualHost>\n"
        ));
    }
    Apache::start(&ApacheOptions { workers: &workers, files: &files, conf: &conf, mpm: Mpm::Worker })
}

fn jkgate(tomcat: &Tomcat, sets: &[Vec<Rule>]) -> Jkgate {
    let port = tomcat.ajp_open;
    let mut config = format!(
        "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[admin]\naddress = \"off\"\n[access_log]\ntarget = \"off\"\n\
         [lb.active]\n[lb.disabled]\n[ajp13.t1]\naddress = \"127.0.0.1:{port}\"\ngroup = \"active\"\n[ajp13.t1d]\n\
         address = \"127.0.0.1:{port}\"\ngroup = \"disabled\"\nroute = \"t1\"\nactivation = \"disabled\"\n"
    );
    for (number, rules) in sets.iter().enumerate() {
        config.push_str(&format!("[host.\"h{number}.example.test\".uri]\n"));
        for Rule { pattern, group, excludes } in rules {
            config.push_str(&format!("\"{}{pattern}\" = \"{group}\"\n", if *excludes { "!" } else { "" }));
        }
    }
    Jkgate::start(env!("CARGO_BIN_EXE_jkgate"), &config)
}
