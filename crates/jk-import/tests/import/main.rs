//! Imports from outside: text in, workers.toml and notes out, read again by jk-config and asked by jk-balance who serves what.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod documents;
mod fixtures;
mod httpd;
mod impossible;
mod modjk;
mod properties;
mod site;
mod tomcat;
mod workers2;
