//! mod_jk2 tried exact paths, then the longest prefix, then globs; workers.toml takes mod_jk's order: more slashes, then longer. Where the
//! two differ between maps with different targets, rules are written so that mod_jk2's choice stays, or it is said that they differ.

use std::collections::HashMap;

use super::resolve::Target;
use super::uri::{Form, HostMaps, Map};
use crate::glob::{matches, rank};
use crate::report::{NoteKind, Report};

/// A map with the pattern that stands for it; `None`: it never won.
pub(super) type Ordered<'m, 'o> = (&'m Map<'o>, Option<String>);

/// Comparisons of pairs in one import; beyond that nobody wrote the file by hand.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(3_000_000)
    }
}

impl Budget {
    fn spend(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

/// Patterns for the maps that one host sees, `own` and then `others` (what it inherits). Only those of `own` are returned.
pub(super) fn patterns<'m, 'o>(
    own: &'m [Map<'o>],
    others: &[&Map<'o>],
    report: &mut Report,
) -> Vec<Ordered<'m, 'o>> {
    let exact: HashMap<&str, Target> = own
        .iter()
        .chain(others.iter().copied())
        .filter(|map| map.form == Form::Exact)
        .map(|map| (map.text.as_str(), map.target))
        .collect();
    let mut all: Vec<(&str, Option<usize>, &Map<'o>)> = own
        .iter()
        .enumerate()
        .map(|(index, map)| (head(map), Some(index), map))
        .chain(others.iter().map(|map| (head(map), None, *map)))
        .filter(|(_, _, map)| map.form != Form::Exact)
        .collect();
    all.sort_by_key(|(head, _, map)| (*head, map.form));
    let mut patterns: Vec<Option<String>> = own.iter().map(|map| Some(map.text.clone())).collect();
    // Prefixes that the current text begins with, the longest on top.
    let mut above: Vec<&Map<'o>> = Vec::new();
    for (head, index, map) in all {
        while above.last().is_some_and(|top| !head.starts_with(&top.text)) {
            above.pop();
        }
        let pattern = match (map.form, above.last()) {
            (Form::Glob, Some(top)) if top.target != map.target && !top.is_off => {
                if index.is_some() {
                    let text = format!(
                        "{} is left out: {}* on line {} took all of it in mod_jk2",
                        map.text, top.text, top.object.at.line
                    );
                    report.push(&map.object.at, (NoteKind::Warning, Some("W2-411")), text);
                }
                None
            }
            (Form::Glob, _) => Some(map.text.clone()),
            _ => {
                let short = map.text.strip_suffix('/').unwrap_or_default();
                let is_taken = short.is_empty() || exact.contains_key(short) || !above.is_empty();
                // mod_jk's order puts /a/* before /a/, which is shorter.
                let is_split = exact.get(map.text.as_str()).is_some_and(|target| *target != map.target);
                let star = if is_split { "?*" } else { "*" };
                above.push(map);
                Some(if is_taken { format!("{}{star}", map.text) } else { format!("{short}|/{star}") })
            }
        };
        if let Some(slot) = index.and_then(|index| patterns.get_mut(index)) {
            *slot = pattern;
        }
    }
    own.iter().zip(patterns).collect()
}

/// Whether a host that looks at its own maps first and then at the global ones chooses as mod_jk2 did with all of them together.
pub(super) fn layers_suffice(host: &HostMaps<'_>, global: &[&Map<'_>], budget: &mut Budget) -> bool {
    for own in &host.maps {
        for other in global {
            if own.target == other.target || !may_overlap(own, other) {
                continue;
            }
            if !budget.spend() || wins(other, own) {
                return false;
            }
        }
    }
    true
}

/// Says where mod_jk's order chooses another target than mod_jk2's.
pub(super) fn differences(maps: &[Ordered<'_, '_>], budget: &mut Budget, report: &mut Report) {
    let live: Vec<(&Map<'_>, &str)> = maps
        .iter()
        .filter(|(map, _)| !map.is_off)
        .filter_map(|(map, pattern)| Some((*map, pattern.as_deref()?)))
        .collect();
    // Only these can go before what mod_jk2 tried earlier.
    let is_risky = |(map, pattern): &&(&Map<'_>, &str)| {
        map.form == Form::Glob || (map.form == Form::Prefix && pattern.ends_with("?*"))
    };
    for (late, pattern) in live.iter().filter(is_risky) {
        for (early, theirs) in &live {
            if late.target == early.target || !may_overlap(early, late) || !wins(early, late) {
                continue;
            }
            if !budget.spend() {
                return;
            }
            if goes_before(&pattern.replace('|', ""), theirs) {
                let text = format!(
                    "on paths that match both, mod_jk2 took {theirs} (line {}) before {pattern}; here it is the other way round",
                    early.object.at.line
                );
                report.push(&late.object.at, (NoteKind::Warning, None), text);
            }
        }
    }
}

/// Whether a pattern is chosen before one of those that another one, with a bar perhaps, stands for.
fn goes_before(pattern: &str, other: &str) -> bool {
    // Of equals the gateway takes the first in the order of bytes.
    let place = |pattern: &str| (rank(pattern), std::cmp::Reverse(pattern.to_owned()));
    let (short, tail) = other.split_once('|').unwrap_or((other, ""));
    let whole = format!("{short}{tail}");
    [short, &whole].into_iter().any(|other| {
        let is_exact = !other.contains(['*', '?']);
        let is_hit = !is_exact || matches(pattern.as_bytes(), other.as_bytes());
        is_hit && place(pattern) > place(other)
    })
}

/// Literal text before the first wildcard.
fn head<'m>(map: &'m Map<'_>) -> &'m str {
    match map.form {
        Form::Exact | Form::Prefix => &map.text,
        Form::Glob => map.text.split(['*', '?']).next().unwrap_or_default(),
    }
}

fn may_overlap(a: &Map<'_>, b: &Map<'_>) -> bool {
    let (a, b) = (head(a), head(b));
    a.starts_with(b) || b.starts_with(a)
}

/// mod_jk2's order for two maps that match one path.
fn wins(a: &Map<'_>, b: &Map<'_>) -> bool {
    (a.form, std::cmp::Reverse(a.text.len())) < (b.form, std::cmp::Reverse(b.text.len()))
}
