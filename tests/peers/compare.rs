//! Two answers to one request, and what Tomcat saw of each, field by field.

use std::collections::BTreeSet;

use serde_json::Value;
use test_support::http::{Framing, Response};

/// What came of a request.
pub(crate) struct Outcome {
    /// `None`: the connection ended without one.
    pub(crate) response: Option<Response>,
    /// The connection served another request afterwards.
    pub(crate) kept: bool,
    /// The client's own port, which is in what Tomcat saw.
    pub(crate) port: u16,
}

/// Where two answers differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Answer,
    Status,
    Reason,
    Interim,
    Kept,
    Complete,
    Framing,
    /// A response header, in lower case.
    Header(String),
    Body,
    /// A field of what Tomcat saw, as a path.
    Saw(String),
    /// A request header that Tomcat saw, in lower case.
    SawHeader(String),
}

pub(crate) struct Difference {
    pub(crate) place: Place,
    pub(crate) theirs: String,
    pub(crate) ours: String,
}

/// Empty: nobody could tell the two apart.
pub(crate) fn compare(theirs: &Outcome, ours: &Outcome) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |place: Place, theirs: String, ours: String| {
        if theirs != ours {
            found.push(Difference { place, theirs, ours });
        }
    };
    let (Some(a), Some(b)) = (&theirs.response, &ours.response) else {
        let told =
            |outcome: &Outcome| outcome.response.as_ref().map_or(0, |response| response.status).to_string();
        differ(Place::Answer, told(theirs), told(ours));
        return found;
    };
    differ(Place::Interim, format!("{:?}", a.interim), format!("{:?}", b.interim));
    if a.status != b.status {
        differ(Place::Status, a.status.to_string(), b.status.to_string());
        return found;
    }
    differ(Place::Reason, a.reason.clone(), b.reason.clone());
    differ(Place::Kept, theirs.kept.to_string(), ours.kept.to_string());
    differ(Place::Complete, a.complete.to_string(), b.complete.to_string());
    differ(Place::Framing, framing(a), framing(b));
    for name in names(a).union(&names(b)) {
        differ(Place::Header(name.clone()), values(a, name), values(b, name));
    }
    match (json(theirs), json(ours)) {
        (Some(a), Some(b)) => saw("", &a, &b, &mut differ),
        _ => differ(Place::Body, shown(&a.body), shown(&b.body)),
    }
    found
}

fn framing(response: &Response) -> String {
    match response.framing() {
        Framing::Neither => "neither",
        Framing::Length => "length",
        Framing::Chunked => "chunked",
    }
    .to_owned()
}

fn names(response: &Response) -> BTreeSet<String> {
    response.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect()
}

/// All values of a header, without what differs between any two answers.
fn values(response: &Response, name: &str) -> String {
    let values = response.all(name);
    match name {
        // Two clocks, read at two times.
        "date" => format!("{} of {} bytes", values.len(), values.concat().len()),
        // Compared as framing. A length that is the body's length says nothing new.
        "transfer-encoding" => String::new(),
        "content-length" if values == [response.body.len().to_string()] => "the body's length".to_owned(),
        _ => values.iter().map(|value| without_sessions(value)).collect::<Vec<_>>().join(" | "),
    }
}

fn shown(body: &[u8]) -> String {
    without_sessions(&body.iter().map(|b| char::from(*b)).collect::<String>())
}

/// Session ids of Tomcat's making, which are 32 digits, are random.
fn without_sessions(text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_digit() || ('A'..='F').contains(&c) {
            digits.push(c);
            continue;
        }
        out.push_str(if digits.len() == 32 { "SESSION" } else { &digits });
        digits.clear();
        out.push(c);
    }
    out.pop();
    out
}

/// What Tomcat saw, if the answer tells.
fn json(outcome: &Outcome) -> Option<Value> {
    let response = outcome.response.as_ref()?;
    let mut value: Value = serde_json::from_slice(&response.body).ok()?;
    if let Some(port) = value.get_mut("remotePort").filter(|port| **port == outcome.port) {
        *port = Value::from("the client's");
    }
    Some(value)
}

fn saw(path: &str, theirs: &Value, ours: &Value, differ: &mut impl FnMut(Place, String, String)) {
    match (theirs, ours) {
        _ if path == "/headers" => saw_headers(theirs, ours, differ),
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let of =
                    |object: &serde_json::Map<String, Value>| object.get(key).cloned().unwrap_or_default();
                saw(&format!("{path}/{key}"), &of(a), &of(b), differ);
            }
        }
        _ => {
            let text = |value: &Value| without_sessions(&value.to_string());
            differ(Place::Saw(path.to_owned()), text(theirs), text(ours));
        }
    }
}

/// As lists: names without regard to case, the values of each in order.
fn saw_headers(theirs: &Value, ours: &Value, differ: &mut impl FnMut(Place, String, String)) {
    let list = |value: &Value| -> Vec<(String, String)> {
        let pairs = value.as_array().cloned().unwrap_or_default();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        pairs.iter().map(|pair| (text(pair.get(0)).to_ascii_lowercase(), text(pair.get(1)))).collect()
    };
    let (theirs, ours) = (list(theirs), list(ours));
    let names: BTreeSet<&String> = theirs.iter().chain(&ours).map(|(name, _)| name).collect();
    for name in names {
        let of = |list: &[(String, String)]| {
            let values: Vec<&str> =
                list.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect();
            values.join(" | ")
        };
        differ(Place::SawHeader(name.clone()), of(&theirs), of(&ours));
    }
}
