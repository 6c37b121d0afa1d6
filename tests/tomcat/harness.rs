//! The servers that the tests of this suite share, and ways to ask them.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use test_support::http::{Client, Response};
use test_support::servers::{Jkgate, Tomcat};
use tokio::sync::Mutex;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

/// One Tomcat for all tests that do not hurt it.
pub(crate) static TOMCAT: LazyLock<Tomcat> = LazyLock::new(|| Tomcat::start("t1"));

/// Another one, for those that need two.
pub(crate) static SECOND: LazyLock<Tomcat> = LazyLock::new(|| Tomcat::start("t2"));

/// Tests that start Tomcats of their own take turns: each needs a core to start.
pub(crate) static TURN: Mutex<()> = Mutex::const_new(());

/// The seed's configuration, in front of any AJP port; `extra` goes into the worker's section.
pub(crate) fn seed(ajp: u16, extra: &str) -> String {
    format!(
        "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n\n[lb.lb]\n\n[ajp13.t1]\naddress = \"127.0.0.1:{ajp}\"\ngroup   = \"lb\"\n{extra}\n\n\
         [uri]\n\"/servlets-examples|/*\" = \"lb\"\n\"/jsp-examples|/*\"      = \"lb\"\n\"/examples|/*\"          = \"lb\"\n\"/echo|/*\"              = \"lb\"\n\"/jkstatus|/*\"          = \"status\"\n\n\
         [access_log]\ntarget = \"stdout\"\n\n[admin]\naddress = \"@ADMIN@\"\n"
    )
}

/// The seed's configuration with a second worker `t2`.
pub(crate) fn seed_of_two(first: u16, second: u16) -> String {
    format!(
        "{}\n[ajp13.t2]\naddress = \"127.0.0.1:{second}\"\ngroup = \"lb\"\n[defaults.lb]\nrecover_time = \"1s\"\n",
        seed(first, "")
    )
}

/// A GET on a connection of its own.
pub(crate) async fn get(gateway: &Jkgate, path: &str) -> Response {
    Client::connect(gateway.address()).await.get(path).await
}

/// What Tomcat saw of a request, as the echo application tells it.
pub(crate) fn seen(response: &Response) -> serde_json::Value {
    serde_json::from_slice(&response.body).unwrap_or_else(|error| panic!("{error}: {}", response.text()))
}

/// Waits until a condition of the world outside holds.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(20), "never came true: {what}");
        tokio::task::yield_now().await;
    }
}
