//! Patterns with stars and question marks.

/// `*`: any bytes, slashes too; `?`: one byte.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut s) = (0, 0);
    // Where to go on after the last star if what follows it does not fit here.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), text.get(s)) {
            (Some(b'*'), _) => {
                retry = Some((p + 1, s));
                p += 1;
            }
            (Some(b'?'), Some(_)) => (p, s) = (p + 1, s + 1),
            (Some(a), Some(b)) if a == b => (p, s) = (p + 1, s + 1),
            (None, None) => return true,
            _ => match retry {
                Some((after, from)) if from < text.len() => {
                    retry = Some((after, from + 1));
                    (p, s) = (after, from + 1);
                }
                _ => return false,
            },
        }
    }
}

/// mod_jk's order of patterns: the greater goes first.
pub(crate) fn rank(pattern: &str) -> (usize, usize, bool) {
    let slashes = pattern.bytes().filter(|b| *b == b'/').count();
    (slashes, pattern.len(), !pattern.contains(['*', '?']))
}

/// Text before the first wildcard.
pub(crate) fn head(pattern: &str) -> &str {
    pattern.split(['*', '?']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, is_match) in [
            ("/a/*", "/a/", true),
            ("/a/*", "/a", false),
            ("*.do", "/x/y.do", true),
            ("/?", "/x", true),
            ("/a*b*", "/ab", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), is_match, "{pattern} {text}");
        }
    }
}
