//! The command line. Results go to standard output, everything else to standard error.

mod client;
mod config;
mod explain;
mod live;
mod ping;
mod probe;
mod serve;
mod words;

use std::process::ExitCode;

use clap::Parser;

use self::words::{Command, ConfigCommand, Words};

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let words = Words::parse();
    let file = words.config.file();
    match words.command {
        None if words.test => config::check(&file, config::Form::Text),
        None => serve::serve(&file),
        Some(Command::Serve) => serve::serve(&file),
        Some(Command::Check { format }) => config::check(&file, format),
        Some(Command::Demo { listen }) => serve::demo(listen.as_deref()),
        Some(Command::Import { files, output }) => config::import(&files, output.as_deref()),
        Some(Command::Explain { words, headers }) => explain::explain(&file, &words, &headers),
        Some(Command::Ping(wanted)) => ping::ping(&wanted),
        Some(Command::Get(get)) => probe::get(&get),
        Some(Command::Status(status)) => live::status(&file, &status),
        Some(Command::Set(set)) => live::set(&file, &set),
        Some(Command::Reload) => live::reload(&file),
        Some(Command::Config { command: ConfigCommand::Dump }) => config::dump(&file),
        Some(Command::Config { command: ConfigCommand::Schema }) => print(&jk_config::schema()),
        Some(Command::Completions { shell }) => print(&words::completions(shell)),
        Some(Command::Man) => print(&words::man()),
    }
}

/// Writes a result. A reader that has seen enough and left is no error.
#[allow(clippy::print_stdout, reason = "this is the one place that does")]
fn print(text: &str) -> ExitCode {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("jkgate: cannot write: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Says why a command failed.
fn fail(why: impl std::fmt::Display) -> ExitCode {
    eprintln!("jkgate: {why}");
    ExitCode::FAILURE
}

/// Colour for people only: a terminal, and nobody who asked for none.
fn style() -> jk_config::Style {
    use std::io::IsTerminal;
    let asked = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if asked("CLICOLOR_FORCE") || (std::io::stderr().is_terminal() && !asked("NO_COLOR")) {
        jk_config::Style::Colour
    } else {
        jk_config::Style::Plain
    }
}
