//! Which differences are meant: each has an id, which is a row of `docs/differences.md`, and a condition as narrow as its reason.

use test_support::http::Response;

use crate::compare::{Difference, Outcome, Place};
use crate::fronts::Front;
use crate::scenarios::Scenario;

/// One difference in its surroundings.
pub(crate) struct Case<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) difference: &'a Difference,
    pub(crate) theirs: &'a Outcome,
    pub(crate) ours: &'a Outcome,
}

/// The id of a row; `None`: not meant.
pub(crate) fn id(case: &Case<'_>) -> Option<&'static str> {
    match &case.difference.place {
        Place::Status => status(case),
        Place::Reason => reason(case),
        Place::Kept | Place::Complete | Place::Body => connection(case).or_else(|| own_page(case)),
        Place::Header(name) => header(case, name).or_else(|| own_page(case)),
        Place::Saw(path) => saw(case, path),
        Place::SawHeader(name) => saw_header(case, name),
        Place::Framing => framing(case),
        Place::Answer | Place::Interim => None,
    }
}

impl Case<'_> {
    fn theirs(&self) -> &str {
        &self.difference.theirs
    }

    fn ours(&self) -> &str {
        &self.difference.ours
    }

    fn status(&self) -> u16 {
        self.ours.response.as_ref().map_or(0, |response| response.status)
    }

    fn is_to(&self, front: Front) -> bool {
        self.asked("Host").first().is_some_and(|host| host == front.host())
    }

    /// The client's values of a header.
    fn asked(&self, name: &str) -> Vec<String> {
        let of_name =
            self.scenario.request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.iter().map(|b| char::from(*b)).collect()).collect()
    }

    fn target(&self) -> String {
        self.scenario.request.target.to_ascii_lowercase()
    }

    /// The target's path without path parameters, and these.
    fn path_and_parameters(&self) -> (String, String) {
        let target = self.target();
        let (mut path, mut parameters) = (String::new(), String::new());
        let mut inside = false;
        for c in target.split('?').next().unwrap_or_default().chars() {
            inside = c == ';' || (inside && c != '/');
            if inside { &mut parameters } else { &mut path }.push(c);
        }
        (path, parameters)
    }
}

/// Only one of the two let the request through, or answered by itself.
fn status(case: &Case<'_>) -> Option<&'static str> {
    let target = case.target();
    let (path, parameters) = case.path_and_parameters();
    let request = &case.scenario.request;
    match (case.theirs(), case.ours()) {
        ("404", "400") if path.contains("%2f") || path.contains("%00") => Some("D-ESCAPED-SLASH"),
        ("200", "400") if target.contains(['\\']) => Some("D-ESCAPED-SLASH"),
        ("404", "200") if parameters.contains("%2f") => Some("D-PARAMETERS"),
        ("200", "400") if target.contains(['|', '^', '`', '"', '<', '>']) => Some("D-RAW-BYTES"),
        ("400", "200") if target.contains('#') => Some("D-FRAGMENT"),
        ("400", "200") if case.asked("Host") == [""] => Some("D-EMPTY-HOST"),
        ("413", "431") => Some("D-HEAD-SIZE"),
        ("500", "431") if request.headers.len() >= 100 => Some("D-MANY-HEADERS"),
        ("206", "200") if !case.asked("Range").is_empty() => Some("D-RANGE"),
        ("200", "405") if request.method == "TRACE" => Some("D-TRACE"),
        ("417", "200") if !case.asked("Expect").is_empty() => Some("D-EXPECT"),
        // A path that leads out of what is mapped: httpd looks at the method before it looks for a file.
        ("405" | "501", "404") if is_httpds(case) => Some("D-OWN-PAGES"),
        // Tomcat takes what is left of a handshake for a plain request.
        ("500", "404") if !case.asked("Upgrade").is_empty() => Some("D-HOP-BY-HOP"),
        _ => None,
    }
}

/// Tomcat announced no length: each front finds it out by itself, or not, as the packets come.
fn framing(case: &Case<'_>) -> Option<&'static str> {
    let body = |outcome: &Outcome| outcome.response.as_ref().map(|response| response.body.clone());
    let ways = ["length", "chunked"];
    (ways.contains(&case.theirs()) && ways.contains(&case.ours()) && body(case.theirs) == body(case.ours))
        .then_some("D-LENGTH")
}

fn reason(case: &Case<'_>) -> Option<&'static str> {
    let is_number = case.theirs().len() == 3 && case.theirs().bytes().all(|b| b.is_ascii_digit());
    (is_number && !case.ours().bytes().any(|b| b.is_ascii_digit())).then_some("D-REASON")
}

/// When a connection ends, and with what in it.
fn connection(case: &Case<'_>) -> Option<&'static str> {
    let breaks_off = case.is_to(Front::Reply) && case.target().starts_with("/echo/abort");
    let ours_breaks_off = case.ours.response.as_ref().is_some_and(|response| !response.complete);
    if breaks_off && ours_breaks_off {
        return Some("D-BREAK-OFF");
    }
    match (case.difference.place == Place::Kept, case.theirs(), case.ours()) {
        (true, "false", "true") => closed_by_status(case),
        // Whether the rest has come by then is a matter of time.
        (true, "true", "false") => {
            let has_body = !case.scenario.request.body.whole().is_empty();
            (has_body && case.target().starts_with("/echo/ignore-body")).then_some("D-UNREAD-BODY")
        }
        _ => None,
    }
}

/// httpd ends the connection after these, whatever the application meant by them.
fn closed_by_status(case: &Case<'_>) -> Option<&'static str> {
    matches!(case.status(), 400 | 408 | 411 | 413 | 414 | 500 | 501 | 503).then_some("D-KEPT")
}

/// The whole answer is the gateway's own, on both sides or on ours.
fn own_page(case: &Case<'_>) -> Option<&'static str> {
    let ours = text(case.ours);
    let is_ours = case.status() >= 400 && (ours.contains("<small>Request ") || ours.is_empty());
    if let Place::Header(name) = &case.difference.place
        && !matches!(
            name.as_str(),
            "content-type" | "cache-control" | "content-length" | "content-language" | "retry-after"
        )
    {
        return None;
    }
    let path = case.path_and_parameters().0;
    if is_ours && is_httpds(case) {
        return Some("D-OWN-PAGES");
    }
    // Tomcat's own page, of a request that did not come to it here.
    (is_ours && (path.contains("%5c") || path.contains('\\'))).then_some("D-ESCAPED-SLASH")
}

fn text(outcome: &Outcome) -> String {
    outcome.response.as_ref().map(Response::text).unwrap_or_default()
}

fn is_httpds(case: &Case<'_>) -> bool {
    text(case.theirs).starts_with("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01")
}

fn header(case: &Case<'_>, name: &str) -> Option<&'static str> {
    let request = &case.scenario.request;
    match (name, case.theirs(), case.ours()) {
        ("server", "Apache", "") => Some("D-SERVER"),
        ("connection", "close", "") if request.version == "HTTP/1.0" => Some("D-CONNECTION"),
        ("connection", "close", "") => closed_by_status(case),
        ("connection", "Keep-Alive", "" | "keep-alive") => Some("D-CONNECTION"),
        ("keep-alive", _, "") => Some("D-CONNECTION"),
        ("content-type", "", _) if matches!(case.status(), 204 | 304) => Some("D-NO-BODY-TYPE"),
        ("content-length", "the body's length", "") | ("content-length", "", "the body's length") => {
            Some("D-LENGTH")
        }
        ("allow", "", _) if request.target == "*" => Some("D-ASTERISK"),
        // The length of what Tomcat saw, which differs where a row below says so, or rather of the text about it.
        ("content-length", _, _) if request.method == "HEAD" && case.target().starts_with("/echo/dump") => {
            if is_repeated(case) {
                Some("D-JOINED")
            } else {
                escapes(case)
            }
        }
        _ => None,
    }
}

fn is_repeated(case: &Case<'_>) -> bool {
    let headers = &case.scenario.request.headers;
    headers.iter().any(|(name, _)| case.asked(name).len() > 1)
}

/// A field of what Tomcat saw.
fn saw(case: &Case<'_>, path: &str) -> Option<&'static str> {
    let request = &case.scenario.request;
    match path {
        "/body/reads" => {
            let number = |text: &str| text.parse::<u32>().unwrap_or(0);
            (0 < number(case.theirs()) && 0 < number(case.ours())).then_some("D-PACKETS")
        }
        "/contentType" if case.asked("Content-Type").len() > 1 => Some("D-JOINED"),
        "/cookies" if case.asked("Cookie").len() > 1 && case.theirs() == "[]" => Some("D-COOKIES"),
        "/requestURI" | "/requestURL" if is_same_but_for_escapes(case.theirs(), case.ours()) => escapes(case),
        "/pathInfo" | "/session/requestedId" | "/session/requestedIdSource" => escapes(case),
        "/serverName" | "/localName" | "/requestURL" if case.asked("Host").is_empty() => {
            (request.version == "HTTP/1.0" && case.ours().contains("127.0.0.1")).then_some("D-NO-HOST")
        }
        _ => None,
    }
}

/// Escapes that mod_jk undoes or makes.
fn escapes(case: &Case<'_>) -> Option<&'static str> {
    let (path, parameters) = case.path_and_parameters();
    if case.is_to(Front::Escaped) && (path.contains("%2f") || parameters.contains("%2f")) {
        return Some("D-ESCAPED-SLASH");
    }
    if RESERVED.iter().any(|escape| path.contains(escape)) {
        return Some("D-RESERVED");
    }
    parameters.contains('%').then_some("D-PARAMETERS")
}

const RESERVED: &[&str] =
    &["%21", "%24", "%26", "%27", "%28", "%29", "%2a", "%2b", "%2c", "%3a", "%3b", "%3d", "%40"];

/// Once or twice unescaped, both say the same.
fn is_same_but_for_escapes(theirs: &str, ours: &str) -> bool {
    let unescape = |text: &str| {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('%') {
            out.push_str(before);
            let (digits, after) = behind.split_at_checked(2).unwrap_or(("", behind));
            match u8::from_str_radix(digits, 16) {
                Ok(byte) => {
                    out.push(char::from(byte));
                    rest = after;
                }
                Err(_) => {
                    out.push('%');
                    rest = behind;
                }
            }
        }
        out + rest
    };
    let (once, twice) = (unescape(theirs), unescape(&unescape(theirs)));
    let ours = unescape(ours);
    ours == once || unescape(&ours) == twice
}

fn saw_header(case: &Case<'_>, name: &str) -> Option<&'static str> {
    let asked = case.asked(name);
    let (theirs, ours) = (case.theirs(), case.ours());
    match name {
        "connection" | "keep-alive" | "proxy-connection" | "te" | "upgrade" | "trailer"
            if ours.is_empty() =>
        {
            Some("D-HOP-BY-HOP")
        }
        _ if ours.is_empty() && case.asked("Connection").concat().to_ascii_lowercase().contains(name) => {
            Some("D-HOP-BY-HOP")
        }
        "cookie" if theirs == asked.join(", ") && ours == asked.join("; ") => Some("D-COOKIES"),
        // Tomcat itself shows the last of several in place of the first.
        "content-type" if theirs == asked.join(", ") && asked.len() > 1 => Some("D-JOINED"),
        _ if theirs == asked.join(", ") && ours == asked.join(" | ") => Some("D-JOINED"),
        _ => None,
    }
}
