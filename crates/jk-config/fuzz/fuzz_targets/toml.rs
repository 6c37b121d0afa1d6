//! Any text is a configuration or is refused with messages that can be drawn.
#![no_main]

use jk_config::{Config, Style};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Config::from_toml("fuzz.toml", text) {
        Ok(loaded) => {
            let dumped = jk_config::dump(&loaded.config);
            assert!(Config::from_toml("dump.toml", &dumped).is_ok(), "{dumped}");
        }
        Err(problems) => {
            assert!(!problems.render(Style::Plain).is_empty());
        }
    }
});
