//! The worker's side of AJP13.

use std::fmt;

/// A FORWARD_REQUEST, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// False: the name came as an attribute.
    pub method_by_code: bool,
    pub protocol: String,
    pub uri: String,
    pub remote_addr: String,
    pub remote_host: Option<String>,
    pub server_name: String,
    pub server_port: u16,
    pub is_ssl: bool,
    pub headers: Vec<Header>,
    pub query: Option<String>,
    pub route: Option<String>,
    pub secret: Option<String>,
    pub ssl_key_size: Option<u16>,
    /// All other attributes: `remote_user`, `auth_type`, `ssl_cert`, `ssl_cipher`, `ssl_session`, and request attributes by name.
    pub attributes: Vec<(String, String)>,
    /// Size of the packet, its header included.
    pub packet: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// As on the wire; the protocol's own spelling for one that came as a code.
    pub name: String,
    /// One character a byte.
    pub value: String,
    pub by_code: bool,
}

/// What Tomcat would choke on, or worse, misread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub String);

impl Request {
    /// First header of a name, without regard to case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.as_str())
    }

    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The announced length of the body; `None`: chunked or not said.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        self.header("content-length").and_then(|value| value.parse().ok())
    }

    /// Reads a payload, its type byte included.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor { bytes: payload, at: 0 };
        if cursor.u8()? != 2 {
            return Err(Malformed("not a FORWARD_REQUEST".into()));
        }
        let method = cursor.u8()?;
        let mut request = Self { packet: payload.len() + 4, ..Self::default() };
        request.protocol = cursor.string("protocol")?;
        request.uri = cursor.string("uri")?;
        request.remote_addr = cursor.string("remote_addr")?;
        request.remote_host = cursor.maybe_string()?;
        request.server_name = cursor.string("server_name")?;
        request.server_port = cursor.u16()?;
        request.is_ssl = cursor.u8()? != 0;
        for _ in 0..cursor.u16()? {
            request.headers.push(cursor.header()?);
        }
        cursor.attributes(&mut request)?;
        if method == 0xFF {
            if request.method.is_empty() {
                return Err(Malformed("method 255 without a stored method".into()));
            }
        } else {
            let known = METHODS.get(usize::from(method).wrapping_sub(1));
            request.method = (*known.ok_or_else(|| Malformed(format!("method code {method}")))?).to_owned();
            request.method_by_code = true;
        }
        let lengths =
            request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-length"));
        if lengths.count() > 1 {
            return Err(Malformed("two Content-Length headers".into()));
        }
        Ok(request)
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn u8(&mut self) -> Result<u8, Malformed> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(|| Malformed("packet too short".into()))?;
        self.at += 1;
        Ok(byte)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from(self.u8()?) << 8 | u16::from(self.u8()?))
    }

    fn maybe_string(&mut self) -> Result<Option<String>, Malformed> {
        let len = usize::from(self.u16()?);
        if len == 0xFFFF {
            return Ok(None);
        }
        let text =
            self.bytes.get(self.at..self.at + len).ok_or_else(|| Malformed("string too long".into()))?;
        self.at += len;
        if self.u8()? != 0 {
            return Err(Malformed("string without its NUL".into()));
        }
        Ok(Some(text.iter().map(|b| char::from(*b)).collect()))
    }

    fn string(&mut self, what: &str) -> Result<String, Malformed> {
        self.maybe_string()?.ok_or_else(|| Malformed(format!("{what} is null")))
    }

    fn header(&mut self) -> Result<Header, Malformed> {
        let code = match self.bytes.get(self.at..self.at + 2) {
            Some([0xA0, code]) => Some(*code),
            _ => None,
        };
        let name = match code {
            Some(code) => {
                self.at += 2;
                let name = usize::from(code).checked_sub(1).and_then(|at| HEADERS.get(at));
                (*name.ok_or_else(|| Malformed(format!("header code A0{code:02x}")))?).to_owned()
            }
            None => self.string("header name")?,
        };
        Ok(Header { name, value: self.string("header value")?, by_code: code.is_some() })
    }

    fn attributes(&mut self, request: &mut Request) -> Result<(), Malformed> {
        loop {
            match self.u8()? {
                0xFF => return Ok(()),
                0x05 => request.query = Some(self.string("query")?),
                0x06 => request.route = Some(self.string("route")?),
                0x0C => request.secret = Some(self.string("secret")?),
                0x0D => request.method = self.string("stored method")?,
                0x0B => request.ssl_key_size = Some(self.u16()?),
                0x0A => {
                    let name = self.string("attribute name")?;
                    let value = self.string("attribute value")?;
                    request.attributes.push((name, value));
                }
                code => {
                    let name = match code {
                        0x03 => "remote_user",
                        0x04 => "auth_type",
                        0x07 => "ssl_cert",
                        0x08 => "ssl_cipher",
                        0x09 => "ssl_session",
                        _ => return Err(Malformed(format!("attribute code {code}"))),
                    };
                    let value = self.string(name)?;
                    request.attributes.push((name.to_owned(), value));
                }
            }
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Packets that a worker sends, whole.
pub mod packets {
    fn packet(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![b'A', b'B'];
        bytes.extend_from_slice(&u16::try_from(payload.len()).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    fn string(out: &mut Vec<u8>, text: &[u8]) {
        out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(text);
        out.push(0);
    }

    /// SEND_HEADERS with the status in digits as the reason, as Tomcat does.
    #[must_use]
    pub fn headers(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
        headers_with_reason(status, status.to_string().as_bytes(), headers)
    }

    #[must_use]
    pub fn headers_with_reason(status: u16, reason: &[u8], headers: &[(&str, &str)]) -> Vec<u8> {
        let mut payload = vec![4];
        payload.extend_from_slice(&status.to_be_bytes());
        string(&mut payload, reason);
        payload.extend_from_slice(&u16::try_from(headers.len()).unwrap_or(u16::MAX).to_be_bytes());
        for (name, value) in headers {
            match super::REPLY_HEADERS.iter().position(|known| known == name) {
                Some(at) => payload.extend_from_slice(&[0xA0, u8::try_from(at).unwrap_or(0) + 1]),
                None => string(&mut payload, name.as_bytes()),
            }
            // One character a byte, so that tests can send any.
            let value: Vec<u8> = value.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
            string(&mut payload, &value);
        }
        packet(&payload)
    }

    /// SEND_BODY_CHUNK; empty: a flush.
    #[must_use]
    pub fn chunk(data: &[u8]) -> Vec<u8> {
        let mut payload = vec![3];
        string(&mut payload, data);
        packet(&payload)
    }

    #[must_use]
    pub fn end(reuse: bool) -> Vec<u8> {
        packet(&[5, u8::from(reuse)])
    }

    #[must_use]
    pub fn get_body(max: u16) -> Vec<u8> {
        let [high, low] = max.to_be_bytes();
        packet(&[6, high, low])
    }

    #[must_use]
    pub fn cpong() -> Vec<u8> {
        packet(&[9])
    }
}

const METHODS: [&str; 27] = [
    "OPTIONS",
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "TRACE",
    "PROPFIND",
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
];

const HEADERS: [&str; 14] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "authorization",
    "connection",
    "content-type",
    "content-length",
    "cookie",
    "cookie2",
    "host",
    "pragma",
    "referer",
    "user-agent",
];

const REPLY_HEADERS: [&str; 11] = [
    "Content-Type",
    "Content-Language",
    "Content-Length",
    "Date",
    "Last-Modified",
    "Location",
    "Set-Cookie",
    "Set-Cookie2",
    "Servlet-Engine",
    "Status",
    "WWW-Authenticate",
];
