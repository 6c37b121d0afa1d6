use super::*;
use crate::uri::{Scratch, normalise};

/// Rules as in a mount file, separated by blanks: `/a/*=w !/a/*.gif=w -/b=w /c|/*=w !/d=*`.
fn parse(rules: &str) -> (Vec<String>, Vec<(RuleKind, bool)>, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    let (mut patterns, mut kinds) = (Vec::new(), Vec::new());
    for rule in rules.split_whitespace() {
        let (key, worker) = rule.split_once('=').unwrap();
        let (key, enabled) = key.strip_prefix('-').map_or((key, true), |key| (key, false));
        let (key, excludes) = key.strip_prefix('!').map_or((key, false), |key| (key, true));
        let target = if worker == "*" {
            None
        } else {
            let at = names.iter().position(|name| name == worker).unwrap_or_else(|| {
                names.push(worker.to_owned());
                names.len() - 1
            });
            Some(u32::try_from(at).unwrap())
        };
        let kind = if excludes { RuleKind::Exclude(target) } else { RuleKind::Map(target.unwrap()) };
        let pair = match key.split_once('|') {
            Some((short, rest)) => vec![short.to_owned(), format!("{short}{rest}")],
            None => vec![key.to_owned()],
        };
        for pattern in pair {
            patterns.push(pattern);
            kinds.push((kind, enabled));
        }
    }
    (patterns, kinds, names)
}

fn serve(rules: &str, uri: &str) -> String {
    let (patterns, kinds, names) = parse(rules);
    let rules: Vec<Rule<'_>> = patterns
        .iter()
        .zip(&kinds)
        .map(|(pattern, (kind, enabled))| Rule { pattern, kind: *kind, enabled: *enabled })
        .collect();
    let map = UriMap::compile(&rules);
    let mut scratch = Scratch::default();
    let Ok(normal) = normalise(uri.as_bytes(), &mut scratch) else { return "400".to_owned() };
    let found = map.find(normal.matched);
    assert_eq!(map.explain(normal.matched).winner, found, "{uri}: the explanation is another");
    match found.and_then(|index| map.targets[index]) {
        Some(target) => names[target as usize].clone(),
        None => "-".to_owned(),
    }
}

fn check(rules: &str, rows: &[(&str, &str)]) {
    for (uris, expected) in rows {
        for uri in uris.split_whitespace() {
            assert_eq!(serve(rules, uri), *expected, "{rules}: {uri}");
        }
    }
}

#[test]
fn exact_rules_match_the_whole_uri_only() {
    check("/app=w", &[("/app /app;jsessionid=A.n1 //app /./app /x/../app", "w"), ("/app/ /app/x /App", "-")]);
}

#[test]
fn prefixes() {
    check("/app/*=w", &[("/app/ /app/x/y /app//x /app;v=1/x", "w"), ("/app /application/x", "-")]);
    check("/app*=w", &[("/app /app/ /application", "w"), ("/ap", "-")]);
    check("/app|/*=w", &[("/app /app/ /app/x", "w"), ("/appx", "-")]);
}

#[test]
fn suffixes_cross_slashes_and_lose_to_more_slashes() {
    let rules = "/*.jsp=j /app/*=a /*/adm/*.jsp=d";
    check(
        rules,
        &[
            ("/x.jsp /a/b/x.jsp /x.jsp;jsessionid=1.n1 /.jsp", "j"),
            ("/x.jsp/info /x.JSP", "-"),
            ("/app/x.jsp", "a"),
            ("/app/adm/x.jsp /other/adm/x.jsp", "d"),
        ],
    );
}

#[test]
fn a_question_mark_is_one_byte_whatever_it_is() {
    check("/p?.do=w", &[("/p1.do /p/.do", "w"), ("/p.do /p12.do", "-")]);
}

#[test]
fn more_slashes_then_longer_wins_and_exactness_counts_for_nothing() {
    check("/a/b=exact /a/b*=star", &[("/a/b /a/bc", "star")]);
    check("/verylongname*=long /v*/x=short", &[("/verylongname/x", "short")]);
    check("/app/*=ctx /*/foo.jsp=suf", &[("/app/foo.jsp", "suf"), ("/app/bar.jsp", "ctx")]);
    check("/*=root /app/*=app", &[("/ /x /app", "root"), ("/app/", "app")]);
}

#[test]
fn an_exclusion_takes_the_uri_away_for_good() {
    check(
        "/app/*=w !/app/*.gif=w",
        &[("/app/x.gif /app/d/x.gif /app/x.gif;a=b", "-"), ("/app/x.GIF /app/x.gif/y", "w")],
    );
    check("/app/*=w !/app/*.gif=v", &[("/app/x.gif", "w")]);
    check("/app/*=w !/*.gif=*", &[("/app/x.gif", "-")]);
    check("/*=root /app/*=app !/app/static/*=app", &[("/app/static/x", "-"), ("/app/dyn/x", "app")]);
}

#[test]
fn disabled_rules_do_nothing() {
    check("-/app/*=w /*=root", &[("/app/x", "root")]);
    check("/app/*=w -!/app/*.gif=w", &[("/app/x.gif", "w")]);
}

#[test]
fn what_is_matched_is_the_normalised_path() {
    check("/*=w", &[("/a/../b /a/.. /a/..;x=1/b", "w"), ("/.. /../a foo *", "400")]);
    check("/w1/*=w1", &[("/x;y/..;z/w1/hello /w1/..%3Bx/loc", "w1"), ("/w1/../loc", "-")]);
    check("/app/*=w", &[("/app/..;/admin /app/%2e%2e/admin /admin", "-"), ("/app/%252e%252e/admin", "w")]);
}

#[test]
fn equal_ranks_have_a_certain_order() {
    check("/a*=star /ab=exact", &[("/ab", "exact")]);
    check("/a*=star /?b=mark", &[("/ab", "mark")]);
}

#[test]
fn an_explanation_names_winners_losers_and_exclusions() {
    let rule = |pattern, kind, enabled| Rule { pattern, kind, enabled };
    let map = UriMap::compile(&[
        rule("/*", RuleKind::Map(0), true),
        rule("/app/*", RuleKind::Map(1), true),
        rule("/app/x*", RuleKind::Map(1), false),
        rule("/app/*.gif", RuleKind::Exclude(Some(1)), true),
    ]);
    let explained = map.explain(b"/app/x.gif");
    assert_eq!(explained.winner, None);
    assert_eq!(explained.excluded, Some((1, 3)));
    assert_eq!(explained.losers, vec![0]);
    assert_eq!(explained.disabled, vec![2]);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// As mod_jk does it: sort, walk, first match, then the exclusions.
    fn walk(rules: &[Rule<'_>], path: &[u8]) -> Option<usize> {
        fn fits(pattern: &[u8], path: &[u8]) -> bool {
            match (pattern.split_first(), path.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), _) => {
                    fits(rest, path) || path.split_first().is_some_and(|(_, path)| fits(pattern, path))
                }
                (Some((b'?', rest)), Some((_, path))) => fits(rest, path),
                (Some((a, rest)), Some((b, path))) => a == b && fits(rest, path),
                _ => false,
            }
        }
        let slashes = |pattern: &str| pattern.matches('/').count();
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (rules[*a].pattern, rules[*b].pattern);
            (slashes(b).cmp(&slashes(a)))
                .then(b.len().cmp(&a.len()))
                .then(a.contains(['*', '?']).cmp(&b.contains(['*', '?'])))
                .then(a.cmp(b))
        });
        let hit = |index: &usize| rules[*index].enabled && fits(rules[*index].pattern.as_bytes(), path);
        let best = order
            .iter()
            .copied()
            .find(|index| matches!(rules[*index].kind, RuleKind::Map(_)) && hit(index))?;
        let RuleKind::Map(target) = rules[best].kind else { return None };
        let taken_away = (0..rules.len()).any(|index| match rules[index].kind {
            RuleKind::Exclude(of) => of.is_none_or(|of| of == target) && hit(&index),
            RuleKind::Map(_) => false,
        });
        (!taken_away).then_some(best)
    }

    fn pattern() -> impl Strategy<Value = String> {
        "/[ab/*?.!-]{0,7}"
    }

    fn kind() -> impl Strategy<Value = RuleKind> {
        prop_oneof![
            4 => (0u32..3).prop_map(RuleKind::Map),
            1 => (0u32..3).prop_map(|of| RuleKind::Exclude(Some(of))),
            1 => Just(RuleKind::Exclude(None)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn the_map_finds_what_a_walk_over_all_rules_finds(
            rules in proptest::collection::vec((pattern(), kind(), prop::bool::weighted(0.9)), 0..14),
            paths in proptest::collection::vec("/[ab/.!-]{0,9}", 1..12),
        ) {
            let rules: Vec<Rule<'_>> =
                rules.iter().map(|(pattern, kind, enabled)| Rule { pattern, kind: *kind, enabled: *enabled }).collect();
            let map = UriMap::compile(&rules);
            for path in &paths {
                let found = map.find(path.as_bytes());
                let walked = walk(&rules, path.as_bytes());
                // Two rules with one pattern are the same rule to a walk; which of them is named first is not compared.
                let pattern = |index: Option<usize>| index.map(|index| rules[index].pattern);
                prop_assert_eq!(pattern(found), pattern(walked), "{}", path);
                prop_assert_eq!(map.explain(path.as_bytes()).winner.is_some(), found.is_some());
            }
        }
    }
}
