//! mod_jk's query interface: a query string, decoded (`status_parse_uri`), its command, its form, and whom it is about (`check_worker`).

use std::collections::BTreeMap;

use crate::jk2;
use crate::view::StatusView;

/// A query, decoded.
#[derive(Debug, Clone, Default)]
pub struct Request {
    params: BTreeMap<String, String>,
    bad_escape: bool,
    /// What mod_jk2's status page would have been asked for.
    jk2: Option<jk2::Query>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cmd {
    List,
    Show,
    Edit,
    Update,
    Reset,
    Recover,
    Version,
    Dump,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mime {
    Html,
    Xml,
    Txt,
    Prop,
    Json,
    Prometheus,
    Toml,
    Text,
    Nagios,
}

impl Request {
    /// Reads a query string. The last of equal names counts, a parameter without `=` does not, and names are not decoded: all as in mod_jk.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut request = Self { jk2: jk2::Query::parse(query), ..Self::default() };
        for pair in query.split('&') {
            let Some((name, value)) = pair.split_once('=') else { continue };
            match decode(value) {
                Some(value) => {
                    request.params.insert(name.to_owned(), value);
                }
                None => request.bad_escape = true,
            }
        }
        if request.jk2 == Some(jk2::Query::Reload) {
            request.params.insert("do".to_owned(), "reload".to_owned());
        }
        request
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(String::as_str)
    }

    /// All parameters, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.params.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// C's `atoi` of a value; 0 without one.
    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        self.get(name).map_or(0, atoi)
    }

    /// Err: the message of mod_jk's result.
    pub fn cmd(&self) -> Result<Cmd, &'static str> {
        if let Some(cmd) = self.jk2.as_ref().and_then(jk2::Query::cmd) {
            return Ok(cmd);
        }
        if self.bad_escape {
            return Err("Error during parsing of URI");
        }
        match self.get("cmd").unwrap_or("list") {
            "list" => Ok(Cmd::List),
            "show" => Ok(Cmd::Show),
            "edit" => Ok(Cmd::Edit),
            "update" => Ok(Cmd::Update),
            "reset" => Ok(Cmd::Reset),
            "recover" => Ok(Cmd::Recover),
            "version" => Ok(Cmd::Version),
            "dump" => Ok(Cmd::Dump),
            _ => Err("Invalid command."),
        }
    }

    /// Err: the message of mod_jk's result, told in property form. The command is looked at first, so its fault is the one that is told.
    pub fn mime(&self) -> Result<Mime, &'static str> {
        if let Some(mime) = self.jk2.as_ref().and_then(jk2::Query::mime) {
            return Ok(mime);
        }
        match self.get("mime").unwrap_or("html") {
            "html" => Ok(Mime::Html),
            "xml" => Ok(Mime::Xml),
            "txt" => Ok(Mime::Txt),
            "prop" => Ok(Mime::Prop),
            "json" => Ok(Mime::Json),
            "prometheus" => Ok(Mime::Prometheus),
            "toml" => Ok(Mime::Toml),
            "text" => Ok(Mime::Text),
            "nagios" => Ok(Mime::Nagios),
            _ => Err(self.cmd().err().unwrap_or("Invalid mime type.")),
        }
    }

    /// Worker and sub worker of a command that needs them. Err: the message of mod_jk's result.
    pub fn target(&self, view: &StatusView, cmd: Cmd) -> Result<(String, Option<String>), &'static str> {
        let (w, sw) = self.old_target(view, cmd).unwrap_or((self.get("w"), self.get("sw")));
        let w = w.filter(|w| !w.is_empty()).ok_or("NULL or EMPTY worker param")?;
        if sw == Some("") {
            return Err("EMPTY sub worker param");
        }
        let is_pattern = sw.is_some_and(|sw| sw.contains(['*', '?']));
        if sw.is_some_and(|sw| sw.contains('*')) && cmd != Cmd::Update {
            return Err("wildcard not allowed in sub worker for this command");
        }
        if let Some(group) = view.groups.iter().find(|group| group.name == w) {
            let names = || group.members.iter().map(|member| member.ajp.name.as_str());
            let found = match sw {
                None => true,
                Some(sw) if is_pattern && cmd == Cmd::Update => {
                    names().any(|name| matches_wildcard(sw, name))
                }
                Some(sw) => names().any(|name| name == sw),
            };
            return if found {
                Ok((w.to_owned(), sw.map(str::to_owned)))
            } else {
                Err("could not find sub worker")
            };
        }
        if !view.workers.iter().any(|worker| worker.ajp.name == w) {
            return Err("Could not find given worker");
        }
        if sw.is_some() { Err("worker type has no sub workers") } else { Ok((w.to_owned(), None)) }
    }

    /// Tomcat's old Ant task names the member `w` and its group `l`.
    fn old_target(&self, view: &StatusView, cmd: Cmd) -> Option<(Option<&str>, Option<&str>)> {
        let (w, l) = (self.get("w")?, self.get("l")?);
        let is_group = view.groups.iter().any(|group| group.name == l);
        (cmd == Cmd::Update && is_group && self.get("sw").is_none()).then_some((Some(l), Some(w)))
    }

    /// A text query of mod_jk2, if this is one.
    pub(crate) fn jk2(&self) -> Option<&jk2::Query> {
        self.jk2.as_ref()
    }
}

impl Cmd {
    /// Whether it is for those only who may write; `Edit` shows a form.
    #[must_use]
    pub fn changes_something(self) -> bool {
        matches!(self, Self::Edit | Self::Update | Self::Reset | Self::Recover)
    }
}

/// `*` is any text, `?` any byte. Linear but for the last `*`, so that no pattern takes long.
pub(crate) fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star: the pattern behind it, and the text it has not swallowed yet.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(wanted) if *wanted == b'?' || wanted == byte => {
                p += 1;
                t += 1;
            }
            Some(_) | None => {
                let Some((after, swallowed)) = star else { return false };
                star = Some((after, swallowed + 1));
                p = after;
                t = swallowed + 1;
            }
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// C's: a sign and leading digits, else 0.
pub(crate) fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number = digits.get(..end).unwrap_or_default();
    if number.is_empty() { 0 } else { sign * number.parse::<i64>().unwrap_or(i64::MAX) }
}

/// Percent escapes; a plus stays a plus. `None`: a bad escape, or a NUL.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let value = u8::try_from(digit()? << 4 | digit()?).ok()?;
            if value == 0 {
                return None;
            }
            out.push(value);
        } else {
            out.push(byte);
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("n*", "n1", true),
            ("n?", "n1", true),
            ("n?", "n", false),
            ("*1", "n1", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("", "", true),
            ("", "a", false),
            ("**a", "ba", true),
        ] {
            assert_eq!(matches_wildcard(pattern, text), expected, "{pattern} {text}");
        }
        let long = "a".repeat(50_000);
        assert!(!matches_wildcard(&"*a".repeat(50), &format!("{long}b")));
    }

    #[test]
    fn queries() {
        let request =
            Request::parse("cmd=show&w=a+b%20c&w=d%2Be&novalue&=x&re=-3x&n=%C3%BC&r=99999999999999999999");
        assert_eq!(request.get("w"), Some("d+e"));
        assert_eq!(request.get("novalue"), None);
        assert_eq!(request.number("re"), -3);
        assert_eq!(request.get("n"), Some("ü"));
        assert_eq!(request.number("r"), i64::MAX);
        for bad in ["w=%", "w=%4", "w=%zz", "w=%+1", "w=%00", "w=%ü"] {
            assert_eq!(Request::parse(bad).cmd(), Err("Error during parsing of URI"), "{bad}");
        }
        assert_eq!(Request::parse("x%zz=1").cmd(), Ok(Cmd::List));
        assert_eq!(Request::parse("cmd=nope&mime=nope").mime(), Err("Invalid command."));
    }
}
