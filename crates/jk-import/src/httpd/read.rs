//! From directives to servers: sections, includes, and what belongs to whom.

use std::collections::HashMap;
use std::path::PathBuf;

use super::lex::{Directive, directives};
use super::{Httpd, Listen, Server};
use crate::modjk;
use crate::report::{At, Report};
use crate::text::Text;
use crate::{InputFile, Options};

pub(super) struct Reader<'i, 'o> {
    pub(super) httpd: &'i mut Httpd,
    pub(super) inputs: &'i [InputFile],
    pub(super) options: &'o Options<'o>,
    pub(super) report: &'i mut Report,
    pub(super) root: Option<PathBuf>,
    /// The server that directives are for.
    pub(super) server: usize,
    defined: HashMap<String, String>,
    pub(super) sections: Vec<Section>,
    /// Of the sections, those that are switched off.
    n_skipped: usize,
    /// Files that are being read, for cycles.
    open: Vec<PathBuf>,
    pub(super) seen: &'i mut Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Section {
    VirtualHost,
    /// With its path; `None`: a regular expression.
    Location(Option<String>),
    /// `<Proxy URL>`.
    Proxy(String),
    /// Nothing in it counts.
    Skipped,
    Other,
}

/// Reads one file given on the command line, and all that it includes.
pub(crate) fn read(
    httpd: &mut Httpd,
    file: &InputFile,
    (inputs, options, seen): (&[InputFile], &Options<'_>, &mut Vec<PathBuf>),
    report: &mut Report,
) {
    if httpd.servers.is_empty() {
        let at = At { path: file.path.as_path().into(), line: 0, column: 0 };
        httpd.servers.push(Server::new(at, Vec::new()));
    }
    let mut reader = Reader {
        httpd,
        inputs,
        options,
        report,
        root: options.server_root.clone(),
        server: 0,
        defined: HashMap::new(),
        sections: Vec::new(),
        n_skipped: 0,
        open: Vec::new(),
        seen,
    };
    reader.file(file);
}

impl Reader<'_, '_> {
    fn file(&mut self, file: &InputFile) {
        if self.open.contains(&file.path) || self.open.len() > DEEPEST || self.seen.len() > MOST_FILES {
            let at = At { path: file.path.as_path().into(), line: 0, column: 0 };
            self.report.warn(&at, "the file includes itself, or too many others; it is read no further");
            return;
        }
        self.open.push(file.path.clone());
        if !self.seen.contains(&file.path) {
            self.seen.push(file.path.clone());
        }
        let text = Text::read(file, modjk::RULES, self.report);
        let depth = self.sections.len();
        for mut directive in directives(&text) {
            self.define(&mut directive);
            self.directive(&directive);
        }
        if self.sections.len() > depth {
            self.report.warn(&text.whole(), "a section is not closed at the end of the file");
            while self.sections.len() > depth {
                self.close();
            }
        }
        self.open.pop();
    }

    /// `${NAME}` by Define, else by the environment.
    fn define(&self, directive: &mut Directive) {
        for word in directive.words.iter_mut().filter(|word| word.contains("${")) {
            let mut out = String::new();
            let mut rest = word.as_str();
            while let Some((before, after)) = rest.split_once("${") {
                let Some((name, tail)) = after.split_once('}') else { break };
                out.push_str(before);
                match self.defined.get(name).cloned().or_else(|| (self.options.variable)(name)) {
                    Some(value) => out.push_str(&value),
                    None => out.push_str(&format!("${{{name}}}")),
                }
                rest = tail;
            }
            out.push_str(rest);
            *word = out;
        }
    }

    pub(super) fn server(&mut self) -> Option<&mut Server> {
        self.httpd.servers.get_mut(self.server)
    }

    /// The innermost Location, or nothing.
    pub(super) fn location(&self) -> Option<&Option<String>> {
        self.sections.iter().rev().take(NEAREST).find_map(|section| match section {
            Section::Location(path) => Some(path),
            Section::VirtualHost | Section::Proxy(_) | Section::Skipped | Section::Other => None,
        })
    }

    fn directive(&mut self, directive: &Directive) {
        if directive.name.starts_with("</") {
            self.close();
            return;
        }
        if self.n_skipped > 0 {
            if directive.name.starts_with('<') {
                self.sections.push(Section::Other);
            } else if directive.name.starts_with("jk") || directive.name.starts_with("proxypass") {
                let text = format!(
                    "{} stands in a section that is switched off here; it is left out",
                    directive.shown()
                );
                self.report.warn(&directive.at, text);
            }
            return;
        }
        if let Some(name) = directive.name.strip_prefix('<') {
            self.section(name, directive);
        } else if directive.name.starts_with("jk") {
            self.jk(directive);
        } else {
            self.other(directive);
        }
    }

    fn section(&mut self, name: &str, directive: &Directive) {
        let word = directive.word(0);
        let section = match name {
            "virtualhost" => {
                let server = Server::new(directive.at.clone(), directive.words.clone());
                self.httpd.servers.push(server);
                self.server = self.httpd.servers.len() - 1;
                Section::VirtualHost
            }
            "location" if word != "~" => Section::Location(Some(word.to_owned())),
            "location" | "locationmatch" => Section::Location(None),
            "proxy" => Section::Proxy(word.to_owned()),
            "ifmodule" if word.starts_with('!') => Section::Skipped,
            "ifdefine" => {
                let is_defined = self.defined.contains_key(word.trim_start_matches('!'));
                if is_defined == word.starts_with('!') { Section::Skipped } else { Section::Other }
            }
            _ => Section::Other,
        };
        self.n_skipped += usize::from(section == Section::Skipped);
        self.sections.push(section);
    }

    /// Out of a virtual host, the main server counts again.
    fn close(&mut self) {
        match self.sections.pop() {
            Some(Section::VirtualHost) => self.server = 0,
            Some(Section::Skipped) => self.n_skipped = self.n_skipped.saturating_sub(1),
            Some(Section::Location(_) | Section::Proxy(_) | Section::Other) | None => {}
        }
    }

    fn other(&mut self, directive: &Directive) {
        let at = &directive.at;
        match directive.name.as_str() {
            "serverroot" => self.root = Some(PathBuf::from(directive.word(0))),
            "define" => {
                self.defined.insert(directive.word(0).to_owned(), directive.word(1).to_owned());
            }
            "include" | "includeoptional" => self.include(directive),
            "listen" => {
                let address = directive.word(0);
                let is_tls = directive.word(1).eq_ignore_ascii_case("https")
                    || address.rsplit(':').next() == Some("443");
                self.httpd.listens.push(Listen { address: address.to_owned(), is_tls, at: at.clone() });
            }
            "servername" => {
                if let Some(server) = self.server() {
                    server.name = Some(directive.word(0).to_owned());
                }
            }
            "serveralias" => {
                if let Some(server) = self.server() {
                    server.aliases.extend(directive.words.iter().cloned());
                }
            }
            "sslengine" => {
                if let Some(server) = self.server() {
                    server.is_tls = directive.word(0).eq_ignore_ascii_case("on");
                }
            }
            "setenvif" | "setenvifnocase" | "browsermatch" | "browsermatchnocase" | "setenv" => {
                self.environment(directive)
            }
            "require" | "allow" => self.allow(directive),
            "rewriterule" => self.rewrite(directive),
            "sethandler" => {
                let word = directive.word(0);
                if word.contains("ajp:") || word.contains("balancer:") || word.contains("jakarta") {
                    self.report.warn(
                        at,
                        format!("{} is left out; write the paths it serves as mappings", directive.shown()),
                    );
                }
            }
            "allowencodedslashes" => {
                if !directive.word(0).eq_ignore_ascii_case("off") {
                    self.report.changed(
                        at,
                        format!(
                            "{}: a mapping that needs it says encoded_slash = \"forward\"",
                            directive.shown()
                        ),
                    );
                }
            }
            name if name.starts_with("proxy") || name == "balancermember" => self.proxy(directive),
            _ => self.httpd.n_foreign += 1,
        }
    }

    fn include(&mut self, directive: &Directive) {
        for pattern in &directive.words {
            let files = self.included(pattern, &directive.at);
            if files.is_empty() && directive.name == "include" {
                let text =
                    format!("Include {pattern}: nothing can be read there; whatever it says is missing here");
                self.report.warn(&directive.at, text);
            }
            for file in files {
                self.file(&file);
            }
        }
    }

    /// Who may see a path: the status page asks for it.
    fn allow(&mut self, directive: &Directive) {
        let Some(Some(path)) = self.location().cloned() else { return };
        let words: Vec<&str> = directive.words.iter().map(String::as_str).collect();
        let networks: Vec<String> = match words.as_slice() {
            ["local"] | ["host", "localhost"] => vec!["127.0.0.0/8".to_owned(), "::1/128".to_owned()],
            ["ip" | "from", networks @ ..] => {
                networks.iter().filter_map(|network| super::network::of(network)).collect()
            }
            _ => return,
        };
        self.httpd.allowed.push((path, networks));
    }

    fn rewrite(&mut self, directive: &Directive) {
        let target = directive.word(1);
        if target.starts_with("ajp:") || target.starts_with("balancer:") {
            let text = format!(
                "{} is left out: the gateway rewrites no paths; write a mapping for the paths that it serves",
                directive.shown()
            );
            self.report.warn(&directive.at, text);
        }
    }
}

/// Sections around a directive that may say whom it is for.
pub(super) const NEAREST: usize = 100;
const DEEPEST: usize = 100;
const MOST_FILES: usize = 10_000;
