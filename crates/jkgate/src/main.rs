//! The program.

fn main() -> std::process::ExitCode {
    jkgate::cli::main()
}
