//! Any path against any rules: the map agrees with a walk over all of them, and reading a path twice changes nothing.
#![no_main]

use jk_balance::{Rule, RuleKind, Scratch, UriMap, normalise, wildcard_match};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|b| *b == b'\n');
    let Some(path) = parts.next() else { return };
    let mut scratch = Scratch::default();
    let Ok(normal) = normalise(path, &mut scratch) else { return };
    let (matched, proxy) = (normal.matched.to_vec(), normal.proxy.to_vec());
    let mut again = Scratch::default();
    let second = normalise(&proxy, &mut again).expect("the forwarded form can be read");
    assert_eq!((second.matched, second.proxy), (&matched[..], &proxy[..]));

    let texts: Vec<String> = parts.take(12).filter_map(|rule| String::from_utf8(rule.to_vec()).ok()).filter(|rule| rule.starts_with('/')).collect();
    let rules: Vec<Rule<'_>> = texts.iter().map(|pattern| Rule { pattern, kind: RuleKind::Map(0), enabled: true }).collect();
    let found = UriMap::compile(&rules).find(&matched);
    let fits = rules.iter().any(|rule| wildcard_match(rule.pattern.as_bytes(), &matched));
    assert_eq!(found.is_some(), fits);
    if let Some(index) = found {
        assert!(wildcard_match(rules[index].pattern.as_bytes(), &matched));
    }
});
