//! The status interface beside mod_jk's, for the same workers in the same state: the same fields in the same order with the same values.

use std::net::SocketAddr;

use jk_worker::Worker;
use test_support::http::Client;
use test_support::servers::{Apache, ApacheOptions, Jkgate};

#[tokio::test]
async fn every_field_of_mod_jk_is_there_in_its_place() {
    let workers = [Worker::polite().await, Worker::polite().await, Worker::polite().await];
    // Nobody listens there any more.
    workers[2].stop();
    let at: Vec<SocketAddr> = workers.iter().map(Worker::address).collect();
    let (apache, gateway) = (apache(&at), jkgate(&at));
    let mut wrong = Vec::new();
    let commands = [
        "cmd=list",
        "cmd=list&opt=63",
        "cmd=list&re=5",
        "cmd=show&w=shop",
        "cmd=show&w=shop&sw=s1",
        "cmd=show&w=shop&sw=s3",
        "cmd=show&w=solo",
        "cmd=edit&w=shop",
        "cmd=version",
        "cmd=dump",
        "cmd=update&w=shop&sw=s1&vwa=1&vwf=3&vwn=route1&vwr=s2&vwc=east&vwd=2",
        "cmd=update&w=shop&vlr=3&vlt=90&vlee=50&vlx=4&vls=1&vlf=1&vlm=2&vll=1",
        "cmd=list",
        "cmd=update&w=shop&att=vwa&val0=1&val1=0&val2=2",
        "cmd=update&w=shop&sw=s2&vwa=d",
        "cmd=list",
        "cmd=recover&w=shop&sw=s1",
        "cmd=reset&w=shop&sw=s2",
        "cmd=reset&w=shop",
        "cmd=list",
        "cmd=show&w=nobody",
        "cmd=show&w=shop&sw=nobody",
        "cmd=nonsense",
        "cmd=list&mime=nonsense",
    ];
    for front in [apache.address(), gateway.address()] {
        for _ in 0..9 {
            assert_eq!(Client::connect(front).await.get("/shop/a").await.status, 200);
        }
        assert_eq!(Client::connect(front).await.get("/solo/a").await.status, 200);
    }
    for command in commands {
        for mime in ["xml", "txt", "prop"] {
            let target = format!("/jkstatus/?{command}&mime={mime}");
            let theirs = Client::connect(apache.address()).await.get(&target).await;
            let ours = Client::connect(gateway.address()).await.get(&target).await;
            if (theirs.status, theirs.header("content-type")) != (ours.status, ours.header("content-type")) {
                wrong.push(format!("{target}: {:?} and {:?}", theirs.headers, ours.headers));
            }
            let (mut theirs, mut ours) = (pairs(&theirs.text()), pairs(&ours.text()));
            if command == "cmd=dump" {
                // A dump has its file's order.
                theirs.retain(|(name, _)| name.starts_with("worker.") && !name.contains("jkstatus"));
                theirs.sort();
                ours.sort();
            }
            if theirs.is_empty() {
                wrong.push(format!("{target}: nothing to compare"));
            }
            wrong.extend(differences(&theirs, &ours).into_iter().map(|what| format!("{target}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whatever is written as `name=value`, in order; the text before it on its line, if it is no such thing, is part of no name.
fn pairs(text: &str) -> Vec<(String, String)> {
    let tokens = text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | ','));
    // mod_jk's property form gives members' times the group's name, and some a blank in the middle.
    let is_mistaken =
        |name: &str| name == "seconds" || name.contains(".last_reset_") || name.contains(".error_time");
    let pairs = tokens.filter_map(|token| token.split_once('=')).filter(|(name, _)| !is_mistaken(name));
    pairs.map(|(name, value)| (name.to_owned(), value.trim_matches(['"', '/']).to_owned())).collect()
}

fn differences(theirs: &[(String, String)], ours: &[(String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut rest = ours;
    for (name, value) in theirs {
        let Some(at) = rest.iter().position(|(own, _)| own == name) else {
            wrong.push(format!("{name}={value} is missing, or not in its place"));
            continue;
        };
        if !is_own(name) && rest[at].1 != *value {
            wrong.push(format!("{name}: mod_jk {value}, jkgate {}", rest[at].1));
        }
        rest = &rest[at + 1..];
    }
    wrong
}

/// What is each server's own: names, times, and what counts failed tries and bytes (see docs/differences.md).
fn is_own(name: &str) -> bool {
    let own = [
        "server",
        "source",
        "port",
        "time",
        "software",
        "version",
        "raw",
        "ver",
        "last_reset",
        "elected",
        "errors",
        "transferred",
        "read",
        "connected",
        "lbvalue",
        "sessions",
        "max_busy",
    ];
    name == "unix" || own.iter().any(|part| name.contains(part))
}

fn apache(at: &[SocketAddr]) -> Apache {
    let mut text = String::from(
        "worker.list=shop,solo,jkstatus\nworker.jkstatus.type=status\nworker.shop.type=lb\nworker.shop.balance_workers=s1,s2,s3\n",
    );
    for (name, address) in ["s1", "s2", "s3", "solo"].iter().zip([at[0], at[1], at[2], at[0]]) {
        text += &format!(
            "worker.{name}.type=ajp13\nworker.{name}.host=127.0.0.1\nworker.{name}.port={}\n",
            address.port()
        );
    }
    let conf = "JkMount /jkstatus/* jkstatus\nJkMount /shop/* shop\nJkMount /solo/* solo\n";
    Apache::start(&ApacheOptions { workers: &text, conf, ..ApacheOptions::default() })
}

fn jkgate(at: &[SocketAddr]) -> Jkgate {
    let mut text = String::from(
        "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"off\"\n\
         [status]\nget_updates_from = [\"127.0.0.0/8\"]\n[process]\nthreads = 1\n[lb.shop]\n",
    );
    for (name, address) in ["s1", "s2", "s3", "solo"].iter().zip([at[0], at[1], at[2], at[0]]) {
        let group = if *name == "solo" { "" } else { "group = \"shop\"\n" };
        text += &format!("[ajp13.{name}]\naddress = \"{address}\"\n{group}");
    }
    text += "[uri]\n\"/jkstatus/*\" = \"status\"\n\"/shop/*\" = \"shop\"\n\"/solo/*\" = \"solo\"\n";
    Jkgate::start(env!("CARGO_BIN_EXE_jkgate"), &text)
}
