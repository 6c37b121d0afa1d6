//! URI patterns to rules, with mod_jk's precedence (`worker_compare`, `find_match`, `is_nomatch`), compiled once.
//!
//! mod_jk walks all rules in order of rank and takes the first that matches. Here each rule is filed under the literal text in front
//! of its first wildcard, and a lookup visits only the literals that the path begins with, so its cost follows the path's length and
//! not the number of rules. Only rules with several wildcards, or `?`, under the same literal are tried one by one.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// One rule as the map needs it. Patterns have neither `!`, `-` nor `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule<'a> {
    pub pattern: &'a str,
    pub kind: RuleKind,
    pub enabled: bool,
}

/// Targets are numbers that the caller gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    Map(u32),
    /// Takes URIs away from one target, or from every one.
    Exclude(Option<u32>),
}

/// The compiled rules of one host.
#[derive(Debug, Default)]
pub struct UriMap {
    maps: Matcher,
    excludes_all: Matcher,
    excludes: HashMap<u32, Matcher>,
    /// Target of each rule; `None` for exclusions.
    targets: Vec<Option<u32>>,
    /// For explanations.
    rules: Vec<(String, RuleKind, bool)>,
}

/// What a path is mapped to, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Index of the rule that wins, if it is not taken away again.
    pub winner: Option<usize>,
    /// The best rule and the exclusion that takes the path away from it.
    pub excluded: Option<(usize, usize)>,
    /// Rules that match as well, most specific first, and lose by rank.
    pub losers: Vec<usize>,
    /// Rules that would match but are disabled.
    pub disabled: Vec<usize>,
}

impl UriMap {
    /// Files the rules; results name them by their index here.
    #[must_use]
    pub fn compile(rules: &[Rule<'_>]) -> Self {
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.sort_by_key(|index| rules.get(*index).map(|rule| rank(rule.pattern)));
        let mut map = Self {
            targets: rules
                .iter()
                .map(|rule| match rule.kind {
                    RuleKind::Map(target) => Some(target),
                    RuleKind::Exclude(_) => None,
                })
                .collect(),
            rules: rules.iter().map(|rule| (rule.pattern.to_owned(), rule.kind, rule.enabled)).collect(),
            ..Self::default()
        };
        for (rank, index) in order.into_iter().enumerate() {
            let Some(rule) = rules.get(index).filter(|rule| rule.enabled) else { continue };
            let matcher = match rule.kind {
                RuleKind::Map(_) => &mut map.maps,
                RuleKind::Exclude(None) => &mut map.excludes_all,
                RuleKind::Exclude(Some(target)) => map.excludes.entry(target).or_default(),
            };
            matcher.add(rule.pattern.as_bytes(), Place { rank: narrow(rank), index: narrow(index) });
        }
        map
    }

    /// The rule that serves a normalised path: the best positive one, unless an exclusion for its target matches, too. There is
    /// no second choice after an exclusion.
    #[must_use]
    pub fn find(&self, path: &[u8]) -> Option<usize> {
        let best = self.maps.find(path)?;
        let index = usize::try_from(best.index).ok()?;
        (!self.is_excluded(index, path)).then_some(index)
    }

    /// Whether a rule matches and an exclusion takes the path away from it.
    #[must_use]
    pub fn excludes(&self, path: &[u8]) -> bool {
        let best = self.maps.find(path).and_then(|best| usize::try_from(best.index).ok());
        best.is_some_and(|index| self.is_excluded(index, path))
    }

    fn is_excluded(&self, index: usize, path: &[u8]) -> bool {
        if self.excludes_all.find(path).is_some() {
            return true;
        }
        let target = self.targets.get(index).copied().flatten();
        target
            .and_then(|target| self.excludes.get(&target))
            .is_some_and(|matcher| matcher.find(path).is_some())
    }

    /// Looks at every rule; for people, not for requests.
    #[must_use]
    pub fn explain(&self, path: &[u8]) -> Explanation {
        let matching = |wanted: bool| {
            let mut found: Vec<usize> = self
                .rules
                .iter()
                .enumerate()
                .filter(|(_, (pattern, _, enabled))| {
                    *enabled == wanted && wildcard_match(pattern.as_bytes(), path)
                })
                .map(|(index, _)| index)
                .collect();
            found.sort_by_key(|index| self.rules.get(*index).map(|(pattern, _, _)| rank(pattern)));
            found
        };
        let is_map = |index: &usize| self.targets.get(*index).is_some_and(Option::is_some);
        let (positive, exclusions): (Vec<usize>, Vec<usize>) = matching(true).into_iter().partition(is_map);
        let best = positive.first().copied();
        let target = best.and_then(|best| self.targets.get(best).copied().flatten());
        let exclusion = exclusions.into_iter().find(|index| {
            self.rules.get(*index).is_some_and(|(_, kind, _)| match kind {
                RuleKind::Exclude(None) => true,
                RuleKind::Exclude(of) => *of == target,
                RuleKind::Map(_) => false,
            })
        });
        Explanation {
            winner: best.filter(|_| exclusion.is_none()),
            excluded: best.zip(exclusion),
            losers: positive.into_iter().skip(1).collect(),
            disabled: matching(false),
        }
    }
}

/// More slashes first, then longer, then without wildcards, then by bytes.
///
/// mod_jk leaves the order of equals to chance; the last two keys make it certain.
fn rank(pattern: &str) -> (Reverse<usize>, Reverse<usize>, bool, &str) {
    let slashes = pattern.bytes().filter(|b| *b == b'/').count();
    (Reverse(slashes), Reverse(pattern.len()), pattern.contains(['*', '?']), pattern)
}

/// `*`: any bytes, slashes too; `?`: one byte, a slash too (mod_jk: `jk_wildchar_match`).
#[must_use]
pub fn wildcard_match(pattern: &[u8], path: &[u8]) -> bool {
    let (mut p, mut s) = (0, 0);
    // Where to go on after the last star if what follows it does not fit here.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), path.get(s)) {
            (Some(b'*'), _) => {
                retry = Some((p + 1, s));
                p += 1;
            }
            (Some(b'?'), Some(_)) => (p, s) = (p + 1, s + 1),
            (Some(a), Some(b)) if a == b => (p, s) = (p + 1, s + 1),
            (None, None) => return true,
            _ => match retry {
                Some((after, from)) if from < path.len() => {
                    retry = Some((after, from + 1));
                    (p, s) = (after, from + 1);
                }
                _ => return false,
            },
        }
    }
}

/// A rule's place in the order and in the caller's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rank: u32,
    index: u32,
}

/// Finds the best of many patterns.
#[derive(Debug, Default)]
struct Matcher {
    exact: HashMap<Box<[u8]>, Place>,
    heads: HashMap<u64, Vec<Head>, Plain>,
    /// Lengths of heads, and of exact patterns' absence: nothing else is probed.
    lengths: Vec<bool>,
}

/// All rules with the same literal in front of their first wildcard.
#[derive(Debug)]
struct Head {
    literal: Box<[u8]>,
    /// `literal*`.
    open: Option<Place>,
    /// `literal*tail`, by the tail's hash from its end.
    tails: HashMap<u64, Vec<Tail>, Plain>,
    tail_lengths: Vec<bool>,
    /// All others, best first.
    general: Vec<(Box<[u8]>, Place)>,
}

type Tail = (Box<[u8]>, Place);

impl Matcher {
    /// Rules are added best first, so the first of two equal patterns stays.
    fn add(&mut self, pattern: &[u8], place: Place) {
        let Some(wild) = pattern.iter().position(|b| matches!(b, b'*' | b'?')) else {
            self.exact.entry(pattern.into()).or_insert(place);
            return;
        };
        let (literal, rest) = pattern.split_at_checked(wild).unwrap_or((pattern, &[]));
        mark(&mut self.lengths, literal.len());
        let heads = self.heads.entry(hash(literal.iter())).or_default();
        let at = match heads.iter().position(|head| *head.literal == *literal) {
            Some(at) => at,
            None => {
                heads.push(Head::new(literal));
                heads.len() - 1
            }
        };
        if let Some(head) = heads.get_mut(at) {
            head.add(pattern, rest, place);
        }
    }

    fn find(&self, path: &[u8]) -> Option<Place> {
        let mut best = self.exact.get(path).copied();
        let mut state = SEED;
        for (length, byte) in path.iter().map(Some).chain([None]).enumerate() {
            if self.lengths.get(length).copied().unwrap_or(false)
                && let Some(heads) = self.heads.get(&state)
            {
                for head in heads {
                    head.find(path, &mut best);
                }
            }
            match byte {
                Some(byte) if length < self.lengths.len() => state = step(state, *byte),
                _ => break,
            }
        }
        best
    }
}

impl Head {
    fn new(literal: &[u8]) -> Self {
        Self {
            literal: literal.into(),
            open: None,
            tails: HashMap::default(),
            tail_lengths: Vec::new(),
            general: Vec::new(),
        }
    }

    fn add(&mut self, pattern: &[u8], rest: &[u8], place: Place) {
        match rest.split_first() {
            Some((b'*', [])) => {
                self.open.get_or_insert(place);
            }
            Some((b'*', tail)) if !tail.iter().any(|b| matches!(b, b'*' | b'?')) => {
                mark(&mut self.tail_lengths, tail.len());
                self.tails.entry(hash(tail.iter().rev())).or_default().push((tail.into(), place));
            }
            _ => self.general.push((pattern.into(), place)),
        }
    }

    fn find(&self, path: &[u8], best: &mut Option<Place>) {
        let Some(rest) = path.strip_prefix(&*self.literal) else { return };
        let mut offer = |place: Place| {
            if best.is_none_or(|best| place < best) {
                *best = Some(place);
            }
        };
        if let Some(place) = self.open {
            offer(place);
        }
        let mut state = SEED;
        for (length, byte) in rest.iter().rev().take(self.tail_lengths.len()).enumerate() {
            state = step(state, *byte);
            if self.tail_lengths.get(length + 1).copied().unwrap_or(false)
                && let Some(tails) = self.tails.get(&state)
                && let Some((_, place)) = tails.iter().find(|(tail, _)| rest.ends_with(tail))
            {
                offer(*place);
            }
        }
        for (pattern, place) in &self.general {
            if best.is_some_and(|best| best < *place) {
                break;
            }
            if wildcard_match(pattern, path) {
                *best = Some(*place);
                break;
            }
        }
    }
}

fn mark(lengths: &mut Vec<bool>, length: usize) {
    if lengths.len() <= length {
        lengths.resize(length + 1, false);
    }
    if let Some(place) = lengths.get_mut(length) {
        *place = true;
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// FNV-1a: it can be carried on byte by byte. The keys come from the operator, so nobody else chooses what collides.
fn hash<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.fold(SEED, |state, byte| step(state, *byte))
}

fn step(state: u64, byte: u8) -> u64 {
    (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// The keys are hashes already.
type Plain = BuildHasherDefault<Identity>;

#[derive(Debug, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes.iter());
    }

    fn write_u64(&mut self, value: u64) {
        // hashbrown takes its control bits from the top and its place from the bottom; FNV's top is the weaker half.
        self.0 = value ^ (value >> 29);
    }
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
