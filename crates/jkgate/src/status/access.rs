//! Who may see the status page, and who may change things there.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{Method, StatusCode};
use ipnet::IpNet;
use jk_config::StatusSpec;
use jk_status::Request;

use super::users;
use crate::proxy::Ends;
use crate::ticket::Ticket;

/// Somebody who may read.
pub(super) struct Access {
    client: IpAddr,
    user: Option<String>,
    writes: bool,
    token: String,
}

pub(super) struct Denied {
    pub(super) status: StatusCode,
    pub(super) sentence: String,
}

pub(super) fn denied(status: StatusCode, sentence: impl Into<String>) -> Denied {
    Denied { status, sentence: sentence.into() }
}

/// By the socket's peer, or by what a trusted proxy says.
pub(super) async fn check(
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
    let user = users::check(spec, parts).await?;
    let writes = within(&spec.writable_from, client) && !spec.read_only;
    Ok(Access { client, user, writes, token: ticket.gateway().stats.token.clone() })
}

impl Access {
    /// Who it is and from where, for the log of changes.
    pub(super) fn who(&self) -> String {
        match &self.user {
            Some(user) => format!("{user} from {}", self.client),
            None => self.client.to_string(),
        }
    }

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

/// Compares without telling by its time how much was right.
pub(super) fn same(a: &str, b: &str) -> bool {
    let differing = a.bytes().zip(b.bytes()).fold(0u8, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differing == 0
}
