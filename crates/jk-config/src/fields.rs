//! One table of a file, read key by key; what nobody asked for is an unknown key.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

use ipnet::IpNet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::key::keys_of;
use crate::name::{GroupName, Route, WorkerName};
use crate::problem::{Place, Problem, Problems, nearest};
use crate::spec::{FailStatus, ReplyTimeout};
use crate::unit::{parse_duration, parse_size};

/// A value with the place where it stands.
#[derive(Debug, Clone)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// The keys of one table, over those of the defaults for its kind.
pub(crate) struct Fields<'a> {
    own: BTreeMap<&'a str, (&'a DeValue<'a>, Place)>,
    defaults: BTreeMap<&'a str, (&'a DeValue<'a>, Place)>,
    pub(crate) place: Place,
}

pub(crate) type Entry<'a> = (&'a str, Range<usize>, &'a Spanned<DeValue<'a>>);

/// A table's entries in the order of the file.
pub(crate) fn entries<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> =
        table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value)).collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    entries
}

impl<'a> Fields<'a> {
    /// Unknown keys are told at once.
    pub(crate) fn new(
        (section, source): (&str, usize),
        table: &'a DeTable<'a>,
        place: Place,
        problems: &mut Problems,
    ) -> Self {
        let mut own = BTreeMap::new();
        for (name, span, value) in entries(table) {
            let at = Place { source, span: value.span() };
            if keys_of(section).any(|key| key.name == name) {
                own.insert(name, (value.get_ref(), at));
            } else {
                problems.push(unknown_key(section, name, Place { source, span }));
            }
        }
        Self { own, defaults: BTreeMap::new(), place }
    }

    /// Keys that this table does not have are taken from `defaults`.
    pub(crate) fn over(mut self, defaults: Option<&Self>) -> Self {
        if let Some(defaults) = defaults {
            self.defaults.clone_from(&defaults.own);
        }
        self
    }

    fn find(&self, name: &str) -> Option<&(&'a DeValue<'a>, Place)> {
        self.own.get(name).or_else(|| self.defaults.get(name))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Those of these keys that are set, in this order: in the table itself or, if it has none of them, in the defaults.
    pub(crate) fn set_of<'k>(&self, names: &[&'k str]) -> Vec<(&'k str, Place)> {
        let of = |keys: &BTreeMap<&str, (&DeValue<'_>, Place)>| -> Vec<(&'k str, Place)> {
            names.iter().filter_map(|name| Some((*name, keys.get(name)?.1.clone()))).collect()
        };
        let own = of(&self.own);
        if own.is_empty() { of(&self.defaults) } else { own }
    }

    /// `read` gives the value, or what was expected.
    fn read<T>(
        &self,
        name: &str,
        problems: &mut Problems,
        read: impl FnOnce(&'a DeValue<'a>) -> Result<T, String>,
    ) -> Option<At<T>> {
        let (value, place) = self.find(name)?;
        match read(value) {
            Ok(value) => Some(At { value, place: place.clone() }),
            Err(expected) => {
                problems.push(Problem::error(
                    place.clone(),
                    format!("{name} cannot have this value"),
                    expected,
                ));
                None
            }
        }
    }

    pub(crate) fn text(&self, name: &str, problems: &mut Problems) -> Option<At<String>> {
        self.read(name, problems, |value| text(value).map(str::to_owned))
    }

    /// As [`Self::text`], for what no message may show.
    pub(crate) fn hidden_text(&self, name: &str, problems: &mut Problems) -> Option<At<String>> {
        self.read(name, problems, |value| {
            value.as_str().map(str::to_owned).ok_or_else(|| "expected text in quotes".to_owned())
        })
    }

    pub(crate) fn flag(&self, name: &str, default: bool, problems: &mut Problems) -> bool {
        let read = self.read(name, problems, |value| {
            value.as_bool().ok_or_else(|| format!("expected true or false, found {}", shown(value)))
        });
        read.map_or(default, |at| at.value)
    }

    /// Zero is refused unless `zero` says what it means.
    pub(crate) fn duration(
        &self,
        name: &str,
        default: Duration,
        zero: Zero,
        problems: &mut Problems,
    ) -> Duration {
        self.read(name, problems, |value| duration(value, zero)).map_or(default, |at| at.value)
    }

    pub(crate) fn maybe_duration(&self, name: &str, problems: &mut Problems) -> Option<Duration> {
        self.read(name, problems, |value| duration(value, Zero::Refused)).map(|at| at.value)
    }

    pub(crate) fn or_never(&self, name: &str, problems: &mut Problems) -> Option<ReplyTimeout> {
        let read = self.read(name, problems, |value| match value.as_str() {
            Some("never") => Ok(ReplyTimeout::Never),
            _ => duration(value, Zero::Refused).map(ReplyTimeout::After),
        });
        read.map(|at| at.value)
    }

    pub(crate) fn size(
        &self,
        name: &str,
        range: Range<usize>,
        default: usize,
        problems: &mut Problems,
    ) -> usize {
        let read = self.read(name, problems, |value| {
            let size = match value.as_integer() {
                Some(number) => return Err(parse_size(number.as_str()).err().unwrap_or_default()),
                None => parse_size(text(value)?)?,
            };
            if range.contains(&size) {
                return Ok(size);
            }
            let (low, high) = (crate::unit::show_size(range.start), crate::unit::show_size(range.end - 1));
            Err(format!("expected {low} to {high}"))
        });
        read.map_or(default, |at| at.value)
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "only numbers have a range")]
    pub(crate) fn maybe_number(&self, section: &str, name: &str, problems: &mut Problems) -> Option<u32> {
        let range = keys_of(section).find(|key| key.name == name).and_then(|key| match key.kind {
            crate::key::Kind::Number { min, max } => Some((min, max)),
            _ => None,
        });
        let (min, max) = range.unwrap_or((0, u64::from(u32::MAX)));
        let read = self.read(name, problems, |value| {
            let number = integer(value)?;
            u64::try_from(number)
                .ok()
                .filter(|number| (min..=max).contains(number))
                .and_then(|number| u32::try_from(number).ok())
                .ok_or_else(|| format!("expected {min} to {max}, found {number}"))
        });
        read.map(|at| at.value)
    }

    pub(crate) fn number(&self, section: &str, name: &str, default: u32, problems: &mut Problems) -> u32 {
        self.maybe_number(section, name, problems).unwrap_or(default)
    }

    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        self.read(name, problems, |value| choose(text(value)?, choices)).map(|at| at.value)
    }

    /// One text, or a list of texts.
    pub(crate) fn texts(&self, name: &str, problems: &mut Problems) -> Vec<At<String>> {
        let Some((value, place)) = self.find(name) else { return Vec::new() };
        let Some(list) = value.as_array() else {
            return self.text(name, problems).into_iter().collect();
        };
        let mut texts = Vec::new();
        for item in list.iter() {
            let at = Place { source: place.source, span: item.span() };
            match text(item.get_ref()) {
                Ok(text) => texts.push(At { value: text.to_owned(), place: at }),
                Err(expected) => {
                    problems.push(Problem::error(at, format!("{name} cannot have this value"), expected));
                }
            }
        }
        texts
    }

    pub(crate) fn parsed<T>(
        &self,
        name: &str,
        problems: &mut Problems,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<At<T>> {
        let mut parsed = Vec::new();
        for At { value, place } in self.texts(name, problems) {
            match parse(&value) {
                Ok(value) => parsed.push(At { value, place }),
                Err(expected) => {
                    problems.push(Problem::error(place, format!("{name} cannot have this value"), expected));
                }
            }
        }
        parsed
    }

    pub(crate) fn networks(&self, name: &str, default: &[&str], problems: &mut Problems) -> Vec<IpNet> {
        if !self.has(name) {
            return default.iter().filter_map(|net| net.parse().ok()).collect();
        }
        let parsed = self.parsed(name, problems, |text| {
            let address = text.parse::<std::net::IpAddr>().map(IpNet::from);
            text.parse::<IpNet>().or(address).map_err(|_| {
                format!("\"{text}\" is no network such as \"10.0.0.0/8\", \"192.0.2.7\" or \"2001:db8::/32\"")
            })
        });
        parsed.into_iter().map(|at| at.value).collect()
    }

    /// Numbers, negative ones too.
    pub(crate) fn statuses(&self, name: &str, problems: &mut Problems) -> Option<Vec<FailStatus>> {
        let (value, place) = self.find(name)?;
        let items: Vec<(&DeValue<'_>, Place)> = match value.as_array() {
            Some(list) => list
                .iter()
                .map(|item| (item.get_ref(), Place { source: place.source, span: item.span() }))
                .collect(),
            None => vec![(*value, place.clone())],
        };
        let mut statuses = Vec::new();
        for (item, place) in items {
            let status = integer(item).and_then(|number| {
                u16::try_from(number.unsigned_abs())
                    .ok()
                    .filter(|code| (100..=999).contains(code))
                    .map(|code| FailStatus { code, soft: number < 0 })
                    .ok_or_else(|| format!("{number} is no HTTP status"))
            });
            match status {
                Ok(status) => statuses.push(status),
                Err(expected) => {
                    problems.push(Problem::error(place, format!("{name} cannot have this value"), expected));
                }
            }
        }
        Some(statuses)
    }

    /// A table under this one.
    pub(crate) fn table(
        &self,
        (name, section): (&str, &str),
        problems: &mut Problems,
    ) -> Option<(&'a DeTable<'a>, Place)> {
        let (value, place) = self.find(name)?;
        if let Some(table) = value.as_table() {
            return Some((table, place.clone()));
        }
        let words: Vec<&str> = keys_of(section).map(|key| key.name).collect();
        problems.push(Problem::error(
            place.clone(),
            format!("{name} cannot have this value"),
            format!(
                "expected a table such as {{ {} = … }}, found {}",
                words.first().unwrap_or(&"…"),
                shown(value)
            ),
        ));
        None
    }
}

/// What a duration of zero means for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zero {
    Refused,
    Allowed,
}

pub(crate) fn unknown_key(section: &str, name: &str, place: Place) -> Problem {
    let known: Vec<&str> = keys_of(section).map(|key| key.name).collect();
    let label = match nearest(name, known.iter().copied()) {
        Some(word) => format!("did you mean \"{word}\"?"),
        None => "nothing of this name is known here".to_owned(),
    };
    let problem = Problem::error(place, format!("unknown key \"{name}\""), label);
    let hint = match name {
        "lb_factor" => Some("JK2's lb_factor means the opposite: there, less was more. Write lbfactor, where twice the number gets twice the requests.".to_owned()),
        "host" | "port" if section == "ajp13" => Some("Write both as one: address = \"host:port\".".to_owned()),
        "include" => Some("It belongs above the first [section] of its file.".to_owned()),
        "max_busy_limit" => Some("The key is busy_limit.".to_owned()),
        _ => None,
    };
    let known = format!("Known here: {}.", known.join(", "));
    problem.help(hint.unwrap_or(known))
}

pub(crate) fn text<'a>(value: &'a DeValue<'_>) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("expected text in quotes, found {}", shown(value)))
}

fn integer(value: &DeValue<'_>) -> Result<i64, String> {
    let number =
        value.as_integer().ok_or_else(|| format!("expected a whole number, found {}", shown(value)))?;
    i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
        .map_err(|_| "the number is too large".to_owned())
}

fn duration(value: &DeValue<'_>, zero: Zero) -> Result<Duration, String> {
    if let Some(number) = value.as_integer() {
        return Err(parse_duration(number.as_str()).err().unwrap_or_default());
    }
    let parsed = parse_duration(text(value)?)?;
    if parsed.is_zero() && zero == Zero::Refused {
        return Err("expected more than zero".to_owned());
    }
    Ok(parsed)
}

fn choose<T: Copy>(word: &str, choices: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == word) {
        return Ok(*choice);
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let guess = nearest(word, names.iter().copied()).map(|word| format!("; did you mean \"{word}\"?"));
    Err(format!("expected one of \"{}\"{}", names.join("\", \""), guess.unwrap_or_default()))
}

pub(crate) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

const NAME_RULE: &str =
    "a name has 1 to 63 printable ASCII characters, without blanks, quotes and any of ; , < > & /";

pub(crate) fn worker_name(text: &str) -> Result<WorkerName, String> {
    WorkerName::new(text).ok_or_else(|| NAME_RULE.to_owned())
}

pub(crate) fn group_name(text: &str) -> Result<GroupName, String> {
    GroupName::new(text).ok_or_else(|| NAME_RULE.to_owned())
}

pub(crate) fn route(text: &str) -> Result<Route, String> {
    Route::new(text).ok_or_else(|| NAME_RULE.replace("a name", "a route"))
}

pub(crate) fn listen_address(text: &str) -> Result<crate::spec::ListenAddress, String> {
    use crate::spec::ListenAddress;
    if let Some(path) = text.strip_prefix("unix:") {
        return if path.is_empty() {
            Err("expected a path after \"unix:\"".to_owned())
        } else {
            Ok(ListenAddress::Unix(path.into()))
        };
    }
    if let Some(port) = text.strip_prefix("*:") {
        return Err(format!(
            "write \"0.0.0.0:{port}\" for every IPv4 address, \"[::]:{port}\" for every IPv6 one"
        ));
    }
    text.parse::<SocketAddr>()
        .map(ListenAddress::Tcp)
        .map_err(|_| format!("\"{text}\" is no address such as \"0.0.0.0:8080\", \"[::1]:8080\" or \"unix:/run/jkgate/http.sock\""))
}

/// A worker's address as the file may give it: `HOST`, `HOST:PORT`, `[IPv6]:PORT` or `unix:PATH`; else what was expected.
pub fn worker_address(text: &str) -> Result<crate::spec::WorkerAddress, String> {
    use crate::spec::WorkerAddress;
    let expected = || {
        format!(
            "\"{text}\" is no address such as \"127.0.0.1:8009\", \"[::1]:8009\", \"tomcat.example.test:8009\" or \"unix:/run/tomcat/ajp.sock\""
        )
    };
    if let Some(path) = text.strip_prefix("unix:") {
        return if path.is_empty() {
            Err("expected a path after \"unix:\"".to_owned())
        } else {
            Ok(WorkerAddress::Unix(path.into()))
        };
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or_else(expected)?;
            host.parse::<std::net::Ipv6Addr>().map_err(|_| expected())?;
            (host, port.strip_prefix(':').or_else(|| port.is_empty().then_some("8009")).ok_or_else(expected)?)
        }
        None => text.rsplit_once(':').unwrap_or((text, "8009")),
    };
    let is_name =
        |host: &str| host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
    if host.is_empty() || (!text.starts_with('[') && !is_name(host)) {
        return Err(expected());
    }
    match port.parse::<u16>() {
        Ok(port) if port > 0 => Ok(WorkerAddress::Tcp { host: host.to_ascii_lowercase(), port }),
        _ => Err(format!("\"{port}\" is no port: 1 to 65535")),
    }
}
