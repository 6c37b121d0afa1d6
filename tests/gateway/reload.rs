//! Changing the configuration under way.

use std::path::Path;

use jk_worker::Worker;
use jkgate::Running;
use test_support::http::Client;

fn write(path: &Path, mappings: &str, workers: &[(&str, &Worker)]) {
    let mut text = String::from(
        "[listener.main]\naddress = \"127.0.0.1:0\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"off\"\n[process]\nthreads = 2\n[lb.lb]\n",
    );
    for (name, worker) in workers {
        text.push_str(&format!("[ajp13.{name}]\naddress = \"{}\"\ngroup = \"lb\"\n", worker.address()));
    }
    text.push_str(&format!("[uri]\n{mappings}\n"));
    let fresh = path.with_extension("fresh");
    std::fs::write(&fresh, text).unwrap();
    std::fs::rename(fresh, path).unwrap();
}

#[tokio::test]
async fn a_reload_takes_effect_with_the_next_request_and_a_broken_file_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workers.toml");
    let (first, second) = (Worker::polite().await, Worker::polite().await);
    write(&path, "\"/a/*\" = \"lb\"", &[("t1", &first)]);
    let running = Running::start(jk_config::load(&path).unwrap(), Some(&path))
        .unwrap_or_else(|refused| panic!("{:?}", refused.lines()));
    let mut client = Client::connect(running.address("main").unwrap()).await;
    assert_eq!(client.get("/a/1").await.status, 200);
    assert_eq!(client.get("/servlets-examples/x").await.status, 404);

    write(&path, "\"/a/*\" = \"lb\"\n\"/servlets-examples/*\" = \"lb\"", &[("t1", &first), ("t2", &second)]);
    let changes = running.reload("test").await.unwrap();
    assert!(changes.iter().any(|line| line.contains("worker t2 added")), "{changes:?}");
    assert!(changes.iter().any(|line| line.contains("mapping /servlets-examples/* added")), "{changes:?}");
    assert_eq!(client.get("/servlets-examples/x").await.status, 200);
    // What did not change has kept its channel.
    assert_eq!(first.log().n_connects(), 1);

    std::fs::write(&path, "[lb.lb]\nmethod = \"nonsense\"\n").unwrap();
    let problems = running.reload("test").await.unwrap_err();
    assert!(problems.iter().any(|line| line.contains("workers.toml:2:10")), "{problems:?}");
    assert_eq!(client.get("/servlets-examples/x").await.status, 200);

    write(&path, "\"/a/*\" = \"lb\"", &[("t2", &second)]);
    running.reload("test").await.unwrap();
    assert_eq!(client.get("/a/1").await.text(), "GET /a/1 t2 0");
    first.log().wait_for("the removed worker's channel is closed", |log| log.n_open() == 0).await;
}

#[tokio::test]
async fn a_changed_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workers.toml");
    let worker = Worker::polite().await;
    write(&path, "\"/a/*\" = \"lb\"", &[("t1", &worker)]);
    let running = Running::start(jk_config::load(&path).unwrap(), Some(&path))
        .unwrap_or_else(|refused| panic!("{:?}", refused.lines()));
    let mut client = Client::connect(running.address("main").unwrap()).await;
    assert_eq!(client.get("/b/1").await.status, 404);
    write(&path, "\"/a/*\" = \"lb\"\n\"/b/*\" = \"lb\"", &[("t1", &worker)]);
    let begin = std::time::Instant::now();
    while client.get("/b/1").await.status == 404 {
        assert!(begin.elapsed().as_secs() < 10, "the change was not noticed");
    }
}

#[tokio::test]
async fn reloads_under_load_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workers.toml");
    let (first, second) = (Worker::polite().await, Worker::polite().await);
    write(&path, "\"/*\" = \"lb\"", &[("t1", &first), ("t2", &second)]);
    let running = Running::start(jk_config::load(&path).unwrap(), Some(&path))
        .unwrap_or_else(|refused| panic!("{:?}", refused.lines()));
    let address = running.address("main").unwrap();
    assert_eq!(Client::connect(address).await.get("/x").await.status, 200);
    until_tasks(&running, TASKS).await;
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut clients = Vec::new();
    for _ in 0..4 {
        let stop = std::sync::Arc::clone(&stop);
        clients.push(tokio::spawn(async move {
            let mut client = Client::connect(address).await;
            let mut n = 0u32;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let response = if n.is_multiple_of(2) {
                    client.get("/x").await
                } else {
                    client.post("/x", b"abc").await
                };
                assert_eq!(response.status, 200);
                n += 1;
            }
            n
        }));
    }
    for round in 0..60 {
        match round % 4 {
            0 => write(&path, "\"/*\" = \"lb\"", &[("t1", &first)]),
            1 => write(&path, "\"/*\" = \"lb\"\n\"/extra/*\" = \"lb\"", &[("t1", &first), ("t2", &second)]),
            2 => write(&path, "\"/*\" = \"lb\"", &[("t2", &second), ("t3", &first)]),
            _ => std::fs::write(&path, "broken").unwrap(),
        }
        let result = running.reload("test").await;
        assert_eq!(result.is_err(), round % 4 == 3, "{result:?}");
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for client in clients {
        assert!(client.await.unwrap() > 0);
    }
    // Nothing of a connection, a worker or an old plan goes on.
    until_tasks(&running, TASKS).await;
}

/// On each of two cores, the listener's and the one that waits for late ends of replies.
const TASKS: usize = 4;

async fn until_tasks(running: &Running, tasks: usize) {
    let begin = std::time::Instant::now();
    while running.tasks() != tasks {
        assert!(begin.elapsed().as_secs() < 10, "{} tasks", running.tasks());
        tokio::task::yield_now().await;
    }
}

async fn until_status(client: &mut Client, path: &str, status: u16) {
    let begin = std::time::Instant::now();
    while client.get(path).await.status != status {
        assert!(begin.elapsed().as_secs() < 10, "{path} never answered {status}");
    }
}

/// Files behind links that are turned as a whole, as Kubernetes does with a ConfigMap.
#[tokio::test]
async fn a_turned_link_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let worker = Worker::polite().await;
    for (name, mappings) in [("v1", "\"/a/*\" = \"lb\""), ("v2", "\"/b/*\" = \"lb\"")] {
        std::fs::create_dir(at(name)).unwrap();
        write(&at(name).join("workers.toml"), mappings, &[("t1", &worker)]);
    }
    std::os::unix::fs::symlink("v1", at("..data")).unwrap();
    std::os::unix::fs::symlink("..data/workers.toml", at("workers.toml")).unwrap();
    let path = at("workers.toml");
    let running = Running::start(jk_config::load(&path).unwrap(), Some(&path))
        .unwrap_or_else(|refused| panic!("{:?}", refused.lines()));
    let mut client = Client::connect(running.address("main").unwrap()).await;
    assert_eq!((client.get("/a/1").await.status, client.get("/b/1").await.status), (200, 404));
    std::os::unix::fs::symlink("v2", at("..fresh")).unwrap();
    std::fs::rename(at("..fresh"), at("..data")).unwrap();
    until_status(&mut client, "/b/1", 200).await;
    assert_eq!(client.get("/a/1").await.status, 404);
}

#[tokio::test]
async fn includes_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workers.toml");
    let apps = folder.path().join("apps");
    std::fs::create_dir(&apps).unwrap();
    let worker = Worker::polite().await;
    write(&path, "\"/a/*\" = \"lb\"", &[("t1", &worker)]);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("include = \"apps/*.toml\"\n{text}")).unwrap();
    let running = Running::start(jk_config::load(&path).unwrap(), Some(&path))
        .unwrap_or_else(|refused| panic!("{:?}", refused.lines()));
    let mut client = Client::connect(running.address("main").unwrap()).await;
    assert_eq!(client.get("/b/1").await.status, 404);
    std::fs::write(apps.join("b.toml"), "[uri]\n\"/b/*\" = \"lb\"\n").unwrap();
    until_status(&mut client, "/b/1", 200).await;
    std::fs::write(apps.join("b.toml"), "[uri]\n\"/c/*\" = \"lb\"\n").unwrap();
    until_status(&mut client, "/c/1", 200).await;
    std::fs::remove_file(apps.join("b.toml")).unwrap();
    until_status(&mut client, "/c/1", 404).await;
    assert_eq!(client.get("/a/1").await.status, 200);
}
