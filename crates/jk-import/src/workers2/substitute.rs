//! `${name}` in values: by what stands earlier in the file, else by the environment. Not in what was put in.

use std::collections::HashMap;

use crate::Options;

pub(super) struct Variables<'o> {
    known: HashMap<String, String>,
    options: &'o Options<'o>,
}

pub(super) struct Replaced {
    pub(super) text: String,
    pub(super) unknown: Vec<String>,
}

impl<'o> Variables<'o> {
    pub(super) fn new<'a: 'o>(options: &'a Options<'a>) -> Self {
        let root = options.server_root.as_ref().map(|root| root.display().to_string());
        let built_in = [
            ("serverRoot", root.as_deref().unwrap_or("SERVERROOT")),
            ("fs", "/"),
            ("ps", ":"),
            ("so", "so"),
            ("arch", "i386"),
        ];
        let known = built_in.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { known, options }
    }

    /// The value with its variables replaced, which later lines can refer to from now on.
    pub(super) fn set(&mut self, section: &str, key: &str, value: &str, is_config: bool) -> Replaced {
        if let Some(name) = key.strip_prefix('$') {
            self.known.insert(name.to_owned(), value.to_owned());
            return Replaced { text: value.to_owned(), unknown: Vec::new() };
        }
        let replaced = self.replace(value);
        self.known.insert(format!("{section}.{key}"), replaced.text.clone());
        if is_config {
            self.known.insert(key.to_owned(), replaced.text.clone());
        }
        replaced
    }

    pub(super) fn replace(&self, value: &str) -> Replaced {
        let mut out = Replaced { text: String::new(), unknown: Vec::new() };
        let mut rest = value;
        for _ in 0..MOST {
            let Some((before, after)) = rest.split_once("${") else { break };
            let Some((name, tail)) = after.split_once('}') else { break };
            out.text.push_str(before);
            match self.known.get(name).cloned().or_else(|| (self.options.variable)(name)) {
                Some(known) => out.text.push_str(&known),
                None => {
                    out.text.push_str(&format!("${{{name}}}"));
                    out.unknown.push(name.to_owned());
                }
            }
            rest = tail;
        }
        out.text.push_str(rest);
        out
    }
}

/// Replacements in one value.
const MOST: usize = 21;
