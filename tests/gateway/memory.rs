//! What waiting clients cost.

use test_support::http::Client;
use test_support::servers::{Footprint, Jkgate};

/// The allocator keeps what it once had, so later clients show whether earlier ones have given their buffers back.
#[tokio::test]
async fn clients_that_wait_hold_no_buffers() {
    const CLIENTS: usize = 100;
    let config = "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[ajp13.t1]\naddress = \"127.0.0.1:9\"\n\
                  [uri]\n\"/a\" = \"t1\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"off\"\n[process]\nthreads = 1\n";
    let gateway = Jkgate::start(env!("CARGO_BIN_EXE_jkgate"), config);
    let mut clients = Vec::new();
    let mut costs = Vec::new();
    for _wave in 0..8 {
        let before = Footprint::of(gateway.server.pid()).memory_kb;
        for _ in 0..CLIENTS {
            let mut client = Client::connect(gateway.address()).await;
            // Nothing is mapped there, so no worker is needed.
            assert_eq!(client.get("/nothing").await.status, 404);
            clients.push(client);
        }
        costs.push(Footprint::of(gateway.server.pid()).memory_kb.saturating_sub(before));
        if costs.last().is_some_and(|cost| *cost < 4 * CLIENTS) {
            // And whoever waited is served like anybody else.
            for client in &mut clients {
                assert_eq!(client.get("/nothing").await.status, 404);
            }
            return;
        }
    }
    panic!("each {CLIENTS} clients more cost {costs:?} KB");
}
