//! Numbers, times and states as people read them.

use std::fmt::Write as _;

use crate::view::{Activation, Member};

pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

pub(crate) fn latency(micros: Option<u64>) -> String {
    match micros {
        None => "–".to_owned(),
        Some(micros) if micros < 10_000 => format!("{}.{} ms", micros / 1000, micros / 100 % 10),
        Some(micros) if micros < 10_000_000 => format!("{} ms", micros / 1000),
        Some(micros) => format!("{} s", micros / 1_000_000),
    }
}

/// The three percentiles; a unit that they share stands once.
pub(crate) fn latencies(p50: Option<u64>, p90: Option<u64>, p99: Option<u64>) -> String {
    if (p50, p90, p99) == (None, None, None) {
        return latency(None);
    }
    let all = [latency(p50), latency(p90), latency(p99)];
    let in_ms: Option<Vec<&str>> = all.iter().map(|text| text.strip_suffix(" ms")).collect();
    in_ms.map_or_else(|| all.join(" · "), |numbers| format!("{} ms", numbers.join(" · ")))
}

/// Three digits that count, in powers of ten.
pub(crate) fn size(bytes: u64) -> String {
    let (mut tenths, mut unit) = (u128::from(bytes) * 10, 0);
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    while tenths >= 10_000 {
        tenths /= 1000;
        unit += 1;
    }
    let unit = ["B", "kB", "MB", "GB", "TB", "PB", "EB"].get(unit).copied().unwrap_or_default();
    if tenths < 100 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

/// Digits in groups of three, with narrow blanks that do not break.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 * 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// How often a second, on average over a time.
pub(crate) fn rate(count: u64, seconds: u64) -> String {
    let tenths = count.saturating_mul(10) / seconds.max(1);
    if tenths >= 100 {
        format!("{}/s", grouped(tenths / 10))
    } else {
        format!("{}.{}/s", tenths / 10, tenths % 10)
    }
}

/// "1 member", "2 members".
pub(crate) fn counted(count: usize, word: &str) -> String {
    format!(
        "{} {word}{}",
        grouped(u64::try_from(count).unwrap_or(u64::MAX)),
        if count == 1 { "" } else { "s" }
    )
}

/// A state's class, by which it gets its colour: the third sign next to shape and word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    Ok,
    Off,
    Warn,
    Bad,
}

impl Tone {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }

    fn shape(self) -> char {
        match self {
            Self::Ok => '●',
            Self::Off => '○',
            Self::Warn => '◐',
            Self::Bad => '▲',
        }
    }

    pub(crate) fn with(self, words: &str) -> String {
        format!("{} {words}", self.shape())
    }
}

/// What a member is, in one or two words.
pub(crate) fn is(member: &Member) -> (Tone, &'static str) {
    match (member.state, member.activation) {
        ("ERR", _) => (Tone::Bad, "in error"),
        ("ERR/FRC", _) => (Tone::Bad, "tried, as all are in error"),
        (_, Activation::Stopped) => (Tone::Off, "stopped"),
        ("ERR/REC", _) => (Tone::Warn, "to be tried again"),
        ("ERR/PRB", _) => (Tone::Warn, "being tried"),
        ("OK/BUSY", _) => (Tone::Warn, "full"),
        (_, Activation::Disabled) if member.sessions_lately == 0 && member.ajp.busy == 0 => {
            (Tone::Off, "drained")
        }
        (_, Activation::Disabled) => (Tone::Warn, "draining"),
        ("OK/IDLE", _) => (Tone::Ok, "OK, idle"),
        _ => (Tone::Ok, "OK"),
    }
}

/// For a query string.
pub(crate) fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(grouped(9999), "9999");
        assert_eq!(grouped(10_000), "10\u{202f}000");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(rate(5, 0), "5.0/s");
        assert_eq!(rate(1234, 10), "123/s");
        assert_eq!(rate(u64::MAX, 1), format!("{}/s", grouped(u64::MAX / 10)));
        assert_eq!(latencies(Some(11_000), Some(45_000), Some(221_000)), "11 · 45 · 221 ms");
        assert_eq!(latencies(Some(900), Some(45_000), Some(12_000_000)), "0.9 ms · 45 ms · 12 s");
        assert_eq!(latencies(None, None, None), "–");
        for (bytes, text) in [
            (999, "999 B"),
            (1000, "1.0 kB"),
            (51_230_441, "51 MB"),
            (1_840_112_040, "1.8 GB"),
            (999_999, "999 kB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(counted(1, "member"), "1 member");
        assert_eq!(counted(0, "member"), "0 members");
    }

    #[test]
    fn every_state_has_a_shape_and_a_word() {
        for state in ["OK", "OK/IDLE", "OK/BUSY", "ERR", "ERR/REC", "ERR/PRB", "ERR/FRC"] {
            for activation in [Activation::Active, Activation::Disabled, Activation::Stopped] {
                let (tone, word) = is(&Member { state, activation, ..Member::default() });
                assert!(!word.is_empty());
                assert_eq!(tone == Tone::Bad, matches!(state, "ERR" | "ERR/FRC"), "{state}");
            }
        }
    }
}
