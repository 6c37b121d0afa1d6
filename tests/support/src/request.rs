//! Requests as bytes, written by hand or generated: the same seed makes the same requests in every run.

use std::fmt::Write as _;

/// A request that is valid HTTP/1.1, whatever strange things it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// As it stands in the request line.
    pub target: String,
    pub version: &'static str,
    /// In order, Host included; the framing headers come from `body`.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Body,
}

/// How a body is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Neither Content-Length nor chunks.
    None,
    Length(Vec<u8>),
    Chunked(Vec<Vec<u8>>),
}

impl Body {
    /// The bytes without their framing.
    #[must_use]
    pub fn whole(&self) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Length(bytes) => bytes.clone(),
            Self::Chunked(chunks) => chunks.concat(),
        }
    }
}

impl Request {
    /// Without a body, for [`HOST`].
    #[must_use]
    pub fn new(method: &str, target: &str) -> Self {
        let headers = vec![("Host".to_owned(), HOST.as_bytes().to_vec())];
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { method, target, version: "HTTP/1.1", headers, body: Body::None }
    }

    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// Takes every header of a name away.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Adds a header behind those that are there.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Replaces the Host header.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        self = self.without("Host");
        self.headers.insert(0, ("Host".to_owned(), host.as_bytes().to_vec()));
        self
    }

    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// The head as it goes out, the empty line included.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let mut out = format!("{} {} {}\r\n", self.method, self.target, self.version).into_bytes();
        for (name, value) in &self.headers {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
        match &self.body {
            Body::None => {}
            Body::Length(bytes) => {
                out.extend_from_slice(format!("Content-Length: {}\r\n", bytes.len()).as_bytes());
            }
            Body::Chunked(_) => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        }
        out.extend_from_slice(b"\r\n");
        out
    }

    /// The body as it goes out, chunk sizes included.
    #[must_use]
    pub fn wire_body(&self) -> Vec<u8> {
        match &self.body {
            Body::None => Vec::new(),
            Body::Length(bytes) => bytes.clone(),
            Body::Chunked(chunks) => {
                let mut out = Vec::new();
                for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
                    out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    out.extend_from_slice(chunk);
                    out.extend_from_slice(b"\r\n");
                }
                out.extend_from_slice(b"0\r\n\r\n");
                out
            }
        }
    }

    /// Head and body as they go out.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        [self.head(), self.wire_body()].concat()
    }
}

/// Filler whose every line is its own offset, so that lost, doubled or swapped pieces show.
#[must_use]
pub fn pattern(len: usize) -> Vec<u8> {
    let mut text = String::with_capacity(len + 8);
    while text.len() < len {
        let at = text.len() % 10_000_000;
        let _never_fails = writeln!(text, "{at:07}");
    }
    text.truncate(len);
    text.into_bytes()
}

/// Makes requests of every kind, all of them valid. A test that fails prints the seed, and the environment variable
/// `JKGATE_TEST_SEED` brings the same requests back, or others.
#[derive(Debug)]
pub struct Generator {
    seed: u64,
    state: u64,
    made: u32,
}

impl Generator {
    /// `seed` counts unless the environment says another.
    ///
    /// # Panics
    ///
    /// When the environment holds no number.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let seed = std::env::var("JKGATE_TEST_SEED").map_or(seed, |text| {
            text.parse().unwrap_or_else(|_| panic!("JKGATE_TEST_SEED is no number: {text}"))
        });
        Self { seed, state: seed, made: 0 }
    }

    /// A number below `n`, which is not zero (splitmix64).
    pub fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let drawn = (z ^ (z >> 31)) % u64::try_from(n).unwrap_or(u64::MAX);
        usize::try_from(drawn).unwrap_or(0)
    }

    /// One of a list that is not empty.
    ///
    /// # Panics
    ///
    /// When it is empty.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        let at = self.below(list.len());
        *list.get(at).unwrap_or_else(|| panic!("an empty list"))
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// The next request to a path below `context`.
    pub fn request(&mut self, context: &str) -> Request {
        self.made += 1;
        let method = self.one_of(METHODS);
        let mut request = Request::new(method, &self.target(context));
        if self.once_in(3) {
            request = request.host(self.one_of(HOSTS));
        }
        for _ in 0..self.below(9) {
            let (name, value) = self.header();
            request = request.header(&name, value);
        }
        let cookies = self.below(8);
        if cookies < 3 {
            request = request.header("Cookie", self.cookies(cookies + 1));
        }
        if method == "POST" || method == "PUT" || (method == "PATCH" && self.once_in(2)) {
            request.body = self.body();
        }
        request
    }

    fn target(&mut self, context: &str) -> String {
        let mut target = context.to_owned();
        for _ in 0..self.below(6) {
            target.push('/');
            for _ in 0..=self.below(3) {
                target.push_str(self.one_of(PIECES));
            }
        }
        if self.once_in(2) {
            target.push('?');
            for _ in 0..self.below(5) {
                target.push_str(self.one_of(QUERY));
            }
        }
        target
    }

    fn header(&mut self) -> (String, Vec<u8>) {
        let (name, value) = self.one_of(HEADERS);
        if !value.is_empty() {
            return (name.to_owned(), value.as_bytes().to_vec());
        }
        let mut bytes = Vec::new();
        let longest = if self.once_in(10) { 700 } else { 20 };
        for _ in 0..self.below(longest) {
            bytes.push(match self.below(8) {
                // Bytes beyond ASCII; no NEL, which is a control character of ISO-8859-1.
                0 => u8::try_from(0xA1 + self.below(0x5E)).unwrap_or(b'x'),
                1 => self.one_of(b" \t\",;=/()"),
                _ => self.one_of(b"abcxyzABCXYZ0189-_.~!#$%&'*+^`|"),
            });
        }
        (name.to_owned(), bytes.trim_ascii().to_vec())
    }

    fn cookies(&mut self, n: usize) -> String {
        let cookies: Vec<String> = (0..n)
            .map(|_| format!("{}={}", self.one_of(&["a", "b_c", "JSESSIONID", "x-y"]), self.one_of(COOKIES)))
            .collect();
        cookies.join("; ")
    }

    fn body(&mut self) -> Body {
        let len = if self.once_in(2) { self.one_of(SIZES) } else { self.below(5000) };
        let bytes = pattern(len);
        if self.once_in(2) {
            return Body::Length(bytes);
        }
        let mut chunks = Vec::new();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let size = if self.once_in(3) { 1 + self.below(16) } else { 1 + self.below(20_000) };
            let (chunk, behind) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk.to_vec());
            rest = behind;
        }
        Body::Chunked(chunks)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} requests were generated from JKGATE_TEST_SEED={}", self.made, self.seed);
        }
    }
}

/// Who is asked unless a request says otherwise.
pub const HOST: &str = "www.example.test:8081";

const METHODS: &[&str] = &[
    "GET", "GET", "GET", "GET", "POST", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "PROPFIND",
    "REPORT", "MOVE", "X-OWN",
];

const HOSTS: &[&str] =
    &["a.example.test", "A.Example.TEST:81", "[::1]:8080", "127.0.0.1", "[2001:db8::1]", "b-c.test:65535"];

const PIECES: &[&str] = &[
    "a",
    "b.c",
    "%41",
    "d%20e",
    "f;v=1",
    "g+h",
    ".",
    "..",
    "m~n",
    "%7E",
    "%C3%A9",
    "%e2%82%ac",
    "o@p:q",
    "r$s&t",
    "u'v",
    "(w)",
    "*",
    "%2e",
    "%2E%2E",
    "x=y",
    "z,0",
    "%22",
    "%5B",
    "%7c",
    ";",
    ";a;b=%20",
    "-_",
    "%25",
    "!",
    "",
];

const QUERY: &[&str] = &[
    "x=1&", "y=%20&", "z&", "%41=%42&", "a=b=c&", "?&", "/../&", "[]&", "q=%zz&", "%00&", "a+b&", "&", "%2F&",
];

/// An empty value stands for a generated one.
const HEADERS: &[(&str, &str)] = &[
    ("Accept", "text/html, */*;q=0.8"),
    ("Accept-Charset", "utf-8"),
    ("Accept-Encoding", "gzip, br"),
    ("Accept-Language", "de, en;q=0.5"),
    ("Authorization", "Basic dTpw"),
    ("Content-Type", "text/plain"),
    ("Content-Type", "application/octet-stream"),
    ("Cookie2", "$Version=1"),
    ("From", "somebody@example.test"),
    ("If-None-Match", "\"abc\""),
    ("Pragma", "no-cache"),
    ("Referer", "http://a.example.test/x?y"),
    ("User-Agent", "test/1.0 (x; y)"),
    ("Via", "1.1 somewhere"),
    ("X-Forwarded-For", "192.0.2.1"),
    ("X_Under", "2"),
    ("x-lower", "3"),
    ("X-Own", ""),
    ("X-Other", ""),
    ("X_Own", ""),
    ("X-A.b!c", ""),
];

const COOKIES: &[&str] = &["1", "", "\"q\"", "0123456789ABCDEF.t1", "0123456789ABCDEF", "a%20b", "x/y"];

/// Around what a packet holds, and around what a body packet must not hold.
const SIZES: &[usize] = &[
    0, 1, 5, 511, 512, 514, 767, 768, 2559, 2560, 2815, 2816, 8184, 8185, 8186, 8187, 16_372, 16_373, 70_000,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn some(seed: u64) -> Vec<Request> {
        let mut generator = Generator { seed, state: seed, made: 0 };
        (0..300).map(|_| generator.request("/echo/dump")).collect()
    }

    #[test]
    fn a_seed_makes_the_same_requests_and_another_one_others() {
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
    }

    #[test]
    fn every_request_is_valid() {
        for request in (1..5).flat_map(some) {
            let head = request.head();
            let lines: Vec<&[u8]> = head.split(|b| *b == b'\n').collect();
            assert!(lines[0].starts_with(request.method.as_bytes()) && lines[0].ends_with(b" HTTP/1.1\r"));
            assert_eq!(lines[0].iter().filter(|b| **b == b' ').count(), 2, "{request:?}");
            assert!(request.target.bytes().all(|b| b.is_ascii_graphic()), "{request:?}");
            for (name, value) in &request.headers {
                assert!(!name.is_empty() && !name.contains([' ', ':']), "{request:?}");
                assert!(value.iter().all(|b| *b == b'\t' || (*b >= 0x20 && *b != 0x7F)), "{request:?}");
            }
            assert_eq!(request.headers.iter().filter(|(name, _)| name == "Host").count(), 1);
        }
    }

    #[test]
    fn every_kind_occurs() {
        let all = some(7);
        let bodies = |kind: fn(&Body) -> bool| all.iter().filter(|request| kind(&request.body)).count();
        assert!(bodies(|body| matches!(body, Body::None)) > 50);
        assert!(bodies(|body| matches!(body, Body::Length(_))) > 20);
        assert!(bodies(|body| matches!(body, Body::Chunked(_))) > 20);
        assert!(all.iter().any(|request| request.body.whole().len() > 8186));
        assert!(
            all.iter().any(|request| request.headers.iter().any(|(_, value)| value.iter().any(|b| *b > 127)))
        );
        for piece in ["%2E", ";", "?", "%C3%A9", ".."] {
            assert!(all.iter().any(|request| request.target.contains(piece)), "{piece}");
        }
    }

    #[test]
    fn chunks_are_framed() {
        let body = Body::Chunked(vec![b"ab".to_vec(), Vec::new(), pattern(17)]);
        let request = Request::new("POST", "/").body(body.clone());
        assert_eq!(request.wire_body(), b"2\r\nab\r\n11\r\n0000000\n0000008\n0\r\n0\r\n\r\n");
        assert_eq!(body.whole(), b"ab0000000\n0000008\n0");
        assert!(request.head().ends_with(b"Transfer-Encoding: chunked\r\n\r\n"));
    }
}
