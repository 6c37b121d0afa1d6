//! mod_jk's directives.

use super::Forward;
use super::condition;
use super::lex::Directive;
use super::read::Reader;
use crate::modjk::{self, Rank};
use crate::near::nearest;
use crate::report::At;
use crate::text::Text;

impl Reader<'_, '_> {
    pub(super) fn jk(&mut self, directive: &Directive) {
        let at = &directive.at;
        match directive.name.as_str() {
            "jkworkersfile" => self.workers_file(directive),
            "jkworkerproperty" => {
                let line = directive.words.join(" ");
                self.httpd.properties.line(&line, at, self.options, self.report);
            }
            "jkmount" => self.mount(directive, ""),
            "jkunmount" => self.mount(directive, "!"),
            "jkmountfile" => self.mount_file(directive),
            "jkmountcopy" => self.mount_copy(directive),
            "jkoptions" => self.jk_options(directive),
            "jkloglevel" => self.httpd.log_level = Some((directive.word(0).to_ascii_lowercase(), at.clone())),
            "jkenvvar" => {
                let text = format!(
                    "{}: the gateway sends no request attributes of its own; see whether the application reads {}",
                    directive.shown(),
                    directive.word(0)
                );
                self.report.warn(at, text);
            }
            "jkautoalias" => {
                let text = format!(
                    "{}: the gateway serves no files; Tomcat's default servlet does, or a web server for static files",
                    directive.shown()
                );
                self.report.warn(at, text);
            }
            name => match KNOWN.iter().find(|(known, _)| *known == name) {
                Some((_, why)) => self.report.dropped(at, format!("{}: {why}", directive.shown())),
                None => {
                    let telling = self
                        .report
                        .problem(
                            at,
                            None,
                            format!(
                                "{} is no directive of mod_jk",
                                directive.shown().split([' ', '\t']).next().unwrap_or_default()
                            ),
                        )
                        .was("httpd did not start with it");
                    let known = KNOWN.iter().map(|(known, _)| *known).chain(ACTED_ON.iter().copied());
                    match nearest(name, known) {
                        Some(word) => telling.help(format!("did you mean {word}?")),
                        None => telling.help("take it out"),
                    };
                }
            },
        }
    }

    fn workers_file(&mut self, directive: &Directive) {
        if let Some(file) = self.named_file(directive.word(0), &directive.at) {
            self.seen.push(file.path.clone());
            let text = Text::read(&file, modjk::RULES, self.report);
            self.httpd.properties.read(&text, self.options, self.report);
        }
    }

    fn mount_file(&mut self, directive: &Directive) {
        let Some(file) = self.named_file(directive.word(0), &directive.at) else { return };
        self.seen.push(file.path.clone());
        let text = Text::read(&file, modjk::RULES, self.report);
        let Some(server) = self.httpd.servers.get_mut(self.server) else { return };
        server.has_mount_file = true;
        modjk::read_map(&text, self.options, &mut server.rules, self.report);
    }

    /// `JkMount /path worker`, or `JkMount worker` in a Location, which is that one path and nothing below it.
    fn mount(&mut self, directive: &Directive, prefix: &str) {
        let at = &directive.at;
        let (path, worker) = match (directive.words.as_slice(), self.location()) {
            ([worker], Some(Some(path))) => {
                let path = path.clone();
                let text = format!(
                    "{} in <Location {path}> is for {path} itself and nothing below it, as in mod_jk",
                    directive.shown()
                );
                self.report.kept(at, text);
                (path, worker.clone())
            }
            ([path, worker, ..], _) => (path.clone(), worker.clone()),
            _ => {
                self.report
                    .problem(at, None, format!("{} needs a path and a worker", directive.shown()))
                    .expected(format!(
                        "{} /path/* worker",
                        directive.shown().split([' ', '\t']).next().unwrap_or_default()
                    ))
                    .was("httpd did not start with it");
                return;
            }
        };
        if !path.starts_with('/') {
            self.report
                .problem(at, None, format!("\"{path}\" is no pattern"))
                .expected("a path that begins with a slash")
                .was("httpd did not start with it");
            return;
        }
        let Some(server) = self.httpd.servers.get_mut(self.server) else { return };
        server.rules.add((&format!("{prefix}{path}"), &worker), Rank::Directive, at, self.report);
    }

    fn mount_copy(&mut self, directive: &Directive) {
        let word = directive.word(0).to_ascii_lowercase();
        let is_main = self.server == 0;
        match word.as_str() {
            "all" if is_main => self.httpd.mount_copy_all = true,
            "on" | "all" if is_main => {
                self.report.kept(&directive.at, "JkMountCopy On counts in virtual hosts only")
            }
            _ => {
                if let Some(server) = self.server() {
                    server.copy = Some(word != "off");
                }
            }
        }
    }

    fn jk_options(&mut self, directive: &Directive) {
        for word in directive.words.clone() {
            let name = word.trim_start_matches(['+', '-']).to_ascii_lowercase();
            let forward = match name.as_str() {
                "forwarduriproxy" => Some(Forward::Proxy),
                "forwarduricompatunparsed" => Some(Forward::Unparsed),
                "forwarduriescaped" => Some(Forward::Escaped),
                _ => None,
            };
            if let Some(forward) = forward {
                if self.server == 0 {
                    self.httpd.forward = Some(forward);
                } else if let Some(server) = self.server() {
                    server.forward = Some(forward);
                }
                continue;
            }
            self.option(&word, &name, &directive.at);
        }
    }

    fn option(&mut self, word: &str, name: &str, at: &At) {
        let is_off = word.starts_with('-');
        match OPTIONS.iter().find(|(known, _, _)| *known == name) {
            Some((_, _, why)) if is_off => self.report.kept(at, format!("{word}: {why}")),
            Some((_, true, why)) => self.report.warn(at, format!("{word}: {why}")),
            Some((_, false, why)) => self.report.dropped(at, format!("{word}: {why}")),
            None => {
                let telling = self
                    .report
                    .problem(at, None, format!("{word} is no option of mod_jk"))
                    .was("httpd did not start with it");
                match nearest(name, OPTIONS.iter().map(|(known, _, _)| *known)) {
                    Some(known) => telling.help(format!("did you mean {known}?")),
                    None => telling.help("take it out"),
                };
            }
        }
    }

    /// `SetEnvIf Request_URI EXPRESSION no-jk`, and other variables that mod_jk looks at.
    pub(super) fn environment(&mut self, directive: &Directive) {
        let at = &directive.at;
        let is_ours = |word: &String| {
            let name = word.split('=').next().unwrap_or_default();
            name == "no-jk" || name.starts_with("JK_")
        };
        let Some(variable) = directive.words.iter().find(|word| is_ours(word)) else {
            self.httpd.n_foreign += 1;
            return;
        };
        if directive.name == "setenv" && variable == "no-jk" {
            self.report.dropped(
                at,
                format!("{}: SetEnv comes too late for mod_jk, so it did nothing", directive.shown()),
            );
            return;
        }
        let is_uri = directive.word(0).eq_ignore_ascii_case("Request_URI") && directive.name == "setenvif";
        let patterns =
            if is_uri && variable == "no-jk" { condition::patterns(directive.word(1)) } else { None };
        match patterns {
            Some(patterns) => {
                if let Some(server) = self.server() {
                    server.no_jk.extend(patterns.into_iter().map(|pattern| (pattern, at.clone())));
                }
            }
            None => {
                let text = format!(
                    "{} is left out: only no-jk for a Request_URI without real regular expressions has a counterpart, an exclusion",
                    directive.shown()
                );
                self.report.warn(at, text);
            }
        }
    }
}

const ACTED_ON: &[&str] = &[
    "jkworkersfile",
    "jkworkerproperty",
    "jkmount",
    "jkunmount",
    "jkmountfile",
    "jkmountcopy",
    "jkoptions",
    "jkloglevel",
    "jkenvvar",
    "jkautoalias",
];

const VARIABLE: &str =
    "the client's address, TLS data and the like come from the connection or from trusted_proxies";

/// Directives that are left out, and why.
const KNOWN: &[(&str, &str)] = &[
    ("jkshmfile", "the gateway is one process and needs no shared memory"),
    ("jkshmsize", "the gateway is one process and needs no shared memory"),
    ("jkwatchdoginterval", "maintenance always runs"),
    ("jkmountfilereload", "the file is watched"),
    ("jklogfile", "the gateway logs to standard error"),
    ("jklogstampformat", "the gateway has its own form of time stamps"),
    ("jkrequestlogformat", "requests are logged by [access_log]"),
    ("jkstripsession", "what is not mapped is answered with 404"),
    ("jkextractssl", "TLS data is sent whenever it is known"),
    ("jkworkerindicator", VARIABLE),
    ("jkhttpsindicator", VARIABLE),
    ("jksslprotocolindicator", VARIABLE),
    ("jkcertsindicator", VARIABLE),
    ("jkcertchainprefix", VARIABLE),
    ("jkcipherindicator", VARIABLE),
    ("jksessionindicator", VARIABLE),
    ("jkkeysizeindicator", VARIABLE),
    ("jkrequestidindicator", VARIABLE),
    ("jkremoteaddrindicator", VARIABLE),
    ("jkremoteportindicator", VARIABLE),
    ("jkremotehostindicator", VARIABLE),
    ("jkremoteuserindicator", VARIABLE),
    ("jkauthtypeindicator", VARIABLE),
    ("jklocalnameindicator", VARIABLE),
    ("jklocaladdrindicator", VARIABLE),
    ("jklocalportindicator", VARIABLE),
    ("jkignoreclindicator", VARIABLE),
];

/// Options; whether leaving one out may be noticed; and why it is.
const OPTIONS: &[(&str, bool, &str)] = &[
    (
        "forwarduricompat",
        true,
        "a decoded path would let a client reach other paths than those that were matched; the gateway sends an escaped one",
    ),
    ("forwardkeysize", false, "the key size is sent whenever it is known"),
    ("forwardsslcertchain", true, "certificates of a chain are not sent"),
    ("forwarddirectories", true, "there are no directories; map the paths that Tomcat serves"),
    ("forwardlocaladdress", true, "Tomcat gets the client's address"),
    ("forwardphysicaladdress", false, "say in trusted_proxies whose headers count"),
    ("flushpackets", false, "what Tomcat sends is passed on at once"),
    ("flushheader", false, "what Tomcat sends is passed on at once"),
    (
        "disablereuse",
        true,
        "connections are used again; where a firewall cuts idle ones, keep connection_pool_timeout short",
    ),
    ("rejectunsafeuri", false, "what cannot be read safely is answered with 400"),
    ("collapseslashesall", false, "slashes are always collapsed for matching"),
    ("collapseslashesnone", false, "slashes are always collapsed for matching"),
    ("collapseslashesunmount", false, "slashes are always collapsed for matching"),
];
