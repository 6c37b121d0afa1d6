//! The benchmark back end as a program: `jk-worker [--ajp ADDR] [--http ADDR] [--size BYTES] [--packet BYTES]`.

use std::process::ExitCode;

use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut ajp, mut http, mut size, mut packet) = (None, None, 128, 8192);
    while let Some(name) = arguments.next() {
        let Some(value) = arguments.next() else { return usage() };
        match name.as_str() {
            "--ajp" => ajp = Some(value),
            "--http" => http = Some(value),
            "--size" => size = value.parse().unwrap_or(size),
            "--packet" => packet = value.parse().unwrap_or(packet),
            _ => return usage(),
        }
    }
    let over_ajp = async {
        match &ajp {
            Some(address) => jk_worker::serve_ajp(TcpListener::bind(address).await?, size, packet).await,
            None => std::future::pending().await,
        }
    };
    let over_http = async {
        match &http {
            Some(address) => jk_worker::serve_http(TcpListener::bind(address).await?, size).await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! { ended = over_ajp => ended, ended = over_http => ended };
    if let Err(error) = ended {
        eprintln!("jk-worker: {error}");
    }
    ExitCode::FAILURE
}

fn usage() -> ExitCode {
    eprintln!("usage: jk-worker [--ajp ADDR] [--http ADDR] [--size BYTES] [--packet BYTES]");
    ExitCode::from(2)
}
