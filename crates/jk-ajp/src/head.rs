//! FORWARD_REQUEST, written straight into the output buffer.
//!
//! The two writers keep the order that the protocol needs: line, headers, attributes. A value that cannot be carried is remembered
//! and told at the end, so that the caller writes straight lines and asks once.

use bytes::{BufMut, BytesMut};

use crate::code::{self, HEADER_CODE, STORED_METHOD, attribute};
use crate::error::EncodeError;
use crate::packet::{HEADER, PacketSize};

/// The fixed part of a request head. All text is sent as it is.
#[derive(Debug, Clone, Copy)]
pub struct RequestLine<'a> {
    /// As the client wrote it; methods are case-sensitive.
    pub method: &'a str,
    /// Sends the method's name even if it has a code.
    pub method_by_name: bool,
    /// `HTTP/1.1`.
    pub protocol: &'a str,
    /// Path without query.
    pub uri: &'a [u8],
    /// The client's IP address.
    pub remote_addr: &'a str,
    /// `None`: a null string, as mod_jk without HostnameLookups.
    pub remote_host: Option<&'a str>,
    /// Host in lower case, IPv6 without brackets.
    pub server_name: &'a str,
    pub server_port: u16,
    pub is_ssl: bool,
}

/// Writes the headers of a FORWARD_REQUEST.
#[derive(Debug)]
pub struct HeadWriter<'b> {
    packet: Packet<'b>,
    stored_method: Option<&'b str>,
    count_at: usize,
    count: usize,
}

/// Writes the attributes of a FORWARD_REQUEST and ends it.
#[derive(Debug)]
pub struct AttributeWriter<'b> {
    packet: Packet<'b>,
}

impl<'b> HeadWriter<'b> {
    /// Begins a packet at the end of `out`.
    pub fn new(out: &'b mut BytesMut, size: PacketSize, line: &RequestLine<'b>) -> Self {
        let code = if line.method_by_name { None } else { code::method(line.method) };
        let mut packet = Packet::begin(out, size);
        packet.out.put_u8(FORWARD_REQUEST);
        packet.out.put_u8(code.unwrap_or(STORED_METHOD));
        packet.string(line.protocol.as_bytes());
        packet.string(line.uri);
        packet.string(line.remote_addr.as_bytes());
        match line.remote_host {
            Some(host) => packet.string(host.as_bytes()),
            None => packet.out.put_u16(NULL),
        }
        packet.string(line.server_name.as_bytes());
        packet.out.put_u16(line.server_port);
        packet.out.put_u8(u8::from(line.is_ssl));
        let count_at = packet.out.len();
        packet.out.put_u16(0);
        Self { packet, stored_method: code.is_none().then_some(line.method), count_at, count: 0 }
    }

    /// One header; `name` in lower case. Call it again for a repeated one.
    pub fn header(&mut self, name: &str, value: &[u8]) {
        self.count += 1;
        match code::request_header(name) {
            Some(code) => self.packet.out.put_slice(&[HEADER_CODE, code]),
            None => {
                // The length's high byte would be read as the mark of a code.
                if name.len() >> 8 == usize::from(HEADER_CODE) {
                    self.packet.note(EncodeError::AmbiguousName);
                }
                self.packet.string(name.as_bytes());
            }
        }
        self.packet.string(value);
    }

    /// Ends the headers.
    #[must_use]
    pub fn attributes(self) -> AttributeWriter<'b> {
        let Self { mut packet, stored_method, count_at, count } = self;
        match u16::try_from(count) {
            Ok(count) => packet.patch(count_at, count),
            Err(_) => packet.note(EncodeError::TooManyHeaders { count }),
        }
        let mut writer = AttributeWriter { packet };
        if let Some(method) = stored_method {
            writer.attribute(attribute::STORED_METHOD, method.as_bytes());
        }
        writer
    }
}

impl AttributeWriter<'_> {
    /// Tomcat checks it when it comes to it, so it goes before all that is worth protecting.
    pub fn secret(&mut self, secret: &str) {
        self.attribute(attribute::SECRET, secret.as_bytes());
    }

    pub fn remote_user(&mut self, user: &str) {
        self.attribute(attribute::REMOTE_USER, user.as_bytes());
    }

    pub fn auth_type(&mut self, kind: &str) {
        self.attribute(attribute::AUTH_TYPE, kind.as_bytes());
    }

    /// Without its question mark, as received. An empty one is not the same as none.
    pub fn query_string(&mut self, query: &[u8]) {
        self.attribute(attribute::QUERY_STRING, query);
    }

    /// The member's route (jvmRoute).
    pub fn route(&mut self, route: &str) {
        self.attribute(attribute::ROUTE, route.as_bytes());
    }

    /// PEM text, the client's certificate first.
    pub fn ssl_cert(&mut self, pem: &str) {
        self.attribute(attribute::SSL_CERT, pem.as_bytes());
    }

    pub fn ssl_cipher(&mut self, cipher: &str) {
        self.attribute(attribute::SSL_CIPHER, cipher.as_bytes());
    }

    pub fn ssl_session(&mut self, session: &str) {
        self.attribute(attribute::SSL_SESSION, session.as_bytes());
    }

    /// Bits of the cipher's key; the one attribute that is a number.
    pub fn ssl_key_size(&mut self, bits: u16) {
        self.packet.out.put_u8(attribute::SSL_KEY_SIZE);
        self.packet.out.put_u16(bits);
    }

    /// Tomcat refuses the whole request for a name that it neither knows nor was told to allow.
    pub fn request_attribute(&mut self, name: &str, value: &str) {
        self.packet.out.put_u8(attribute::REQ_ATTRIBUTE);
        self.packet.string(name.as_bytes());
        self.packet.string(value.as_bytes());
    }

    /// Ends the packet. On Err the buffer is what it was before [`HeadWriter::new`].
    pub fn finish(self) -> Result<(), EncodeError> {
        let packet = self.packet;
        packet.out.put_u8(attribute::DONE);
        packet.end()
    }

    fn attribute(&mut self, code: u8, value: &[u8]) {
        self.packet.out.put_u8(code);
        self.packet.string(value);
    }
}

/// A packet under way at the end of a buffer.
#[derive(Debug)]
struct Packet<'b> {
    out: &'b mut BytesMut,
    start: usize,
    size: PacketSize,
    wrong: Option<EncodeError>,
}

impl<'b> Packet<'b> {
    fn begin(out: &'b mut BytesMut, size: PacketSize) -> Self {
        let start = out.len();
        // One growth for a usual head instead of several.
        out.reserve(USUAL_HEAD);
        out.put_slice(&TO_WORKER);
        out.put_u16(0);
        Self { out, start, size, wrong: None }
    }

    fn string(&mut self, text: &[u8]) {
        match u16::try_from(text.len()) {
            Ok(len) if len != NULL => {
                self.out.put_u16(len);
                self.out.put_slice(text);
                self.out.put_u8(0);
            }
            _ => self.note(EncodeError::StringTooLong { len: text.len() }),
        }
    }

    fn note(&mut self, wrong: EncodeError) {
        self.wrong.get_or_insert(wrong);
    }

    fn patch(&mut self, at: usize, value: u16) {
        if let Some(place) = self.out.get_mut(at..at + 2) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }

    fn end(mut self) -> Result<(), EncodeError> {
        let needed = self.out.len() - self.start;
        let limit = self.size.get();
        let wrong = self.wrong.or((needed > limit).then_some(EncodeError::TooLarge { needed, limit }));
        if let Some(wrong) = wrong {
            self.out.truncate(self.start);
            return Err(wrong);
        }
        let len = u16::try_from(needed - HEADER).unwrap_or(u16::MAX);
        self.patch(self.start + 2, len);
        Ok(())
    }
}

const FORWARD_REQUEST: u8 = 2;

/// Magic of packets to the worker.
pub(crate) const TO_WORKER: [u8; 2] = [0x12, 0x34];

/// Length of a null string; nothing follows it.
const NULL: u16 = 0xFFFF;

const USUAL_HEAD: usize = 1024;
