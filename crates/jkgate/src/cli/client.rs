//! A few lines of HTTP, enough to talk to our own admin channel and status page.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jk_config::ListenAddress;

/// What came back.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
}

pub(super) fn ask(address: &ListenAddress, method: &str, target: &str) -> io::Result<Reply> {
    match address {
        ListenAddress::Unix(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            talk(stream, "localhost", method, target)
        }
        ListenAddress::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            talk(stream, &address.to_string(), method, target)
        }
    }
}

/// `http://host:port/path`, for a status page that is not our own admin channel.
pub(super) fn ask_url(url: &str, query: &str) -> io::Result<Reply> {
    let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
    let rest = url.strip_prefix("http://").ok_or_else(|| invalid("a URL begins with http://"))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let stream = TcpStream::connect(&host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let path = path.split('?').next().unwrap_or_default();
    talk(stream, authority, "GET", &format!("/{path}?{query}"))
}

fn talk(mut stream: impl Read + Write, host: &str, method: &str, target: &str) -> io::Result<Reply> {
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    )?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    let status =
        head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    Ok(Reply { status, body: if chunked { unchunk(body) } else { body.to_owned() } })
}

fn unchunk(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let Some(piece) = rest.get(..size).filter(|_| size > 0) else { break };
        out.push_str(piece);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    out
}

const PATIENCE: Duration = Duration::from_secs(30);
