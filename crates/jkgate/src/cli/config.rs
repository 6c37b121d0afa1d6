//! `check`, `import`, `config dump`: what is done with files alone.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jk_config::{Loaded, Problems, Severity};

use super::{fail, print, style};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    Text,
    Json,
}

/// Reads a configuration, or says what is wrong with it. A legacy file is imported on the fly.
pub(super) fn load(file: &Path) -> Result<Loaded, ExitCode> {
    let is_legacy =
        file.extension().is_some_and(|extension| extension == "properties" || extension == "conf");
    let result = if is_legacy { load_legacy(file)? } else { jk_config::load(file) };
    result.map_err(|problems| {
        eprintln!("{}\n", problems.render(style()));
        eprintln!("jkgate: {}", count(&problems));
        ExitCode::FAILURE
    })
}

fn load_legacy(file: &Path) -> Result<Result<Loaded, Problems>, ExitCode> {
    let toml = import_files(&[file.to_owned()])?;
    eprintln!(
        "jkgate: serving an imported {}; make it yours with: jkgate import {} -o workers.toml",
        file.display(),
        file.display()
    );
    Ok(jk_config::Config::from_toml(&format!("{} (imported)", file.display()), &toml))
}

pub(super) fn check(file: &Path, form: Form) -> ExitCode {
    let result = jk_config::load(file);
    let (problems, good) = match &result {
        Ok(loaded) => (&loaded.warnings, true),
        Err(problems) => (problems, false),
    };
    if form == Form::Json {
        let code = print(&format!("{}\n", json(problems)));
        return if good { code } else { ExitCode::FAILURE };
    }
    if !problems.is_empty() {
        eprintln!("{}\n", problems.render(style()));
    }
    match &result {
        Ok(loaded) => {
            let config = &loaded.config;
            let n_mappings = config.mappings().len()
                + config.hosts().iter().map(|host| host.mappings.len()).sum::<usize>();
            print(&format!(
                "{} is good: {}, {}, {}, {}{}\n",
                file.display(),
                plural(config.listeners().len(), "listener"),
                plural(config.groups().len(), "group"),
                plural(config.workers().len(), "worker"),
                plural(n_mappings, "mapping"),
                if problems.is_empty() {
                    String::new()
                } else {
                    format!("; {}", plural(problems.list().len(), "warning"))
                }
            ))
        }
        Err(problems) => fail(count(problems)),
    }
}

pub(super) fn dump(file: &Path) -> ExitCode {
    match load(file) {
        Ok(loaded) => print(&jk_config::dump(&loaded.config, &loaded.sources, &loaded.originals)),
        Err(code) => code,
    }
}

pub(super) fn import(files: &[PathBuf], output: Option<&Path>) -> ExitCode {
    let toml = match import_files(files) {
        Ok(toml) => toml,
        Err(code) => return code,
    };
    match output {
        None => print(&toml),
        Some(path) => {
            let has_secret = holds_secret(&toml);
            let written = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(if has_secret { 0o640 } else { 0o666 })
                .open(path)
                .and_then(|mut file| std::io::Write::write_all(&mut file, toml.as_bytes()));
            match written {
                Ok(()) => {
                    eprintln!(
                        "jkgate: wrote {}; look at it with: jkgate check -c {}",
                        path.display(),
                        path.display()
                    );
                    if has_secret {
                        eprintln!("jkgate: it holds a secret, so only its owner and its group may read it");
                    }
                    ExitCode::SUCCESS
                }
                Err(error) => fail(format!("cannot write {}: {error}", path.display())),
            }
        }
    }
}

/// Whether a key of this text, as the importer writes it, is a secret.
fn holds_secret(toml: &str) -> bool {
    let key = |line: &str| line.split_once('=').map(|(key, _)| key.trim() == "secret");
    toml.lines().filter_map(key).any(|is_secret| is_secret)
}

/// Notes and problems go to standard error.
fn import_files(files: &[PathBuf]) -> Result<String, ExitCode> {
    let mut inputs = Vec::new();
    for path in files {
        match std::fs::read(path) {
            Ok(bytes) => inputs.push(jk_import::InputFile { path: path.clone(), bytes }),
            Err(error) => return Err(fail(format!("cannot read {}: {error}", path.display()))),
        }
    }
    match jk_import::import(&inputs) {
        Ok(imported) => {
            for note in &imported.notes {
                eprintln!("{note}");
            }
            Ok(imported.toml)
        }
        Err(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            Err(fail(format!(
                "{} in what was to be imported; nothing was written",
                plural(problems.len(), "problem")
            )))
        }
    }
}

fn count(problems: &Problems) -> String {
    let errors = problems.n_errors();
    let warnings = problems.list().len() - errors;
    let also = if warnings > 0 { format!(" and {}", plural(warnings, "warning")) } else { String::new() };
    format!("{}{also}", plural(errors, "error"))
}

fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// `[{"severity":…,"file":…,"line":…,"column":…,"title":…,"label":…,"help":…}]`
fn json(problems: &Problems) -> String {
    let text = |text: &str| {
        let mut out = String::from("\"");
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
                c => out.push(c),
            }
        }
        out.push('"');
        out
    };
    let one = |problem: &jk_config::Problem| {
        let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
        let place = problem.place.as_ref().and_then(|place| Some((place, problems.source(place)?)));
        let at = place.map_or_else(
            || "\"file\":null,\"line\":null,\"column\":null".to_owned(),
            |(place, source)| {
                let (line, column) = source.position(place.span.start);
                format!(
                    "\"file\":{},\"line\":{line},\"column\":{column}",
                    text(&source.path.display().to_string())
                )
            },
        );
        format!(
            "{{\"severity\":\"{severity}\",{at},\"title\":{},\"expected\":{},\"help\":{}}}",
            text(&problem.title),
            text(&problem.label),
            problem.help.as_deref().map_or_else(|| "null".to_owned(), text)
        )
    };
    format!("[{}]", problems.list().iter().map(one).collect::<Vec<_>>().join(","))
}
