//! One group, member or worker: what it does, what can be done to it and with what consequence, and its settings.

use askama::Template;

use super::base::{Base, Form, link};
use super::cells::{Cell, MemberCells, Numbers, WorkerCells, last_error, worker_is};
use super::fields::{self, Field, Set};
use super::overview::{Filter, GroupTable, others_usable, sessions};
use super::{chart, rendered};
use crate::command::Request;
use crate::view::{Activation, Ajp, Group, Member, Plain, StatusView};
use crate::words::{Tone, age, counted, grouped, is, percent, size};

#[derive(Template)]
#[template(path = "subject.html")]
pub(super) struct Subject<'a> {
    base: Base<'a>,
    what: &'static str,
    name: &'a str,
    parent: &'a str,
    parent_link: String,
    groups: Vec<GroupTable<'a>>,
    facts: Vec<Fact>,
    histogram: (String, String),
    actions: Vec<Action>,
    hidden: Vec<(String, String)>,
    sets: Vec<Set>,
    bulk: Vec<(&'static str, String)>,
}

struct Fact {
    name: &'static str,
    cells: Vec<Cell>,
    between: &'static str,
    class: String,
}

impl Fact {
    fn new(name: &'static str, text: impl Into<String>) -> Self {
        Self::moving(name, [Cell { id: String::new(), text: text.into() }], "")
    }

    fn moving(name: &'static str, cells: impl Into<Vec<Cell>>, between: &'static str) -> Self {
        Self { name, cells: cells.into(), between, class: String::new() }
    }

    fn state(cell: Cell, tone: Tone) -> Self {
        Self { class: format!("is {}", tone.class()), ..Self::moving("Is", [cell], "") }
    }
}

struct Action {
    form: Form,
    consequence: String,
    warning: String,
}

/// A group, one of its members, or one attribute of all of them.
pub(super) fn of_group<'a>(
    base: Base<'a>,
    request: &Request,
    (g, group): (usize, &'a Group),
) -> Option<String> {
    if let Some(sw) = request.get("sw")
        && let Some((m, member)) = group.members.iter().enumerate().find(|(_, member)| member.ajp.name == sw)
    {
        return rendered(&of_member(base, (g, group), (m, member)));
    }
    if let Some(att) = request.get("att")
        && let Some(bulk) = Bulk::new(&base, group, att)
    {
        return rendered(&BulkPage { base, bulk });
    }
    rendered(&whole(base, (g, group)))
}

fn whole<'a>(base: Base<'a>, (g, group): (usize, &'a Group)) -> Subject<'a> {
    let writable = base.writable;
    let bulk_link = format!("?cmd=edit&w={}&att=", percent(&group.name));
    let first = group.members.first().map(fields::of_member).unwrap_or_default();
    let bulk = first.iter().flat_map(|set| &set.fields).filter(|field| field.can_bulk);
    Subject {
        what: "Group",
        name: &group.name,
        parent: "",
        parent_link: String::new(),
        groups: vec![GroupTable::new((g, group), base.view, writable, &Filter::none())],
        facts: Vec::new(),
        histogram: Default::default(),
        actions: vec![Action {
            form: Form::new("Reset counters", &[("cmd", "reset"), ("w", &group.name)]),
            consequence: "The counters of all members begin at zero, and members in error count as idle."
                .to_owned(),
            warning: String::new(),
        }],
        hidden: hidden(&[("cmd", "update"), ("w", &group.name)]),
        sets: fields::of_group(group),
        bulk: bulk.map(|field| (field.label, format!("{bulk_link}{}", field.parameter))).collect(),
        base,
    }
}

fn of_member<'a>(
    base: Base<'a>,
    (g, group): (usize, &'a Group),
    (m, member): (usize, &'a Member),
) -> Subject<'a> {
    let view = base.view;
    let name = &member.ajp.name;
    Subject {
        what: "Member",
        name,
        parent: &group.name,
        parent_link: link(base.writable, &group.name, None),
        groups: Vec::new(),
        facts: member_facts((g, m), member, view),
        histogram: (chart::columns(&member.latencies), chart::in_words(&member.latencies)),
        actions: actions(group, member),
        hidden: hidden(&[("cmd", "update"), ("w", &group.name), ("sw", name)]),
        sets: fields::of_member(member),
        bulk: Vec::new(),
        base,
    }
}

pub(super) fn of_worker<'a>(base: Base<'a>, (w, worker): (usize, &'a Plain)) -> Subject<'a> {
    let ajp = &worker.ajp;
    let cells = WorkerCells::new(w, ajp, worker.state, base.view);
    let mut facts = vec![Fact::state(cells.is, worker_is(worker.state).0)];
    facts.extend(counted_by(cells.numbers));
    facts.extend(rest(ajp, base.view));
    Subject {
        what: "Worker",
        name: &ajp.name,
        parent: "",
        parent_link: String::new(),
        groups: Vec::new(),
        facts,
        histogram: Default::default(),
        actions: vec![reset(&ajp.name, None)],
        hidden: hidden(&[("cmd", "update"), ("w", &ajp.name)]),
        sets: fields::of_worker(ajp),
        bulk: Vec::new(),
        base,
    }
}

fn hidden(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn member_facts((g, m): (usize, usize), member: &Member, view: &StatusView) -> Vec<Fact> {
    let cells = MemberCells::new(g, m, member, view);
    let since = member.since.map_or_else(|| "the start".to_owned(), |since| format!("{} ago", age(since)));
    let mut facts = vec![
        Fact::new("Wants", member.activation.word()),
        Fact::state(cells.is, is(member).0),
        Fact::moving("More", [cells.why], ""),
        Fact::new("Since", since),
        Fact::moving("Latency, p50 · p90 · p99 of five minutes", [cells.latency], ""),
        Fact::moving("Sessions lately, an estimate", [cells.sessions], ""),
        Fact::new("Sessions begun here", grouped(member.sessions)),
    ];
    facts.extend(counted_by(cells.numbers));
    let load = format!("{}, and {} more with each request", grouped(member.value), grouped(member.mult));
    facts.push(Fact::new("Load value", load));
    facts.extend(rest(&member.ajp, view));
    facts.retain(|fact| fact.name != "More" || fact.cells.iter().any(|cell| !cell.text.is_empty()));
    facts
}

fn counted_by(numbers: Numbers) -> [Fact; 5] {
    [
        Fact::moving("Requests", [numbers.requests, numbers.rate], "·"),
        Fact::moving("Busy", [numbers.busy], ""),
        Fact::moving("Errors", [numbers.errors, numbers.by_clients], ""),
        Fact::moving("Channels", [numbers.used, numbers.idle], "·"),
        Fact::moving("Bytes to it / from it", [numbers.sent, numbers.received], "/"),
    ]
}

/// What member and worker have in common, and seldom moves.
fn rest(ajp: &Ajp, view: &StatusView) -> Vec<Fact> {
    let since_reset = view.now.saturating_sub(ajp.reset_at);
    let error = match &ajp.last_error {
        None => "none".to_owned(),
        Some(_) => last_error(ajp, view),
    };
    vec![
        Fact::new("Address", &*ajp.address),
        Fact::new("Last error", error),
        Fact::new("Most at one time", format!("{} busy, {} channels", ajp.max_busy, ajp.max_connected)),
        Fact::new("Reply timeouts", grouped(ajp.reply_timeouts)),
        Fact::new(
            "Bytes a second to it / from it",
            format!("{} / {}", per_second(ajp.transferred, since_reset), per_second(ajp.read, since_reset)),
        ),
        Fact::new("Counting for", age(since_reset)),
    ]
}

fn per_second(bytes: u64, seconds: u64) -> String {
    size(bytes / seconds.max(1))
}

/// Each with its consequence, so that the page is its own confirmation.
fn actions(group: &Group, member: &Member) -> Vec<Action> {
    let name = &member.ajp.name;
    let others = others_usable(group, name);
    let alone = if others == 0 { "No other member of the group can take new sessions." } else { "" };
    let mut all = Vec::new();
    if member.state == "ERR" {
        let pairs = [("cmd", "recover"), ("w", group.name.as_str()), ("sw", name)];
        let consequence =
            format!("The next request goes to it as a trial, {} early.", age(member.recover_min));
        all.push(Action { form: Form::new("Try now", &pairs), consequence, warning: String::new() });
    }
    if member.activation != Activation::Active {
        let consequence = format!("It takes new sessions again, by its weight of {}.", member.lbfactor);
        all.push(activate(group, member, Activation::Active, (consequence, "")));
    }
    if member.activation != Activation::Disabled {
        let consequence = if member.activation == Activation::Stopped {
            "Requests of its own sessions go to it again, new sessions do not.".to_owned()
        } else {
            format!(
                "New sessions go to {}; its own {}, an estimate, stay until they end.",
                counted(others, "other member"),
                sessions(member)
            )
        };
        all.push(activate(group, member, Activation::Disabled, (consequence, alone)));
    }
    if member.activation != Activation::Stopped {
        all.push(activate(group, member, Activation::Stopped, (stopping(group, member), alone)));
    }
    all.push(reset(&group.name, Some(name)));
    all
}

fn stopping(group: &Group, member: &Member) -> String {
    if member.sessions_lately == 0 && member.ajp.busy == 0 {
        return "No session has been seen lately and nothing is under way: safe to stop.".to_owned();
    }
    let fate = if group.sticky && group.sticky_force {
        "get 503, as the group is sticky by force".to_owned()
    } else if !member.redirect.is_empty() {
        format!("go to the member of route {}", member.redirect)
    } else if !member.domain.is_empty() {
        format!("go to other members of domain {}, if there are any", member.domain)
    } else {
        "go to other members, which do not know them unless they are replicated".to_owned()
    };
    format!(
        "Nothing more is sent to it; the {} under way may finish. Its {}, an estimate, lose their member and {fate}.",
        counted(usize::try_from(member.ajp.busy).unwrap_or(usize::MAX), "request"),
        sessions(member)
    )
}

fn activate(
    group: &Group,
    member: &Member,
    wanted: Activation,
    (consequence, warning): (String, &str),
) -> Action {
    let (button, is_grave) = match wanted {
        Activation::Active => ("Activate", false),
        Activation::Disabled => ("Disable", false),
        Activation::Stopped => ("Stop", true),
    };
    let pairs = [
        ("cmd", "update"),
        ("w", group.name.as_str()),
        ("sw", member.ajp.name.as_str()),
        ("vwa", wanted.word()),
        ("was_vwa", member.activation.word()),
    ];
    let form = Form { is_grave, ..Form::new(button, &pairs) };
    Action { form, consequence, warning: warning.to_owned() }
}

fn reset(w: &str, sw: Option<&str>) -> Action {
    let mut pairs = vec![("cmd", "reset"), ("w", w)];
    pairs.extend(sw.map(|sw| ("sw", sw)));
    Action {
        form: Form::new("Reset counters", &pairs),
        consequence: "Its counters begin at zero; an error is forgotten.".to_owned(),
        warning: String::new(),
    }
}

#[derive(Template)]
#[template(path = "bulk.html")]
struct BulkPage<'a> {
    base: Base<'a>,
    bulk: Bulk<'a>,
}

/// One attribute, member by member.
struct Bulk<'a> {
    parent: &'a str,
    parent_link: String,
    label: &'static str,
    key: &'static str,
    help: &'static str,
    choices: &'static [&'static str],
    hidden: Vec<(String, String)>,
    rows: Vec<BulkRow<'a>>,
}

struct BulkRow<'a> {
    name: &'a str,
    tone: Tone,
    is: String,
    value: String,
}

impl<'a> Bulk<'a> {
    fn new(base: &Base<'_>, group: &'a Group, att: &str) -> Option<Self> {
        let field = |member: &Member| -> Option<Field> {
            let sets = fields::of_member(member).into_iter();
            sets.flat_map(|set| set.fields).find(|field| field.parameter == att && field.can_bulk)
        };
        let sample = field(group.members.first()?)?;
        let row = |member: &'a Member| {
            let (tone, word) = is(member);
            Some(BulkRow { name: &member.ajp.name, tone, is: tone.with(word), value: field(member)?.value })
        };
        Some(Self {
            parent: &group.name,
            parent_link: link(base.writable, &group.name, None),
            label: sample.label,
            key: sample.key,
            help: sample.help,
            choices: sample.choices,
            hidden: hidden(&[("cmd", "update"), ("w", &group.name), ("att", sample.parameter)]),
            rows: group.members.iter().filter_map(row).collect(),
        })
    }
}
