//! What goes out, in every form: against output captured from mod_jk, against snapshots, and with hostile names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod capture;
mod mod_jk;
