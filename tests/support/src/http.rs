//! An HTTP/1.1 client that sends exactly what it is told and reads exactly what comes.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// How long a test waits before it fails; nothing here should take a tenth of it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// One connection.
pub struct Client {
    local: SocketAddr,
    writer: OwnedWriteHalf,
    input: Input,
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
    /// Sizes of the chunks, the last one of zero left out.
    pub chunks: Vec<usize>,
    /// Fields behind the last chunk.
    pub trailers: Vec<(String, String)>,
    /// Statuses of 1xx responses before it.
    pub interim: Vec<u16>,
}

/// How the end of a body was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Neither Content-Length nor chunks: no body, or one that lasts until the connection ends.
    Neither,
    Length,
    Chunked,
}

impl Response {
    /// First header of a name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut of_name = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        of_name.next().map(|(_, value)| value.as_str())
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

    #[must_use]
    pub fn framing(&self) -> Framing {
        match (self.chunked, self.header("content-length")) {
            (true, _) => Framing::Chunked,
            (false, Some(_)) => Framing::Length,
            (false, None) => Framing::Neither,
        }
    }
}

impl Client {
    /// # Panics
    ///
    /// When nobody listens.
    pub async fn connect(address: SocketAddr) -> Self {
        Self::try_connect(address).await.unwrap_or_else(|error| panic!("{address}: {error}"))
    }

    /// # Errors
    ///
    /// The system's, when nobody listens.
    ///
    /// # Panics
    ///
    /// When the socket is gone at once.
    pub async fn try_connect(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let local = stream.local_addr()?;
        let (reader, writer) = stream.into_split();
        Ok(Self { local, writer, input: Input { reader, bytes: BytesMut::new() } })
    }

    /// This end's address, as the server sees it.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Sends bytes as they are. An error shows at the next read.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _shown_later = self.writer.write_all(bytes.as_ref()).await;
    }

    /// Sends bytes in pieces of a size, each a TCP segment of its own as far as the system allows it.
    pub async fn send_in_pieces(&mut self, bytes: impl AsRef<[u8]>, size: usize) {
        for piece in bytes.as_ref().chunks(size) {
            self.send(piece).await;
            tokio::task::yield_now().await;
        }
    }

    /// Sends while it reads: for bodies that come back while they go out. What is left to send when the response is
    /// whole stays unsent.
    ///
    /// # Panics
    ///
    /// As [`Client::response`].
    pub async fn exchange(&mut self, bytes: impl AsRef<[u8]>, method: &str) -> Response {
        let writer = &mut self.writer;
        let bytes = bytes.as_ref();
        let write = async move {
            let _shown_later = writer.write_all(bytes).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            response = self.input.try_response(method) => {
                response.unwrap_or_else(|| panic!("the connection ended without a response"))
            }
            () = write => unreachable!("it waits for ever behind the last byte"),
        }
    }

    /// Says that nothing more will come.
    pub async fn finish(&mut self) {
        let _shown_later = self.writer.shutdown().await;
    }

    /// Leaves with a reset.
    pub fn reset(self) {
        let _unsupported_is_harmless = self.input.reader.as_ref().set_zero_linger();
        // Without this the half's own end would be a FIN.
        self.writer.forget();
    }

    /// A GET and its response.
    ///
    /// # Panics
    ///
    /// As [`Client::response`].
    pub async fn get(&mut self, path: &str) -> Response {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: gateway.example.test\r\n\r\n")).await;
        self.response("GET").await
    }

    /// A request with a body of known length, and its response.
    ///
    /// # Panics
    ///
    /// As [`Client::response`].
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
        match self.input.try_response(method).await {
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
        self.input.try_response(method).await
    }

    /// The head alone, a 1xx included; the body is left for [`Client::more`] or [`Client::rest`].
    ///
    /// # Panics
    ///
    /// As [`Client::try_response`].
    pub async fn head(&mut self) -> Option<Response> {
        self.input.head().await
    }

    /// The body behind a head that [`Client::head`] gave.
    ///
    /// # Panics
    ///
    /// As [`Client::try_response`].
    pub async fn rest(&mut self, response: &mut Response, method: &str) {
        self.input.body(response, method).await;
    }

    /// The next bytes, whatever they are; `None`: the end.
    ///
    /// # Panics
    ///
    /// When nothing comes for long.
    pub async fn more(&mut self) -> Option<BytesMut> {
        if self.input.bytes.is_empty() && !self.input.fill().await {
            return None;
        }
        Some(self.input.bytes.split())
    }

    /// True when the gateway has ended the connection and nothing is left of it.
    ///
    /// # Panics
    ///
    /// When nothing comes for long.
    pub async fn is_closed(&mut self) -> bool {
        self.input.bytes.is_empty() && !self.input.fill().await
    }
}

/// The reading half, so that a client can send meanwhile.
struct Input {
    reader: OwnedReadHalf,
    bytes: BytesMut,
}

impl Input {
    async fn try_response(&mut self, method: &str) -> Option<Response> {
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

    async fn head(&mut self) -> Option<Response> {
        let end = loop {
            if let Some(at) = self.bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if !self.fill().await {
                assert!(self.bytes.is_empty(), "half a head: {:?}", String::from_utf8_lossy(&self.bytes));
                return None;
            }
        };
        let head = self.bytes.split_to(end);
        let text: String = head.iter().map(|b| char::from(*b)).collect();
        let mut lines = text.trim_end_matches("\r\n").split("\r\n");
        let mut status = lines.next().unwrap_or_default().splitn(3, ' ').map(str::to_owned);
        let version = status.next().unwrap_or_default();
        assert!(version.starts_with("HTTP/1."), "no HTTP: {text:?}");
        let code = status.next().unwrap_or_default();
        Some(Response {
            version,
            status: code.parse().unwrap_or_else(|_| panic!("no status: {code}")),
            reason: status.next().unwrap_or_default(),
            headers: lines.map(field).collect(),
            body: Vec::new(),
            complete: true,
            chunked: false,
            chunks: Vec::new(),
            trailers: Vec::new(),
            interim: Vec::new(),
        })
    }

    async fn body(&mut self, response: &mut Response, method: &str) {
        if method == "HEAD" || matches!(response.status, 204 | 304) {
            return;
        }
        response.chunked =
            response.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        if response.chunked {
            assert!(response.header("content-length").is_none(), "chunked and with a length: {response:?}");
            response.complete = self.chunks(response).await.is_some();
            return;
        }
        match response.header("content-length").map(str::parse::<usize>) {
            Some(Ok(length)) => {
                while self.bytes.len() < length && self.fill().await {}
                response.complete = self.bytes.len() >= length;
                let here = length.min(self.bytes.len());
                response.body = self.bytes.split_to(here).to_vec();
            }
            Some(Err(_)) => panic!("no length: {response:?}"),
            None => {
                while self.fill().await {}
                response.body = self.bytes.split().to_vec();
            }
        }
    }

    /// `None`: the connection ended before the last chunk.
    async fn chunks(&mut self, response: &mut Response) -> Option<()> {
        loop {
            let line = self.line().await?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size =
                usize::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("no chunk size: {line:?}"));
            if size == 0 {
                break;
            }
            while self.bytes.len() < size + 2 {
                if !self.fill().await {
                    let here = size.min(self.bytes.len());
                    response.body.extend_from_slice(&self.bytes.split_to(here));
                    return None;
                }
            }
            response.chunks.push(size);
            response.body.extend_from_slice(&self.bytes.split_to(size));
            assert!(self.bytes.starts_with(b"\r\n"), "a chunk is longer than it says");
            self.bytes.advance(2);
        }
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                return Some(());
            }
            response.trailers.push(field(&line));
        }
    }

    /// The next line without its end.
    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.bytes.windows(2).position(|window| window == b"\r\n") {
                let line = self.bytes.split_to(at);
                self.bytes.advance(2);
                return Some(line.iter().map(|b| char::from(*b)).collect());
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn fill(&mut self) -> bool {
        self.bytes.reserve(16 * 1024);
        match tokio::time::timeout(PATIENCE, self.reader.read_buf(&mut self.bytes)).await {
            Ok(Ok(n)) => n > 0,
            Ok(Err(_)) => false,
            Err(_) => {
                panic!("nothing came for {PATIENCE:?}; so far: {:?}", String::from_utf8_lossy(&self.bytes))
            }
        }
    }
}

fn field(line: &str) -> (String, String) {
    let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no field: {line:?}"));
    (name.to_owned(), value.trim_matches([' ', '\t']).to_owned())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// A client whose server sends `bytes` once the client has sent something, and leaves.
    async fn before(bytes: &'static [u8]) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            for piece in bytes.chunks(7) {
                stream.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        Client::connect(address).await
    }

    #[tokio::test]
    async fn length_chunks_trailers_and_an_interim_one_after_another() {
        let mut client = before(
            b"HTTP/1.1 200 Very Good\r\nX-A: 1\r\nx-a:  2 \r\nContent-Length: 3\r\n\r\nabc\
              HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 \r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-T: 9\r\n\r\n\
              HTTP/1.1 204 No Content\r\n\r\n",
        )
        .await;
        let first = client.response("GET").await;
        assert_eq!((first.status, first.reason.as_str(), first.text().as_str()), (200, "Very Good", "abc"));
        assert_eq!((first.all("X-A"), first.framing()), (vec!["1", "2"], Framing::Length));
        let second = client.response("GET").await;
        assert_eq!((second.status, second.reason.as_str(), second.interim.as_slice()), (201, "", &[100][..]));
        assert_eq!((second.text().as_str(), second.chunks.as_slice()), ("abc0123456789", &[3, 10][..]));
        assert_eq!(second.trailers, [("X-T".to_owned(), "9".to_owned())]);
        assert_eq!((second.complete, second.framing()), (true, Framing::Chunked));
        assert_eq!(client.response("GET").await.status, 204);
        assert!(client.is_closed().await);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_not_complete() {
        for (bytes, body) in [
            (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"[..], "ab"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "abc"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n", "ab"),
        ] {
            let response = before(bytes).await.response("GET").await;
            assert_eq!((response.complete, response.text().as_str()), (false, body));
        }
        assert!(before(b"").await.try_response("GET").await.is_none());
    }

    #[tokio::test]
    async fn a_response_without_framing_lasts_to_the_end() {
        let response = before(b"HTTP/1.0 200 OK\r\n\r\nall of it").await.response("GET").await;
        assert_eq!((response.text().as_str(), response.framing()), ("all of it", Framing::Neither));
    }

    #[tokio::test]
    async fn what_goes_out_can_come_back_meanwhile() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n").await.unwrap();
            let (mut reader, mut writer) = stream.split();
            tokio::io::copy(&mut reader, &mut writer).await.unwrap();
        });
        let body = crate::request::pattern(20_000_000);
        let response = Client::connect(address).await.exchange(&body, "POST").await;
        assert!(response.complete && response.body == body);
    }
}
