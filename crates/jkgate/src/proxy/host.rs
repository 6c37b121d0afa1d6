//! The host a request is for: a Host header or an absolute target's authority, read once and strictly.
//!
//! Tomcat answers an invalid one by itself, but may then read what follows on the channel wrongly; so it is refused here.

use std::net::Ipv6Addr;

/// A host name or address and a port, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Host<'a> {
    /// Without brackets.
    pub(crate) name: &'a str,
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadHost;

/// RFC 9110 §7.2: `uri-host [ ":" port ]`. An empty name is legal and means that the target has no authority.
pub(crate) fn parse(text: &str) -> Result<Host<'_>, BadHost> {
    let (name, rest) = match text.strip_prefix('[') {
        Some(inner) => {
            let (name, rest) = inner.split_once(']').ok_or(BadHost)?;
            name.parse::<Ipv6Addr>().map_err(|_| BadHost)?;
            (name, rest)
        }
        None => match text.find(':') {
            Some(at) => text.split_at_checked(at).ok_or(BadHost)?,
            None => (text, ""),
        },
    };
    if !text.starts_with('[') && !name.bytes().all(is_name_byte) {
        return Err(BadHost);
    }
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        None => return Err(BadHost),
        // "name:" is legal and means the scheme's own port.
        Some("") => None,
        Some(port) if port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit()) => {
            Some(port.parse().map_err(|_| BadHost)?)
        }
        Some(_) => return Err(BadHost),
    };
    Ok(Host { name, port })
}

/// What Tomcat's parser takes in a name; it is narrower than RFC 3986's reg-name.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_ports() {
        let good = |text: &'static str, name: &'static str, port| {
            assert_eq!(parse(text), Ok(Host { name, port }), "{text}");
        };
        good("www.example.test", "www.example.test", None);
        good("WWW.Example.test:8080", "WWW.Example.test", Some(8080));
        good("[::1]:80", "::1", Some(80));
        good("[2001:db8::1]", "2001:db8::1", None);
        good("a_b.example.test:", "a_b.example.test", None);
        good("", "", None);
        for bad in [
            "a b", "a:b", "a:80:90", "::1", "[::1", "[::1]x", "[zz]", "a/b", "u@a", "a:99999", "a:123456",
            "a,b", "\u{e9}", "a:-1", "a:+1",
        ] {
            assert_eq!(parse(bad), Err(BadHost), "{bad}");
        }
    }
}
