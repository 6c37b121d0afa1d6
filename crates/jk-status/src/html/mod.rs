//! The page for people: what is wrong first, then groups, then plumbing. It works without JavaScript; with it, the same cells move.
//!
//! The markup is in `templates/`; askama escapes whatever is not a literal of ours.

mod base;
mod cells;
mod chart;
mod fields;
mod overview;
mod subject;

use askama::Template;

use self::base::Base;
pub use self::cells::cells;
use crate::command::{Cmd, Request};
use crate::legacy::Outcome;
use crate::view::StatusView;

/// No script and no style but our own files, no frames, no forms to elsewhere.
pub const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Served at `?asset=style`; `v` in its address is the hash of its content.
pub const STYLE: &str = include_str!("../page.css");

/// Served at `?asset=script`, likewise.
pub const SCRIPT: &str = include_str!("../page.js");

/// The whole page. `answer`: what an explanation said, or what a change did.
#[must_use]
pub fn page(
    view: &StatusView,
    request: &Request,
    cmd: Cmd,
    outcome: &Outcome,
    answer: Option<&str>,
) -> String {
    let base = Base::new(view, request, (cmd, outcome), answer);
    let w = request.get("w").unwrap_or_default();
    let page = match cmd {
        Cmd::Version => rendered(&Plain::version(base)),
        Cmd::Dump => rendered(&Plain::dump(base)),
        Cmd::List => None,
        // The object in question, or where the reader came from.
        Cmd::Update | Cmd::Reset | Cmd::Recover if request.get("from") == Some("list") => None,
        Cmd::Show | Cmd::Edit | Cmd::Update | Cmd::Reset | Cmd::Recover => {
            if let Some((index, group)) = view.groups.iter().enumerate().find(|(_, group)| group.name == w) {
                subject::of_group(base, request, (index, group))
            } else if let Some((index, worker)) =
                view.workers.iter().enumerate().find(|(_, worker)| worker.ajp.name == w)
            {
                rendered(&subject::of_worker(base, (index, worker)))
            } else {
                None
            }
        }
    };
    page.unwrap_or_else(|| {
        let base = Base::new(view, request, (cmd, outcome), answer);
        rendered(&overview::Overview::new(base, request, answer)).unwrap_or_default()
    })
}

/// Writing into a string cannot fail.
fn rendered(template: &impl Template) -> Option<String> {
    template.render().ok()
}

/// A page of a few facts.
#[derive(Template)]
#[template(path = "plain.html")]
struct Plain<'a> {
    base: Base<'a>,
    title: &'static str,
    facts: Vec<(&'static str, String)>,
    links: Vec<(&'static str, &'static str)>,
}

impl<'a> Plain<'a> {
    fn version(base: Base<'a>) -> Self {
        let view = base.view;
        let facts = vec![
            ("Version", view.software.clone()),
            ("Server", format!("{}:{}", view.server, view.port)),
            ("Time", format!("{} {}", view.datetime, view.tz)),
            ("Unix seconds", view.now.to_string()),
        ];
        Self { base, title: "Version", facts, links: Vec::new() }
    }

    fn dump(base: Base<'a>) -> Self {
        let facts = vec![
            ("File", base.view.config.clone()),
            ("Plan", base.view.generation.to_string()),
            ("Changed here, not in the file", base.view.edits.len().to_string()),
        ];
        let links = vec![
            ("?mime=toml", "All values in force, as TOML"),
            ("?cmd=dump&mime=txt", "Workers and groups under mod_jk’s property names"),
        ];
        Self { base, title: "Configuration", facts, links }
    }
}

/// FNV-1a: equal contents have equal addresses.
const fn hash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut rest = bytes;
    while let Some((byte, left)) = rest.split_first() {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        rest = left;
    }
    hash
}
