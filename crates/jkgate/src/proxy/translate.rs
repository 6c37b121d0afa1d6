//! An HTTP request head as FORWARD_REQUEST: which of it Tomcat sees, and how.

use std::borrow::Cow;

use bytes::BytesMut;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, FORWARDED, HOST, HeaderName, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, Uri, Version};
use jk_ajp::{EncodeError, HeadWriter, PacketSize, RequestLine};
use jk_channel::BodyLength;
use jk_config::{Activation, Scheme};

use super::forwarded::{self, Claim};
use super::host::{self, BadHost, Host};
use crate::front::ConnInfo;

/// The client and the server as Tomcat shall see them.
#[derive(Debug)]
pub(crate) struct Ends<'a> {
    pub(crate) client: Cow<'a, str>,
    pub(crate) client_port: u16,
    /// In lower case, without brackets.
    pub(crate) server_name: Cow<'a, str>,
    pub(crate) server_port: u16,
    pub(crate) is_https: bool,
    /// What the Host header says to Tomcat; `None`: the client's own header, untouched.
    pub(crate) host_header: Option<Cow<'a, str>>,
}

/// What the choice of a member adds to a request head.
pub(crate) struct Addressee<'a> {
    pub(crate) size: PacketSize,
    pub(crate) method_by_name: bool,
    pub(crate) secret: Option<&'a str>,
    /// `None` for a worker without a group.
    pub(crate) route: Option<&'a str>,
    pub(crate) activation: Activation,
    /// The path in the form that is forwarded.
    pub(crate) path: &'a [u8],
}

/// Reads who talks to whom: Host, an absolute target, and what a trusted proxy claims.
pub(crate) fn ends<'a>(
    conn: &'a ConnInfo,
    version: Version,
    uri: &'a Uri,
    headers: &'a HeaderMap,
) -> Result<Ends<'a>, BadHost> {
    let claim = if conn.is_trusted {
        forwarded::read(headers, &conn.listener.trusted_proxies)
    } else {
        Claim::default()
    };
    let is_https = match conn.listener.scheme {
        Some(scheme) => scheme == Scheme::Https,
        None => claim.is_https.unwrap_or(false),
    };
    let own = own_host(version, uri, headers)?;
    let text: Cow<'a, str> = match claim.host {
        Some(host) => Cow::Owned(host),
        None => Cow::Borrowed(own.text),
    };
    let (name, port) = split_host(&text)?;
    let default_port = if is_https { 443 } else { 80 };
    let server_port = claim.port.or(port).unwrap_or(default_port);
    let host_header = match (&text, own.is_absolute) {
        (Cow::Borrowed(_), false) if claim.port.is_none() => None,
        (Cow::Borrowed(text), true) if claim.port.is_none() => Some(Cow::Borrowed(*text)),
        _ => Some(Cow::Owned(with_port(&name, server_port, default_port))),
    };
    let server_name = if name.is_empty() { Cow::Borrowed(&*conn.local_text) } else { name };
    Ok(Ends {
        client: claim
            .client
            .map_or(Cow::Borrowed(conn.peer_text.as_str()), |client| Cow::Owned(client.to_string())),
        client_port: if claim.client.is_some() { claim.client_port.unwrap_or(0) } else { conn.peer_port },
        server_name,
        server_port,
        is_https,
        host_header,
    })
}

/// Appends the whole head to `out`; on Err `out` is as before.
pub(crate) fn encode(
    out: &mut BytesMut,
    request: &http::request::Parts,
    ends: &Ends<'_>,
    conn: &ConnInfo,
    (to, body): (&Addressee<'_>, BodyLength),
) -> Result<(), EncodeError> {
    let line = RequestLine {
        method: request.method.as_str(),
        method_by_name: to.method_by_name,
        protocol: protocol(request.version),
        uri: to.path,
        remote_addr: &ends.client,
        remote_host: None,
        server_name: &ends.server_name,
        server_port: ends.server_port,
        is_ssl: ends.is_https,
    };
    let mut head = HeadWriter::new(out, to.size, &line);
    headers(&mut head, &request.headers, ends, body);
    let mut attributes = head.attributes();
    if let Some(secret) = to.secret {
        attributes.secret(secret);
    }
    if let Some(query) = request.uri.query() {
        attributes.query_string(query.as_bytes());
    }
    if let Some(route) = to.route {
        attributes.route(route);
    }
    let mut port = itoa::Buffer::new();
    attributes.request_attribute("AJP_REMOTE_PORT", port.format(ends.client_port));
    attributes.request_attribute("AJP_LOCAL_ADDR", &conn.local_text);
    attributes.request_attribute("JK_LB_ACTIVATION", activation(to.activation));
    attributes.finish()
}

/// How long the request's body is, by its head. Err: the head contradicts itself.
pub(crate) fn body_length(request: &http::request::Parts, exact: Option<u64>) -> Result<BodyLength, ()> {
    if request.headers.contains_key(TRANSFER_ENCODING) {
        // The server takes "chunked", once and alone; anything else never comes here, and is refused if it does.
        let mut codings = request.headers.get_all(TRANSFER_ENCODING).iter();
        let one = codings.next().is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked"));
        return if one && codings.next().is_none() { Ok(BodyLength::Unknown) } else { Err(()) };
    }
    let mut lengths = request.headers.get_all(CONTENT_LENGTH).iter();
    let Some(first) = lengths.next() else {
        return Ok(match exact {
            Some(0) => BodyLength::None,
            Some(length) => BodyLength::Known(length),
            None => BodyLength::Unknown,
        });
    };
    if lengths.any(|other| other != first) {
        return Err(());
    }
    match parse_length(first.as_bytes()) {
        Some(0) => Ok(BodyLength::None),
        Some(length) => Ok(BodyLength::Known(length)),
        None => Err(()),
    }
}

/// Digits only: no sign, no blank, no list.
pub(crate) fn parse_length(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

struct OwnHost<'a> {
    text: &'a str,
    is_absolute: bool,
}

/// The authority of an absolute target replaces Host (RFC 9112 §3.2.2); a missing one is an error in HTTP/1.1 only.
fn own_host<'a>(version: Version, uri: &'a Uri, headers: &'a HeaderMap) -> Result<OwnHost<'a>, BadHost> {
    let mut hosts = headers.get_all(HOST).iter();
    let header = hosts.next();
    if hosts.next().is_some()
        || (header.is_none() && version >= Version::HTTP_11 && uri.authority().is_none())
    {
        return Err(BadHost);
    }
    if let Some(authority) = uri.authority() {
        return Ok(OwnHost { text: authority.as_str(), is_absolute: true });
    }
    let text = header.map_or(Ok(""), |value| std::str::from_utf8(value.as_bytes())).map_err(|_| BadHost)?;
    Ok(OwnHost { text, is_absolute: false })
}

fn split_host<'a>(text: &Cow<'a, str>) -> Result<(Cow<'a, str>, Option<u16>), BadHost> {
    Ok(match text {
        Cow::Borrowed(text) => {
            let Host { name, port } = host::parse(text)?;
            (lower(name), port)
        }
        Cow::Owned(text) => {
            let Host { name, port } = host::parse(text)?;
            (Cow::Owned(name.to_ascii_lowercase()), port)
        }
    })
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

fn with_port(name: &str, port: u16, default_port: u16) -> String {
    let name = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
    if port == default_port { name } else { format!("{name}:{port}") }
}

fn headers(head: &mut HeadWriter<'_>, headers: &HeaderMap, ends: &Ends<'_>, body: BodyLength) {
    let named = headers.get(CONNECTION).map(|_| named_by_connection(headers)).unwrap_or_default();
    let mut length_written = false;
    for (name, value) in headers {
        if is_hop_by_hop(name) || (!named.is_empty() && named.iter().any(|named| *named == name.as_str())) {
            continue;
        }
        if *name == CONTENT_LENGTH {
            if std::mem::replace(&mut length_written, true) || body == BodyLength::Unknown {
                continue;
            }
            head.header("content-length", value.as_bytes());
        } else if *name == COOKIE {
            cookies(head, headers, value);
        } else if *name == HOST {
            match &ends.host_header {
                Some(host) => head.header("host", host.as_bytes()),
                None => head.header("host", value.as_bytes()),
            }
        } else {
            head.header(name.as_str(), value.as_bytes());
        }
    }
    if let (Some(host), false) = (&ends.host_header, headers.contains_key(HOST)) {
        head.header("host", host.as_bytes());
    }
    match body {
        // AJP reads "no length" as "length unknown" (mod_jk: init_ws_service).
        BodyLength::None if !length_written => head.header("content-length", b"0"),
        BodyLength::None => {}
        BodyLength::Known(length) if !length_written => {
            head.header("content-length", itoa::Buffer::new().format(length).as_bytes());
        }
        BodyLength::Known(_) => {}
        // Tomcat does not look at it over AJP; Undertow takes a head with neither for "no body".
        BodyLength::Unknown => head.header("transfer-encoding", b"chunked"),
    }
}

/// Several Cookie lines become one (RFC 6265 §5.4, RFC 9113 §8.2.3), where the first one stood.
fn cookies(head: &mut HeadWriter<'_>, headers: &HeaderMap, this: &HeaderValue) {
    let mut all = headers.get_all(COOKIE).iter();
    let is_first = all.next().is_some_and(|first| std::ptr::eq(first, this));
    if !is_first {
        return;
    }
    if all.next().is_none() {
        return head.header("cookie", this.as_bytes());
    }
    let values: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    head.header("cookie", &values.join(&b"; "[..]));
}

/// Headers that Connection names, in lower case, but never those that the message or the gateway needs.
fn named_by_connection(headers: &HeaderMap) -> Vec<String> {
    let mut all = headers.get_all(CONNECTION).iter();
    // What nearly every client says names nothing, and costs nothing.
    if let (Some(only), None) = (all.next(), all.next())
        && (only.as_bytes().eq_ignore_ascii_case(b"keep-alive")
            || only.as_bytes().eq_ignore_ascii_case(b"close"))
    {
        return Vec::new();
    }
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty() && name != "close" && !is_protected(name)).collect()
}

fn is_protected(name: &str) -> bool {
    [HOST, CONTENT_LENGTH, COOKIE, AUTHORIZATION, FORWARDED].iter().any(|own| own.as_str() == name)
        || name.starts_with("x-forwarded-")
        || name == "x-real-ip"
}

pub(crate) fn is_hop_by_hop(name: &HeaderName) -> bool {
    *name == CONNECTION
        || *name == TRANSFER_ENCODING
        || *name == UPGRADE
        || *name == TE
        || *name == TRAILER
        || matches!(name.as_str(), "keep-alive" | "proxy-connection" | "http2-settings")
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

fn activation(activation: Activation) -> &'static str {
    match activation {
        Activation::Active => "ACT",
        Activation::Disabled => "DIS",
        Activation::Stopped => "STP",
    }
}

/// RFC 9110 §9.2.1: sending it twice asks for nothing twice.
pub(crate) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE)
}
