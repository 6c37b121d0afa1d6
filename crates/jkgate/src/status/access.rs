//! Who may see the status page, and who may change things there.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::{Method, StatusCode};
use ipnet::IpNet;
use jk_config::StatusSpec;
use jk_status::Request;

use crate::proxy::Ends;
use crate::ticket::Ticket;

/// Somebody who may read.
pub(super) struct Access {
    client: IpAddr,
    writes: bool,
    token: String,
}

pub(super) struct Denied {
    pub(super) status: StatusCode,
    pub(super) sentence: String,
}

fn denied(status: StatusCode, sentence: impl Into<String>) -> Denied {
    Denied { status, sentence: sentence.into() }
}

/// By the socket's peer, or by what a trusted proxy says.
pub(super) fn check(
    spec: &StatusSpec,
    ticket: &Ticket,
    parts: &Parts,
    ends: &Ends<'_>,
) -> Result<Access, Denied> {
    let client = ends.client.parse().unwrap_or(ticket.conn.peer);
    if !within(&spec.readable_from, client) {
        return Err(denied(
            StatusCode::FORBIDDEN,
            format!("{client} may not see this page: [status] readable_from does not list it"),
        ));
    }
    check_user(spec, parts)?;
    let writes = within(&spec.writable_from, client) && !spec.read_only;
    Ok(Access { client, writes, token: ticket.gateway().stats.token.clone() })
}

impl Access {
    pub(super) fn may_write(&self) -> bool {
        self.writes
    }

    /// A change needs POST from the page itself, or a script's GET where the operator allows that; never another site's page.
    pub(super) fn may_change(
        &self,
        spec: &StatusSpec,
        parts: &Parts,
        request: &Request,
    ) -> Result<(), Denied> {
        if spec.read_only {
            return Err(denied(StatusCode::FORBIDDEN, "This command is not allowed in read only mode."));
        }
        if is_foreign(parts) {
            return Err(denied(
                StatusCode::FORBIDDEN,
                "a change must come from the status page itself, not from another site",
            ));
        }
        if parts.method != Method::POST {
            if within(&spec.get_updates_from, self.client) {
                return Ok(());
            }
            return Err(denied(
                StatusCode::METHOD_NOT_ALLOWED,
                "GET changes nothing here: use POST, or let [status] get_updates_from list the networks whose scripts may",
            ));
        }
        if !self.writes {
            return Err(denied(
                StatusCode::FORBIDDEN,
                format!("{} may not change anything: [status] writable_from does not list it", self.client),
            ));
        }
        // A browser sends where it comes from; a script that sends neither that nor a token is no page.
        let from_page = parts.headers.contains_key(ORIGIN) || parts.headers.contains_key("sec-fetch-site");
        if from_page && !same(request.get("token").unwrap_or_default(), &self.token) {
            return Err(denied(StatusCode::FORBIDDEN, "the page is out of date: load it again"));
        }
        Ok(())
    }
}

fn within(networks: &[IpNet], client: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&client))
}

fn is_foreign(parts: &Parts) -> bool {
    let site = parts.headers.get("sec-fetch-site").map(http::HeaderValue::as_bytes);
    if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
        return true;
    }
    let Some(origin) = parts.headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()) else {
        return false;
    };
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    origin.split_once("://").is_none_or(|(_, authority)| !authority.eq_ignore_ascii_case(host))
}

/// Basic authentication against `users_file`, if there is one. The file is small and read only when somebody looks.
fn check_user(spec: &StatusSpec, parts: &Parts) -> Result<(), Denied> {
    let Some(file) = &spec.users_file else { return Ok(()) };
    let wanted = || denied(StatusCode::UNAUTHORIZED, "a user name and a password are needed");
    let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).ok_or_else(wanted)?;
    let encoded = header.strip_prefix("Basic ").ok_or_else(wanted)?;
    let decoded = base64(encoded.trim()).ok_or_else(wanted)?;
    let (user, password) = decoded.split_once(':').ok_or_else(wanted)?;
    let users = std::fs::read_to_string(file)
        .map_err(|_| denied(StatusCode::FORBIDDEN, "[status] users_file cannot be read"))?;
    let alike =
        |a: &str, b: &str| if spec.user_case_insensitive { a.eq_ignore_ascii_case(b) } else { a == b };
    let known = users.lines().filter_map(|line| line.trim().split_once(':'));
    let mut right = false;
    for (name, secret) in known {
        // Every line is compared, so that time does not tell which one it was.
        right |= alike(name, user) & same(secret, password);
    }
    if !right {
        return Err(wanted());
    }
    let listed = spec.user.is_empty() || spec.user.iter().any(|name| alike(name, user));
    if listed { Ok(()) } else { Err(denied(StatusCode::FORBIDDEN, "Access denied.")) }
}

/// Compares without telling by its time how much was right.
fn same(a: &str, b: &str) -> bool {
    let differing = a.bytes().zip(b.bytes()).fold(0u8, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differing == 0
}

fn base64(text: &str) -> Option<String> {
    let mut bits = 0u32;
    let mut n_bits = 0;
    let mut out = Vec::new();
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push(u8::try_from(bits >> n_bits & 0xFF).ok()?);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_credentials() {
        assert_eq!(base64("dXNlcjpwYXNz").as_deref(), Some("user:pass"));
        assert_eq!(base64("dTpw").as_deref(), Some("u:p"));
        assert_eq!(base64("dTpwcA==").as_deref(), Some("u:pp"));
        assert_eq!(base64("***"), None);
        assert!(same("abc", "abc") && !same("abc", "abd") && !same("abc", "ab"));
    }
}
