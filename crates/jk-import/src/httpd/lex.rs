//! Lines to directives: continued lines joined, words with their quotes taken off.

use crate::report::At;
use crate::text::{BLANKS, Text};

#[derive(Debug, Clone)]
pub(super) struct Directive {
    /// In lower case; `<virtualhost` and `</virtualhost` for sections.
    pub(super) name: String,
    /// As written.
    written: String,
    pub(super) words: Vec<String>,
    pub(super) at: At,
}

impl Directive {
    /// As written, for messages: a secret never shows itself.
    pub(super) fn shown(&self) -> String {
        let mask = |word: &str| match word.split_once('=') {
            Some((key, _)) if key.to_ascii_lowercase().ends_with("secret") => format!("{key}=…"),
            _ => word.to_owned(),
        };
        self.written.split(' ').map(mask).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }
}

/// `define` replaces `${NAME}`.
pub(super) fn directives(text: &Text) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut joined = String::new();
    let mut start = None;
    for line in text.lines.iter().filter(|line| !line.is_damaged) {
        let first = start.get_or_insert(line.number);
        if let Some(before) = line.text.strip_suffix('\\') {
            joined.push_str(before);
            continue;
        }
        joined.push_str(&line.text);
        let column = joined.len() - joined.trim_start_matches(BLANKS).len() + 1;
        let at = text.at(*first, column);
        if let Some(directive) = directive(joined.trim_matches(BLANKS), at) {
            found.push(directive);
        }
        joined.clear();
        start = None;
    }
    found
}

fn directive(line: &str, at: At) -> Option<Directive> {
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let inner = if line.starts_with('<') { line.strip_suffix('>').unwrap_or(line) } else { line };
    let mut words = words(inner);
    let name = if words.is_empty() { String::new() } else { words.remove(0) };
    Some(Directive { name: name.to_ascii_lowercase(), written: line.to_owned(), words, at })
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    loop {
        while chars.next_if(|c| BLANKS.contains(c)).is_some() {}
        let Some(first) = chars.peek().copied() else { return words };
        let quote = matches!(first, '"' | '\'').then_some(first);
        if quote.is_some() {
            chars.next();
        }
        let mut word = String::new();
        while let Some(c) = chars.next() {
            match quote {
                Some(quote) if c == quote => break,
                Some(quote) if c == '\\' => match chars.next_if(|next| *next == quote || *next == '\\') {
                    Some(next) => word.push(next),
                    None => word.push(c),
                },
                None if BLANKS.contains(&c) => break,
                _ => word.push(c),
            }
        }
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_quotes() {
        for (line, expected) in [
            ("JkMount  /a/* w", vec!["JkMount", "/a/*", "w"]),
            ("A \"b c\" 'd e'", vec!["A", "b c", "d e"]),
            (r#"A "b\"c" \d"#, vec!["A", "b\"c", r"\d"]),
            (r#"A "\.gif$""#, vec!["A", r"\.gif$"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }
}
