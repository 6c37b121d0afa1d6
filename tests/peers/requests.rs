//! What is sent: hand-made cases of every kind, and generated ones from a fixed seed.

pub(crate) struct Request {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Request {
    pub(crate) fn method(&self) -> String {
        String::from_utf8_lossy(&self.bytes).split(' ').next().unwrap_or_default().to_owned()
    }

    pub(crate) fn target(&self) -> String {
        String::from_utf8_lossy(&self.bytes).split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

pub(crate) fn requests() -> Vec<Request> {
    let mut all = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Request { name: name.to_owned(), bytes });
    let simple = |method: &str, target: &str, headers: &str| {
        format!(
            "{method} {target} HTTP/1.1\r\nHost: www.example.test:8081\r\n{headers}Connection: close\r\n\r\n"
        )
        .into_bytes()
    };
    for method in
        ["GET", "HEAD", "OPTIONS", "DELETE", "PROPFIND", "PATCH", "FOO", "search", "MKCOL", "LOCK", "REPORT"]
    {
        add(&format!("method {method}"), simple(method, "/echo/dump", ""));
    }
    for target in TARGETS {
        add(&format!("target {target}"), simple("GET", &format!("/echo/dump{target}"), ""));
    }
    for (name, headers) in HEADERS {
        add(&format!("headers {name}"), simple("GET", "/echo/dump", headers));
    }
    for code in [200, 201, 204, 205, 206, 299, 301, 304, 400, 401, 403, 404, 409, 418, 500, 501, 503] {
        add(&format!("status {code}"), simple("GET", &format!("/echo/status?code={code}"), ""));
        add(
            &format!("status {code} with a body"),
            simple("GET", &format!("/echo/status?code={code}&body=20"), ""),
        );
    }
    for target in [
        "/echo/chunks?n=5&size=100",
        "/echo/big?bytes=20000",
        "/echo/big?bytes=20000&length=0",
        "/echo/setcookies?n=4",
        "/echo/headers?n=20&len=30",
        "/echo/redirect?to=/x",
        "/echo/redirect?to=/x&absolute=1",
        "/echo/ignore-body",
        "/echo/async?delayMs=10",
        "/examples/index.html",
        "/examples/jsp/jsp2/el/basic-arithmetic.jsp",
        "/examples/nothing",
        "/servlets-examples/servlet/HelloWorldExample",
        "/echo/error500",
        "/nothing",
    ] {
        add(&format!("page {target}"), simple("GET", target, ""));
    }
    for len in [0usize, 1, 10, 511, 600, 2600, 8186, 8187, 20_000, 100_000] {
        let body: Vec<u8> = (0..len).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect();
        let head = format!(
            "POST /echo/dump HTTP/1.1\r\nHost: www.example.test\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n"
        );
        add(&format!("post {len}"), [head.as_bytes(), &body].concat());
        let mut chunked = b"PUT /echo/dump HTTP/1.1\r\nHost: www.example.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_vec();
        for piece in body.chunks(3000) {
            chunked.extend(format!("{:x}\r\n", piece.len()).into_bytes());
            chunked.extend_from_slice(piece);
            chunked.extend_from_slice(b"\r\n");
        }
        chunked.extend_from_slice(b"0\r\n\r\n");
        add(&format!("chunked {len}"), chunked);
    }
    add("http/1.0", b"GET /echo/dump HTTP/1.0\r\nHost: old.example.test\r\n\r\n".to_vec());
    add("form", b"POST /echo/dump?parameters=first&name=query HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 20\r\nConnection: close\r\n\r\nname=value&sum=1%2B1".to_vec());
    let mut random = Random(0x5EED);
    for n in 0..200 {
        add(&format!("generated {n}"), generated(&mut random));
    }
    all
}

/// xorshift, with a fixed seed: the same requests in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % n
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

fn generated(random: &mut Random) -> Vec<u8> {
    let method = random.of(&["GET", "POST", "PUT", "HEAD", "DELETE"]);
    let mut target = String::from("/echo/dump");
    for _ in 0..random.below(6) {
        target.push_str(random.of(&[
            "/a", "/b.c", "/%41", "/d%20e", "/f;v=1", "/g+h", "/./i", "/j/../k", "//l", "/m~n", "/%C3%A9",
            "/o@p:q",
        ]));
    }
    if random.below(2) == 0 {
        target.push('?');
        for _ in 0..random.below(4) {
            target.push_str(random.of(&["x=1&", "y=%20&", "z&", "%41=%42&", "a=b=c&", "?&", "/../&"]));
        }
    }
    let mut headers = format!(
        "Host: {}\r\n",
        random.of(&["a.example.test", "A.Example.test:81", "[::1]:8080", "127.0.0.1"])
    );
    for _ in 0..random.below(6) {
        headers.push_str(random.of(&[
            "Accept: text/html\r\n",
            "Accept-Language: de, en;q=0.5\r\n",
            "X-Own: 1\r\n",
            "X_Under: 2\r\n",
            "User-Agent: test/1.0 (x; y)\r\n",
            "Referer: http://a.example.test/x?y\r\n",
            "If-None-Match: \"abc\"\r\n",
            "Range: bytes=0-9\r\n",
            "Authorization: Basic dTpw\r\n",
            "Pragma: no-cache\r\n",
            "Accept-Charset: utf-8\r\n",
            "Cookie2: $Version=1\r\n",
            "X-Quoted: \"a, b\"\r\n",
            "Content-Type: text/plain\r\n",
        ]));
    }
    let body = if matches!(method, "POST" | "PUT") { vec![b'z'; random.below(3000)] } else { Vec::new() };
    let length = if matches!(method, "POST" | "PUT") {
        format!("Content-Length: {}\r\n", body.len())
    } else {
        String::new()
    };
    let head = format!("{method} {target} HTTP/1.1\r\n{headers}{length}Connection: close\r\n\r\n");
    [head.into_bytes(), body].concat()
}

const TARGETS: &[&str] = &[
    "",
    "?",
    "?x=1",
    "?x=1&y=two%20words&z",
    "?a=%2F%5C%00",
    "/",
    "/a",
    "/a/",
    "/a//b",
    "///a",
    "/a/./b",
    "/a/.",
    "/a/..",
    "/a/../b",
    "/a/%2e%2e/b",
    "/a/%2E/b",
    "/a/.%2e/b",
    "/a/..;x/b",
    "/a;x/../b",
    "/../dump/a",
    "/a;jsessionid=1.t1",
    "/a;v=1;w=2/b",
    "/%41%42%43",
    "/a%2eb",
    "/a%20b",
    "/a+b",
    "/%C3%A9",
    "/%c3%a9",
    "/%F0%9F%98%80",
    "/%E9",
    "/~%7E%7e",
    "/!$&'()*,=:@-._",
    "/%21%24%26%27%28%29%2A%2C%3D%3A%40%2D%2E%5F",
    "/%5B%5D",
    "/%7B%7D",
    "/%7C%5E%60",
    "/%22%3C%3E",
    "/a%3Bb",
    "/a%3Fb",
    "/a%23b",
    "/a%25b",
    "/%252e",
    "/a%2Fb",
    "/a%5Cb",
    "/a%00b",
    "/a%zz",
    "/a%",
    "/a%01b",
    "/a%7Fb",
    "/WEB-INF/web.xml",
    "/x.jsp",
    "/a:b",
    "/a,b",
    "/a=b",
];

const HEADERS: &[(&str, &str)] = &[
    ("accept", "Accept: text/html, */*;q=0.8\r\n"),
    (
        "codes",
        "Accept-Charset: utf-8\r\nAccept-Encoding: gzip\r\nAccept-Language: de\r\nPragma: no-cache\r\nReferer: http://a/\r\nUser-Agent: x\r\nCookie2: x\r\nAuthorization: Basic dTpw\r\n",
    ),
    ("repeated", "X-Two: a\r\nX-Two: b\r\n"),
    ("cookies", "Cookie: a=1\r\nCookie: b=2\r\n"),
    ("one cookie", "Cookie: a=1; b=\"2\"\r\n"),
    ("underscore", "X_Y: 1\r\n"),
    ("bytes", "X-Bytes: \u{e9}\u{fc}\r\n"),
    ("empty", "X-Empty:\r\n"),
    ("blanks", "X-Blanks:   a b  \r\n"),
    (
        "long",
        "X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
    ),
    ("hop-by-hop", "Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: websocket\r\nProxy-Connection: close\r\n"),
    ("expect", "Expect: 100-continue\r\n"),
    ("forwarded", "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nForwarded: for=192.0.2.1\r\n"),
    ("conditional", "If-Modified-Since: Tue, 01 Jan 2030 00:00:00 GMT\r\nIf-None-Match: \"x\"\r\n"),
    ("range", "Range: bytes=0-3\r\n"),
];
