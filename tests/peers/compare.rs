//! Field by field, and which differences are meant. Each has an id that is a row of `docs/differences.md`.

use serde_json::Value;
use test_support::http::Response;

use crate::requests::Request;

pub(crate) struct Difference {
    /// `None`: not meant.
    pub(crate) id: Option<&'static str>,
    pub(crate) what: String,
}

pub(crate) fn compare(
    request: &Request,
    theirs: &Option<Response>,
    ours: &Option<Response>,
) -> Vec<Difference> {
    let (Some(theirs), Some(ours)) = (theirs, ours) else {
        return vec![Difference {
            id: None,
            what: format!("one did not answer: mod_jk {theirs:?}, jkgate {ours:?}"),
        }];
    };
    let mut found = Vec::new();
    if theirs.status != ours.status {
        let id = status_id(request, theirs.status, ours.status);
        found.push(Difference {
            id,
            what: format!("status: mod_jk {}, jkgate {}", theirs.status, ours.status),
        });
        return found;
    }
    headers(request, theirs, ours, &mut found);
    let saw = |response: &Response| serde_json::from_slice::<Value>(&response.body).ok();
    match (saw(theirs), saw(ours)) {
        (Some(theirs), Some(ours)) => fields("", request, (&theirs, &ours), &mut found),
        _ if theirs.body != ours.body => {
            let id = body_id(ours);
            found.push(Difference {
                id,
                what: format!("body: mod_jk {} bytes, jkgate {} bytes", theirs.body.len(), ours.body.len()),
            });
        }
        _ => {}
    }
    found
}

/// A status of the gateway's own.
fn status_id(request: &Request, theirs: u16, ours: u16) -> Option<&'static str> {
    let target = request.target().to_ascii_lowercase();
    match (theirs, ours) {
        // httpd refuses an escaped slash with 404, and lets an escaped backslash through to Tomcat.
        (404, 400) if target.contains("%2f") || target.contains("%00") => Some("D-ESCAPED-SLASH"),
        (200 | 400, 400) if target.contains("%5c") => Some("D-ESCAPED-SLASH"),
        (206 | 416, 200) if asks_for_a_range(request) => Some("D-RANGE"),
        _ => None,
    }
}

fn asks_for_a_range(request: &Request) -> bool {
    String::from_utf8_lossy(&request.bytes).contains("Range: bytes=")
}

/// Pages that the gateways write themselves.
fn body_id(ours: &Response) -> Option<&'static str> {
    (ours.status >= 400 && ours.text().contains("<small>Request")).then_some("D-OWN-PAGES")
}

fn headers(request: &Request, theirs: &Response, ours: &Response, found: &mut Vec<Difference>) {
    let listed = |response: &Response| {
        let mut list: Vec<(String, String)> =
            response.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        list.retain(|(name, _)| {
            !matches!(name.as_str(), "date" | "server" | "connection" | "keep-alive" | "transfer-encoding")
        });
        list.sort();
        list
    };
    let (theirs_list, ours_list) = (listed(theirs), listed(ours));
    for (name, value) in theirs_list.iter().filter(|pair| !ours_list.contains(pair)) {
        let id = header_id(request, name, theirs, ours);
        found.push(Difference { id, what: format!("mod_jk answers {name}: {value}") });
    }
    for (name, value) in ours_list.iter().filter(|pair| !theirs_list.contains(pair)) {
        let id = header_id(request, name, theirs, ours);
        found.push(Difference { id, what: format!("jkgate answers {name}: {value}") });
    }
}

fn header_id(request: &Request, name: &str, theirs: &Response, ours: &Response) -> Option<&'static str> {
    let own_page = body_id(ours).is_some();
    match name {
        _ if own_page => Some("D-OWN-PAGES"),
        // The body holds ports and what differs below, so its length does, too.
        "content-length" if request.target().contains("/dump") => Some("D-LENGTH"),
        // httpd adds one where it knows the whole body, we where the reply is one piece.
        "content-length" if theirs.header(name).is_none() || ours.header(name).is_none() => Some("D-LENGTH"),
        "set-cookie"
            if theirs.header(name).is_some()
                && ours.header(name).is_some()
                && request.target().contains("session") =>
        {
            Some("D-LENGTH")
        }
        "set-cookie" if request.target().contains(".jsp") => Some("D-LENGTH"),
        "content-type" if matches!(ours.status, 204 | 304) => Some("D-NO-BODY-TYPE"),
        "location" if request.target().contains("absolute") => Some("D-PORTS"),
        // httpd writes the parameter its own way.
        "content-type"
            if theirs.header(name).map(str::to_ascii_lowercase)
                == ours.header(name).map(str::to_ascii_lowercase) =>
        {
            Some("D-TYPE-CASE")
        }
        "accept-ranges" | "upgrade" => None,
        _ => None,
    }
}

/// What Tomcat saw.
fn fields(path: &str, request: &Request, (theirs, ours): (&Value, &Value), found: &mut Vec<Difference>) {
    match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) if path.is_empty() || path == "/body" => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let null = Value::Null;
                let pair = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                fields(&format!("{path}/{key}"), request, pair, found);
            }
        }
        _ if path == "/headers" => request_headers(theirs, ours, found),
        _ if theirs == ours => {}
        _ => {
            let id = field_id(path, request, theirs, ours);
            found.push(Difference { id, what: format!("{path}: mod_jk {theirs}, jkgate {ours}") });
        }
    }
}

fn field_id(path: &str, request: &Request, theirs: &Value, ours: &Value) -> Option<&'static str> {
    let target = request.target().to_ascii_lowercase();
    match path {
        // Two connections, two listeners.
        "/remotePort" | "/localPort" => Some("D-PORTS"),
        "/requestURL" | "/serverPort"
            if theirs.to_string().contains("80") || ours.to_string().contains("80") =>
        {
            Some("D-PORTS")
        }
        // Reads are cut where packets are.
        "/body/reads" => Some("D-PACKETS"),
        // A repeated Content-Type is joined by httpd like any other header.
        "/contentType" if theirs.as_str().is_some_and(|value| value.contains(", ")) => Some("D-JOINED"),
        "/requestURI" | "/requestURL" | "/pathInfo" if target.contains("%3b") => Some("D-RESERVED"),
        "/requestURI" | "/requestURL" | "/pathInfo" if reserved(&target) => Some("D-RESERVED"),
        "/cookies" => Some("D-COOKIES"),
        _ => None,
    }
}

fn reserved(target: &str) -> bool {
    ["%21", "%24", "%26", "%27", "%28", "%29", "%2a", "%2b", "%2c", "%3a", "%3b", "%3d", "%3f", "%40"]
        .iter()
        .any(|escape| target.contains(escape))
}

/// As lists: names without regard to case, in order.
fn request_headers(theirs: &Value, ours: &Value, found: &mut Vec<Difference>) {
    let list = |value: &Value| -> Vec<(String, String)> {
        let pairs = value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        pairs.iter().map(|pair| (text(&pair[0]).to_ascii_lowercase(), text(&pair[1]))).collect()
    };
    let (theirs, ours) = (list(theirs), list(ours));
    let names: std::collections::BTreeSet<&str> =
        theirs.iter().chain(&ours).map(|(name, _)| name.as_str()).collect();
    for name in names {
        let of = |list: &[(String, String)]| {
            list.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        let (a, b) = (of(&theirs), of(&ours));
        if a == b {
            continue;
        }
        let id = match name {
            "connection" | "keep-alive" | "te" | "upgrade" | "proxy-connection" => Some("D-HOP-BY-HOP"),
            "cookie" => Some("D-COOKIES"),
            _ if a == [b.join(", ")] => Some("D-JOINED"),
            _ => None,
        };
        found.push(Difference { id, what: format!("header {name}: mod_jk {a:?}, jkgate {b:?}") });
    }
}
