//! An AJP13 worker: scripted for tests, fast for benchmarks, and pretty for `jkgate demo`.
//!
//! It has its own codec, written without a look at the gateway's, and strict where Tomcat would misread: a fault in one of the two
//! cannot hide in the other.

#![allow(
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "for tests: a script that cannot go on has failed"
)]

mod bench;
mod codec;
pub mod demo;
mod exchange;
mod log;
mod worker;

pub use bench::{serve_ajp, serve_http};
pub use codec::{Header, Malformed, Request, packets};
pub use exchange::Exchange;
pub use log::{Event, Gone, Log};
pub use worker::{Pings, Worker};
