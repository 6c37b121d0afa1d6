//! Prints the status page of a gateway that never was: `cargo run -p jk-status --example page -- STATE [QUERY]`,
//! where STATE is calm, troubled, large or hostile. Also `style` and `script`.

#![allow(clippy::print_stdout, clippy::indexing_slicing, clippy::unwrap_used, reason = "an example prints")]

#[path = "../tests/outputs/sample.rs"]
mod sample;

use jk_status::{Cmd, Outcome, Request};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let state = words.first().map_or("calm", String::as_str);
    let view = match state {
        "style" => return print!("{}", jk_status::STYLE),
        "script" => return print!("{}", jk_status::SCRIPT),
        "troubled" => sample::troubled(),
        "large" => sample::large(300, 5000),
        "hostile" => sample::hostile(),
        _ => sample::calm(),
    };
    let request = Request::parse(words.get(1).map(String::as_str).unwrap_or_default());
    let answer = match request.cmd() {
        Ok(Cmd::Update) => Some("worker shop1: activation active -> disabled"),
        _ => request
            .get("explain")
            .map(|_| "GET /shop/cart for host localhost, port 80\n  rule: \"/shop/*\" -> shop"),
    };
    print!("{}", jk_status::page(&view, &request, request.cmd().unwrap_or(Cmd::List), &Outcome::Ok, answer));
}
