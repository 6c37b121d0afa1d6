//! Durations and sizes as people write them, always with a unit.

use std::time::Duration;

/// `"250ms"`, `"2s"`, `"5m"`, `"1h"`, `"7d"`. Err: what was expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(split).unwrap_or((text, ""));
    let number: f64 = number
        .parse()
        .map_err(|_| format!("\"{text}\" is not a duration such as \"500ms\", \"2s\", \"5m\" or \"1h\""))?;
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        "" => {
            return Err(format!(
                "{text} what? write \"{text}s\" for seconds or \"{text}ms\" for milliseconds"
            ));
        }
        other => return Err(format!("\"{other}\" is no unit of time; use ms, s, m, h or d")),
    };
    let total = number * seconds;
    if total > MAX_SECONDS {
        return Err("longer than 10 years; write \"never\" where a limit may be off".to_owned());
    }
    // Milliseconds are as fine as anybody writes; this keeps 0.1s from becoming 100.000001ms.
    Ok(Duration::from_secs_f64((total * 1000.0).round() / 1000.0))
}

/// `"8KiB"`, `"64k"`, `"1MiB"`, `"8192B"`. Err: what was expected.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(split).unwrap_or((text, ""));
    let number: usize = number
        .parse()
        .map_err(|_| format!("\"{text}\" is not a size such as \"8KiB\", \"64KiB\" or \"1MiB\""))?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "b" => 1,
        "k" | "kb" | "kib" => 1024,
        "m" | "mb" | "mib" => 1024 * 1024,
        "" => return Err(format!("{text} what? write \"{text}B\" for bytes or \"{text}KiB\"")),
        other => return Err(format!("\"{other}\" is no unit of size; use B, KiB or MiB")),
    };
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}

/// The shortest text that [`parse_duration`] reads back.
#[must_use]
pub fn show_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] {
        if millis > 0 && millis.is_multiple_of(size) {
            return format!("{}{unit}", millis / size);
        }
    }
    if millis == 0 { "0s".to_owned() } else { format!("{millis}ms") }
}

/// The shortest text that [`parse_size`] reads back.
#[must_use]
pub fn show_size(bytes: usize) -> String {
    for (unit, size) in [("MiB", 1024 * 1024), ("KiB", 1024)] {
        if bytes > 0 && bytes.is_multiple_of(size) {
            return format!("{}{unit}", bytes / size);
        }
    }
    format!("{bytes}B")
}

const MAX_SECONDS: f64 = 10.0 * 366.0 * 86400.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("2s", 2000),
            ("250ms", 250),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("0.1s", 100),
            ("1.5s", 1500),
            ("1d", 86_400_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(
            parse_duration("120").unwrap_err(),
            "120 what? write \"120s\" for seconds or \"120ms\" for milliseconds"
        );
        for bad in ["", "s", "2 weeks", "-1s", "1e400s", "9999999d"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
        for millis in [0, 1, 999, 1000, 90_000, 3_600_000, 86_400_000] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse_duration(&show_duration(duration)), Ok(duration));
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [("8KiB", 8192), ("64k", 65536), ("1MiB", 1 << 20), ("100B", 100)] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
            assert_eq!(parse_size(&show_size(bytes)), Ok(bytes));
        }
        assert_eq!(parse_size("8192").unwrap_err(), "8192 what? write \"8192B\" for bytes or \"8192KiB\"");
        assert!(parse_size("99999999999999999999MiB").is_err());
    }
}
