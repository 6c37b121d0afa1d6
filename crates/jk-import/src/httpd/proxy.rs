//! mod_proxy's directives.

use super::balancer::{Member, Parameters};
use super::lex::Directive;
use super::pass::Pass;
use super::read::{NEAREST, Reader, Section};
use crate::report::At;

impl Reader<'_, '_> {
    pub(super) fn proxy(&mut self, directive: &Directive) {
        match directive.name.as_str() {
            "proxypass" => self.pass(directive),
            "proxypassmatch" => {
                let text = format!(
                    "{} is left out: regular expressions are not mapped; write the paths as patterns with * and ?",
                    directive.shown()
                );
                self.report.warn(&directive.at, text);
            }
            "proxyset" => self.set(directive),
            "balancermember" => self.member(directive),
            "proxytimeout" => {
                if let Ok(number) = directive.word(0).parse() {
                    self.httpd.reply_timeout = Some((number, directive.at.clone()));
                }
            }
            "proxyiobuffersize" => {
                if let Ok(number) = directive.word(0).parse() {
                    self.httpd.packet_size = Some((number, directive.at.clone()));
                }
            }
            name if name.starts_with("proxypassreverse") || name == "proxypreservehost" => {
                let text = format!(
                    "{}: not needed; Tomcat knows the name and port that the client used",
                    directive.shown()
                );
                self.report.dropped(&directive.at, text);
            }
            _ => self.httpd.n_foreign += 1,
        }
    }

    fn pass(&mut self, directive: &Directive) {
        let location = self.location().cloned();
        let (path, rest) = match location {
            Some(Some(path)) => (path, directive.words.as_slice()),
            Some(None) => {
                let text = format!(
                    "{} is left out: it stands in a section whose path is a regular expression",
                    directive.shown()
                );
                self.report.warn(&directive.at, text);
                return;
            }
            None => (directive.word(0).to_owned(), directive.words.get(1..).unwrap_or_default()),
        };
        let Some((url, rest)) = rest.split_first().filter(|_| path.starts_with('/')) else {
            self.report
                .problem(&directive.at, None, "ProxyPass without a path or a URL")
                .expected("ProxyPass /path ajp://host:8009/path")
                .was("httpd did not start with it");
            return;
        };
        let parameters = parameters(rest, &directive.at);
        let is_raw = rest.iter().any(|word| word.eq_ignore_ascii_case("nocanon"));
        let balancer = url
            .strip_prefix("balancer://")
            .map(|name| name.split('/').next().unwrap_or_default().to_ascii_lowercase());
        let mut pass = Pass { path, url: url.clone(), parameters, at: directive.at.clone(), is_raw };
        if let Some(name) = balancer {
            self.httpd.balancers.entry(name).or_default().parameters.append(&mut pass.parameters);
        }
        if let Some(server) = self.server() {
            server.passes.push(pass);
        }
    }

    /// In `<Proxy balancer://…>`, or with the balancer's URL before the member's.
    fn member(&mut self, directive: &Directive) {
        let inside = self.sections.iter().rev().take(NEAREST).find_map(|section| match section {
            Section::Proxy(url) => Some(url.clone()),
            Section::VirtualHost | Section::Location(_) | Section::Skipped | Section::Other => None,
        });
        let (balancer, rest) = if directive.word(0).starts_with("balancer://") {
            (directive.word(0).to_owned(), directive.words.get(1..).unwrap_or_default())
        } else {
            (inside.unwrap_or_default(), directive.words.as_slice())
        };
        let name =
            balancer.strip_prefix("balancer://").map(|name| name.trim_end_matches('/').to_ascii_lowercase());
        let (Some(name), Some((url, rest))) = (name, rest.split_first()) else {
            self.report
                .problem(&directive.at, None, "a BalancerMember without its balancer or URL")
                .expected("BalancerMember ajp://host:8009 route=NAME in <Proxy balancer://NAME>")
                .was("httpd did not start with it");
            return;
        };
        let parameters = parameters(rest, &directive.at);
        let balancer = self.httpd.balancers.entry(name).or_default();
        balancer.at.get_or_insert_with(|| directive.at.clone());
        balancer.members.push(Member { url: url.clone(), parameters, at: directive.at.clone() });
    }

    fn set(&mut self, directive: &Directive) {
        let inside = self.sections.iter().rev().take(NEAREST).find_map(|section| match section {
            Section::Proxy(url) => Some(url.clone()),
            Section::VirtualHost | Section::Location(_) | Section::Skipped | Section::Other => None,
        });
        let (url, rest) = match directive.words.split_first() {
            Some((first, rest)) if first.contains("://") => (first.clone(), rest),
            _ => (inside.unwrap_or_default(), directive.words.as_slice()),
        };
        let mut parameters = parameters(rest, &directive.at);
        match url.strip_prefix("balancer://") {
            Some(name) => {
                let name = name.trim_end_matches('/').to_ascii_lowercase();
                self.httpd.balancers.entry(name).or_default().parameters.append(&mut parameters);
            }
            None => self.httpd.worker_settings.entry(url).or_default().append(&mut parameters),
        }
    }
}

fn parameters(words: &[String], at: &At) -> Parameters {
    let pairs = words.iter().filter_map(|word| word.split_once('='));
    pairs.map(|(key, value)| (key.to_ascii_lowercase(), value.to_owned(), at.clone())).collect()
}
