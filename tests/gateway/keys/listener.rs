//! Keys of a listener that no other test shows.

use std::net::SocketAddr;
use std::time::Duration;

use jk_worker::Worker;
use test_support::http::Client;

use crate::harness::Gateway;

/// How many of twenty connections the kernel takes while the gateway takes none.
async fn taken(address: SocketAddr) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..20 {
        // One that does not fit is tried again by the kernel, for a minute.
        let limit = Duration::from_millis(300);
        let Ok(Ok(mut client)) = tokio::time::timeout(limit, Client::try_connect(address)).await else {
            break;
        };
        // Who says nothing is not waiting at the door yet.
        client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await;
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn as_many_may_wait_at_the_door_as_it_has_room_for() {
    let worker = Worker::polite().await;
    for (backlog, few) in [("backlog = 2", true), ("", false)] {
        let gateway = Gateway::with(&format!(
            "[listener.main]\naddress = \"127.0.0.1:0\"\nmax_connections = 1\n{backlog}\n[lb.lb]\n[ajp13.t1]\naddress = \"{}\"\n\
             group = \"lb\"\n[uri]\n\"/*\" = \"lb\"\n",
            worker.address()
        ));
        let mut first = gateway.client().await;
        assert_eq!(first.get("/a").await.status, 200);
        let waiting = taken(gateway.address).await.len();
        assert_eq!(waiting < 20, few, "{backlog}: {waiting}");
    }
}
