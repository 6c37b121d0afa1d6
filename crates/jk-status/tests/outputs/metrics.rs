//! Metrics by the rules of the text format and of naming, and each of them in the documents.

use std::collections::{BTreeMap, BTreeSet};

use jk_status::metrics;

use crate::sample::{calm, hostile, large, troubled};

/// Families with their kind; panics where the text is not well formed.
fn families(text: &str) -> BTreeMap<&str, &str> {
    let mut kinds = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut current = "";
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, words) = help.split_once(' ').unwrap();
            assert!(words.ends_with('.') && words.len() > 10, "{line}");
            current = name;
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, current);
            assert!(kinds.insert(name, kind).is_none(), "{name} twice");
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            assert!(name.starts_with(current), "{line} under {current}");
            assert!(seen.insert(series), "{series} twice");
            assert!(value.parse::<f64>().unwrap() >= 0.0, "{line}");
        }
    }
    kinds
}

#[test]
fn names_say_what_they_count() {
    for (name, kind) in families(&metrics(&calm())) {
        assert!(name.starts_with("jkgate_"), "{name}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name}: {kind}");
        assert!(!name.ends_with("_ms") && !name.contains("milli"), "{name}");
        if kind == "histogram" {
            assert!(name.ends_with("_seconds"), "{name}");
        }
    }
}

#[test]
fn well_formed_whatever_there_is() {
    for view in [calm(), troubled(), hostile(), large(300, 9), jk_status::StatusView::default()] {
        assert_eq!(families(&metrics(&view)).len(), families(&metrics(&calm())).len());
    }
}

#[test]
fn histograms_add_up() {
    let text = metrics(&calm());
    let of = |wanted: &str| {
        let lines = text.lines().filter_map(|line| line.rsplit_once(' '));
        let numbers = lines
            .filter(|(series, _)| series.starts_with(wanted))
            .map(|(_, value)| value.parse::<f64>().unwrap());
        numbers.collect::<Vec<_>>()
    };
    let buckets = of("jkgate_request_duration_seconds_bucket");
    assert!(buckets.len() > 5 && buckets.is_sorted());
    assert_eq!(buckets.last(), of("jkgate_request_duration_seconds_count").first());
    assert!(text.contains("le=\"+Inf\""));
    assert_eq!(text.matches("jkgate_backend_first_byte_seconds_count").count(), 5);
}

#[test]
fn each_family_is_in_the_documents() {
    let document = include_str!("../../../../docs/status.md");
    for (name, kind) in families(&metrics(&calm())) {
        assert!(document.contains(&format!("| `{name}` | {kind} |")), "{name} is not in docs/status.md");
    }
}
