//! One request in a script's hands.

use std::io;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::codec::{Request, packets};
use crate::log::{Event, Gone, Log};

/// A request and the channel it came on. A script answers by its methods and returns it; if it closed the channel, that is the end.
pub struct Exchange {
    pub request: Request,
    pub(crate) channel: Channel,
    /// The body packet that follows the head unasked is still to be read.
    owed: bool,
    left: Option<u64>,
}

/// A connection from the gateway.
pub(crate) struct Channel {
    pub(crate) number: usize,
    pub(crate) stream: Option<TcpStream>,
    pub(crate) input: BytesMut,
    pub(crate) log: Arc<Log>,
}

impl Exchange {
    pub(crate) fn new(request: Request, channel: Channel) -> Self {
        let length = request.content_length();
        Self { owed: length.is_some_and(|length| length > 0), left: length, request, channel }
    }

    /// Number of the channel, from 1.
    #[must_use]
    pub fn channel(&self) -> usize {
        self.channel.number
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) {
        if let Some(stream) = &mut self.channel.stream
            && stream.write_all(bytes).await.is_err()
        {
            self.channel.gone(Gone::Reset);
        }
    }

    pub async fn head(&mut self, status: u16, headers: &[(&str, &str)]) {
        self.send(&packets::headers(status, headers)).await;
    }

    /// Data in packets of at most 8184 bytes, as Tomcat sends them.
    pub async fn data(&mut self, data: &[u8]) {
        for piece in data.chunks(8184) {
            self.send(&packets::chunk(piece)).await;
        }
    }

    pub async fn flush(&mut self) {
        self.send(&packets::chunk(b"")).await;
    }

    /// END_RESPONSE; like Tomcat, only after the unasked body packet was taken.
    pub async fn end(&mut self, reuse: bool) {
        if self.owed {
            self.read_packet().await;
        }
        self.send(&packets::end(reuse)).await;
    }

    /// A whole small answer in one write.
    pub async fn answer(&mut self, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        if self.owed {
            self.read_packet().await;
        }
        let mut bytes = packets::headers(status, headers);
        for piece in body.chunks(8184) {
            bytes.extend(packets::chunk(piece));
        }
        bytes.extend(packets::end(true));
        self.send(&bytes).await;
    }

    /// The next piece of the body, asked for if need be; `None`: its end, or the gateway left.
    pub async fn piece(&mut self, max: u16) -> Option<Vec<u8>> {
        if !self.owed {
            if self.left == Some(0) {
                return None;
            }
            self.send(&packets::get_body(max)).await;
        }
        let piece = self.read_packet().await?;
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(u64::try_from(piece.len()).unwrap_or(0));
        }
        (!piece.is_empty()).then_some(piece)
    }

    /// The whole body.
    pub async fn body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(8186).await {
            body.extend(piece);
        }
        body
    }

    /// A body packet as it comes, without asking.
    pub async fn read_packet(&mut self) -> Option<Vec<u8>> {
        self.owed = false;
        let payload = self.channel.packet().await?;
        let piece = match payload.first_chunk::<2>() {
            None if payload.is_empty() => Vec::new(),
            None => {
                self.channel.malformed("a body packet of one byte");
                return None;
            }
            Some(len) => {
                let len = usize::from(u16::from_be_bytes(*len));
                // The high byte stands where other packets have their type.
                if payload.len() != len + 2 || matches!(len >> 8, 2 | 10) {
                    self.channel
                        .malformed(&format!("a body packet with length {len} and {} bytes", payload.len()));
                    return None;
                }
                payload.get(2..).unwrap_or_default().to_vec()
            }
        };
        self.channel.log.add(Event::Body { channel: self.channel.number, len: piece.len() });
        Some(piece)
    }

    /// FIN.
    pub fn close(&mut self) {
        self.channel.gone(Gone::ByWorker);
    }

    /// FIN, and goes on reading.
    pub async fn finish(&mut self) {
        if let Some(stream) = &mut self.channel.stream {
            let _gone_is_fine = stream.shutdown().await;
        }
    }

    /// RST.
    pub fn reset(&mut self) {
        if let Some(stream) = &self.channel.stream {
            let _unsupported_is_harmless = set_linger_zero(stream);
        }
        self.channel.gone(Gone::ByWorker);
    }

    /// Says nothing until the gateway leaves.
    pub async fn hang(&mut self) {
        while self.channel.fill().await.is_some() {}
    }

    /// True once the gateway or the script closed the channel.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.channel.stream.is_none()
    }
}

fn set_linger_zero(stream: &TcpStream) -> io::Result<()> {
    stream.set_zero_linger()
}

impl Channel {
    pub(crate) fn gone(&mut self, how: Gone) {
        if self.stream.take().is_some() {
            self.log.add(Event::Gone { channel: self.number, how });
        }
    }

    pub(crate) fn malformed(&mut self, why: &str) {
        self.log.add(Event::Malformed { channel: self.number, why: why.to_owned() });
        self.gone(Gone::ByWorker);
    }

    /// The next payload; `None`: the channel has ended.
    pub(crate) async fn packet(&mut self) -> Option<BytesMut> {
        loop {
            if let Some(&[a, b, high, low]) = self.input.first_chunk::<4>() {
                let len = usize::from(u16::from_be_bytes([high, low]));
                if [a, b] != [0x12, 0x34] {
                    self.malformed(&format!("magic {a:02x} {b:02x}"));
                    return None;
                }
                if self.input.len() >= len + 4 {
                    self.input.advance(4);
                    return Some(self.input.split_to(len));
                }
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Option<()> {
        let stream = self.stream.as_mut()?;
        match stream.read_buf(&mut self.input).await {
            Ok(0) => self.gone(Gone::Closed),
            Ok(_) => return Some(()),
            Err(_) => self.gone(Gone::Reset),
        }
        None
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.gone(Gone::ByWorker);
    }
}
