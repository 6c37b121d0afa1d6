//! Any files of any names are refused, or become a configuration that the gateway takes.
#![no_main]

use std::io;

use jk_config::{Config, Style};
use jk_import::{InputFile, Options};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 5] =
    ["workers2.properties", "workers.properties", "uriworkermap.properties", "httpd.conf", "server.xml"];

fuzz_target!(|data: &[u8]| {
    // A byte of the value 1 begins the next file; its first byte says which kind it is.
    let files: Vec<InputFile> = data
        .split(|byte| *byte == 1)
        .filter_map(|part| part.split_first())
        .map(|(kind, bytes)| {
            let name = NAMES.get(usize::from(*kind) % NAMES.len()).copied().unwrap_or("httpd.conf");
            InputFile { path: name.into(), bytes: bytes.to_vec() }
        })
        .collect();
    let nothing = |_: &std::path::Path| Err(io::ErrorKind::NotFound.into());
    let options = Options {
        server_root: None,
        read: &nothing,
        list: &|_| Err(io::ErrorKind::NotFound.into()),
        variable: &|_| None,
    };
    if let Ok(imported) = jk_import::import_with(&files, &options) {
        if let Err(problems) = Config::from_toml("import.toml", &imported.toml) {
            panic!("{}\n{}", imported.toml, problems.render(Style::Plain));
        }
    }
});
