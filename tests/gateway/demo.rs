//! What the README promises first: `jkgate demo`, with nothing else installed.

use std::process::Command;
use std::time::Duration;

use test_support::http::{Client, Response};
use test_support::servers::{Server, free_port};

async fn get(port: u16, target: &str, cookie: &str) -> Response {
    let mut client = Client::connect(([127, 0, 0, 1], port).into()).await;
    client.send(format!("GET {target} HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n")).await;
    client.response("GET").await
}

#[tokio::test]
async fn the_demo_shows_the_examples_and_keeps_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jkgate"));
    command.args(["demo", "--listen", &format!("127.0.0.1:{port}")]).env_remove("JKGATE_CONFIG");
    let mut server = Server::start("jkgate demo", &mut command, folder.path());
    server.wait_for_output("/jkstatus", Duration::from_secs(20));

    // Everything that it says one may open is there.
    let said = server.output();
    let links: Vec<_> = said
        .split_whitespace()
        .filter_map(|word| word.strip_prefix(&format!("http://127.0.0.1:{port}")))
        .map(|path| if path.is_empty() { "/" } else { path })
        .collect();
    assert!(links.len() >= 4, "{said}");
    for link in &links {
        assert_eq!(get(port, link, "a=b").await.status, 200, "{link}");
    }
    assert!(get(port, "/servlets-examples/servlet/HelloWorldExample", "a=b").await.text().contains("Hello"));

    // A session stays with its worker, and its counter goes up.
    let link = links.iter().find(|link| link.to_lowercase().contains("session")).unwrap();
    let first = get(port, link, "a=b").await;
    let cookie = first.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let route = cookie.rsplit('.').next().unwrap().to_owned();
    for _ in 0..5 {
        let again = get(port, link, &cookie).await;
        assert!(again.text().contains(&route), "{}", again.text());
        assert_eq!(again.header("set-cookie"), None, "the session was lost: {}", again.text());
    }

    server.signal("TERM");
    assert_eq!(server.wait(Duration::from_secs(20)), Some(0), "{}", server.output());
}

#[test]
fn cargo_run_in_the_root_is_the_gateway() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(test_support::servers::root().join("Cargo.toml"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let defaults = metadata["workspace_default_members"].as_array().unwrap();
    let programs: Vec<_> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| defaults.contains(&package["id"]))
        .flat_map(|package| package["targets"].as_array().unwrap())
        .filter(|target| target["kind"][0] == "bin")
        .map(|target| target["name"].as_str().unwrap())
        .collect();
    assert_eq!(programs, ["jkgate"], "`cargo run` must know which program is meant");
}
