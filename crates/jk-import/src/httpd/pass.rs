//! ProxyPass: paths to URLs, in the order of the file, the first that fits; here the most specific one goes first.

use std::collections::HashMap;

use super::balancer::{Made, Parameters, url};
use crate::document::Rule;
use crate::glob::head;
use crate::report::{At, Report};

#[derive(Debug, Clone)]
pub(super) struct Pass {
    pub(super) path: String,
    /// `!`: not to be passed on.
    pub(super) url: String,
    pub(super) parameters: Parameters,
    pub(super) at: At,
    /// The path goes on as it was received.
    pub(super) is_raw: bool,
}

/// A path of ProxyPass covers itself, and with a slash at its end only what is below.
fn pattern(path: &str) -> String {
    match path.strip_suffix('/') {
        Some("") => "/*".to_owned(),
        Some(_) => format!("{path}*"),
        None => format!("{path}|/*"),
    }
}

/// All paths that cover a path, itself first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let slashes = path.char_indices().rev().filter(|(_, c)| *c == '/');
    std::iter::once(path).chain(slashes.flat_map(|(at, _)| [path.get(..=at), path.get(..at)]).flatten())
}

/// Rules for the passes of one server, those of the main server behind its own.
pub(super) fn rules(passes: &[Pass], made: &Made, report: &mut Report) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut earlier: HashMap<&str, &Pass> = HashMap::new();
    for pass in passes {
        if pass.path.len() > LONGEST {
            report.warn(&pass.at, format!("ProxyPass with a path of {} bytes is left out", pass.path.len()));
            continue;
        }
        if let Some(first) = above(&pass.path).find_map(|path| earlier.get(path)) {
            let text = format!(
                "ProxyPass {} is left out: {} at {} comes first and covers it",
                pass.path,
                first.path,
                first.at.short()
            );
            report.warn(&pass.at, text);
            continue;
        }
        earlier.insert(&pass.path, pass);
        if pass.url == "!" {
            exclusion(pass, &earlier, &mut rules, report);
        } else if let Some(target) = target(pass, made, report) {
            let options = if pass.is_raw {
                vec![("forward_uri".to_owned(), "\"unparsed\"".to_owned())]
            } else {
                Vec::new()
            };
            rules.push(Rule {
                above: Vec::new(),
                pattern: pattern(&pass.path),
                target,
                options,
                comment: format!("ProxyPass, {}", pass.at.short()),
            });
        }
    }
    rules
}

fn exclusion(pass: &Pass, earlier: &HashMap<&str, &Pass>, rules: &mut Vec<Rule>, report: &mut Report) {
    let is_inside = |first: &&&Pass| {
        first.url != "!"
            && first.path != pass.path
            && first.path.len() > pass.path.len()
            && above(&first.path).any(|path| path == pass.path)
    };
    let first = if earlier.len() > MOST { None } else { earlier.values().find(is_inside) };
    if let Some(first) = first {
        let text = format!(
            "ProxyPass {} ! takes {} away, too, which it did not in httpd because that came first",
            pass.path, first.path
        );
        report.warn(&pass.at, text);
    }
    rules.push(Rule {
        above: Vec::new(),
        pattern: format!("!{}", pattern(&pass.path)),
        target: "*".to_owned(),
        options: Vec::new(),
        comment: format!("ProxyPass, {}", pass.at.short()),
    });
}

fn target(pass: &Pass, made: &Made, report: &mut Report) -> Option<String> {
    let (name, remote) = if let Some(rest) = pass.url.strip_prefix("balancer://") {
        let (name, path) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
        let known = made.groups.get(&name.to_ascii_lowercase());
        if known == Some(&None) {
            report.warn(
                &pass.at,
                format!("ProxyPass {} {} is left out: no member speaks AJP", pass.path, pass.url),
            );
            return None;
        }
        let Some(Some((group, member))) = known else {
            report
                .problem(&pass.at, None, format!("balancer://{name} has no members"))
                .help(format!("add <Proxy balancer://{name}> with a BalancerMember"))
                .was("httpd answered 503 or did not start");
            return None;
        };
        (group.clone(), format!("{member}{path}"))
    } else {
        let Some(url) = url(&pass.url) else {
            report.warn(
                &pass.at,
                format!("ProxyPass {} {} is left out: the gateway speaks AJP only", pass.path, pass.url),
            );
            return None;
        };
        (made.workers.get(&url.address)?.clone(), url.path)
    };
    let (local, remote) = (pass.path.trim_end_matches('/'), remote.trim_end_matches('/'));
    if local != remote {
        let shown = if remote.is_empty() { "/" } else { remote };
        report.warn(&pass.at, format!("ProxyPass {} is left out: it leads to {shown}, and the gateway changes no paths; deploy the application under {}", pass.path, pass.path));
        return None;
    }
    Some(name)
}

/// Whether two lists of rules choose alike when the first is asked before the second, rather than both as one.
pub(super) fn layers_suffice(own: &[Rule], global: &[Rule]) -> bool {
    let plain = |rule: &Rule| rule.pattern.trim_start_matches('-').replace('|', "");
    if own.iter().chain(global).any(|rule| rule.pattern.contains('!'))
        || own.len().saturating_mul(global.len()) > MOST_PAIRS
    {
        return false;
    }
    own.iter().all(|first| {
        let first_pattern = plain(first);
        global.iter().all(|second| {
            let second_pattern = plain(second);
            let (a, b) = (head(&first_pattern), head(&second_pattern));
            first.target == second.target
                || first.pattern == second.pattern
                || !(a.starts_with(b) || b.starts_with(a))
                || crate::glob::rank(&first_pattern) > crate::glob::rank(&second_pattern)
        })
    })
}

const LONGEST: usize = 2_000;
const MOST: usize = 1_000;
const MOST_PAIRS: usize = 1_000_000;
