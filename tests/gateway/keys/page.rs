//! Keys of the status page that no other test shows.

use std::fs;

use jk_worker::Worker;
use test_support::http::Response;

use crate::harness::Gateway;

fn page(worker: &Worker, keys: &str) -> Gateway {
    Gateway::with(&format!(
        "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n\"/jkstatus|/*\" = \"status\"\n[status]\n{keys}\n",
        worker.address()
    ))
}

async fn ask(gateway: &Gateway, method: &str, target: &str, headers: &str) -> Response {
    let mut client = gateway.client().await;
    client.send(format!("{method} {target} HTTP/1.1\r\nHost: a\r\n{headers}Content-Length: 0\r\n\r\n")).await;
    client.response(method).await
}

#[tokio::test]
async fn who_may_read_may_not_always_write() {
    let worker = Worker::polite().await;
    let stop = "/jkstatus?cmd=update&w=lb&sw=t1&vwa=s&mime=txt";
    for (keys, status) in [("writable_from = [\"192.0.2.0/24\"]", 403), ("", 200)] {
        let gateway = page(&worker, keys);
        assert_eq!(gateway.get("/jkstatus").await.status, 200);
        assert_eq!(ask(&gateway, "POST", stop, "").await.status, status, "{keys}");
        assert_eq!(gateway.get("/a").await.status == 200, status == 403, "{keys}");
    }
}

#[tokio::test]
async fn names_of_users_may_be_written_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    fs::write(&users, "Night:watch\n").unwrap();
    let worker = Worker::polite().await;
    // night:watch
    let header = "Authorization: Basic bmlnaHQ6d2F0Y2g=\r\n";
    for (key, status) in [("", 401), ("user_case_insensitive = true", 200)] {
        for user in ["", "user = [\"NIGHT\"]"] {
            let gateway = page(&worker, &format!("users_file = \"{}\"\n{user}\n{key}", users.display()));
            assert_eq!(ask(&gateway, "GET", "/jkstatus", header).await.status, status, "{key} {user}");
        }
    }
}

#[tokio::test]
async fn outputs_have_the_operators_names() {
    let worker = Worker::polite().await;
    let plain = page(&worker, "");
    let named = page(
        &worker,
        "css = \"/own.css\"\nprefix = \"tomcat\"\nns = \"x:\"\nxmlns = 'xmlns:x=\"urn:x\"'\ndoctype = '<!DOCTYPE x>'",
    );
    for (query, usual, own) in [
        ("", "asset=style", "/own.css"),
        ("?mime=prop", "worker.lb.type=lb", "tomcat.lb.type=lb"),
        ("?mime=xml", "<jk:balancer", "<x:balancer"),
        ("?mime=xml", "xmlns:jk=\"http://tomcat.apache.org\"", "xmlns:x=\"urn:x\""),
        ("?mime=xml", "<?xml version", "<!DOCTYPE x>"),
    ] {
        let (before, after) =
            (plain.get(&format!("/jkstatus{query}")).await, named.get(&format!("/jkstatus{query}")).await);
        assert!(before.text().contains(usual), "{}", before.text());
        assert!(after.text().contains(own) && !before.text().contains(own), "{}", after.text());
    }
}

#[tokio::test]
async fn what_is_good_and_what_is_bad_is_the_operators_view() {
    let worker = Worker::polite().await;
    for (keys, counts) in [
        ("", ["good=1", "degraded=0", "bad=0"]),
        ("good = \"disabled\"", ["good=0", "degraded=1", "bad=0"]),
        ("bad = \"active\"", ["good=0", "degraded=0", "bad=1"]),
    ] {
        let listed = page(&worker, keys).get("/jkstatus?mime=prop").await.text();
        for count in counts {
            assert!(listed.contains(&format!("worker.lb.{count}\n")), "{keys}: {listed}");
        }
    }
}
