//! Keys of a worker: its place in the group, its channels, and when it is given up.

use jk_worker::{Pings, Worker};

use super::{Holding, breaking, group, server_of, servers_of};
use crate::harness::Gateway;

#[tokio::test]
async fn weight_and_distance_say_how_much_a_member_gets() {
    let [first, second] = [Worker::polite().await, Worker::polite().await];
    let weighted = group(&[(&first, "lbfactor = 3"), (&second, "")], "");
    let servers = servers_of(&weighted, 12, "").await;
    assert_eq!((servers.matches("t1").count(), servers.matches("t2").count()), (9, 3), "{servers}");
    let far = group(&[(&first, "distance = 1"), (&second, "")], "");
    assert_eq!(servers_of(&far, 3, "").await, "t2 t2 t2");
    second.stop();
    assert_eq!(servers_of(&far, 3, "").await, "t1 t1 t1");
}

#[tokio::test]
async fn a_route_names_a_member_and_a_domain_or_a_redirect_its_stand_in() {
    let workers = [Worker::polite().await, Worker::polite().await, Worker::polite().await];
    let [first, second, third] = &workers;
    let gateway = group(&[(first, ""), (second, "route = \"two\""), (third, "")], "");
    assert_eq!(servers_of(&gateway, 3, "Cookie: JSESSIONID=x.two\r\n").await, "two two two");
    assert_eq!(second.log().requests().len(), 3);
    let session = "Cookie: JSESSIONID=x.t1\r\n";
    // Without anything else, whoever has least to do.
    let stopped = "activation = \"stopped\"";
    let none = group(&[(first, stopped), (second, ""), (third, "")], "");
    assert_eq!(servers_of(&none, 4, session).await, "t2 t3 t2 t3");
    let domains =
        group(&[(first, &format!("{stopped}\ndomain = \"d\"")), (second, ""), (third, "domain = \"d\"")], "");
    assert_eq!(servers_of(&domains, 4, session).await, "t3 t3 t3 t3");
    let redirect = group(&[(first, &format!("{stopped}\nredirect = \"t3\"")), (second, ""), (third, "")], "");
    assert_eq!(servers_of(&redirect, 4, session).await, "t3 t3 t3 t3");
}

/// Cargo names the package to whatever it runs.
#[tokio::test]
async fn a_secret_is_the_workers_or_the_groups_and_comes_from_anywhere() {
    let worker = Worker::polite().await;
    let secret = env!("CARGO_PKG_NAME");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, secret).unwrap();
    let in_file = format!("secret_file = \"{}\"", file.path().display());
    let in_environment = "secret_env = \"CARGO_PKG_NAME\"";
    let here = format!("secret = \"{secret}\"");
    let other = "secret = \"another\"";
    for (member, keys) in [
        (here.as_str(), other),
        (in_file.as_str(), other),
        (in_environment, other),
        ("", here.as_str()),
        ("", in_file.as_str()),
        ("", in_environment),
    ] {
        let gateway = group(&[(&worker, member)], keys);
        assert_eq!(gateway.get("/a").await.status, 200);
        assert_eq!(worker.log().requests().pop().unwrap().secret.as_deref(), Some(secret), "{member} {keys}");
    }
}

#[tokio::test]
async fn some_idle_channels_may_stay() {
    let [keeps, does_not] = [Holding::start().await, Holding::start().await];
    let keys = "connection_pool_timeout = \"100ms\"\n";
    let keeping = Gateway::before(&keeps.worker, &format!("{keys}connection_pool_minsize = 1")).await;
    let closing = Gateway::before(&does_not.worker, keys).await;
    for (holding, gateway) in [(&keeps, &keeping), (&does_not, &closing)] {
        let mut clients = [holding.hold(gateway).await, holding.hold(gateway).await];
        assert_eq!(holding.worker.log().n_open(), 2);
        holding.let_go();
        for client in &mut clients {
            assert_eq!(client.response("GET").await.status, 200);
        }
    }
    keeps.worker.log().wait_for("one is closed", |log| log.n_open() == 1).await;
    does_not.worker.log().wait_for("all are closed", |log| log.n_open() == 0).await;
    // Twice as long, as told by channels that do not stay.
    assert_eq!(closing.get("/a").await.status, 200);
    does_not.worker.log().wait_for("all are closed", |log| log.n_open() == 0).await;
    assert_eq!(keeps.worker.log().n_open(), 1);
}

#[tokio::test]
async fn a_session_waits_for_its_full_member_as_long_as_it_may() {
    let holding = Holding::start().await;
    let session = "Cookie: JSESSIONID=x.t1\r\n";
    for keys in ["acquire_queue = 0\nacquire_timeout = \"1h\"", "acquire_timeout = \"50ms\""] {
        let keys = format!("connection_pool_size = 1\n{keys}");
        let gateway = group(&[(&holding.worker, &keys)], "queue = 0");
        let _held = holding.hold(&gateway).await;
        assert_eq!(servers_of(&gateway, 1, session).await, "503", "{keys}");
    }
    let gateway =
        group(&[(&holding.worker, "connection_pool_size = 1\nacquire_timeout = \"1h\"")], "queue = 0");
    let mut held = holding.hold(&gateway).await;
    let mut client = gateway.client().await;
    client.send(format!("GET /a HTTP/1.1\r\nHost: a\r\n{session}\r\n")).await;
    gateway.until("it waits", |running| running.under_way().1 == 2).await;
    holding.let_go();
    assert_eq!(held.response("GET").await.status, 200);
    assert_eq!(client.response("GET").await.status, 200);
}

#[tokio::test]
async fn each_ping_may_have_a_wait_of_its_own() {
    let worker = Worker::polite().await;
    worker.set_pings(Pings::Ignored);
    let gateway = Gateway::before(&worker, "connect_timeout = \"50ms\"\nping_timeout = \"1h\"").await;
    assert_eq!(gateway.get("/a").await.status, 503);
    let keys =
        "ping_mode = [\"prepost\"]\nprepost_idle = \"0s\"\nprepost_timeout = \"50ms\"\nping_timeout = \"1h\"";
    let gateway = Gateway::before(&worker, keys).await;
    let before = worker.log().n_connects();
    let mut client = gateway.client().await;
    for _ in 0..2 {
        assert_eq!(client.get("/a").await.status, 200);
    }
    // The channel that said nothing was given up; a fresh one is not asked.
    assert_eq!(worker.log().n_connects(), before + 2);
}

/// What the kernel has a timer for on connections to this port, one digit a connection: 2 is keep-alive.
fn timers(port: u16) -> Vec<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[2].ends_with(&format!(":{port:04X}")) && row[3] == "01")
        .map(|row| row[5].chars().take(2).collect())
        .collect()
}

#[tokio::test]
async fn the_kernel_keeps_channels_alive_unless_told_otherwise() {
    for (keys, timer) in [("", "02"), ("socket_keepalive = false", "00")] {
        let worker = Worker::polite().await;
        let gateway = Gateway::before(&worker, keys).await;
        assert_eq!(gateway.get("/a").await.status, 200);
        gateway.is_clean().await;
        let port = worker.address().port();
        gateway.until("no other timer runs", |_| timers(port) == [timer]).await;
    }
}

#[tokio::test]
async fn a_worker_that_takes_nothing_is_given_up_after_the_send_timeout() {
    let worker = Worker::start(|mut exchange| async move {
        // It asks for more than all buffers on the way hold, and reads none of it.
        for _ in 0..400 {
            exchange.send(&[b'A', b'B', 0, 3, 6, 0xff, 0xf6]).await;
        }
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let _never = receiver.await;
        drop(sender);
        exchange
    })
    .await;
    let keys = "max_packet_size = \"64KiB\"\nsend_timeout = \"100ms\"\nreply_timeout = \"1h\"";
    let gateway = Gateway::before(&worker, keys).await;
    let mut client = gateway.client().await;
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 26000000\r\n\r\n").await;
    client.send(vec![b'x'; 26_000_000]).await;
    assert_eq!(client.response("POST").await.status, 502);
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_member_at_its_limit_gets_nothing_more() {
    let [first, second] = [Holding::start().await, Holding::start().await];
    let gateway = group(&[(&first.worker, "busy_limit = 1"), (&second.worker, "")], "");
    let mut held = first.hold(&gateway).await;
    assert_eq!(servers_of(&gateway, 4, "").await, "t2 t2 t2 t2");
    first.let_go();
    assert_eq!(held.response("GET").await.status, 200);
    assert!(servers_of(&gateway, 4, "").await.contains("t1"));
}

#[tokio::test]
async fn what_is_tried_again_is_the_operators_choice() {
    let (broken, good) = (breaking().await, Worker::polite().await);
    for (options, get, head) in [(0, 200, 200), (1, 502, 502), (17, 200, 502), (9, 502, 200)] {
        for (method, status) in [("GET", get), ("HEAD", head)] {
            let keys = format!("recovery_options = {options}");
            let gateway = group(&[(&broken, &keys), (&good, &keys)], "");
            let mut client = gateway.client().await;
            client.send(format!("{method} /a HTTP/1.1\r\nHost: a\r\n\r\n")).await;
            assert_eq!(client.response(method).await.status, status, "{options} {method}");
        }
    }
}

#[tokio::test]
async fn an_activation_is_for_all_or_for_sessions_or_for_nobody() {
    let [first, second] = [Worker::polite().await, Worker::polite().await];
    let session = "Cookie: JSESSIONID=x.t1\r\n";
    for (activation, anybody, own) in
        [("active", "t1", "t1"), ("disabled", "t2", "t1"), ("stopped", "t2", "t2")]
    {
        let gateway = group(&[(&first, &format!("activation = \"{activation}\"")), (&second, "")], "");
        let mut client = gateway.client().await;
        assert_eq!(server_of(&mut client, "/a", "").await, anybody, "{activation}");
        assert_eq!(server_of(&mut client, "/a", session).await, own, "{activation}");
    }
}
