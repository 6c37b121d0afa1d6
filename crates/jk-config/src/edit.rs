//! Changes that the status page makes: one more line laid over a file, validated like a line of it.

use toml_edit::{DocumentMut, Item, Table, Value};

use crate::problem::Source;

/// One key of one section set to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edit {
    /// `ajp13`, `lb`.
    pub section: String,
    /// The table's name.
    pub name: String,
    pub key: String,
    /// As TOML: `"stopped"` with its quotes, `3`, `true`.
    pub value: String,
}

impl Edit {
    #[must_use]
    pub fn new(section: &str, name: &str, key: &str, value: &str) -> Self {
        let text = |text: &str| text.to_owned();
        Self { section: text(section), name: text(name), key: text(key), value: text(value) }
    }

    /// Changes the text of the source that defines the section. Err: why not.
    pub(crate) fn apply(&self, sources: &mut [Source]) -> Result<(), String> {
        let Self { section, name, .. } = self;
        for source in sources.iter_mut() {
            let Ok(document) = source.text().parse::<DocumentMut>() else { continue };
            if document.get(section).and_then(|table| table.get(name)).is_some() {
                *source =
                    Source::new(source.path.clone(), persist(source.text(), std::slice::from_ref(self))?);
                return Ok(());
            }
        }
        Err(format!("there is no [{section}.{name}]"))
    }

    /// What the text says now; `None`: nothing.
    #[must_use]
    pub fn current(&self, text: &str) -> Option<String> {
        let document = text.parse::<DocumentMut>().ok()?;
        let item = document.get(&self.section)?.get(&self.name)?.get(&self.key)?;
        Some(item.to_string().trim().to_owned())
    }
}

/// The text with the edits written into it. Comments, order and spacing of all else stay.
pub fn persist(text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut document = text.parse::<DocumentMut>().map_err(|error| error.to_string())?;
    for Edit { section, name, key, value } in edits {
        let mut value: Value = value.parse().map_err(|_| format!("\"{value}\" is no value"))?;
        let table = document
            .get_mut(section)
            .and_then(|table| table.get_mut(name))
            .ok_or_else(|| format!("there is no [{section}.{name}] in this file"))?;
        if let Some(old) = table.get(key).and_then(Item::as_value) {
            // The comment behind the old value stays.
            *value.decor_mut() = old.decor().clone();
        }
        match table.as_table_like_mut() {
            Some(table) => {
                table.insert(key, Item::Value(value));
            }
            None => return Err(format!("[{section}.{name}] is not a table")),
        }
    }
    Ok(document.to_string())
}

/// A section's table as text, for previews.
#[must_use]
pub fn section_text(text: &str, section: &str, name: &str) -> Option<String> {
    let document = text.parse::<DocumentMut>().ok()?;
    let table: &Table = document.get(section)?.get(name)?.as_table()?;
    Some(format!("[{section}.{name}]\n{table}"))
}
