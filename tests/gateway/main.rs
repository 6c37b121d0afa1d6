//! The whole gateway in process, in front of scripted workers: every failure on purpose.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test that cannot go on has failed"
)]

mod aborts;
mod access_log;
mod balance;
mod bodies;
mod care;
mod channels;
mod demo;
mod faults;
mod harness;
mod heads;
mod keys;
mod listeners;
mod memory;
mod readme;
mod reload;
mod reloads;
mod status;
mod violations;
