//! Chores of the project. `cargo run --release -p xtask -- bench` measures jkgate beside its peers.

#![allow(clippy::print_stdout, reason = "it talks to the person who started it")]

mod bench;

use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "xtask", about = "Chores of the project")]
enum Chore {
    /// CPU per request, latency and memory of jkgate and of its peers, in one run
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let Chore::Bench(options) = Chore::parse();
    match bench::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
