//! The JSON Schema for editors.

use crate::key::{KEYS, Key, Kind, NAMED};

/// A JSON Schema of workers.toml, made from the table of keys.
#[must_use]
pub fn schema() -> String {
    let mut out = String::from(
        "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"jkgate workers.toml\",\n  \"type\": \"object\",\n  \"additionalProperties\": false,\n  \"properties\": {\n",
    );
    out.push_str("    \"include\": {\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]},\n");
    out.push_str(&format!(
        "    \"defaults\": {{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {{\"ajp13\": {}, \"lb\": {}}}}},\n",
        object("ajp13"),
        object("lb")
    ));
    for section in NAMED {
        out.push_str(&format!(
            "    \"{section}\": {{\"type\": \"object\", \"additionalProperties\": {}}},\n",
            object(section)
        ));
    }
    out.push_str(&format!("    \"uri\": {},\n", mapping_schema()));
    let single = ["status", "admin", "access_log", "log", "process"]
        .map(|section| format!("    \"{section}\": {}", object(section)));
    out.push_str(&single.join(",\n"));
    out.push_str("\n  }\n}\n");
    out
}

fn object(section: &str) -> String {
    let properties: Vec<String> = KEYS.iter().filter(|key| key.section == section).map(property).collect();
    format!(
        "{{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {{{}}}}}",
        properties.join(", ")
    )
}

fn mapping_schema() -> String {
    format!(
        "{{\"type\": \"object\", \"additionalProperties\": {{\"oneOf\": [{{\"type\": \"string\"}}, {}]}}}}",
        object("uri")
    )
}

fn property(key: &Key) -> String {
    let words = |words: &[&str]| words.iter().map(|word| json(word)).collect::<Vec<_>>().join(", ");
    let kind = match key.kind {
        Kind::Text | Kind::Address => "\"type\": \"string\"".to_owned(),
        Kind::Duration | Kind::DurationOrNever => {
            "\"type\": \"string\", \"pattern\": \"^([0-9.]+ ?(ms|s|m|min|h|d)|never)$\"".to_owned()
        }
        Kind::Size => "\"type\": \"string\", \"pattern\": \"^[0-9]+ ?([kKmM]?i?[bB]?)$\"".to_owned(),
        Kind::Texts | Kind::Networks => {
            "\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]"
                .to_owned()
        }
        Kind::Flag => "\"type\": \"boolean\"".to_owned(),
        Kind::Number { min, max } => format!("\"type\": \"integer\", \"minimum\": {min}, \"maximum\": {max}"),
        Kind::Statuses => "\"type\": \"array\", \"items\": {\"type\": \"integer\"}".to_owned(),
        Kind::Choice(choices) => format!("\"enum\": [{}]", words(choices)),
        Kind::Choices(choices) => {
            format!("\"type\": \"array\", \"items\": {{\"enum\": [{}]}}", words(choices))
        }
        Kind::Table("uri") => return format!("\"{}\": {}", key.name, mapping_schema()),
        Kind::Table(section) => return format!("\"{}\": {}", key.name, object(section)),
    };
    format!("\"{}\": {{{kind}, \"description\": {}}}", key.name, json(key.doc))
}

fn json(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
