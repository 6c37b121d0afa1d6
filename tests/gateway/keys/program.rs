//! Keys that the program itself goes by.

use std::fs;
use std::time::Duration;

use jk_worker::Worker;
use test_support::http::{Client, PATIENCE};
use test_support::servers::Jkgate;

use super::Holding;

/// The program before one worker, with sections of its own.
fn program(worker: &Worker, sections: &str) -> Jkgate {
    Jkgate::start(
        env!("CARGO_BIN_EXE_jkgate"),
        &format!(
            "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n\
             [uri]\n\"/*\" = \"lb\"\n[admin]\naddress = \"@ADMIN@\"\n{sections}",
            worker.address()
        ),
    )
}

/// What the kernel lets each of its threads run on, by the thread's name.
fn threads(gateway: &Jkgate) -> Vec<(String, String)> {
    let tasks = fs::read_dir(format!("/proc/{}/task", gateway.server.pid())).unwrap();
    let of = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        Some((field("Name:"), field("Cpus_allowed_list:")))
    };
    tasks.flatten().filter_map(of).collect()
}

#[tokio::test]
async fn threads_are_as_many_as_told_and_each_has_its_cpu() {
    let worker = Worker::polite().await;
    let serving = |gateway: &Jkgate| {
        let mut cpus: Vec<String> = threads(gateway)
            .into_iter()
            .filter(|(name, _)| name.starts_with("core-"))
            .map(|(_, cpus)| cpus)
            .collect();
        cpus.sort();
        cpus
    };
    for threads in [1, 3] {
        let gateway = program(&worker, &format!("[process]\nthreads = {threads}\n"));
        assert_eq!(serving(&gateway).len(), threads);
    }
    let cpus = std::thread::available_parallelism().unwrap().get();
    let tied = program(&worker, &format!("[process]\nthreads = {cpus}\n"));
    let free = program(&worker, &format!("[process]\nthreads = {cpus}\ncpu_affinity = false\n"));
    let (tied, free) = (serving(&tied), serving(&free));
    assert!(tied.iter().all(|cpu| cpu.parse::<usize>().is_ok()), "{tied:?}");
    assert!(tied.windows(2).all(|two| two[0] != two[1]), "{tied:?}");
    assert!(free.windows(2).all(|two| two[0] == two[1]), "{free:?}");
}

#[tokio::test]
async fn requests_under_way_have_their_time_at_the_end_and_no_more() {
    let holding = Holding::start().await;
    let hold = async |gateway: &Jkgate| {
        let before = holding.worker.log().requests().len();
        let mut client = Client::connect(gateway.address()).await;
        client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n").await;
        holding.worker.log().wait_for("it has it", |log| log.requests().len() > before).await;
        client
    };
    let mut hasty = program(&holding.worker, "[process]\ndrain_timeout = \"100ms\"\n");
    let mut client = hold(&hasty).await;
    hasty.server.signal("TERM");
    assert!(client.try_response("GET").await.is_none_or(|response| response.status != 200));
    hasty.server.wait(PATIENCE);
    let mut patient = program(&holding.worker, "[process]\ndrain_timeout = \"1h\"\n");
    let mut client = hold(&patient).await;
    patient.server.signal("TERM");
    let address = patient.address();
    patient.server.wait_until(PATIENCE, || std::net::TcpStream::connect(address).is_err());
    holding.let_go();
    assert_eq!(client.response("GET").await.status, 200);
    assert_eq!(patient.server.wait(PATIENCE), Some(0));
}

#[tokio::test]
async fn the_log_says_as_much_as_is_wanted_in_the_form_that_is_wanted() {
    let worker = Worker::polite().await;
    for (keys, is_json, tells) in
        [("", false, true), ("filter = \"error\"\n", false, false), ("format = \"json\"\n", true, true)]
    {
        // A log of its own that says nothing cannot be waited for; the port is open all the same.
        let mut gateway = program(&worker, &format!("[access_log]\ntarget = \"off\"\n[log]\n{keys}"));
        let (code, ..) = gateway.run(env!("CARGO_BIN_EXE_jkgate"), &["reload"]);
        assert_eq!(code, Some(0));
        gateway.server.signal("TERM");
        gateway.server.wait(PATIENCE);
        let output = gateway.server.output();
        assert_eq!(output.contains("Configuration reloaded."), tells, "{keys}: {output}");
        let lines = output.lines().filter(|line| line.contains("reloaded"));
        let all_json = lines.map(serde_json::from_str::<serde_json::Value>).all(|line| line.is_ok());
        assert!(!tells || all_json == is_json, "{keys}: {output}");
    }
}

#[tokio::test]
async fn requests_are_logged_where_told() {
    let worker = Worker::polite().await;
    for (target, in_output, in_file) in
        [("", true, false), ("target = \"off\"\n", false, false), ("target = \"@DIR@/log\"\n", false, true)]
    {
        let mut gateway = program(&worker, &format!("[access_log]\n{target}"));
        assert_eq!(Client::connect(gateway.address()).await.get("/logged").await.status, 200);
        // All lines are written when it ends.
        gateway.server.signal("TERM");
        assert_eq!(gateway.server.wait(Duration::from_secs(60)), Some(0));
        let line = "\"GET /logged HTTP/1.1\" 200 ";
        assert_eq!(gateway.server.output().contains(line), in_output, "{target}");
        let file = fs::read_to_string(gateway.folder().join("log")).unwrap_or_default();
        assert_eq!(file.contains(line), in_file, "{target}");
    }
}

#[tokio::test]
async fn the_admin_door_is_where_told_or_nowhere() {
    let worker = Worker::polite().await;
    let gateway = program(&worker, "");
    assert!(gateway.folder().join("admin.sock").exists());
    let text = fs::read_to_string(&gateway.config).unwrap();
    let address = text.split("[admin]\naddress = ").nth(1).unwrap().lines().next().unwrap();
    let gateway = Jkgate::start(
        env!("CARGO_BIN_EXE_jkgate"),
        &text.replace(address, "\"off\"").replace(&format!(":{}\"", gateway.port), ":@PORT@\""),
    );
    assert!(!gateway.folder().join("admin.sock").exists());
    let (code, _, errors) = gateway.run(env!("CARGO_BIN_EXE_jkgate"), &["reload"]);
    assert!(code == Some(1) && errors.contains("off"), "{code:?} {errors}");
}
