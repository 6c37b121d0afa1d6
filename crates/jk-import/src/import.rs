//! One import: which file is what, and what all of them make together.

use std::path::PathBuf;

use crate::document::{Document, Names, Table, quoted};
use crate::httpd::{self, Httpd};
use crate::modjk::{self, Properties, Rules};
use crate::report::{At, Report};
use crate::text::{Text, without_comment};
use crate::tomcat::{self, Connector};
use crate::{Imported, InputFile, Options, Problem, workers2};

/// What kind of file it is, by what stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Workers2,
    Workers,
    UriMap,
    Httpd,
    ServerXml,
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
    httpd: Httpd,
    connectors: Vec<Connector>,
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
            httpd: Httpd::default(),
            connectors: Vec::new(),
            modjk: None,
        }
    }

    /// httpd's files come first: they say whose the others are.
    pub(crate) fn files(&mut self, files: &[InputFile]) {
        let kinds: Vec<Kind> = files.iter().map(kind).collect();
        for (file, _) in files.iter().zip(&kinds).filter(|(_, kind)| **kind == Kind::Httpd) {
            let around = (files, self.options, &mut self.seen);
            httpd::read(&mut self.httpd, file, around, &mut self.report);
        }
        for (index, (file, kind)) in files.iter().zip(kinds).enumerate() {
            if !self.httpd.named.contains(&index) {
                self.file(file, kind);
            }
        }
    }

    fn file(&mut self, file: &InputFile, kind: Kind) {
        match kind {
            Kind::Httpd => {}
            Kind::Workers2 => {
                self.seen.push(file.path.clone());
                let text = Text::read(file, workers2::RULES, &mut self.report);
                workers2::import(
                    &text,
                    self.options,
                    (&mut self.document, &mut self.names),
                    &mut self.report,
                );
            }
            Kind::Workers => {
                let text = self.modjk_text(file);
                self.properties.read(&text, self.options, &mut self.report);
            }
            Kind::UriMap => {
                let text = self.modjk_text(file);
                modjk::read_map(&text, self.options, &mut self.rules, &mut self.report);
            }
            Kind::ServerXml => {
                self.seen.push(file.path.clone());
                let text = Text::read(file, tomcat::RULES, &mut self.report);
                self.connectors.extend(tomcat::read(&text, &mut self.report));
            }
            Kind::Unknown => {
                let text = Text { path: file.path.as_path().into(), lines: Vec::new() };
                self.report
                    .problem(&text.whole(), None, "this is no file that can be imported")
                    .expected("a workers2.properties, workers.properties, uriworkermap.properties, httpd.conf or server.xml");
            }
        }
    }

    fn modjk_text(&mut self, file: &InputFile) -> Text {
        self.seen.push(file.path.clone());
        let text = Text::read(file, modjk::RULES, &mut self.report);
        self.modjk.get_or_insert_with(|| text.whole());
        text
    }

    pub(crate) fn finish(mut self) -> Result<Imported, Vec<Problem>> {
        self.properties.append(std::mem::take(&mut self.httpd.properties));
        let main = self.httpd.servers.first().map(|server| server.at().clone());
        if let Some(at) = self.modjk.take().or(main) {
            self.modjk_and_httpd(&at);
        }
        if self.document.workers.is_empty() && !self.connectors.is_empty() {
            tomcat::make(&self.connectors, &mut self.document, &mut self.names, &mut self.report);
        }
        tomcat::check(&self.connectors, &self.document, &mut self.report);
        if self.document.listeners.is_empty() {
            let mut table = Table { name: "main".to_owned(), ..Table::default() };
            table.set("address", quoted("0.0.0.0:8080"), "the port of the web server that this replaces");
            self.document.listeners.push(table);
        }
        self.document.settle_nobodies(&mut self.names);
        let repairs = [
            self.document.drop_repeated_hosts(),
            self.document.drop_impossible_rules(),
            self.document.part_routes(),
        ];
        for sentence in repairs.concat() {
            let path = self.seen.first().cloned().unwrap_or_default();
            self.report.warn(&At { path: path.into(), line: 0, column: 0 }, sentence);
        }
        self.document.factor_out_defaults();
        self.document.sources = self.seen.iter().map(|path| path.display().to_string()).collect();
        self.report.sort(&self.seen);
        if self.report.problems.is_empty() {
            Ok(Imported { toml: self.document.render(&self.report.notes), notes: self.report.notes })
        } else {
            Err(self.report.problems)
        }
    }

    fn modjk_and_httpd(&mut self, at: &At) {
        let has_rules = !self.rules.is_empty() || self.httpd.servers.iter().any(httpd::Server::has_mounts);
        let mut targets = modjk::Targets::default();
        if !self.properties.is_empty() {
            let to = (&mut self.document, &mut self.names, &mut self.report);
            targets = modjk::import(&self.properties, at, &mut self.rules, to);
        } else if has_rules {
            self.report
                .problem(at, None, "there is no worker to lead to")
                .help("name the workers.properties in the same command");
            return;
        }
        if self.httpd.servers.is_empty() {
            let rules = self.rules.finish(&targets, &mut self.report);
            self.document.rules.extend(rules);
        } else {
            let to = (&mut self.document, &mut self.names, &mut self.report);
            httpd::finish(&self.httpd, (&targets, &self.rules), to);
        }
    }
}

fn kind(file: &InputFile) -> Kind {
    let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes);
    let content = String::from_utf8_lossy(bytes);
    let lines = || content.split('\n').map(|line| without_comment(line).0).filter(|line| !line.is_empty());
    let is_properties = name.ends_with(".properties");
    if name.starts_with("workers2") {
        Kind::Workers2
    } else if !is_properties && tomcat::is_server_xml(&content) {
        Kind::ServerXml
    } else if !is_properties && lines().any(httpd::is_directive) {
        Kind::Httpd
    } else if lines().any(|line| line.starts_with('[')) {
        Kind::Workers2
    } else if lines().any(|line| line.starts_with("worker.")) {
        Kind::Workers
    } else if name.starts_with("uriworkermap") || lines().any(|line| line.starts_with(['/', '!', '-'])) {
        Kind::UriMap
    } else if name.starts_with("workers") {
        Kind::Workers
    } else if name.ends_with(".conf") {
        Kind::Httpd
    } else {
        Kind::Unknown
    }
}
