//! AJP13 without a gateway: a channel, and `get`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use jk_ajp::{Event, Exchange, HeadWriter, PacketSize, Packets, Reply, ReplyName, RequestBody, RequestLine};

use super::fail;
use super::words::Get;

/// A blocking channel.
pub(super) struct Channel {
    stream: Box<dyn Stream>,
    input: BytesMut,
    packets: Packets,
    verbose: bool,
}

trait Stream: Read + Write {}
impl Stream for TcpStream {}
impl Stream for UnixStream {}

impl Channel {
    pub(super) fn open(address: &str, verbose: bool) -> Result<Self, String> {
        let patience = Some(Duration::from_secs(10));
        let stream: Box<dyn Stream> = match address.strip_prefix("unix:") {
            Some(path) => {
                let stream = UnixStream::connect(path).map_err(|error| format!("{address}: {error}"))?;
                let _best_effort = stream.set_read_timeout(patience);
                Box::new(stream)
            }
            None => {
                let address = if address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
                {
                    address.to_owned()
                } else {
                    format!("{address}:8009")
                };
                let stream = TcpStream::connect(&address).map_err(|error| format!("{address}: {error}"))?;
                let _best_effort = (stream.set_read_timeout(patience), stream.set_nodelay(true));
                Box::new(stream)
            }
        };
        let size = PacketSize::new(jk_ajp::MAX_PACKET).unwrap_or_default();
        Ok(Self { stream, input: BytesMut::new(), packets: Packets::new(size), verbose })
    }

    pub(super) fn send(&mut self, bytes: &[u8], what: &str) -> Result<(), String> {
        self.note(">", what, bytes.len());
        self.stream.write_all(bytes).map_err(|error| error.to_string())
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "io::ErrorKind is open-ended")]
    pub(super) fn receive(&mut self) -> Result<Reply, String> {
        loop {
            let payload = self.packets.next(&mut self.input).map_err(|error| error.to_string())?;
            if let Some(payload) = payload {
                let len = payload.len() + 4;
                let reply = Reply::parse(payload).map_err(|error| error.to_string())?;
                self.note("<", &name(&reply), len);
                return Ok(reply);
            }
            let mut buffer = [0; 16 * 1024];
            let n = self.stream.read(&mut buffer).map_err(|error| match error.kind() {
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                    "no answer within 10 s".to_owned()
                }
                _ => error.to_string(),
            })?;
            if n == 0 {
                return Err("the worker closed the channel".to_owned());
            }
            self.input.extend_from_slice(buffer.get(..n).unwrap_or_default());
        }
    }

    fn note(&self, direction: &str, what: &str, bytes: usize) {
        if self.verbose {
            eprintln!("{direction} {what} ({bytes} bytes)");
        }
    }
}

pub(super) fn name(reply: &Reply) -> String {
    match reply {
        Reply::SendHeaders(head) => format!("SEND_HEADERS {} with {} headers", head.status, head.len()),
        Reply::SendBodyChunk(data) if data.is_empty() => "SEND_BODY_CHUNK, empty: flush".to_owned(),
        Reply::SendBodyChunk(data) => format!("SEND_BODY_CHUNK of {}", data.len()),
        Reply::GetBodyChunk { max } => format!("GET_BODY_CHUNK up to {max}"),
        Reply::EndResponse { reuse } => format!("END_RESPONSE, {}", if *reuse { "keep" } else { "close" }),
        Reply::CPong => "CPONG".to_owned(),
    }
}

pub(super) fn get(wanted: &Get) -> ExitCode {
    match run(wanted) {
        Ok(code) => code,
        Err(why) => fail(why),
    }
}

fn run(wanted: &Get) -> Result<ExitCode, String> {
    let rest = wanted
        .url
        .strip_prefix("ajp://")
        .ok_or("the URL begins with ajp://, as in ajp://127.0.0.1:8009/path")?;
    let (address, target) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, "/"));
    let body = match wanted.data.as_deref() {
        None => Vec::new(),
        Some(data) => match data.strip_prefix('@') {
            Some(file) => std::fs::read(file).map_err(|error| format!("{file}: {error}"))?,
            None => data.as_bytes().to_vec(),
        },
    };
    let secret = match &wanted.secret_file {
        Some(file) => Some(
            std::fs::read_to_string(file)
                .map_err(|error| format!("{}: {error}", file.display()))?
                .trim_end()
                .to_owned(),
        ),
        None => None,
    };
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let head = encode(wanted, host, target, secret.as_deref(), (body.len(), PacketSize::default()))?;
    let mut channel = Channel::open(address, wanted.verbose)?;
    channel.send(&head, "FORWARD_REQUEST")?;
    converse(&mut channel, &body)
}

fn converse(channel: &mut Channel, body: &[u8]) -> Result<ExitCode, String> {
    let announced = match body.len() {
        0 => RequestBody::None,
        len => RequestBody::Length(u64::try_from(len).unwrap_or(u64::MAX)),
    };
    let mut exchange = Exchange::new(announced);
    let mut rest = body;
    if !rest.is_empty() {
        rest = feed(channel, &mut exchange, rest, usize::MAX)?;
    }
    loop {
        let reply = channel.receive()?;
        match exchange.handle(reply).map_err(|error| error.to_string())? {
            Event::Head(head) => {
                eprintln!("{} {}", head.status, String::from_utf8_lossy(head.reason()));
                for (name, value) in head.headers() {
                    let name = match &name {
                        ReplyName::Known(known) => known.name().to_owned(),
                        ReplyName::Other(name) => String::from_utf8_lossy(name).into_owned(),
                    };
                    eprintln!("{name}: {}", String::from_utf8_lossy(&value));
                }
                eprintln!();
            }
            Event::Data(data) => {
                std::io::stdout().lock().write_all(&data).map_err(|error| error.to_string())?
            }
            Event::WantBody { max } => rest = feed(channel, &mut exchange, rest, max)?,
            Event::Flush | Event::Ignore => {}
            Event::End { .. } => return Ok(ExitCode::SUCCESS),
        }
    }
}

fn feed<'b>(
    channel: &mut Channel,
    exchange: &mut Exchange,
    body: &'b [u8],
    max: usize,
) -> Result<&'b [u8], String> {
    let len = jk_ajp::body_len(body.len(), max, PacketSize::default());
    let (piece, rest) = body.split_at_checked(len).unwrap_or((body, &[]));
    let mut out = BytesMut::new();
    if piece.is_empty() {
        jk_ajp::write_empty_body(&mut out)
    } else {
        jk_ajp::write_body(&mut out, piece)
    }
    channel.send(&out, &format!("body packet of {len}"))?;
    exchange.body_sent();
    Ok(rest)
}

/// A FORWARD_REQUEST for one packet of `size` at most.
pub(super) fn encode(
    wanted: &Get,
    host: &str,
    target: &str,
    secret: Option<&str>,
    (length, size): (usize, PacketSize),
) -> Result<BytesMut, String> {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let line = RequestLine {
        method: &wanted.method,
        method_by_name: false,
        protocol: "HTTP/1.1",
        uri: path.as_bytes(),
        remote_addr: "127.0.0.1",
        remote_host: None,
        server_name: host,
        server_port: 80,
        is_ssl: false,
    };
    let mut out = BytesMut::new();
    let mut head = HeadWriter::new(&mut out, size, &line);
    let mut has_host = false;
    for header in &wanted.headers {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| format!("\"{header}\" is no header: write 'Name: value'"))?;
        let name = name.trim().to_ascii_lowercase();
        has_host |= name == "host";
        head.header(&name, value.trim().as_bytes());
    }
    if !has_host {
        head.header("host", host.as_bytes());
    }
    head.header("content-length", length.to_string().as_bytes());
    let mut attributes = head.attributes();
    if let Some(secret) = secret {
        attributes.secret(secret);
    }
    if let Some(query) = query {
        attributes.query_string(query.as_bytes());
    }
    attributes.finish().map_err(|error| error.to_string())?;
    Ok(out)
}

pub(super) fn millis(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1000.0
}
