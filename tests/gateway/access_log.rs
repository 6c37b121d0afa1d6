//! One line a request, whatever happens to it, and whatever the disk does.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use jk_worker::Worker;
use tempfile::TempDir;

use crate::harness::Gateway;

fn logging(worker: &Worker, target: &Path, more: &str) -> Gateway {
    Gateway::with(&format!(
        "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/a/*\" = \"lb\"\n[access_log]\ntarget = \"{}\"\n{more}\n",
        worker.address(),
        target.display()
    ))
}

async fn lines(file: &Path, n: usize) -> Vec<String> {
    let begin = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.lines().count() >= n && text.ends_with('\n') {
            return text.lines().map(str::to_owned).collect();
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "{n} lines never came: {text}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn each_form_says_what_happened() {
    let folder = TempDir::new().unwrap();
    let worker = Worker::polite().await;
    for format in ["common", "combined", "json"] {
        let file = folder.path().join(format);
        let gateway = logging(&worker, &file, &format!("format = \"{format}\""));
        let mut client = gateway.client().await;
        client
            .send("GET /a/b?c HTTP/1.1\r\nHost: h\r\nUser-Agent: \t\"agent\\\r\nReferer: r\u{e9}\r\n\r\n")
            .await;
        let status = client.response("GET").await.status;
        gateway.get("/nowhere").await;
        let lines = lines(&file, 2).await;
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines
                .iter()
                .all(|line| line.bytes().all(|byte| (0x20..0x7F).contains(&byte) || format == "json"))
        );
        if format == "json" {
            let line: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
            assert_eq!(line["status"], status);
            assert_eq!((line["host"].as_str(), line["method"].as_str()), (Some("h"), Some("GET")));
            let missing: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
            assert_eq!((missing["status"].as_u64(), missing["worker"].as_str()), (Some(404), Some("")));
            continue;
        }
        assert!(lines[0].starts_with("127.0.0.1 - - ["), "{lines:?}");
        assert!(lines[0].contains(&format!(" HTTP/1.1\" {status} ")), "{lines:?}");
        assert_eq!(lines[0].contains("agent"), format == "combined", "{lines:?}");
        assert!(
            lines[1].contains("\"GET /nowhere HTTP/1.1\" 404 ") && lines[1].contains("worker=-"),
            "{lines:?}"
        );
    }
}

#[tokio::test]
async fn a_client_that_leaves_has_its_line() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("log");
    let worker = Worker::start(|mut exchange| async move {
        exchange.hang().await;
        exchange
    })
    .await;
    let gateway = logging(&worker, &file, "");
    let mut client = gateway.client().await;
    client.send("GET /a/b HTTP/1.1\r\nHost: h\r\n\r\n").await;
    worker.log().wait_for("it arrived", |log| log.requests().len() == 1).await;
    client.reset();
    let lines = lines(&file, 1).await;
    assert!(lines[0].contains("\" 499 - ") && lines[0].contains("client_gone"), "{lines:?}");
}

#[tokio::test]
async fn a_disk_that_is_stuck_costs_lines_and_no_requests() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Held open for both, so that opening it for either waits for nobody.
    let mut reader = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let worker = Worker::polite().await;
    let gateway = logging(&worker, &pipe, "format = \"json\"\nqueue = 20");
    let mut client = gateway.client().await;
    let long = "x".repeat(4000);
    let mut sent = 0;
    // A pipe holds 64 KiB, the queue twenty lines, the writer what it had taken.
    while gateway.running.log_dropped() < 10 {
        assert_eq!(client.get(&format!("/a/{sent}?{long}")).await.status, 200);
        sent += 1;
        assert!(sent < 1000, "nothing was dropped");
    }
    let dropped = usize::try_from(gateway.running.log_dropped()).unwrap();
    let mut text = Vec::new();
    let mut piece = [0; 65_536];
    while text.iter().filter(|byte| **byte == b'\n').count() < sent - dropped {
        let n = reader.read(&mut piece).unwrap();
        text.extend_from_slice(&piece[..n]);
    }
    assert!(
        String::from_utf8(text)
            .unwrap()
            .lines()
            .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
    );
}

#[tokio::test]
async fn a_rotated_file_is_opened_again() {
    let folder = TempDir::new().unwrap();
    let (file, old) = (folder.path().join("log"), folder.path().join("log.1"));
    let worker = Worker::polite().await;
    let gateway = logging(&worker, &file, "");
    gateway.get("/a/first").await;
    lines(&file, 1).await;
    fs::rename(&file, &old).unwrap();
    gateway.running.reopen_logs();
    gateway.get("/a/second").await;
    assert!(lines(&file, 1).await[0].contains("/a/second"));
    assert_eq!(lines(&old, 1).await.len(), 1);
}
