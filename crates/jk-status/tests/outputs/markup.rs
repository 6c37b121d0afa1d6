//! A scanner for markup that is as strict as a browser is lenient: whatever it does not know is a failure.

/// A tag with its attributes.
pub(crate) struct Tag<'a> {
    pub(crate) name: &'a str,
    pub(crate) attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// All tags, opening and closing. Panics at a `<` that begins none, at an attribute without quotes around its value, at a stray `&`.
pub(crate) fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        references(&rest[..at]);
        rest = &rest[at + 1..];
        let (tag, left) = tag(rest);
        all.push(tag);
        rest = left;
    }
    references(rest);
    all
}

fn tag(text: &str) -> (Tag<'_>, &str) {
    let end = text.find([' ', '\n', '>']).unwrap_or_else(|| panic!("unfinished tag: {:.80}", text));
    let name = &text[..end];
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '!' | '/' | '?'))
    };
    assert!(is_name(name), "no tag: <{text:.80}");
    let mut rest = &text[end..];
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\n']);
        if let Some(left) = rest.strip_prefix("/>").or(rest.strip_prefix("?>")).or(rest.strip_prefix('>')) {
            return (Tag { name, attributes }, left);
        }
        let end = rest.find(['=', ' ', '\n', '>']).unwrap_or_else(|| panic!("unfinished: {rest:.80}"));
        let attribute = &rest[..end];
        assert!(is_name(attribute), "no attribute: {rest:.80}");
        rest = &rest[end..];
        if let Some(left) = rest.strip_prefix("=\"") {
            let end = left.find('"').unwrap_or_else(|| panic!("unfinished: {left:.80}"));
            let value = &left[..end];
            references(value);
            assert!(!value.contains('<'), "{value}");
            attributes.push((attribute, value));
            rest = &left[end + 1..];
        } else {
            assert!(!rest.starts_with('='), "no quotes: {rest:.80}");
            attributes.push((attribute, ""));
        }
    }
}

/// Each `&` begins a reference.
fn references(text: &str) {
    for after in text.split('&').skip(1) {
        let name = after.split(';').next().unwrap();
        let is_known = matches!(name, "lt" | "gt" | "amp" | "quot")
            || name.strip_prefix('#').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(is_known, "stray &: {after:.40}");
    }
}
