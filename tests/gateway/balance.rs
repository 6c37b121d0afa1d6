//! Groups on real sockets.

use jk_worker::Worker;

use crate::harness::Gateway;

async fn served_by(client: &mut test_support::http::Client, cookie: &str) -> String {
    client.send(format!("GET /a HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n")).await;
    let response = client.response("GET").await;
    let text = response.text();
    if response.status == 200 {
        text.split(' ').nth(2).unwrap().to_owned()
    } else {
        response.status.to_string()
    }
}

#[tokio::test]
async fn requests_take_turns_and_sessions_stay() {
    let (first, second) = (Worker::polite().await, Worker::polite().await);
    let gateway = Gateway::before_two([&first, &second], "", "").await;
    let mut client = gateway.client().await;
    let mut turns = Vec::new();
    for _ in 0..6 {
        turns.push(served_by(&mut client, "a=b").await);
    }
    assert_eq!(turns, ["t1", "t2", "t1", "t2", "t1", "t2"]);
    for _ in 0..6 {
        assert_eq!(served_by(&mut client, "JSESSIONID=x.t2").await, "t2");
        assert_eq!(served_by(&mut client, "JSESSIONID=x.gone; JSESSIONID=y.t1").await, "t1");
    }
}

#[tokio::test]
async fn a_dead_member_costs_nobody_a_request() {
    let (first, second) = (Worker::polite().await, Worker::polite().await);
    let gateway = Gateway::before_two([&first, &second], "recover_time = \"1s\"", "").await;
    let mut client = gateway.client().await;
    first.stop();
    for n in 0..20 {
        let response = if n % 2 == 0 { client.get("/a").await } else { client.post("/a", b"abc").await };
        assert_eq!(response.status, 200);
    }
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "ERR");
    // A session of the dead member goes on elsewhere.
    assert_eq!(served_by(&mut client, "JSESSIONID=x.t1").await, "t2");
    first.start_again().await;
    gateway.until("it may be tried", |running| running.member("lb", "t1").unwrap().0 == "ERR/REC").await;
    let before = first.log().requests().len();
    while first.log().requests().len() == before {
        assert_eq!(client.get("/a").await.status, 200);
    }
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "OK");
    assert_eq!(served_by(&mut client, "JSESSIONID=x.t1").await, "t1");
    gateway.is_clean().await;
}

#[tokio::test]
async fn when_all_are_down_the_first_that_returns_is_used_at_once() {
    let (first, second) = (Worker::polite().await, Worker::polite().await);
    let gateway = Gateway::before_two([&first, &second], "", "").await;
    let mut client = gateway.client().await;
    first.stop();
    second.stop();
    for _ in 0..5 {
        assert_eq!(client.get("/a").await.status, 503);
    }
    second.start_again().await;
    assert_eq!(client.get("/a").await.status, 200);
    gateway.is_clean().await;
}

#[tokio::test]
async fn a_post_is_never_sent_twice_and_a_get_may_be() {
    let broken = Worker::start(|mut exchange| async move {
        exchange.body().await;
        exchange.close();
        exchange
    })
    .await;
    let good = Worker::polite().await;
    let gateway = Gateway::before_two([&broken, &good], "", "").await;
    let mut client = gateway.client().await;
    let mut statuses = Vec::new();
    for _ in 0..10 {
        statuses.push(client.post("/post", b"abc").await.status);
    }
    assert!(statuses.iter().all(|status| matches!(status, 200 | 502)));
    assert!(statuses.contains(&502) && statuses.contains(&200));
    // The worker answers a CPing, so it stays.
    for _ in 0..4 {
        assert_ne!(gateway.running.member("lb", "t1").unwrap().0, "ERR");
        assert_eq!(client.get("/get").await.status, 200);
    }
    let posts =
        |worker: &Worker| worker.log().requests().iter().filter(|request| request.method == "POST").count();
    assert_eq!(posts(&broken) + posts(&good), 10);
    // Ten failures in a row and not one success are another matter.
    for _ in 0..10 {
        assert_eq!(client.get("/get").await.status, 200);
    }
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "ERR");
    gateway.is_clean().await;
}

#[tokio::test]
async fn stopped_disabled_and_forced() {
    let (first, second) = (Worker::polite().await, Worker::polite().await);
    let config = |one: &str, group: &str| {
        format!(
            "[lb.lb]\n{group}\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n{one}\n[ajp13.t2]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n",
            first.address(),
            second.address()
        )
    };
    let disabled = Gateway::with(&config("activation = \"disabled\"", ""));
    let mut client = disabled.client().await;
    for _ in 0..4 {
        assert_eq!(served_by(&mut client, "a=b").await, "t2");
        assert_eq!(served_by(&mut client, "JSESSIONID=x.t1").await, "t1");
    }
    let activation = |worker: &Worker| {
        worker.log().requests().last().unwrap().attribute("JK_LB_ACTIVATION").unwrap().to_owned()
    };
    assert_eq!((activation(&first), activation(&second)), ("DIS".to_owned(), "ACT".to_owned()));
    let stopped = Gateway::with(&config("activation = \"stopped\"", ""));
    let mut client = stopped.client().await;
    assert_eq!(served_by(&mut client, "JSESSIONID=x.t1").await, "t2");
    let forced = Gateway::with(&config("activation = \"stopped\"", "sticky_session_force = true"));
    let mut client = forced.client().await;
    assert_eq!(served_by(&mut client, "JSESSIONID=x.t1").await, "503");
}

#[tokio::test]
async fn a_status_that_counts_as_failure_is_not_passed_on() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.answer(500, &[], b"stack trace").await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "fail_on_status = [500]").await;
    let response = gateway.get("/a").await;
    assert_eq!(response.status, 503);
    assert!(!response.text().contains("stack trace"));
    assert_eq!(gateway.running.member("lb", "t1").unwrap().0, "ERR");
    let soft = Gateway::before(&worker, "fail_on_status = [-500]").await;
    assert_eq!(soft.get("/a").await.status, 503);
    assert_eq!(soft.running.member("lb", "t1").unwrap().0, "OK");
}

#[tokio::test]
async fn an_unmapped_path_never_reaches_a_worker() {
    let worker = Worker::polite().await;
    let gateway = Gateway::with(&format!(
        "[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[uri]\n\"/app|/*\" = \"lb\"\n\"!/app/private/*\" = \"lb\"\n\"/slash/*\" = {{ group = \"lb\", encoded_slash = \"forward\" }}\n\
         [host.\"other.example.test\"]\ninherit = false\n[host.\"other.example.test\".uri]\n\"/own/*\" = \"lb\"\n",
        worker.address()
    ));
    let mut client = gateway.client().await;
    for (path, status) in [
        ("/app", 200),
        ("/app/x", 200),
        ("/appx", 404),
        ("/", 404),
        ("/app/private/x", 404),
        ("/app/..;/secret", 404),
        ("/app/%70rivate/x", 404),
        ("/slash/a%2Fb", 200),
    ] {
        assert_eq!(client.get(path).await.status, status, "{path}");
    }
    let slash = worker.log().requests().last().unwrap().uri.clone();
    assert_eq!(slash, "/slash/a%2Fb");
    for (path, status) in [("/own/x", 200), ("/app/x", 404)] {
        client.send(format!("GET {path} HTTP/1.1\r\nHost: Other.Example.test:9\r\n\r\n")).await;
        assert_eq!(client.response("GET").await.status, status, "{path}");
    }
}

/// mod_jk asks another member; so do we, when asking twice does no harm.
#[tokio::test]
async fn after_a_status_that_counts_as_failure_another_member_is_asked() {
    let failing = Worker::start(|mut exchange| async move {
        exchange.body().await;
        exchange.answer(500, &[], b"stack trace").await;
        exchange
    })
    .await;
    let good = Worker::polite().await;
    for list in ["[500]", "[-500]"] {
        let gateway = Gateway::before_two([&failing, &good], "", &format!("fail_on_status = {list}")).await;
        let mut client = gateway.client().await;
        assert_eq!(client.get("/a").await.status, 200, "{list}");
        gateway.running.member("lb", "t1").unwrap();
        gateway.is_clean().await;
    }
    // A POST was acted on, whatever came of it.
    let gateway = Gateway::before_two([&failing, &good], "", "fail_on_status = [-500]").await;
    let (mut client, before) = (gateway.client().await, good.log().requests().len());
    assert_eq!(client.post("/a", b"x").await.status, 503);
    assert_eq!(good.log().requests().len(), before);
    // A group whose every member fails ends with one answer, after each was asked once.
    let both = Gateway::before_two([&failing, &failing], "", "fail_on_status = [-500]").await;
    let before = failing.log().requests().len();
    assert_eq!(both.get("/a").await.status, 503);
    assert_eq!(failing.log().requests().len(), before + 2);
}

/// A Tomcat that is killed between a head and what follows it.
#[tokio::test]
async fn a_reply_that_ends_with_its_head_is_asked_for_again_if_that_is_safe() {
    let half = Worker::start(|mut exchange| async move {
        exchange.body().await;
        exchange.head(200, &[("Content-Length", "4")]).await;
        exchange.close();
        exchange
    })
    .await;
    let good = Worker::polite().await;
    let gateway = Gateway::before_two([&half, &good], "", "").await;
    for _ in 0..4 {
        let response = gateway.get("/a").await;
        assert_eq!((response.status, response.complete), (200, true));
        assert!(response.text().starts_with("GET /a"), "{}", response.text());
    }
    // Not so a POST: its sender sees that something is missing.
    let before = good.log().requests().len();
    let forced = Gateway::before_two([&half, &good], "sticky_session = true", "").await;
    let mut client = forced.client().await;
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nCookie: JSESSIONID=x.t1\r\n\r\nx").await;
    assert!(client.try_response("POST").await.is_none_or(|response| !response.complete));
    assert_eq!(good.log().requests().len(), before);
    gateway.is_clean().await;
    forced.is_clean().await;
}

#[tokio::test]
async fn a_head_without_anything_behind_it_still_arrives() {
    let worker = Worker::start(|mut exchange| async move {
        exchange.head(200, &[("X-First", "1")]).await;
        // Until the client has left: it has seen the head by then.
        exchange.read_packet().await;
        exchange
    })
    .await;
    let gateway = Gateway::before(&worker, "").await;
    for method in ["GET", "POST"] {
        let mut client = gateway.client().await;
        client.send(format!("{method} /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")).await;
        assert_eq!(client.head().await.unwrap().header("x-first"), Some("1"));
        drop(client);
        gateway.is_clean().await;
    }
}
