//! The protocol's tables of numbers, each once.

use http::header::{self, HeaderName};

/// Method of FORWARD_REQUEST when the name travels as an attribute.
pub(crate) const STORED_METHOD: u8 = 0xFF;

/// Code of a method; `None`: it has none and goes by name. Letters count as they are.
pub(crate) fn method(name: &str) -> Option<u8> {
    let at = METHODS.iter().position(|known| *known == name)?;
    u8::try_from(at + 1).ok()
}

/// In the order of their codes, from 1. GET and POST are met first by a look that compares lengths.
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

/// Low byte of a request header's code; the name in lower case. The high byte is [`HEADER_CODE`].
pub(crate) fn request_header(name: &str) -> Option<u8> {
    // By length first: most names differ there, and few are compared.
    Some(match name.len() {
        4 if name == "host" => 0x0B,
        6 if name == "accept" => 0x01,
        6 if name == "cookie" => 0x09,
        6 if name == "pragma" => 0x0C,
        7 if name == "cookie2" => 0x0A,
        7 if name == "referer" => 0x0D,
        10 if name == "connection" => 0x06,
        10 if name == "user-agent" => 0x0E,
        12 if name == "content-type" => 0x07,
        13 if name == "authorization" => 0x05,
        14 if name == "content-length" => 0x08,
        14 if name == "accept-charset" => 0x02,
        15 if name == "accept-encoding" => 0x03,
        15 if name == "accept-language" => 0x04,
        _ => return None,
    })
}

/// First byte of a header that goes by code.
pub(crate) const HEADER_CODE: u8 = 0xA0;

/// A response header that goes by code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownHeader {
    ContentType,
    ContentLanguage,
    ContentLength,
    Date,
    LastModified,
    Location,
    SetCookie,
    SetCookie2,
    ServletEngine,
    Status,
    WwwAuthenticate,
}

impl KnownHeader {
    pub(crate) fn from_code(code: u16) -> Option<Self> {
        Some(match code {
            0xA001 => Self::ContentType,
            0xA002 => Self::ContentLanguage,
            0xA003 => Self::ContentLength,
            0xA004 => Self::Date,
            0xA005 => Self::LastModified,
            0xA006 => Self::Location,
            0xA007 => Self::SetCookie,
            0xA008 => Self::SetCookie2,
            0xA009 => Self::ServletEngine,
            0xA00A => Self::Status,
            0xA00B => Self::WwwAuthenticate,
            _ => return None,
        })
    }

    /// In lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ContentType => "content-type",
            Self::ContentLanguage => "content-language",
            Self::ContentLength => "content-length",
            Self::Date => "date",
            Self::LastModified => "last-modified",
            Self::Location => "location",
            Self::SetCookie => "set-cookie",
            Self::SetCookie2 => "set-cookie2",
            Self::ServletEngine => "servlet-engine",
            Self::Status => "status",
            Self::WwwAuthenticate => "www-authenticate",
        }
    }

    #[must_use]
    pub fn header_name(self) -> HeaderName {
        match self {
            Self::ContentType => header::CONTENT_TYPE,
            Self::ContentLanguage => header::CONTENT_LANGUAGE,
            Self::ContentLength => header::CONTENT_LENGTH,
            Self::Date => header::DATE,
            Self::LastModified => header::LAST_MODIFIED,
            Self::Location => header::LOCATION,
            Self::SetCookie => header::SET_COOKIE,
            Self::SetCookie2 => const { HeaderName::from_static("set-cookie2") },
            Self::ServletEngine => const { HeaderName::from_static("servlet-engine") },
            Self::Status => const { HeaderName::from_static("status") },
            Self::WwwAuthenticate => header::WWW_AUTHENTICATE,
        }
    }
}

/// Attribute codes of FORWARD_REQUEST.
pub(crate) mod attribute {
    pub(crate) const REMOTE_USER: u8 = 0x03;
    pub(crate) const AUTH_TYPE: u8 = 0x04;
    pub(crate) const QUERY_STRING: u8 = 0x05;
    pub(crate) const ROUTE: u8 = 0x06;
    pub(crate) const SSL_CERT: u8 = 0x07;
    pub(crate) const SSL_CIPHER: u8 = 0x08;
    pub(crate) const SSL_SESSION: u8 = 0x09;
    pub(crate) const REQ_ATTRIBUTE: u8 = 0x0A;
    pub(crate) const SSL_KEY_SIZE: u8 = 0x0B;
    pub(crate) const SECRET: u8 = 0x0C;
    pub(crate) const STORED_METHOD: u8 = 0x0D;
    pub(crate) const DONE: u8 = 0xFF;
}
