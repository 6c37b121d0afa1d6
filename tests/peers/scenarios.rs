//! What is sent, written by hand: the kinds of requests that a gateway before Tomcat meets. Most have the name and the content
//! of a captured exchange between httpd and Tomcat. Not among them is what needs TLS, HTTP/2, an httpd that knows users, or
//! a scripted worker.

use test_support::request::{Body, Request, pattern};

use crate::fronts::Front;

/// One request, and how it is sent.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) request: Request,
    /// What is sent in place of the request's own bytes.
    pub(crate) raw: Option<Vec<u8>>,
    /// The body is kept back until the server says 100, or answers.
    pub(crate) expects: bool,
}

impl Scenario {
    pub(crate) fn new(name: impl Into<String>, request: Request) -> Self {
        Self { name: name.into(), request, raw: None, expects: false }
    }

    fn at(name: &str, front: Front, request: Request) -> Self {
        Self::new(name, request.host(front.host()))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.raw.clone().unwrap_or_else(|| self.request.bytes())
    }
}

pub(crate) fn all() -> Vec<Scenario> {
    let groups = [
        methods(),
        bodies(),
        headers(),
        connections(),
        cookies(),
        hosts(),
        settings(),
        answers(),
        failures(),
    ];
    let mut all: Vec<Scenario> = groups.into_iter().flatten().collect();
    for (number, scenario) in all.iter_mut().enumerate() {
        scenario.name = format!("{number:03} {}", scenario.name);
    }
    all
}

fn get(target: &str) -> Request {
    Request::new("GET", target)
}

/// A POST of so many bytes to the servlet that tells what came.
fn post(len: usize) -> Request {
    Request::new("POST", "/echo/dump")
        .header("Content-Type", "application/octet-stream")
        .body(Body::Length(pattern(len)))
}

fn chunked(sizes: &[usize]) -> Request {
    let whole = pattern(sizes.iter().sum());
    let mut rest = whole.as_slice();
    let mut chunks = Vec::new();
    for size in sizes {
        let (chunk, behind) = rest.split_at(*size);
        chunks.push(chunk.to_vec());
        rest = behind;
    }
    post(0).body(Body::Chunked(chunks))
}

fn methods() -> Vec<Scenario> {
    let mut all = vec![
        Scenario::new("get", get("/echo/dump")),
        Scenario::new("get-query", get("/echo/dump/a/b?x=1&y=two%20words&z")),
        Scenario::new("get-empty-query", get("/echo/dump?")),
        Scenario::new("get-static", get("/examples/servlets/index.html")),
        Scenario::new("get-not-found", get("/examples/no-such-page")),
        Scenario::new("get-unmapped", get("/nowhere")),
        Scenario::new("get-jsp", get("/examples/jsp/jsp2/el/basic-arithmetic.jsp")),
        Scenario::new("get-folder", get("/examples")),
        Scenario::new("seed", get("/servlets-examples/servlet/HelloWorldExample")),
        Scenario::new("seed-info", get("/servlets-examples/servlet/RequestInfoExample")),
        Scenario::new("seed-jsp", get("/jsp-examples/")),
        Scenario::new(
            "get-not-modified",
            get("/examples/servlets/index.html").header("If-Modified-Since", "Fri, 01 Jan 2038 00:00:00 GMT"),
        ),
        Scenario::new("get-range", get("/examples/servlets/index.html").header("Range", "bytes=10-29")),
        Scenario::new("get-range-of-a-servlet", get("/echo/big?bytes=1000").header("Range", "bytes=10-29")),
        Scenario::new("put", Request::new("PUT", "/echo/dump").body(Body::Length(pattern(64)))),
        Scenario::new("patch", Request::new("PATCH", "/echo/dump").body(Body::Length(pattern(16)))),
        Scenario::new(
            "propfind",
            Request::new("PROPFIND", "/echo/dump")
                .header("Depth", "1")
                .header("Content-Type", "application/xml")
                .body(Body::Length(b"<propfind xmlns=\"DAV:\"><allprop/></propfind>".to_vec())),
        ),
    ];
    // Every method that has a code, and some that have none.
    for method in [
        "OPTIONS",
        "HEAD",
        "DELETE",
        "TRACE",
        "PROPPATCH",
        "MKCOL",
        "COPY",
        "MOVE",
        "LOCK",
        "UNLOCK",
        "ACL",
        "REPORT",
        "VERSION-CONTROL",
        "CHECKIN",
        "CHECKOUT",
        "UNCHECKOUT",
        "SEARCH",
        "MKWORKSPACE",
        "UPDATE",
        "LABEL",
        "MERGE",
        "BASELINE-CONTROL",
        "MKACTIVITY",
        "FOO",
        "get",
        "M-SEARCH",
        "PURGE",
    ] {
        all.push(Scenario::new(format!("method-{method}"), Request::new(method, "/echo/dump")));
    }
    all
}

fn bodies() -> Vec<Scenario> {
    let form = Request::new("POST", "/echo/dump?parameters=first&name=query")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(Body::Length(b"name=value&sum=1%2B1&name=again".to_vec()));
    let expecting = |target: &str| {
        Request::new("POST", target).header("Expect", "100-continue").body(Body::Length(pattern(3000)))
    };
    let mut all = vec![
        Scenario::new("post-form", form),
        Scenario::new("post-no-length", Request::new("POST", "/echo/dump")),
        Scenario::new("post-chunked", chunked(&[5, 10, 5])),
        Scenario::new("post-chunked-20000", chunked(&[1, 9999, 8186, 1814])),
        Scenario::new("post-chunked-empty", chunked(&[])),
        Scenario::new("post-chunked-and-length", chunked(&[20]).header("Content-Length", "5")),
        Scenario::new("get-with-a-body", get("/echo/dump").body(Body::Length(pattern(20)))),
        Scenario::new(
            "delete-with-a-body",
            Request::new("DELETE", "/echo/dump").body(Body::Length(pattern(9))),
        ),
        Scenario { expects: true, ..Scenario::new("expect-100", expecting("/echo/expect")) },
        Scenario { expects: true, ..Scenario::new("expect-100-ignored", expecting("/echo/ignore-body")) },
        Scenario::new("expect-100-at-once", expecting("/echo/expect")),
        Scenario::new(
            "expect-unknown",
            Request::new("POST", "/echo/expect").header("Expect", "tea").body(Body::Length(pattern(10))),
        ),
        Scenario::new("ignored-body-100", Request { target: "/echo/ignore-body".into(), ..post(100) }),
        Scenario::new("ignored-body-100000", Request { target: "/echo/ignore-body".into(), ..post(100_000) }),
        Scenario::new(
            "ignored-body-3000000",
            Request { target: "/echo/ignore-body".into(), ..post(3_000_000) },
        ),
        Scenario::new(
            "ignored-chunked-body",
            Request { target: "/echo/ignore-body".into(), ..chunked(&[20]) },
        ),
        Scenario::new(
            "slow-read",
            Request { target: "/echo/slow-read?step=4000&sleepMs=2".into(), ..post(20_000) },
        ),
        Scenario::new("mirror", Request { target: "/echo/mirror?length=1".into(), ..post(60_000) }),
        Scenario::new(
            "mirror-chunked",
            Request { target: "/echo/mirror".into(), ..chunked(&[30_000, 1, 29_999]) },
        ),
        Scenario::at("post-64k-packets", Front::Large, post(20_000)),
        Scenario::at("post-64k-packets-200000", Front::Large, post(200_000)),
    ];
    for len in [0, 1, 511, 512, 600, 767, 768, 2559, 2560, 2815, 2816, 8186, 8187, 16_372, 20_000, 100_000] {
        all.push(Scenario::new(format!("post-{len}"), post(len)));
        all.push(Scenario::new(format!("post-chunked-in-one-{len}"), chunked(&[len])));
    }
    let trailers = chunked(&[20]).header("Trailer", "X-Check");
    let head = trailers.head();
    let raw = [&head[..], b"14\r\n", &pattern(20), b"\r\n0\r\nX-Check: sum\r\n\r\n"].concat();
    all.push(Scenario { raw: Some(raw), ..Scenario::new("post-chunked-trailers", trailers) });
    all
}

fn headers() -> Vec<Scenario> {
    let many = |n: usize, len: usize| {
        (0..n).fold(get("/echo/dump"), |request, at| request.header(&format!("X-{at:03}"), "v".repeat(len)))
    };
    let coded = [
        ("Accept", "text/html"),
        ("Accept-Charset", "utf-8"),
        ("Accept-Encoding", "gzip, br"),
        ("Accept-Language", "de, en;q=0.5"),
        ("Authorization", "Bearer token"),
        ("Content-Type", "text/plain"),
        ("Cookie", "a=1"),
        ("Cookie2", "$Version=1"),
        ("Pragma", "no-cache"),
        ("Referer", "http://example.test/from"),
        ("User-Agent", "test/1.0"),
        ("X-No-Code", "1"),
    ];
    let codes = coded
        .iter()
        .fold(post(4).without("Content-Type"), |request, (name, value)| request.header(name, value));
    vec![
        Scenario::new("headers-with-codes", codes),
        Scenario::new(
            "header-case",
            get("/echo/dump").header("x-lower", "1").header("X-UPPER", "2").header("x-MiXeD", "3"),
        ),
        Scenario::new("headers-60", many(60, 9)),
        Scenario::new("headers-over-100", many(107, 9)),
        Scenario::new("header-fits", get("/echo/dump").header("X-Long", "v".repeat(7850))),
        Scenario::new("header-too-long", many(2, 8000)),
        Scenario::at(
            "header-too-long-64k-packets",
            Front::Large,
            Request { target: "/echo/ignore-body".into(), ..many(2, 8000) },
        ),
        Scenario::new(
            "duplicate-headers",
            get("/echo/dump")
                .header("X-Dup", "one")
                .header("x-dup", "two")
                .header("Accept-Language", "de")
                .header("Accept-Language", "en")
                .header("X-Dup", "three"),
        ),
        Scenario::new("duplicate-type", post(3).header("Content-Type", "text/plain")),
        Scenario::new(
            "header-non-ascii",
            get("/echo/dump").header("X-Latin1", b"caf\xe9").header("X-Utf8", "caf\u{e9}"),
        ),
        Scenario::new(
            "header-empty-and-spaces",
            get("/echo/dump").header("X-Empty", "").header("X-Spaces", "   two  words \t "),
        ),
        Scenario::new("header-underscore", get("/echo/dump").header("X_Under", "1").header("X-Under", "2")),
        Scenario::new("header-odd-name", get("/echo/dump").header("!#$%&'*+-.^_`|~", "1")),
        Scenario::new("header-bad-name", get("/echo/dump").header("X Y", "1")),
        Scenario::new("header-nul", get("/echo/dump").header("X-Nul", b"a\0b")),
    ]
}

/// About the connection rather than the request.
fn connections() -> Vec<Scenario> {
    let upgrade = get("/examples/websocket/echoProgrammatic")
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    vec![
        Scenario::new(
            "hop-by-hop",
            get("/echo/dump")
                .header("Connection", "keep-alive, X-Hop")
                .header("X-Hop", "1")
                .header("Keep-Alive", "timeout=5")
                .header("TE", "trailers")
                .header("Upgrade", "h2c")
                .header("Proxy-Connection", "keep-alive")
                .header("Proxy-Authorization", "Basic x"),
        ),
        Scenario::new("connection-close", get("/echo/dump").header("Connection", "close")),
        Scenario::new(
            "forwarded-headers",
            get("/echo/dump")
                .header("X-Forwarded-For", "203.0.113.7")
                .header("X-Forwarded-Proto", "https")
                .header("X-Forwarded-Host", "public.example.test")
                .header("Forwarded", "for=192.0.2.1"),
        ),
        Scenario::new("websocket-upgrade", upgrade),
    ]
}

fn cookies() -> Vec<Scenario> {
    let with = |value: &str| get("/echo/dump").header("Cookie", value);
    vec![
        Scenario::new(
            "cookies",
            with("plain=1; quoted=\"two words\"; JSESSIONID=0123456789ABCDEF.t1; last="),
        ),
        Scenario::new("two-cookie-lines", with("a=1").header("Cookie", "b=2")),
        Scenario::new("jsessionid-path", get("/echo/dump;jsessionid=0123456789ABCDEF.t1?x=1")),
        Scenario::new("jsessionid-path-deep", get("/echo/dump;v=1/a;jsessionid=0123456789ABCDEF.t1;w=2/b")),
        Scenario::new("session-create", get("/echo/session")),
        Scenario::new("session-seed", get("/servlets-examples/servlet/SessionExample")),
        Scenario::new("setcookie-3", get("/echo/setcookies?n=3")),
        Scenario::new("lb-sticky", with("JSESSIONID=0123456789ABCDEF.t1")),
        Scenario::new("lb-strange-route", with("JSESSIONID=0123456789ABCDEF.t9")),
        Scenario::at("lb-disabled-sticky", Front::Disabled, with("JSESSIONID=0123456789ABCDEF.t1")),
        Scenario::at("lb-disabled-new", Front::Disabled, get("/echo/dump")),
    ]
}

fn hosts() -> Vec<Scenario> {
    let host = |host: &str| get("/echo/dump").host(host);
    vec![
        Scenario::new("http10", get("/echo/dump").version("HTTP/1.0").without("Host")),
        Scenario::new("http10-host", get("/echo/dump").version("HTTP/1.0")),
        Scenario::new(
            "http10-keepalive",
            get("/echo/dump").version("HTTP/1.0").header("Connection", "keep-alive"),
        ),
        Scenario::new("http10-without-length", get("/echo/chunks?n=3").version("HTTP/1.0")),
        Scenario::new("http11-without-host", get("/echo/dump").without("Host")),
        Scenario::new("two-hosts", get("/echo/dump").header("Host", "other.example.test")),
        Scenario::new(
            "absolute-form",
            get("http://absolute.example.test:1234/echo/dump?x=1").host("other.example.test"),
        ),
        Scenario::new("asterisk-form", Request::new("OPTIONS", "*")),
        Scenario::new("host-other-port", host("front.example.test:8443")),
        Scenario::new("host-without-port", host("front.example.test")),
        Scenario::new("host-upper-case", host("FRONT.Example.TEST:8080")),
        Scenario::new("host-ipv6", host("[::1]:8080")),
        Scenario::new("host-ipv6-without-port", host("[2001:db8::1]")),
        Scenario::new("host-address", host("127.0.0.1:80")),
        Scenario::new("host-empty", host("")),
        Scenario::new("host-bad", host("a b")),
        Scenario::new("host-bad-port", host("front.example.test:http")),
        Scenario::new("redirect-to-host", get("/echo/redirect?absolute=1").host("front.example.test:8443")),
    ]
}

fn settings() -> Vec<Scenario> {
    let dump = || get("/echo/dump");
    vec![
        Scenario::at("direct", Front::Direct, dump()),
        Scenario::at(
            "direct-sticky",
            Front::Direct,
            dump().header("Cookie", "JSESSIONID=0123456789ABCDEF.t1"),
        ),
        Scenario::at("direct-post", Front::Direct, post(9000)),
        Scenario::at("cping-connect", Front::Ping, dump()),
        Scenario::at("cping-reused", Front::Ping, dump()),
        Scenario::at("cping-post", Front::Ping, post(20)),
        Scenario::at("secret-right", Front::Secret, dump()),
        Scenario::at("secret-right-post", Front::Secret, post(20)),
        Scenario::at("secret-wrong", Front::WrongSecret, dump()),
        Scenario::at("secret-missing", Front::NoSecret, dump()),
        Scenario::at("secret-missing-post", Front::NoSecret, post(20)),
        Scenario::at("other-context", Front::OnlyEcho, get("/echo/..;/examples/servlets/index.html")),
        Scenario::at("other-context-plain", Front::OnlyEcho, get("/echo/../examples/servlets/index.html")),
    ]
}

fn answers() -> Vec<Scenario> {
    let mut all = Vec::new();
    for code in [
        200, 201, 202, 203, 204, 205, 206, 207, 299, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404,
        405, 409, 410, 412, 418, 422, 429, 499, 500, 501, 503, 599,
    ] {
        all.push(Scenario::new(format!("status-{code}"), get(&format!("/echo/status?code={code}"))));
        all.push(Scenario::new(
            format!("status-{code}-body"),
            get(&format!("/echo/status?code={code}&body=20")),
        ));
    }
    for (name, target) in [
        ("status-404-reason", "/echo/status?code=404&reason=Gone%20fishing"),
        ("redirect", "/echo/redirect"),
        ("redirect-absolute", "/echo/redirect?absolute=1"),
        ("redirect-301", "/echo/redirect?code=301&to=/echo/dump"),
        ("error500", "/echo/error500"),
        ("response-headers-30", "/echo/headers?n=30&len=40"),
        ("response-headers-fit", "/echo/headers?n=70&len=95"),
        ("chunks", "/echo/chunks?n=3&size=100"),
        ("chunks-flush", "/echo/chunks?n=3&size=100&flush=1&sleepMs=5"),
        ("chunks-large", "/echo/chunks?n=40&size=9000"),
        ("headers-only", "/echo/sendheadersonly?holdMs=5"),
        ("big-1m", "/echo/big?bytes=1048576&length=0"),
        ("big-100k-length", "/echo/big?bytes=100000"),
        ("async", "/echo/async?delayMs=20"),
        ("async-dispatch", "/echo/async?delayMs=5&dispatch=1"),
        ("async-timeout", "/echo/async?answer=never&timeoutMs=200"),
    ] {
        all.push(Scenario::new(name, get(target)));
    }
    all.push(Scenario::new("head-big", Request::new("HEAD", "/echo/big?bytes=100000")));
    all.push(Scenario::new("head-without-length", Request::new("HEAD", "/echo/chunks?n=3")));
    all.push(Scenario::new("head-404", Request::new("HEAD", "/examples/nothing")));
    all.push(Scenario::at("response-headers-64k-packets", Front::Large, get("/echo/headers?n=100&len=100")));
    all.push(Scenario::at("big-64k-packets", Front::Large, get("/echo/big?bytes=140000")));
    all
}

fn failures() -> Vec<Scenario> {
    vec![
        Scenario::at("abort-timeout", Front::Reply, get("/echo/abort?bytes=1000")),
        Scenario::at("abort-timeout-length", Front::Reply, get("/echo/abort?bytes=1000&length=5000")),
        Scenario::at("response-headers-too-long", Front::Reply, get("/echo/headers?n=100&len=100")),
        Scenario::at("reply-timeout", Front::Reply, get("/echo/sleep?ms=1500")),
        Scenario::at("reply-in-time", Front::Reply, get("/echo/sleep?ms=20")),
    ]
}
