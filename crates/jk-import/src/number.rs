//! Numbers, switches and lists as the C programs read them, and durations as workers.toml writes them.

use std::time::Duration;

/// C's `atoi`: leading digits, else 0. Too large: the largest.
pub(crate) fn atoi(text: &str) -> i64 {
    leading(text).map_or(0, |(number, _)| number)
}

/// mod_jk's integers (`jk_map_get_int`): decimal with K or M behind, else the default. Trailing rubbish is ignored.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (number, rest) = leading(text)?;
    let factor = match rest.chars().next() {
        Some('k' | 'K') => 1024,
        Some('m' | 'M') => 1024 * 1024,
        _ => 1,
    };
    let number = number.checked_mul(factor)?;
    i32::try_from(number).ok().map(i64::from)
}

fn leading(text: &str) -> Option<(i64, &str)> {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (number, rest) = digits.split_at_checked(end)?;
    if number.is_empty() {
        return None;
    }
    Some((sign * number.parse::<i64>().unwrap_or(i64::MAX), rest))
}

/// Nothing but digits, with a sign perhaps.
pub(crate) fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// mod_jk's switches (`jk_get_bool_code`): by the first letter or word; anything else is the default.
pub(crate) fn switch(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    match text.chars().next() {
        Some('f' | 'n' | '0') => Some(false),
        Some('t' | 'y' | '1') => Some(true),
        Some('o') if text == "off" => Some(false),
        Some('o') if text == "on" => Some(true),
        _ => None,
    }
}

/// Items separated by blanks, tabs or commas.
pub(crate) fn items(text: &str) -> Vec<String> {
    text.split([' ', '\t', ',']).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// In the largest unit that says it whole, in quotes; ten years at most, which is what workers.toml takes.
pub(crate) fn seconds(number: i64) -> String {
    millis(number.saturating_mul(1000))
}

/// As [`seconds`], of milliseconds.
pub(crate) fn millis(number: i64) -> String {
    let number = u64::try_from(number).unwrap_or(0).min(TEN_YEARS);
    format!("\"{}\"", jk_config::show_duration(Duration::from_millis(number)))
}

const TEN_YEARS: u64 = 10 * 365 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_does() {
        for (text, number) in
            [("12", 12), ("-3", -3), ("10s", 10), ("fast", 0), ("", 0), (" 7", 7), ("+5", 5)]
        {
            assert_eq!(atoi(text), number, "{text}");
        }
        for (text, number) in
            [("8k", Some(8192)), ("1M", Some(1 << 20)), ("10s", Some(10)), ("x", None), ("99999999999", None)]
        {
            assert_eq!(integer(text), number, "{text}");
        }
    }

    #[test]
    fn switches_go_by_the_first_letter() {
        for (text, flag) in [
            ("1", Some(true)),
            ("True", Some(true)),
            ("yes", Some(true)),
            ("on", Some(true)),
            ("ON", Some(true)),
            ("0", Some(false)),
            ("false", Some(false)),
            ("no", Some(false)),
            ("off", Some(false)),
            ("2", None),
            ("enabled", None),
            ("", None),
        ] {
            assert_eq!(switch(text), flag, "{text}");
        }
    }

    #[test]
    fn durations_get_the_largest_unit() {
        assert_eq!(seconds(90), "\"90s\"");
        assert_eq!(seconds(120), "\"2m\"");
        assert_eq!(millis(1500), "\"1500ms\"");
        assert!(jk_config::parse_duration(seconds(i64::MAX).trim_matches('"')).is_ok());
    }
}
