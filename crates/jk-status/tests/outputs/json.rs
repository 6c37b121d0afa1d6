//! The JSON is what `docs/status.schema.json` says, and says no more.

use serde_json::Value;

use crate::sample::{calm, hostile, large, troubled};

const SCHEMA: &str = include_str!("../../../../docs/status.schema.json");

#[test]
fn json_is_as_its_schema_says() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for view in [calm(), troubled(), hostile(), large(30, 60), jk_status::StatusView::default()] {
        let value: Value = serde_json::from_str(&jk_status::json(&view)).unwrap();
        check(&value, &schema, &schema, "$");
    }
}

#[test]
fn the_check_sees_what_is_wrong() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let good: Value = serde_json::from_str(&jk_status::json(&calm())).unwrap();
    type Break = fn(&mut Value);
    let breaks: [Break; 5] = [
        |value| value["schema"] = 2.into(),
        |value| value["port"] = "8080".into(),
        |value| value["unknown"] = 1.into(),
        |value| value["groups"][0]["members"][0]["activation"] = "off".into(),
        |value| value["groups"][0]["members"][0]["latency_us"]["p50"] = (-1).into(),
    ];
    for break_it in breaks {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert!(std::panic::catch_unwind(|| check(&bad, &schema, &schema, "$")).is_err());
    }
}

/// As much of JSON Schema as the schema uses. Unknown keys are a fault here, though readers should bear them.
fn check(value: &Value, schema: &Value, root: &Value, path: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        return check(value, root.pointer(reference.trim_start_matches('#')).unwrap(), root, path);
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(value, constant, "{path}");
    }
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{path}: {value}");
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{path}: type {other}"),
    };
    match &schema["type"] {
        Value::String(kind) => assert!(is(kind), "{path}: {value} is no {kind}"),
        Value::Array(kinds) => {
            assert!(kinds.iter().any(|kind| is(kind.as_str().unwrap())), "{path}: {value}")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
    if let (Some(minimum), Some(number)) = (schema["minimum"].as_f64(), value.as_f64()) {
        assert!(number >= minimum, "{path}: {value}");
    }
    if let Some(items) = value.as_array() {
        for (index, item) in items.iter().enumerate() {
            check(item, &schema["items"], root, &format!("{path}[{index}]"));
        }
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(name.as_str().unwrap()), "{path}: no {name}");
        }
        for (name, value) in object {
            let property = schema["properties"].get(name);
            check(
                value,
                property.unwrap_or_else(|| panic!("{path}.{name} is not in the schema")),
                root,
                &format!("{path}.{name}"),
            );
        }
    }
}
