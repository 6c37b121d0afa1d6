//! What a trusted proxy in front of us says about the real client: X-Forwarded-* and Forwarded (RFC 7239).
//!
//! From anybody else these are ordinary headers and change nothing.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};

use ipnet::IpNet;

/// What the proxy claims; each field only if it said something usable.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) client: Option<IpAddr>,
    pub(crate) client_port: Option<u16>,
    pub(crate) is_https: Option<bool>,
    pub(crate) host: Option<String>,
    pub(crate) port: Option<u16>,
}

/// Reads the claim. Addresses are read from the right: each trusted proxy appended the peer it saw, so the first that is not
/// trusted is the client; what stands left of it was written by the client itself.
pub(crate) fn read(headers: &HeaderMap, trusted: &[IpNet]) -> Claim {
    let mut claim =
        if headers.contains_key(FORWARDED) { standard(headers, trusted) } else { Claim::default() };
    let last = |name: HeaderName| {
        headers.get_all(name).iter().next_back().and_then(|value| value.to_str().ok()).and_then(last_item)
    };
    if claim.client.is_none() {
        let chain = headers.get_all(X_FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
        let nodes: Vec<&str> = chain.flat_map(|value| value.split(',')).collect();
        if let Some((client, port)) = client_of(nodes.into_iter(), trusted) {
            (claim.client, claim.client_port) = (Some(client), port);
        }
    }
    if claim.is_https.is_none() {
        claim.is_https = last(X_FORWARDED_PROTO).and_then(is_https);
    }
    if claim.host.is_none()
        && let Some(host) = last(X_FORWARDED_HOST).filter(|host| super::host::parse(host).is_ok())
    {
        claim.host = Some(host.to_owned());
    }
    claim.port = last(X_FORWARDED_PORT).and_then(|port| port.parse().ok());
    claim
}

fn standard(headers: &HeaderMap, trusted: &[IpNet]) -> Claim {
    let mut claim = Claim::default();
    let values = headers.get_all(FORWARDED).iter().filter_map(|value| value.to_str().ok());
    let elements: Vec<&str> = values.flat_map(|value| split_outside_quotes(value, ',')).collect();
    let nodes = elements.iter().filter_map(|element| parameter(element, "for"));
    if let Some((client, port)) = client_of(nodes, trusted) {
        (claim.client, claim.client_port) = (Some(client), port);
    }
    if let Some(last) = elements.last() {
        claim.is_https = parameter(last, "proto").and_then(is_https);
        claim.host =
            parameter(last, "host").filter(|host| super::host::parse(host).is_ok()).map(str::to_owned);
    }
    claim
}

fn client_of<'a>(
    nodes: impl DoubleEndedIterator<Item = &'a str>,
    trusted: &[IpNet],
) -> Option<(IpAddr, Option<u16>)> {
    let mut client = None;
    for node in nodes.rev() {
        // An unreadable entry ends the chain of what can be believed.
        let Some((address, port)) = node_address(node.trim()) else { break };
        client = Some((address, port));
        if !trusted.iter().any(|net| net.contains(&address)) {
            break;
        }
    }
    client
}

/// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
fn node_address(node: &str) -> Option<(IpAddr, Option<u16>)> {
    if let Ok(address) = node.parse::<IpAddr>() {
        return Some((address.to_canonical(), None));
    }
    if let Some(inner) = node.strip_prefix('[').and_then(|node| node.strip_suffix(']')) {
        return inner.parse::<IpAddr>().ok().map(|address| (address.to_canonical(), None));
    }
    let address = node.parse::<std::net::SocketAddr>().ok()?;
    Some((address.ip().to_canonical(), Some(address.port())))
}

fn parameter<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    split_outside_quotes(element, ';').into_iter().find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}

fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c| {
        quoted ^= c == '"';
        !quoted && c == separator
    })
    .collect()
}

fn last_item(value: &str) -> Option<&str> {
    value.rsplit(',').next().map(str::trim).filter(|item| !item.is_empty())
}

fn is_https(scheme: &str) -> Option<bool> {
    if scheme.eq_ignore_ascii_case("https") {
        Some(true)
    } else if scheme.eq_ignore_ascii_case("http") {
        Some(false)
    } else {
        None
    }
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&'static str, &'static str)], expected: &str) {
        let trusted: Vec<IpNet> =
            ["10.0.0.0/8", "2001:db8:1::/48"].iter().map(|net| net.parse().unwrap()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let claim = read(&map, &trusted);
        let shown = format!(
            "{} {} {} {} {}",
            claim.client.map_or("-".into(), |client| client.to_string()),
            claim.client_port.map_or("-".into(), |port| port.to_string()),
            claim.is_https.map_or("-", |https| if https { "https" } else { "http" }),
            claim.host.as_deref().unwrap_or("-"),
            claim.port.map_or("-".into(), |port| port.to_string()),
        );
        assert_eq!(shown, expected, "{headers:?}");
    }

    #[test]
    fn the_first_address_from_the_right_that_is_not_a_proxy_is_the_client() {
        check(&[], "- - - - -");
        check(&[("x-forwarded-for", "192.0.2.7")], "192.0.2.7 - - - -");
        check(&[("x-forwarded-for", "6.6.6.6, 192.0.2.7, 10.1.1.1")], "192.0.2.7 - - - -");
        check(
            &[("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "192.0.2.7, 10.1.1.1")],
            "192.0.2.7 - - - -",
        );
        check(&[("x-forwarded-for", "10.2.2.2, 10.1.1.1")], "10.2.2.2 - - - -");
        check(&[("x-forwarded-for", "6.6.6.6, rubbish, 10.1.1.1")], "10.1.1.1 - - - -");
        check(&[("x-forwarded-for", "[2001:db8:2::1]:4711")], "2001:db8:2::1 4711 - - -");
        check(&[("x-forwarded-for", "::ffff:192.0.2.7")], "192.0.2.7 - - - -");
    }

    #[test]
    fn scheme_host_and_port() {
        check(&[("x-forwarded-proto", "https")], "- - https - -");
        check(&[("x-forwarded-proto", "http, HTTPS")], "- - https - -");
        check(&[("x-forwarded-proto", "gopher")], "- - - - -");
        check(&[("x-forwarded-host", "a.example.test, b.example.test:81")], "- - - b.example.test:81 -");
        check(&[("x-forwarded-host", "a b")], "- - - - -");
        check(&[("x-forwarded-port", "8443")], "- - - - 8443");
    }

    #[test]
    fn the_standard_header_wins() {
        check(
            &[
                ("forwarded", r#"for=6.6.6.6, For="[2001:db8:2::1]:4711";proto=https;host="a.example.test""#),
                ("x-forwarded-for", "192.0.2.7"),
            ],
            "2001:db8:2::1 4711 https a.example.test -",
        );
        check(&[("forwarded", "for=_hidden;proto=http")], "- - http - -");
    }
}
