//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::running::Running;

pub fn main() -> ExitCode {
    let path = PathBuf::from(std::env::args().nth(1).unwrap_or_default());
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let loaded = match jk_config::load(&path) {
        Ok(loaded) => loaded,
        Err(problems) => {
            eprintln!("{}", problems.render(jk_config::Style::Plain));
            return ExitCode::FAILURE;
        }
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(async {
        let running = match Running::start(loaded, Some(&path)) {
            Ok(running) => running,
            Err(refused) => {
                eprintln!("{}", refused.lines().join("\n"));
                return ExitCode::FAILURE;
            }
        };
        let _ = tokio::signal::ctrl_c().await;
        running.shut_down().await;
        ExitCode::SUCCESS
    })
}
