//! What every page has: head, notices, and who may do what.

use super::cells::Head;
use super::{SCRIPT, STYLE, hash};
use crate::command::{Cmd, Request};
use crate::legacy::Outcome;
use crate::view::StatusView;
use crate::words::{age, percent};

const STYLE_HASH: u64 = hash(STYLE);
const SCRIPT_HASH: u64 = hash(SCRIPT);

pub(super) struct Base<'a> {
    pub(super) view: &'a StatusView,
    pub(super) head: Head,
    pub(super) title: String,
    pub(super) loaded: String,
    pub(super) refresh: i64,
    pub(super) style: String,
    pub(super) script: String,
    /// Forms are shown.
    pub(super) writable: bool,
    /// This answers a change; loading it again must not repeat that.
    pub(super) was_posted: bool,
    pub(super) notice: Option<Notice>,
}

pub(super) struct Notice {
    pub(super) class: &'static str,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) undo: Option<Form>,
}

/// One button and what it sends; the page adds the token.
pub(super) struct Form {
    pub(super) hidden: Vec<(String, String)>,
    pub(super) button: String,
    /// For those who hear the button without seeing where it stands.
    pub(super) whom: String,
    pub(super) is_grave: bool,
}

impl Form {
    pub(super) fn new(button: &str, pairs: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            hidden: pairs.iter().map(owned).collect(),
            button: button.to_owned(),
            whom: String::new(),
            is_grave: false,
        }
    }
}

impl<'a> Base<'a> {
    pub(super) fn new(
        view: &'a StatusView,
        request: &Request,
        (cmd, outcome): (Cmd, &Outcome),
        answer: Option<&str>,
    ) -> Self {
        let was_posted =
            matches!(cmd, Cmd::Update | Cmd::Reset | Cmd::Recover) || request.get("do").is_some();
        let writable = !view.options.read_only && request.number("opt") & READ_ONLY == 0;
        let head = Head::new(view);
        let what =
            request.get("sw").or(request.get("w")).map(|name| format!("{name} · ")).unwrap_or_default();
        Self {
            view,
            title: format!("{what}{} · jkgate status", head.attention.text),
            head,
            loaded: age(view.loaded_ago),
            refresh: if was_posted { 0 } else { request.number("re").clamp(0, 86_400) },
            style: format!("{STYLE_HASH:016x}"),
            script: format!("{SCRIPT_HASH:016x}"),
            writable,
            was_posted,
            notice: notice(request, (cmd, outcome), answer, writable && was_posted),
        }
    }
}

/// mod_jk's bit of `opt`.
const READ_ONLY: i64 = 32;

fn notice(
    request: &Request,
    (cmd, outcome): (Cmd, &Outcome),
    answer: Option<&str>,
    may_undo: bool,
) -> Option<Notice> {
    let text = answer.unwrap_or_default().to_owned();
    let title = match (outcome, request.get("do"), cmd) {
        (Outcome::Error(why), ..) => {
            let title = "Not done".to_owned();
            return Some(Notice { class: "bad", title, text: why.clone(), undo: None });
        }
        (Outcome::Ok, Some("persist"), _) => "Written to the file",
        (Outcome::Ok, Some("reload"), _) => "The file was read again",
        (Outcome::Ok, _, Cmd::Update) if text.is_empty() => "Nothing to change: all was so already",
        (Outcome::Ok, _, Cmd::Update) => "Changed",
        (Outcome::Ok, _, Cmd::Reset) => "Counters begin at zero",
        (Outcome::Ok, _, Cmd::Recover) => "The next request goes to it as a trial",
        (Outcome::Ok, _, Cmd::List | Cmd::Show | Cmd::Edit | Cmd::Version | Cmd::Dump) => return None,
    };
    let undo = if may_undo && cmd == Cmd::Update && !text.is_empty() { undo(request) } else { None };
    Some(Notice { class: "good", title: title.to_owned(), text, undo })
}

/// Sends back what the form said had been there before.
fn undo(request: &Request) -> Option<Form> {
    let mut form = Form::new("Undo", &[("cmd", "update")]);
    let mut n_changed = 0;
    for (name, value) in request.all() {
        if matches!(name, "w" | "sw" | "att" | "from") {
            form.hidden.push((name.to_owned(), value.to_owned()));
        } else if let Some(parameter) = name.strip_prefix("was_")
            && let Some(new) = request.get(parameter)
            && new != value
        {
            form.hidden.push((parameter.to_owned(), value.to_owned()));
            form.hidden.push((format!("was_{parameter}"), new.to_owned()));
            n_changed += 1;
        }
    }
    (n_changed > 0).then_some(form)
}

/// Address of a group's, member's or worker's page.
pub(super) fn link(writable: bool, w: &str, sw: Option<&str>) -> String {
    let cmd = if writable { "edit" } else { "show" };
    match sw {
        Some(sw) => format!("?cmd={cmd}&w={}&sw={}", percent(w), percent(sw)),
        None => format!("?cmd={cmd}&w={}", percent(w)),
    }
}
