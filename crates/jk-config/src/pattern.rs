//! URI patterns as mappings write them.

/// What a pattern stands for: itself, or with mod_jk's bar (`/shop|/*`) the text before the bar and the whole.
pub(crate) fn expand(written: &str) -> Vec<String> {
    match written.split_once('|') {
        Some((short, tail)) => vec![short.to_owned(), format!("{short}{tail}")],
        None => vec![written.to_owned()],
    }
}

/// Whether a pattern, without the prefixes `-` and `!`, may stand in a mapping; else why not.
pub fn check_uri_pattern(written: &str) -> Result<(), String> {
    expand(written).iter().try_for_each(|pattern| check_pattern(pattern, written))
}

pub(crate) fn check_pattern(pattern: &str, written: &str) -> Result<(), String> {
    if written.starts_with('!') || written.starts_with('-') {
        return Err("the prefixes are \"-\" (disabled) and then \"!\" (exclusion), each once".to_owned());
    }
    if !pattern.starts_with('/') {
        return Err(format!("\"{pattern}\" does not begin with a slash"));
    }
    if pattern.chars().any(|c| c.is_control() || c == ';') {
        return Err("control characters and semicolons cannot be matched".to_owned());
    }
    Ok(())
}
