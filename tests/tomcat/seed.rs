//! What the seed's article shows, and the commands beside it.

use test_support::http::Client;
use test_support::servers::{Jkgate, SECRET};

use crate::harness::{PROGRAM, TOMCAT, get, seed, seen};

#[tokio::test]
async fn the_seed_works() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let hello = get(&gateway, "/servlets-examples/servlet/HelloWorldExample").await;
    assert_eq!(hello.status, 200);
    assert!(hello.text().contains("<h1>Hello World!</h1>"));
    assert_eq!(hello.header("content-type"), Some("text/html;charset=UTF-8"));
    assert_eq!(get(&gateway, "/jsp-examples/").await.status, 200);
    assert!(
        get(&gateway, "/examples/servlets/servlet/HelloWorldExample").await.text().contains("Hello World!")
    );
    assert_eq!(get(&gateway, "/examples").await.status, 302);
    assert_eq!(get(&gateway, "/elsewhere").await.status, 404);
    let log = gateway.server.output();
    assert!(log.contains("\"GET /servlets-examples/servlet/HelloWorldExample HTTP/1.1\" 200"), "{log}");
    assert!(log.contains("group=lb worker=t1"), "{log}");
}

#[tokio::test]
async fn statuses_heads_and_methods() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    for (code, reason) in [
        (200, "OK"),
        (201, "Created"),
        (204, "No Content"),
        (304, "Not Modified"),
        (404, "Not Found"),
        (500, "Internal Server Error"),
    ] {
        let response = client.get(&format!("/echo/status?code={code}")).await;
        assert_eq!((response.status, response.reason.as_str()), (code, reason));
    }
    client.send("HEAD /echo/big?bytes=12345 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let head = client.response("HEAD").await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("12345")));
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "FOO"] {
        client.send(format!("{method} /echo/dump HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")).await;
        assert_eq!(seen(&client.response(method).await)["method"], method);
    }
    let cookies = client.get("/echo/setcookies?n=3").await;
    assert_eq!(cookies.all("set-cookie").len(), 3);
    // A servlet that ignores the body, and the next request behind it.
    assert_eq!(client.post("/echo/ignore-body?code=200", &[b'x'; 100]).await.status, 200);
    assert_eq!(client.get("/echo/dump").await.status, 200);
}

#[tokio::test]
async fn the_secret_is_told_and_a_wrong_one_shows() {
    let right = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp_secret, &format!("secret = \"{SECRET}\"")));
    assert_eq!(get(&right, "/echo/dump").await.status, 200);
    let wrong = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp_secret, "secret = \"wrong\""));
    assert_eq!(get(&wrong, "/echo/dump").await.status, 403);
    let log = wrong.server.output() + &right.server.output();
    assert!(!log.contains(SECRET) && !log.contains("wrong\""), "a secret was logged");
}

#[tokio::test]
async fn a_secret_may_lie_in_a_file_of_its_own() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{SECRET}\n")).unwrap();
    let extra = format!("secret_file = \"{}\"", file.path().display());
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp_secret, &extra));
    assert_eq!(get(&gateway, "/echo/dump").await.status, 200);
    let (code, out, _) = gateway.run(PROGRAM, &["config", "dump"]);
    assert_eq!(code, Some(0));
    assert!(!out.contains(SECRET), "{out}");
}

#[tokio::test]
async fn tomcat_sees_the_client_and_the_server_as_they_are() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let mut client = Client::connect(gateway.address()).await;
    client.send("GET /echo/dump/a%20b?x=%20&y HTTP/1.1\r\nHost: shop.example.test:8443\r\nX_Own: caf\u{e9}\r\n\r\n").await;
    let told = seen(&client.response("GET").await);
    for (field, expected) in [
        ("remoteAddr", "127.0.0.1".into()),
        ("remotePort", client.local().port().into()),
        ("serverName", "shop.example.test".into()),
        ("serverPort", 8443.into()),
        ("scheme", "http".into()),
        ("requestURI", "/echo/dump/a%20b".into()),
        ("pathInfo", "/a b".into()),
        ("queryString", "x=%20&y".into()),
    ] {
        let expected: serde_json::Value = expected;
        assert_eq!(told[field], expected, "{field}");
    }
    // Bytes beyond ASCII arrive one by one, as the servlet API has always seen them.
    let headers = told["headers"].as_array().unwrap();
    assert!(headers.iter().any(|pair| pair[0] == "x_own" && pair[1] == "caf\u{c3}\u{a9}"), "{headers:?}");
}

#[tokio::test]
async fn the_commands_talk_to_the_running_gateway() {
    let gateway = Jkgate::start(PROGRAM, &seed(TOMCAT.ajp, ""));
    let (code, out, errors) = gateway.run(PROGRAM, &["check"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    assert!(out.contains("is good: 1 listener, 1 group, 1 worker"), "{out}");
    let (code, out, _) = gateway.run(PROGRAM, &["explain", "/servlets-examples/x"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("member now: t1"), "{out}");
    let (code, out, errors) = gateway.run(PROGRAM, &["set", "lb/t1", "activation=stopped"]);
    assert_eq!(code, Some(0), "{out}{errors}");
    assert_eq!(get(&gateway, "/echo/dump").await.status, 503);
    let (code, _, _) = gateway.run(PROGRAM, &["set", "lb/t1", "activation=active"]);
    assert_eq!(code, Some(0));
    assert_eq!(get(&gateway, "/echo/dump").await.status, 200);
    let (code, _, errors) = gateway.run(PROGRAM, &["set", "lb/t1", "activation=sleepy"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("\"active\", \"disabled\", \"stopped\""), "{errors}");
    let (code, out, _) = gateway.run(PROGRAM, &["reload"]);
    assert_eq!(code, Some(0), "{out}");
}
