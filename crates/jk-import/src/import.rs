//! One import: which file is what, and what all of them make together.

use std::path::PathBuf;

use crate::document::{Document, Names, Table, quoted};
use crate::modjk::{self, Properties, Rules};
use crate::report::{At, Report};
use crate::text::{Text, without_comment};
use crate::{Imported, InputFile, Options, Problem, workers2};

/// What kind of file it is, by what stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Workers2,
    Workers,
    UriMap,
    Unknown,
}

pub(crate) struct Import<'o> {
    options: &'o Options<'o>,
    report: Report,
    document: Document,
    names: Names,
    /// Files in the order in which they were looked at.
    seen: Vec<PathBuf>,
    properties: Properties,
    rules: Rules,
    /// The first of mod_jk's files: where to point when the whole is meant.
    modjk: Option<At>,
}

impl<'o> Import<'o> {
    pub(crate) fn new(options: &'o Options<'o>) -> Self {
        Self {
            options,
            report: Report::default(),
            document: Document::default(),
            names: Names::default(),
            seen: Vec::new(),
            properties: Properties::default(),
            rules: Rules::default(),
            modjk: None,
        }
    }

    pub(crate) fn file(&mut self, file: &InputFile) {
        self.document.sources.push(file.path.display().to_string());
        self.seen.push(file.path.clone());
        match kind(file) {
            Kind::Workers2 => {
                let text = Text::read(file, workers2::RULES, &mut self.report);
                workers2::import(
                    &text,
                    self.options,
                    (&mut self.document, &mut self.names),
                    &mut self.report,
                );
            }
            Kind::Workers => {
                let text = Text::read(file, modjk::RULES, &mut self.report);
                self.modjk.get_or_insert_with(|| text.whole());
                self.properties.read(&text, self.options, &mut self.report);
            }
            Kind::UriMap => {
                let text = Text::read(file, modjk::RULES, &mut self.report);
                self.modjk.get_or_insert_with(|| text.whole());
                modjk::read_map(&text, self.options, &mut self.rules, &mut self.report);
            }
            Kind::Unknown => {
                let text = Text { path: file.path.as_path().into(), lines: Vec::new() };
                self.report
                    .problem(&text.whole(), None, "this is no file that can be imported")
                    .expected("a workers2.properties, workers.properties or uriworkermap.properties");
            }
        }
    }

    pub(crate) fn finish(mut self) -> Result<Imported, Vec<Problem>> {
        if let Some(at) = self.modjk.take_if(|_| self.properties.is_empty()) {
            self.report
                .problem(&at, None, "there is no worker to lead to")
                .help("name the workers.properties in the same command");
        }
        if let Some(at) = self.modjk.take() {
            let to = (&mut self.document, &mut self.names, &mut self.report);
            let targets = modjk::import(&self.properties, &at, &mut self.rules, to);
            let rules = self.rules.finish(&targets, &mut self.report);
            self.document.rules.extend(rules);
        }
        if self.document.listeners.is_empty() {
            let mut table = Table { name: "main".to_owned(), ..Table::default() };
            table.set("address", quoted("0.0.0.0:8080"), "the port of the web server that this replaces");
            self.document.listeners.push(table);
        }
        self.report.sort(&self.seen);
        if self.report.problems.is_empty() {
            Ok(Imported { toml: self.document.render(&self.report.notes), notes: self.report.notes })
        } else {
            Err(self.report.problems)
        }
    }
}

fn kind(file: &InputFile) -> Kind {
    let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes);
    let content = String::from_utf8_lossy(bytes);
    let lines = || content.split('\n').map(|line| without_comment(line).0).filter(|line| !line.is_empty());
    if name.starts_with("workers2") || lines().any(|line| line.starts_with('[')) {
        Kind::Workers2
    } else if lines().any(|line| line.starts_with("worker.")) {
        Kind::Workers
    } else if name.starts_with("uriworkermap") || lines().any(|line| line.starts_with(['/', '!', '-'])) {
        Kind::UriMap
    } else if name.starts_with("workers") {
        Kind::Workers
    } else {
        Kind::Unknown
    }
}
