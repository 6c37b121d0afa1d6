//! An HTTP/1.1 client that sends exactly what it is told and reads exactly what comes.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a test waits before it fails; nothing here should take a tenth of it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// One connection.
pub struct Client {
    stream: TcpStream,
    input: BytesMut,
}

/// One response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub version: String,
    pub status: u16,
    pub reason: String,
    /// In order, names as sent.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// False: the connection ended before the body did.
    pub complete: bool,
    pub chunked: bool,
    /// Statuses of 1xx responses before it.
    pub interim: Vec<u16>,
}

impl Response {
    /// First header of a name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    #[must_use]
    pub fn all(&self, name: &str) -> Vec<&str> {
        let of_name = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    /// # Panics
    ///
    /// When nobody listens.
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap_or_else(|error| panic!("{address}: {error}"));
        stream.set_nodelay(true).unwrap_or_else(|error| panic!("{error}"));
        Self { stream, input: BytesMut::new() }
    }

    /// Sends bytes as they are. An error shows at the next read.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _shown_later = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Says that nothing more will come.
    pub async fn finish(&mut self) {
        let _shown_later = self.stream.shutdown().await;
    }

    /// Leaves with a reset.
    pub fn reset(self) {
        let _unsupported_is_harmless = self.stream.set_zero_linger();
    }

    /// A GET and its response.
    pub async fn get(&mut self, path: &str) -> Response {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: gateway.example.test\r\n\r\n")).await;
        self.response("GET").await
    }

    /// A request with a body of known length, and its response.
    pub async fn post(&mut self, path: &str, body: &[u8]) -> Response {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: gateway.example.test\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.send([head.as_bytes(), body].concat()).await;
        self.response("POST").await
    }

    /// The next response, `method` being what was asked.
    ///
    /// # Panics
    ///
    /// When none comes, or what comes is not HTTP.
    pub async fn response(&mut self, method: &str) -> Response {
        match self.try_response(method).await {
            Some(response) => response,
            None => panic!("the connection ended without a response"),
        }
    }

    /// `None`: the connection ended before a head came.
    ///
    /// # Panics
    ///
    /// When nothing comes for long, or what comes is not HTTP.
    pub async fn try_response(&mut self, method: &str) -> Option<Response> {
        let mut interim = Vec::new();
        loop {
            let mut response = self.head().await?;
            if (100..200).contains(&response.status) {
                interim.push(response.status);
                continue;
            }
            response.interim = interim;
            self.body(&mut response, method).await;
            return Some(response);
        }
    }

    /// The head alone; the body is left for [`Client::more`].
    pub async fn head(&mut self) -> Option<Response> {
        let end = loop {
            if let Some(at) = self.input.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if !self.fill().await {
                assert!(self.input.is_empty(), "half a head: {:?}", String::from_utf8_lossy(&self.input));
                return None;
            }
        };
        let head = self.input.split_to(end);
        let text: String = head.iter().map(|b| char::from(*b)).collect();
        let mut lines = text.trim_end().split("\r\n");
        let mut status = lines.next().unwrap_or_default().splitn(3, ' ').map(str::to_owned);
        let version = status.next().unwrap_or_default();
        let code = status.next().unwrap_or_default();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no header: {line}"));
            (name.to_owned(), value.trim().to_owned())
        });
        Some(Response {
            version,
            status: code.parse().unwrap_or_else(|_| panic!("no status: {code}")),
            reason: status.next().unwrap_or_default(),
            headers: headers.collect(),
            body: Vec::new(),
            complete: true,
            chunked: false,
            interim: Vec::new(),
        })
    }

    /// The next bytes, whatever they are; `None`: the end.
    pub async fn more(&mut self) -> Option<BytesMut> {
        if self.input.is_empty() && !self.fill().await {
            return None;
        }
        Some(self.input.split())
    }

    /// True when the gateway has ended the connection and nothing is left of it.
    pub async fn is_closed(&mut self) -> bool {
        self.input.is_empty() && !self.fill().await
    }

    async fn body(&mut self, response: &mut Response, method: &str) {
        if method == "HEAD" || matches!(response.status, 204 | 304) {
            return;
        }
        response.chunked = response.header("transfer-encoding").is_some_and(|coding| coding == "chunked");
        if response.chunked {
            return self.chunks(response).await;
        }
        match response.header("content-length").map(|length| length.parse::<usize>()) {
            Some(Ok(length)) => {
                while self.input.len() < length && self.fill().await {}
                response.complete = self.input.len() >= length;
                let here = length.min(self.input.len());
                response.body = self.input.split_to(here).to_vec();
            }
            Some(Err(_)) => panic!("no length: {response:?}"),
            None => {
                while self.fill().await {}
                response.body = self.input.split().to_vec();
            }
        }
    }

    async fn chunks(&mut self, response: &mut Response) {
        loop {
            let line = loop {
                if let Some(at) = self.input.windows(2).position(|window| window == b"\r\n") {
                    break self.input.split_to(at + 2);
                }
                if !self.fill().await {
                    response.complete = false;
                    return;
                }
            };
            let digits = String::from_utf8_lossy(&line).trim().to_owned();
            let size = usize::from_str_radix(&digits, 16).unwrap_or_else(|_| panic!("no chunk size: {digits}"));
            while self.input.len() < size + 2 {
                if !self.fill().await {
                    response.complete = false;
                    return;
                }
            }
            response.body.extend_from_slice(&self.input.split_to(size));
            self.input.advance(2);
            if size == 0 {
                return;
            }
        }
    }

    async fn fill(&mut self) -> bool {
        self.input.reserve(16 * 1024);
        match tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.input)).await {
            Ok(Ok(n)) => n > 0,
            Ok(Err(_)) => false,
            Err(_) => panic!("nothing came for {PATIENCE:?}; so far: {:?}", String::from_utf8_lossy(&self.input)),
        }
    }
}
