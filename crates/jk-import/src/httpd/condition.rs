//! Regular expressions of `SetEnvIf Request_URI … no-jk` as patterns, where one says the same.

/// `None`: no pattern says the same.
pub(super) fn patterns(expression: &str) -> Option<Vec<String>> {
    let (start, rest) = expression.strip_prefix('^').map_or((false, expression), |rest| (true, rest));
    let (rest, end) = match rest.strip_suffix('$').filter(|rest| !rest.ends_with('\\')) {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let mut found = Vec::new();
    for literal in literals(rest)? {
        let before = if start { "" } else { "/*" };
        let after = if end { "" } else { "*" };
        // A path begins with a slash anyway, so `/*` and a text that begins with one need not both have it.
        let (before, literal) = match literal.strip_prefix('/') {
            Some(bare) if !start => {
                found.push(format!("/{bare}{after}"));
                (before, literal.as_str())
            }
            _ => (before, literal.as_str()),
        };
        let pattern = format!("{before}{literal}{after}").replace("**", "*");
        if !pattern.starts_with('/') || pattern.contains([';', '|']) {
            return None;
        }
        found.push(pattern);
    }
    (found.len() <= MOST).then_some(found)
}

/// A text with `.*` in it perhaps, and one group of alternatives.
fn literals(expression: &str) -> Option<Vec<String>> {
    if let Some((before, rest)) = expression.split_once('(').filter(|(before, _)| !before.ends_with('\\')) {
        let (inside, after) = rest.split_once(')')?;
        let inside = inside.strip_prefix("?:").unwrap_or(inside);
        let before = literal(before)?;
        let after = literal(after)?;
        return inside.split('|').map(|word| Some(format!("{before}{}{after}", literal(word)?))).collect();
    }
    expression.split('|').map(literal).collect::<Option<Vec<String>>>().filter(|all| all.len() == 1)
}

fn literal(expression: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = expression.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '.' => match chars.next_if_eq(&'*') {
                Some(_) => out.push('*'),
                None => out.push('?'),
            },
            '\\' => match chars.next()? {
                c if c.is_ascii_alphanumeric() || matches!(c, '*' | '?') => return None,
                c => out.push(c),
            },
            // `/static/*` is a habit: any number of slashes, none as well.
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
            }
            '*' | '?' | '+' | '[' | ']' | '{' | '}' | '(' | ')' | '^' | '$' | '|' => return None,
            c if chars.peek().is_some_and(|next| matches!(next, '*' | '+' | '?' | '{')) && c != '/' => {
                return None;
            }
            c => out.push(c),
        }
    }
    Some(out)
}

const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_expressions_are_patterns() {
        for (expression, expected) in [
            ("^/static/", Some(vec!["/static/*"])),
            ("\\.gif$", Some(vec!["/*.gif"])),
            ("^/img/.*\\.png$", Some(vec!["/img/*.png"])),
            ("\\.(gif|jpg)$", Some(vec!["/*.gif", "/*.jpg"])),
            ("/static/*", Some(vec!["/static*", "/*/static*"])),
            ("^/a$", Some(vec!["/a"])),
            ("[0-9]+", None),
            ("^/x\\d", None),
            ("a|b", None),
        ] {
            let expected = expected.map(|list| list.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(patterns(expression), expected, "{expression}");
        }
    }
}
