//! As much XML as server.xml needs: start tags with their attributes. Comments, declarations and text are passed over.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Element {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Never fails: what cannot be read is no element.
pub(super) fn elements(content: &str) -> Vec<Element> {
    let mut found = Vec::new();
    let mut position = Position { line: 1, column: 1 };
    let mut rest = content;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at_checked(at).unwrap_or((rest, ""));
        position.pass(before);
        let end = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
            .into_iter()
            .find(|(start, _)| tag.starts_with(start));
        let length = match end {
            Some((_, end)) => tag.find(end).map_or(tag.len(), |at| at + end.len()),
            None => tag_length(tag),
        };
        let (whole, after) = tag.split_at_checked(length).unwrap_or((tag, ""));
        if end.is_none() && !whole.starts_with("</") && !whole.starts_with("<!") {
            found.extend(element(whole, &position));
        }
        position.pass(whole);
        rest = after;
    }
    found
}

/// A `>` in quotes ends nothing.
fn tag_length(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    tag.len()
}

fn element(tag: &str, position: &Position) -> Option<Element> {
    let inner = tag.strip_prefix('<')?.trim_end_matches('>').trim_end_matches('/');
    let (name, mut rest) =
        inner.find(char::is_whitespace).and_then(|at| inner.split_at_checked(at)).unwrap_or((inner, ""));
    let mut attributes = Vec::new();
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else { break };
        let Some((value, tail)) = after.get(1..).and_then(|text| text.split_once(quote)) else { break };
        attributes.push((key.trim().to_owned(), unescaped(value)));
        rest = tail;
    }
    let name = name.rsplit(':').next().unwrap_or(name).to_owned();
    (!name.is_empty()).then_some(Element { name, attributes, line: position.line, column: position.column })
}

fn unescaped(value: &str) -> String {
    let mut out = value.to_owned();
    for (name, text) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        out = out.replace(name, text);
    }
    out
}

struct Position {
    line: usize,
    column: usize,
}

impl Position {
    fn pass(&mut self, text: &str) {
        match text.rsplit_once('\n') {
            Some((before, last)) => {
                self.line += before.bytes().filter(|b| *b == b'\n').count() + 1;
                self.column = last.chars().count() + 1;
            }
            None => self.column += text.chars().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_tags_with_their_attributes() {
        let found = elements(
            "<?xml version='1.0'?>\n<!-- <Connector port=\"1\"/> -->\n<Server port=\"-1\">\n  <Connector a=\"x>y\"\n   b='&quot;z&amp;' />\n</Server>",
        );
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].name.as_str(), found[1].line, found[1].column), ("Connector", 4, 3));
        assert_eq!((found[1].get("a"), found[1].get("b")), (Some("x>y"), Some("\"z&")));
        for odd in ["<", "<a", "<a b", "<a b=", "<a b='", "<!--", "<![CDATA[", "<>", "</>", "<é=\"ü\">"] {
            let _ = elements(odd);
        }
    }
}
