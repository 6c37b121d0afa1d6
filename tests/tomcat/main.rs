//! End to end: the real program in front of a real Tomcat.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod bodies;
mod channels;
mod harness;
mod kill;
mod life;
mod seed;
mod sessions;
