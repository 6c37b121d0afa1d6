//! How a session is told, and where its routing cookie goes: keys that a group has and a rule may have in its place.

use jk_worker::Worker;

use super::server_of;
use crate::harness::Gateway;

/// Keys of the group, keys of the rule for everything.
fn gateway(workers: &[Worker; 2], keys: &str, rule: &str) -> Gateway {
    let [first, second] = workers;
    Gateway::with(&format!(
        "[lb.lb]\n{keys}\n[ajp13.t1]\naddress = \"{}\"\ngroup = \"lb\"\n[ajp13.t2]\naddress = \"{}\"\ngroup = \"lb\"\n\
         [uri]\n\"/*\" = {{ group = \"lb\"{rule} }}\n",
        first.address(),
        second.address()
    ))
}

/// Four times who serves a request that names `t2` in this way.
async fn of_four(gateway: &Gateway, path: &str, headers: &str) -> Vec<String> {
    let mut client = gateway.client().await;
    let mut servers = Vec::new();
    for _ in 0..4 {
        servers.push(server_of(&mut client, path, headers).await);
    }
    servers
}

const COOKIE: (&str, &str) = ("/a", "Cookie: JSESSIONID=x.t2\r\n");
const OTHER_COOKIE: (&str, &str) = ("/a", "Cookie: SID=x.t2\r\n");
const PATH: (&str, &str) = ("/a;jsessionid=x.t2", "");
const OTHER_PATH: (&str, &str) = ("/a;sid=x.t2", "");

#[tokio::test]
async fn a_session_is_told_by_what_the_operator_says() {
    let workers = [Worker::polite().await, Worker::polite().await];
    for (keys, rule, kept, ignored) in [
        ("", "", [COOKIE, PATH], [OTHER_COOKIE, OTHER_PATH]),
        ("session_cookie = \"SID\"", "", [OTHER_COOKIE, PATH], [COOKIE, OTHER_PATH]),
        ("session_path = \"sid\"", "", [COOKIE, OTHER_PATH], [OTHER_COOKIE, PATH]),
        ("", ", session_cookie = \"SID\"", [OTHER_COOKIE, PATH], [COOKIE, OTHER_PATH]),
        ("", ", session_path = \"sid\"", [COOKIE, OTHER_PATH], [OTHER_COOKIE, PATH]),
        (
            "session_cookie = \"SID\"",
            ", session_cookie = \"JSESSIONID\"",
            [COOKIE, PATH],
            [OTHER_COOKIE, OTHER_PATH],
        ),
    ] {
        let gateway = gateway(&workers, keys, rule);
        for (path, headers) in kept {
            assert_eq!(of_four(&gateway, path, headers).await, ["t2"; 4], "{keys} {rule} {path} {headers}");
        }
        for (path, headers) in ignored {
            let servers = of_four(&gateway, path, headers).await;
            assert!(servers.contains(&"t1".to_owned()), "{keys} {rule} {path} {headers}");
        }
    }
}

#[tokio::test]
async fn sessions_may_be_left_unlooked_at() {
    let workers = [Worker::polite().await, Worker::polite().await];
    for (keys, rule) in [("sticky_session = false", ""), ("", ", sticky_ignore = true")] {
        let gateway = gateway(&workers, keys, rule);
        for (path, headers) in [COOKIE, PATH] {
            let mut servers = of_four(&gateway, path, headers).await;
            servers.sort();
            assert_eq!(servers, ["t1", "t1", "t2", "t2"], "{keys} {rule}");
        }
    }
}

#[tokio::test]
async fn the_gateway_may_set_a_routing_cookie_of_its_own() {
    let workers = [Worker::polite().await, Worker::polite().await];
    for (keys, rule, cookie) in [
        ("", "", None),
        ("set_session_cookie = true", "", Some("JSESSIONID=.t1;PATH=/;HttpOnly")),
        (
            "set_session_cookie = true\nsession_cookie_path = \"/shop\"",
            "",
            Some("JSESSIONID=.t1;PATH=/shop;HttpOnly"),
        ),
        ("session_cookie = \"SID\"", ", set_session_cookie = true", Some("SID=.t1;PATH=/;HttpOnly")),
    ] {
        let response = gateway(&workers, keys, rule).get("/a").await;
        assert_eq!(response.header("set-cookie"), cookie, "{keys} {rule}");
    }
}
