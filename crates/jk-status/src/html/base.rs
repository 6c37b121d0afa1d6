//! What every page has: head, notices, and who may do what.

use super::cells::Head;
use super::{SCRIPT, STYLE, hash};
use crate::change::UPDATE_KEYS;
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
            notice: notice(view, request, (cmd, outcome), answer),
        }
    }
}

/// mod_jk's bit of `opt`.
const READ_ONLY: i64 = 32;

fn notice(
    view: &StatusView,
    request: &Request,
    (cmd, outcome): (Cmd, &Outcome),
    answer: Option<&str>,
) -> Option<Notice> {
    let mut text = answer.unwrap_or_default().to_owned();
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
    let mut undo = None;
    if cmd == Cmd::Update && !text.is_empty() {
        let changed = changed(view, request);
        if !changed.is_empty() {
            text = changed.iter().map(|(_, _, words)| words.as_str()).collect::<Vec<_>>().join("\n");
            undo = (!view.options.read_only).then(|| undo_form(request, &changed));
        }
    }
    Some(Notice { class: "good", title: title.to_owned(), text, undo })
}

/// What a form changed: parameter, what was there before, and both in words.
fn changed<'r>(view: &StatusView, request: &'r Request) -> Vec<(&'r str, &'r str, String)> {
    let key_of = |parameter: &str| {
        UPDATE_KEYS.iter().find(|(known, _)| *known == parameter).map_or("", |(_, key)| *key)
    };
    let mut all = Vec::new();
    for (name, was) in request.all() {
        let Some(parameter) = name.strip_prefix("was_") else { continue };
        let Some(new) = request.get(parameter).filter(|new| *new != was) else { continue };
        let (whose, key) = match parameter.strip_prefix("val") {
            Some(index) => (nth_member(view, request, index), key_of(request.get("att").unwrap_or_default())),
            None => (request.get("sw").or(request.get("w")).unwrap_or_default(), key_of(parameter)),
        };
        if !key.is_empty() {
            all.push((parameter, was, format!("{whose}: {key} {} → {}", shown(was), shown(new))));
        }
    }
    all
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "nothing" } else { value }
}

fn nth_member<'v>(view: &'v StatusView, request: &Request, index: &str) -> &'v str {
    let group = view.groups.iter().find(|group| Some(group.name.as_str()) == request.get("w"));
    let member = group.and_then(|group| group.members.get(index.parse::<usize>().ok()?));
    member.map_or("", |member| &member.ajp.name)
}

/// Sends back what had been there before.
fn undo_form(request: &Request, changed: &[(&str, &str, String)]) -> Form {
    let mut form = Form::new("Undo", &[("cmd", "update")]);
    let mut add = |name: String, value: &str| form.hidden.push((name, value.to_owned()));
    for name in ["w", "sw", "att", "from"] {
        if let Some(value) = request.get(name) {
            add(name.to_owned(), value);
        }
    }
    for (parameter, was, _) in changed {
        add((*parameter).to_owned(), was);
        add(format!("was_{parameter}"), request.get(parameter).unwrap_or_default());
    }
    form
}

/// Address of a group's, member's or worker's page.
pub(super) fn link(writable: bool, w: &str, sw: Option<&str>) -> String {
    let cmd = if writable { "edit" } else { "show" };
    match sw {
        Some(sw) => format!("?cmd={cmd}&w={}&sw={}", percent(w), percent(sw)),
        None => format!("?cmd={cmd}&w={}", percent(w)),
    }
}
