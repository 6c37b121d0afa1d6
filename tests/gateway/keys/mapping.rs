//! Keys of one rule, in place of what its group or its workers say.

use std::collections::HashSet;

use jk_worker::Worker;

use super::{breaking, server_of, servers_of};
use crate::harness::Gateway;

/// Members `t1`, `t2`, … of `lb` with its keys; a rule with its keys for `/a`, a plain one for `/b`.
fn rule(workers: &[&Worker], keys: &str, rule: &str) -> Gateway {
    weighted(&workers.iter().map(|worker| (*worker, "")).collect::<Vec<_>>(), keys, rule)
}

/// The same, each member with keys of its own.
fn weighted(members: &[(&Worker, &str)], keys: &str, rule: &str) -> Gateway {
    let mut text = format!("[lb.lb]\n{keys}\n");
    for (n, (worker, keys)) in members.iter().enumerate() {
        text += &format!("[ajp13.t{}]\naddress = \"{}\"\ngroup = \"lb\"\n{keys}\n", n + 1, worker.address());
    }
    Gateway::with(&format!("{text}[uri]\n\"/a|/*\" = {{ group = \"lb\", {rule} }}\n\"/b|/*\" = \"lb\"\n"))
}

#[tokio::test]
async fn a_rule_may_be_there_and_do_nothing() {
    let worker = Worker::polite().await;
    let gateway = rule(&[&worker], "", "enabled = false");
    assert_eq!((gateway.get("/a").await.status, gateway.get("/b").await.status), (404, 200));
}

#[tokio::test]
async fn a_rule_may_choose_among_the_members() {
    let [first, second] = [Worker::polite().await, Worker::polite().await];
    for (keys, expected) in [
        ("stopped = \"t1\"", ["t2", "t2"]),
        ("disabled = [\"t1\"]", ["t2", "t1"]),
        ("disabled = \"t2\", active = \"t1\"", ["t1", "t1"]),
    ] {
        let gateway = rule(&[&first, &second], "", keys);
        let mut client = gateway.client().await;
        for (headers, expected) in ["", "Cookie: JSESSIONID=x.t1\r\n"].into_iter().zip(expected) {
            for _ in 0..3 {
                assert_eq!(server_of(&mut client, "/a", headers).await, expected, "{keys} {headers}");
            }
        }
        let mut elsewhere = HashSet::new();
        for _ in 0..12 {
            elsewhere.insert(server_of(&mut client, "/b", "").await);
        }
        assert_eq!(elsewhere.len(), 2, "{keys}");
    }
    // A member that is stopped for everybody else.
    let gateway = Gateway::with(&format!(
        "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\nactivation = \"stopped\"\n\
         [uri]\n\"/a\" = {{ group = \"lb\", active = \"t1\" }}\n\"/b\" = \"lb\"\n",
        first.address()
    ));
    assert_eq!((gateway.get("/a").await.status, gateway.get("/b").await.status), (200, 503));
}

#[tokio::test]
async fn what_is_stateless_is_no_new_session() {
    let [first, second] = [Worker::polite().await, Worker::polite().await];
    // What counts goes by weight; what does not finds nobody busier than the other.
    let weights = [(&first, "lbfactor = 3"), (&second, "")];
    for (keys, share) in [("stateless = false", 9), ("stateless = true", 6)] {
        let gateway = weighted(&weights, "method = \"sessions\"", keys);
        let servers = servers_of(&gateway, 12, "").await;
        assert_eq!(servers.matches("t1").count(), share, "{keys}: {servers}");
    }
}

#[tokio::test]
async fn replies_may_be_replaced_or_asked_for_again() {
    let failing = Worker::start(|mut exchange| async move {
        exchange.answer(418, &[("X-From", "worker")], b"stack trace").await;
        exchange
    })
    .await;
    let gateway = rule(&[&failing], "", "use_server_errors = 400");
    let own = gateway.get("/a").await;
    assert_eq!(own.status, 418);
    assert!(!own.text().contains("stack trace"), "{}", own.text());
    assert_eq!(gateway.get("/b").await.text(), "stack trace");
    let higher = rule(&[&failing], "", "use_server_errors = 419");
    assert_eq!(higher.get("/a").await.text(), "stack trace");
    let good = Worker::polite().await;
    let failing_over = rule(&[&failing, &good], "", "fail_on_status = [-418]");
    assert_eq!(failing_over.get("/a").await.status, 200);
}

#[tokio::test]
async fn a_rule_may_forbid_a_second_try() {
    let (broken, good) = (breaking().await, Worker::polite().await);
    for (keys, status) in [("retry = true", 200), ("retry = false", 502)] {
        assert_eq!(rule(&[&broken, &good], "", keys).get("/a").await.status, status, "{keys}");
    }
}

#[tokio::test]
async fn a_rule_may_be_more_or_less_patient_than_its_worker() {
    let silent = Worker::start(|mut exchange| async move {
        exchange.hang().await;
        exchange
    })
    .await;
    let gateway = rule(&[&silent], "", "reply_timeout = \"50ms\"");
    assert_eq!(gateway.get("/a").await.status, 504);
}

#[tokio::test]
async fn the_form_of_a_uri_is_the_groups_or_the_rules() {
    let worker = Worker::polite().await;
    for (keys, rules, sent) in [
        ("", "retry = true", "/a/%C3%A9~~"),
        ("forward_uri = \"unparsed\"", "retry = true", "/a/%c3%a9%7e~"),
        ("forward_uri = \"unparsed\"", "forward_uri = \"escaped\"", "/a/%c3%a9~~"),
        ("", "forward_uri = \"unparsed\"", "/a/%c3%a9%7e~"),
    ] {
        let gateway = rule(&[&worker], keys, rules);
        assert_eq!(gateway.get("/a/%c3%a9%7e~").await.status, 200);
        assert_eq!(worker.log().requests().pop().unwrap().uri, sent, "{keys} {rules}");
    }
}

#[tokio::test]
async fn an_encoded_slash_is_refused_unless_a_rule_takes_it() {
    let worker = Worker::polite().await;
    let gateway = rule(&[&worker], "", "encoded_slash = \"forward\"");
    assert_eq!((gateway.get("/a/x%2fy").await.status, gateway.get("/b/x%2fy").await.status), (200, 400));
}

#[tokio::test]
async fn nobody_there_is_told_in_the_rules_own_words() {
    let worker = Worker::polite().await;
    worker.stop();
    let gateway =
        rule(&[&worker], "unavailable = { retry_after = \"9s\" }", "unavailable = { status = 500 }");
    let (own, group) = (gateway.get("/a").await, gateway.get("/b").await);
    assert_eq!((own.status, own.header("retry-after")), (500, None));
    assert_eq!((group.status, group.header("retry-after")), (503, Some("9")));
}

#[tokio::test]
async fn a_host_has_other_names_and_may_keep_the_common_rules_out() {
    let worker = Worker::polite().await;
    let gateway = Gateway::with(&format!(
        "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/common\" = \"lb\"\n\
         [host.\"a.example.test\"]\naliases = [\"b.example.test\", \"*:81\"]\n\
         [host.\"a.example.test\".uri]\n\"/own\" = \"lb\"\n\
         [host.\"d.example.test\"]\ninherit = false\n[host.\"d.example.test\".uri]\n\"/own\" = \"lb\"\n",
        worker.address()
    ));
    let mut client = gateway.client().await;
    for (host, own, common) in [
        ("a.example.test", 200, 200),
        ("B.example.test:82", 200, 200),
        ("x.example.test:81", 200, 200),
        ("d.example.test", 200, 404),
        ("e.example.test", 404, 200),
    ] {
        for (path, status) in [("/own", own), ("/common", common)] {
            client.send(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
            assert_eq!(client.response("GET").await.status, status, "{host}{path}");
        }
    }
}
