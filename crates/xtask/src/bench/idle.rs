//! What a client costs that keeps its connection and waits.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use super::front::{Front, Stage};
use super::process::memory;
use super::report::Table;

/// These come first, so that what a server needs only once is there before anything is counted.
const FIRST: u32 = 1000;
const CLIENTS: u32 = 5000;

pub(crate) fn table(stage: &Stage) -> io::Result<Table> {
    let mut table = Table::new(
        "idle",
        &format!("{CLIENTS} more clients that have made a request each and wait"),
        &["gateway", "KB for a client"],
    );
    for front in [stage.jkgate()?, stage.nginx()?, stage.haproxy()?] {
        let first = clients(&front, FIRST)?;
        // Connections are put to rest soon after, not at once.
        sleep(Duration::from_secs(2));
        let before = memory(front.pid());
        let more = clients(&front, CLIENTS)?;
        sleep(Duration::from_secs(2));
        let grown = memory(front.pid()).saturating_sub(before);
        drop((first, more));
        let each = f64::from(u32::try_from(grown).unwrap_or(u32::MAX)) * 1.024 / f64::from(CLIENTS);
        table.row(vec![front.name.clone(), format!("{each:.1}")]);
    }
    Ok(table)
}

fn clients(front: &Front, n: u32) -> io::Result<Vec<TcpStream>> {
    let request = "GET /bench HTTP/1.1\r\nHost: a\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";
    let mut clients = Vec::new();
    for _ in 0..n {
        let mut client = TcpStream::connect(front.address)?;
        client.write_all(request.as_bytes())?;
        client.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut answer = [0; 4096];
        if client.read(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        clients.push(client);
    }
    Ok(clients)
}
