//! What goes out, in every form: against output captured from mod_jk, against snapshots, and with hostile names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod capture;
mod hostile;
mod json;
mod markup;
mod metrics;
mod mod_jk;
mod mod_jk2;
mod page;
mod sample;
mod snapshots;

use jk_status::{Cmd, Mime, Outcome, Request, StatusView, changes, legacy};

/// What the gateway does around `legacy`, for commands that change nothing.
fn answer(view: &StatusView, query: &str, dump: &[(String, String)]) -> String {
    let request = Request::parse(query);
    let result = match request.cmd() {
        Err(message) => Err(message),
        Ok(Cmd::List | Cmd::Version | Cmd::Dump) => Ok(()),
        Ok(Cmd::Update) => changes(&request, view).map(|_| ()),
        Ok(cmd) => request.target(view, cmd).map(|_| ()),
    };
    let outcome = result.map_or_else(|message| Outcome::Error(message.to_owned()), |()| Outcome::Ok);
    let (mime, outcome) = match request.mime() {
        Ok(mime) => (mime, outcome),
        Err(message) => (Mime::Prop, Outcome::Error(message.to_owned())),
    };
    legacy(view, &request, (request.cmd().ok(), mime), &outcome, dump)
}

/// What the gateway does around `page`.
fn page(view: &StatusView, query: &str) -> String {
    let request = Request::parse(query);
    let cmd = request.cmd();
    let outcome = cmd.map_or_else(|message| Outcome::Error(message.to_owned()), |_| Outcome::Ok);
    let answer = if cmd == Ok(Cmd::Update) { Some("changed") } else { None };
    jk_status::page(view, &request, cmd.unwrap_or(Cmd::List), &outcome, answer)
}
