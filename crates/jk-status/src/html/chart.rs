//! Small pictures, drawn by the server; each stands beside the same numbers as text.

use std::fmt::Write as _;

use crate::view::{Member, Totals};

/// Where p50, p90 and p99 lie between 1 ms and 10 s, on a logarithmic scale that is the same in every row.
pub(crate) fn percentiles(member: &Member) -> String {
    let (Some(p50), Some(p90), Some(p99)) = (member.p50, member.p90, member.p99) else {
        return String::new();
    };
    let (a, b, c) = (place(p50), place(p90), place(p99));
    format!(
        "<svg class=\"lat\" aria-hidden=\"true\"><path class=\"u\" d=\"M{b} 4.5H{c}\"/><path class=\"v\" d=\"M{a} 4.5H{b}\"/><circle cx=\"{a}\" cy=\"4.5\" r=\"3\"/></svg>"
    )
}

/// A histogram, not cumulative: seconds and count.
pub(crate) fn columns(buckets: &[(f64, u64)]) -> String {
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let width = buckets.len() * STEP;
    let mut out = format!(
        "<svg class=\"cols\" viewBox=\"0 0 {width} 64\" width=\"{width}\" height=\"64\" aria-hidden=\"true\"><path class=\"t\" d=\"M0 63.5H{width}\"/>"
    );
    for (index, (_, count)) in buckets.iter().enumerate() {
        // A bucket that holds anything is seen.
        let height = (u128::from(*count) * 60 / u128::from(most)).max(u128::from(*count > 0) * 2);
        if height > 0 {
            let _infallible = write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{height}\"/>",
                index * STEP + 2,
                63 - height,
                STEP - 4
            );
        }
    }
    out.push_str("</svg>");
    out
}

/// The histogram in words: what share was done within which time.
pub(crate) fn in_words(buckets: &[(f64, u64)]) -> String {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    if all == 0 {
        return "No request has been served yet.".to_owned();
    }
    let mut parts = Vec::new();
    for (share, word) in [(50, "half"), (90, "nine in ten"), (99, "ninety-nine in a hundred")] {
        let mut seen = 0;
        let bound = buckets.iter().find(|(_, count)| {
            seen += count;
            u128::from(seen) * 100 >= u128::from(all) * share
        });
        match bound {
            Some((bound, _)) if bound.is_finite() => parts.push(format!("{word} within {}", time(*bound))),
            _ => parts.push(format!("{word} within more than {}", time(last_finite(buckets)))),
        }
    }
    let mut text = parts.join(", ");
    text.push('.');
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

pub(crate) fn durations(totals: &Totals) -> (String, String) {
    (columns(&totals.durations), in_words(&totals.durations))
}

fn last_finite(buckets: &[(f64, u64)]) -> f64 {
    buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite()).fold(0.0, f64::max)
}

fn time(seconds: f64) -> String {
    if seconds < 0.01 {
        format!("{:.1} ms", seconds * 1000.0)
    } else if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1000.0)
    } else {
        format!("{seconds:.1} s")
    }
}

/// In whole pixels, and by integers alone, so that equal inputs give equal pages.
fn place(micros: u64) -> u64 {
    let mut low = 1000;
    let mut decade = 0;
    while decade < DECADES && micros >= low * 10 {
        low *= 10;
        decade += 1;
    }
    if decade == DECADES {
        return WIDTH - 3;
    }
    let within = micros.saturating_sub(low) * PER_DECADE / (low * 9);
    (3 + decade * PER_DECADE + within).min(WIDTH - 3)
}

const DECADES: u64 = 4;
const PER_DECADE: u64 = 22;
/// As wide as `.lat` in the style sheet.
const WIDTH: u64 = DECADES * PER_DECADE + 6;
const STEP: usize = 22;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_rise_with_time_and_stay_in_the_picture() {
        let places: Vec<u64> = (0..64).map(|shift| place(1 << shift)).collect();
        assert!(places.windows(2).all(|pair| pair[0] <= pair[1]), "{places:?}");
        assert_eq!(places.first(), Some(&3));
        assert_eq!(places.last(), Some(&(WIDTH - 3)));
        assert!(place(u64::MAX) == WIDTH - 3);
    }

    #[test]
    fn histograms_in_words() {
        assert_eq!(in_words(&[]), "No request has been served yet.");
        assert_eq!(
            in_words(&[(0.005, 50), (0.1, 40), (1.0, 9), (f64::INFINITY, 1)]),
            "Half within 5.0 ms, nine in ten within 100 ms, ninety-nine in a hundred within 1.0 s."
        );
        assert_eq!(
            in_words(&[(1.0, 1), (f64::INFINITY, 9)]),
            "Half within more than 1.0 s, nine in ten within more than 1.0 s, ninety-nine in a hundred within more than 1.0 s."
        );
        assert_eq!(columns(&[(1.0, 0)]), "");
        assert!(columns(&[(1.0, 1), (f64::INFINITY, u64::MAX)]).contains("height=\"2\""));
    }
}
