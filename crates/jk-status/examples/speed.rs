//! How long a large page takes: `cargo run --release -p jk-status --example speed`.

#![allow(clippy::print_stdout, clippy::indexing_slicing, clippy::unwrap_used, reason = "an example prints")]

#[path = "../tests/outputs/sample.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod sample;

use std::hint::black_box;
use std::time::{Duration, Instant};

use jk_status::{Cmd, Mime, Outcome, Request, StatusView};

fn main() {
    let view = sample::large(300, 5000);
    let legacy = |query: &str, mime| {
        jk_status::legacy(&view, &Request::parse(query), (Some(Cmd::List), mime), &Outcome::Ok, &[])
    };
    measure("page", || page(&view, ""));
    measure("page with all 5000 mappings", || page(&view, "maps=all"));
    measure("page of one member", || page(&view, "cmd=edit&w=shop&sw=shop-001"));
    measure("cells", || jk_status::cells(&view).iter().map(|(_, text)| text.as_str()).collect());
    measure("json", || jk_status::json(&view));
    measure("prometheus", || jk_status::metrics(&view));
    measure("xml", || legacy("mime=xml", Mime::Xml));
    measure("txt", || legacy("mime=txt", Mime::Txt));
    measure("prop", || legacy("mime=prop", Mime::Prop));
}

fn page(view: &StatusView, query: &str) -> String {
    let request = Request::parse(query);
    jk_status::page(view, &request, request.cmd().unwrap_or(Cmd::List), &Outcome::Ok, None)
}

fn measure(what: &str, run: impl Fn() -> String) {
    let mut times: Vec<Duration> = (0..50)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("{what:<28} median {:>9.2?}  worst {:>9.2?}  {:>8} bytes", times[25], times[49], run().len());
}
