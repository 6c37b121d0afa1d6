//! A back end that costs as little as possible, over AJP13 and over HTTP/1.1, so that gateways can be compared.
//!
//! `/bytes/N` answers with N bytes; anything else with the size given at the start; a body is read and thrown away.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::codec::packets;

/// Serves AJP13 until the listener fails.
pub async fn serve_ajp(listener: TcpListener, size: usize, packet: usize) -> io::Result<()> {
    let answers = Answers { usual: size, ready: ajp_answer(size, packet).into(), packet };
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(ajp(stream, answers.clone()));
    }
}

/// Serves HTTP/1.1 until the listener fails.
pub async fn serve_http(listener: TcpListener, size: usize) -> io::Result<()> {
    let answers = Answers { usual: size, ready: http_answer(size).into(), packet: 0 };
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(http(stream, answers.clone()));
    }
}

#[derive(Clone)]
struct Answers {
    usual: usize,
    ready: Bytes,
    packet: usize,
}

impl Answers {
    fn of(&self, path: &[u8], make: impl Fn(usize) -> Vec<u8>) -> Bytes {
        let digits = path.strip_prefix(b"/bytes/").and_then(|rest| std::str::from_utf8(rest).ok());
        match digits.and_then(|digits| digits.split(['?', '/']).next()?.parse::<usize>().ok()) {
            Some(size) if size != self.usual => make(size).into(),
            _ => self.ready.clone(),
        }
    }
}

fn ajp_answer(size: usize, packet: usize) -> Vec<u8> {
    let mut bytes =
        packets::headers(200, &[("Content-Type", "text/plain"), ("Content-Length", &size.to_string())]);
    let filler = vec![b'x'; packet - 8];
    let mut left = size;
    while left > 0 {
        let len = left.min(filler.len());
        bytes.extend(packets::chunk(filler.get(..len).unwrap_or_default()));
        left -= len;
    }
    bytes.extend(packets::end(true));
    bytes
}

fn http_answer(size: usize) -> Vec<u8> {
    let mut bytes =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {size}\r\n\r\n").into_bytes();
    bytes.resize(bytes.len() + size, b'x');
    bytes
}

async fn ajp(mut stream: TcpStream, answers: Answers) -> io::Result<()> {
    let mut input = BytesMut::with_capacity(64 * 1024);
    loop {
        let Some(payload) = packet(&mut stream, &mut input).await? else { return Ok(()) };
        if payload.first() == Some(&10) {
            stream.write_all(&packets::cpong()).await?;
            continue;
        }
        let Some((path, length)) = glance(&payload) else { return Ok(()) };
        let answer = answers.of(&path, |size| ajp_answer(size, answers.packet));
        if length != Some(0) {
            take_body(&mut stream, &mut input, length, answers.packet).await?;
        }
        stream.write_all(&answer).await?;
    }
}

/// Reads a body as Tomcat does: the first packet comes by itself if the length is known, every other one is asked for.
async fn take_body(
    stream: &mut TcpStream,
    input: &mut BytesMut,
    length: Option<u64>,
    size: usize,
) -> io::Result<()> {
    let ask = packets::get_body(u16::try_from(size - 6).unwrap_or(u16::MAX));
    let mut left = length;
    let mut unasked = length.is_some();
    while left != Some(0) {
        if !std::mem::take(&mut unasked) {
            stream.write_all(&ask).await?;
        }
        let Some(piece) = packet(stream, input).await? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let data = u64::try_from(piece.len().saturating_sub(2)).unwrap_or(0);
        if data == 0 {
            return Ok(());
        }
        left = left.map(|left| left.saturating_sub(data));
    }
    Ok(())
}

async fn packet(stream: &mut TcpStream, input: &mut BytesMut) -> io::Result<Option<BytesMut>> {
    loop {
        if let Some(&[_, _, high, low]) = input.first_chunk::<4>() {
            let len = usize::from(u16::from_be_bytes([high, low]));
            if input.len() >= len + 4 {
                input.advance(4);
                return Ok(Some(input.split_to(len)));
            }
        }
        input.reserve(64 * 1024);
        if stream.read_buf(input).await? == 0 {
            return Ok(None);
        }
    }
}

/// The path, and the body's length: `None` for one that is not announced.
fn glance(payload: &[u8]) -> Option<(Vec<u8>, Option<u64>)> {
    let string = |at: usize| -> Option<(&[u8], usize)> {
        let len = usize::from(u16::from_be_bytes(*payload.get(at..)?.first_chunk::<2>()?));
        if len == 0xFFFF {
            Some((&[], at + 2))
        } else {
            Some((payload.get(at + 2..at + 2 + len)?, at + 3 + len))
        }
    };
    let (_, at) = string(2)?;
    let (path, at) = string(at)?;
    let path = path.to_vec();
    let (_, at) = string(at)?;
    let (_, at) = string(at)?;
    let (_, at) = string(at)?;
    let mut at = at + 3;
    let count = u16::from_be_bytes(*payload.get(at..)?.first_chunk::<2>()?);
    at += 2;
    for _ in 0..count {
        let coded = payload.get(at) == Some(&0xA0);
        let is_length = coded && payload.get(at + 1) == Some(&8);
        let after = if coded { at + 2 } else { string(at)?.1 };
        let (value, next) = string(after)?;
        if is_length {
            let length = std::str::from_utf8(value).ok()?.parse().ok()?;
            return Some((path, Some(length)));
        }
        at = next;
    }
    Some((path, None))
}

async fn http(mut stream: TcpStream, answers: Answers) -> io::Result<()> {
    let mut input = BytesMut::with_capacity(64 * 1024);
    loop {
        let end = loop {
            if let Some(at) = input.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(&mut input).await? == 0 {
                return Ok(());
            }
        };
        let head = input.split_to(end);
        let path = head[..].split(|b| *b == b' ').nth(1).unwrap_or_default().to_vec();
        let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let length = text
            .split("content-length:")
            .nth(1)
            .and_then(|rest| rest.lines().next()?.trim().parse::<usize>().ok());
        let mut left = length.unwrap_or(0);
        while left > 0 {
            let here = left.min(input.len());
            input.advance(here);
            left -= here;
            if left > 0 {
                input.reserve(64 * 1024);
                if stream.read_buf(&mut input).await? == 0 {
                    return Ok(());
                }
            }
        }
        stream.write_all(&answers.of(&path, http_answer)).await?;
    }
}
