//! Who may see the status page, who may change things there, and that changes take effect.

use std::fs;

use jk_worker::Worker;
use test_support::http::{Client, PATIENCE, Response};
use test_support::servers::Jkgate;

use crate::harness::Gateway;

async fn with_status(worker: &Worker, status: &str) -> Gateway {
    Gateway::with(&format!(
        "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n\"/jkstatus|/*\" = \"status\"\n[status]\n{status}\n",
        worker.address()
    ))
}

async fn ask(gateway: &Gateway, method: &str, target: &str, headers: &str, form: &str) -> Response {
    let mut client = gateway.client().await;
    client
        .send(format!(
            "{method} {target} HTTP/1.1\r\nHost: gate\r\n{headers}Content-Length: {}\r\n\r\n{form}",
            form.len()
        ))
        .await;
    client.response(method).await
}

async fn activation(gateway: &Gateway) -> String {
    let json: serde_json::Value =
        serde_json::from_str(&gateway.get("/jkstatus?mime=json").await.text()).unwrap();
    fn find(value: &serde_json::Value) -> Option<String> {
        match value {
            serde_json::Value::Object(map) => match map.get("activation") {
                Some(serde_json::Value::String(text)) => Some(text.to_lowercase()),
                _ => map.values().find_map(find),
            },
            serde_json::Value::Array(list) => list.iter().find_map(find),
            serde_json::Value::Null
            | serde_json::Value::Bool(_)
            | serde_json::Value::Number(_)
            | serde_json::Value::String(_) => None,
        }
    }
    find(&json).unwrap()
}

const STOP: &str = "cmd=update&w=lb&sw=t1&vwa=s";

#[tokio::test]
async fn who_is_not_listed_sees_nothing() {
    let worker = Worker::polite().await;
    let gateway = with_status(&worker, "readable_from = [\"192.0.2.0/24\"]").await;
    for query in
        ["", "?mime=json", "?mime=xml", "?mime=prometheus", "?cmd=dump&mime=txt", "?asset=style", "?events"]
    {
        let response = gateway.get(&format!("/jkstatus{query}")).await;
        assert_eq!(response.status, 403, "{query}");
        assert!(response.text().contains("readable_from"), "{query}: {}", response.text());
        assert!(!response.text().contains("t1"), "{query}");
    }
    // An untrusted client does not become another one by saying so.
    let response = ask(&gateway, "GET", "/jkstatus", "X-Forwarded-For: 192.0.2.7\r\n", "").await;
    assert_eq!(response.status, 403);
}

#[tokio::test]
async fn only_a_post_from_the_page_or_a_script_changes_anything() {
    let worker = Worker::polite().await;
    let gateway = with_status(&worker, "").await;
    let refused = [
        ("GET", format!("/jkstatus?{STOP}"), "", "", 405),
        ("HEAD", format!("/jkstatus?{STOP}"), "", "", 405),
        ("POST", "/jkstatus".to_owned(), "Origin: http://elsewhere.example\r\n", STOP, 403),
        ("POST", "/jkstatus".to_owned(), "Origin: null\r\n", STOP, 403),
        ("POST", "/jkstatus".to_owned(), "Sec-Fetch-Site: cross-site\r\n", STOP, 403),
        ("POST", "/jkstatus".to_owned(), "Sec-Fetch-Site: same-site\r\n", STOP, 403),
        // The page's own form without the page's token.
        ("POST", "/jkstatus".to_owned(), "Origin: http://gate\r\nSec-Fetch-Site: same-origin\r\n", STOP, 403),
    ];
    for (method, target, headers, form, status) in refused {
        let response = ask(&gateway, method, &target, headers, form).await;
        assert_eq!(response.status, status, "{method} {target} {headers}");
        assert_eq!(activation(&gateway).await, "active", "{method} {target} {headers}");
    }
    let page = gateway.get("/jkstatus?cmd=edit&w=lb&sw=t1").await.text();
    let token = page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let headers = "Origin: http://gate\r\nSec-Fetch-Site: same-origin\r\n";
    let response = ask(&gateway, "POST", "/jkstatus", headers, &format!("{STOP}&token={token}")).await;
    assert!(response.status < 400, "{} {}", response.status, response.text());
    assert_eq!(activation(&gateway).await, "stopped");
    assert_eq!(gateway.get("/a").await.status, 503);
    // A script from an allowed network.
    let response = ask(&gateway, "POST", "/jkstatus", "", "cmd=update&w=lb&sw=t1&vwa=a&mime=txt").await;
    assert!(response.text().contains("OK"), "{}", response.text());
    assert_eq!(gateway.get("/a").await.status, 200);
}

#[tokio::test]
async fn old_scripts_may_be_allowed_and_a_read_only_page_takes_nothing() {
    let worker = Worker::polite().await;
    let gateway = with_status(&worker, "get_updates_from = [\"127.0.0.0/8\"]").await;
    let response = gateway.get(&format!("/jkstatus?{STOP}&mime=txt")).await;
    assert!(response.text().contains("OK"), "{}", response.text());
    assert_eq!(activation(&gateway).await, "stopped");
    let foreign = "Sec-Fetch-Site: cross-site\r\n";
    let response = ask(&gateway, "GET", "/jkstatus?cmd=update&w=lb&sw=t1&vwa=a", foreign, "").await;
    assert_eq!((response.status, activation(&gateway).await.as_str()), (403, "stopped"));

    let gateway = with_status(&worker, "read_only = true\nget_updates_from = [\"127.0.0.0/8\"]").await;
    for command in [STOP, "cmd=reset&w=lb&sw=t1", "cmd=recover&w=lb&sw=t1"] {
        assert_eq!(ask(&gateway, "POST", "/jkstatus", "", command).await.status, 403, "{command}");
        assert_eq!(gateway.get(&format!("/jkstatus?{command}")).await.status, 403, "{command}");
    }
    assert_eq!(activation(&gateway).await, "active");
}

#[tokio::test]
async fn a_wrong_value_changes_nothing_and_says_why() {
    let worker = Worker::polite().await;
    let gateway = with_status(&worker, "").await;
    for form in ["cmd=update&w=lb&sw=t1&vwa=s&vwf=0&mime=txt", "cmd=update&w=gone&sw=t1&vwa=s&mime=txt"] {
        let response = ask(&gateway, "POST", "/jkstatus", "", form).await;
        assert!(response.text().contains("ERROR"), "{form}: {}", response.text());
        assert_eq!(activation(&gateway).await, "active", "{form}");
    }
    let long = format!("cmd=update&w=lb&sw=t1&vwa=s&x={}", "y".repeat(1 << 20));
    let mut client = gateway.client().await;
    client
        .send(format!("POST /jkstatus HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", long.len()))
        .await;
    let response = client.exchange(long, "POST").await;
    assert!(response.status >= 400, "{}", response.status);
    assert_eq!(activation(&gateway).await, "active");
}

#[tokio::test]
async fn nothing_that_a_client_sends_becomes_markup() {
    let worker = Worker::polite().await;
    let gateway = with_status(&worker, "").await;
    for query in [
        "?w=%3Cscript%3Ealert(1)%3C/script%3E&cmd=show",
        "?sw=%22%3E%3Cscript%3E&w=lb&cmd=edit",
        "?find=%3Cscript%3E",
        "?cmd=%3Cscript%3E",
        "?mime=%3Cscript%3E",
        "?explain=/%3Cscript%3E",
    ] {
        let response = gateway.get(&format!("/jkstatus{query}")).await;
        assert!(!response.text().contains("<script>"), "{query}");
        let policy = response.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'"), "{query}: {policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{query}");
    }
}

#[tokio::test]
async fn a_page_with_users_asks_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    // As `htpasswd -B` writes it, for "watch"; the other one as it is typed.
    fs::write(&users, format!("# who is on duty\nguest:visit\nnight:{WATCH}\n")).unwrap();
    let worker = Worker::polite().await;
    let gateway =
        with_status(&worker, &format!("users_file = \"{}\"\nuser = [\"night\"]", users.display())).await;
    let basic = |text: &str| format!("Authorization: Basic {text}\r\n");
    // none; night:wrong; guest:visit, who is not listed; night:watch
    for (header, status) in [
        (String::new(), 401),
        (basic("bmlnaHQ6d3Jvbmc="), 401),
        (basic("???"), 401),
        // nobody:watch
        (basic("bm9ib2R5OndhdGNo"), 401),
        (basic("Z3Vlc3Q6dmlzaXQ="), 403),
        (basic("bmlnaHQ6d2F0Y2g="), 200),
    ] {
        let response = ask(&gateway, "GET", "/jkstatus", &header, "").await;
        assert_eq!(response.status, status, "{header}");
        assert_eq!(response.header("www-authenticate").is_some(), status == 401, "{header}");
    }
}

const WATCH: &str = "$2y$05$gYm2rOGYx0EXIhUvRJ9zAeL2HnIrefHBVjxaqfTqrXxbXoNk3kOZC";

/// Whoever may read is told in the form that his script reads, and that nothing was changed.
#[tokio::test]
async fn a_refused_change_is_told_in_the_form_that_was_asked_for() {
    let worker = Worker::polite().await;
    let gateway = with_status(&worker, "").await;
    for (mime, kind, word) in [
        ("xml", "text/xml", "<jk:result\n    type=\"ERROR\""),
        ("txt", "text/plain", "Result: type=ERROR"),
        ("prop", "text/plain", "worker.result.type=ERROR"),
        ("html", "text/html; charset=utf-8", "GET changes nothing here"),
    ] {
        let target = format!("/jkstatus?cmd=update&w=lb&sw=t1&vwf=7&mime={mime}");
        let response = ask(&gateway, "GET", &target, "", "").await;
        assert_eq!((response.status, response.header("allow")), (405, Some("POST")), "{mime}");
        assert_eq!(response.header("content-type"), Some(kind));
        assert!(response.text().contains(word), "{mime}: {}", response.text());
        let foreign = "Sec-Fetch-Site: cross-site\r\n";
        let response = ask(&gateway, "POST", &target, foreign, "").await;
        assert_eq!((response.status, response.header("allow")), (403, None), "{mime}");
    }
    let listed = ask(&gateway, "GET", "/jkstatus?mime=prop", "", "").await.text();
    assert!(listed.contains("worker.t1.lbfactor=1\n"), "{listed}");
}

#[tokio::test]
async fn a_change_is_logged_with_who_made_it_and_from_where() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    fs::write(&users, format!("night:{WATCH}\n")).unwrap();
    let worker = Worker::polite().await;
    let mut gateway = Jkgate::start(
        env!("CARGO_BIN_EXE_jkgate"),
        &format!(
            "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n\
             [uri]\n\"/*\" = \"lb\"\n\"/jkstatus|/*\" = \"status\"\n[status]\nusers_file = \"{}\"\n[admin]\naddress = \"off\"\n",
            worker.address(),
            users.display()
        ),
    );
    let body = "cmd=update&w=lb&sw=t1&vwf=3&mime=prop";
    let mut client = Client::connect(gateway.address()).await;
    client
        .send(format!(
            "POST /jkstatus HTTP/1.1\r\nHost: a\r\nAuthorization: Basic bmlnaHQ6d2F0Y2g=\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    let response = client.response("POST").await;
    assert!(response.text().contains("result.type=OK"), "{}", response.text());
    gateway.server.wait_for_output("night from 127.0.0.1 on the status page", PATIENCE);
}
