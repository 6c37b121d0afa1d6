//! Everything on one page.

use askama::Template;

use super::base::{Base, Form, link};
use super::cells::{
    Cell, MemberCells, WorkerCells, last_error, listener_cells, to_usize, verdict, worker_is,
};
use super::chart;
use crate::command::Request;
use crate::view::{Ajp, Group, Listener, Mapping, Member, StatusView};
use crate::words::{Tone, age, counted, is};

#[derive(Template)]
#[template(path = "overview.html")]
pub(super) struct Overview<'a> {
    base: Base<'a>,
    wrong: Vec<Wrong>,
    more_wrong: usize,
    persist: Form,
    reload: Form,
    n_members: usize,
    durations: (String, String),
    has_filter: bool,
    is_filtered: bool,
    find: String,
    groups: Vec<GroupTable<'a>>,
    workers: Vec<WorkerRow<'a>>,
    mappings: Option<Mappings<'a>>,
    explain: String,
    explanation: Option<String>,
    listeners: Vec<(&'a Listener, [Cell; 3])>,
    reload_ago: String,
}

/// Something that wants attention.
struct Wrong {
    name: String,
    link: String,
    text: String,
    lines: String,
    form: Option<Form>,
}

pub(super) struct GroupTable<'a> {
    pub(super) index: usize,
    pub(super) group: &'a Group,
    pub(super) link: String,
    pub(super) verdict: Cell,
    pub(super) tone: Tone,
    pub(super) settings: String,
    /// `None`: the reader wants no members.
    pub(super) rows: Option<Vec<MemberRow<'a>>>,
    pub(super) is_filtered: bool,
}

pub(super) struct MemberRow<'a> {
    pub(super) member: &'a Member,
    pub(super) link: String,
    pub(super) tone: Tone,
    pub(super) cells: MemberCells,
    pub(super) picture: String,
    pub(super) weight: String,
}

struct WorkerRow<'a> {
    ajp: &'a Ajp,
    link: String,
    tone: Tone,
    cells: WorkerCells,
}

struct Mappings<'a> {
    rows: Vec<MappingRow<'a>>,
    more: usize,
}

struct MappingRow<'a> {
    mapping: &'a Mapping,
    goes_to: String,
    host: &'a str,
    kind: &'static str,
    options: String,
}

/// Which rows the reader wants.
pub(super) struct Filter<'r> {
    find: String,
    troubled_only: bool,
    opt: i64,
    all_maps: bool,
    request: Option<&'r Request>,
}

/// mod_jk's bits of `opt`.
const HIDE_MEMBERS: i64 = 1;
const HIDE_MAPS: i64 = 2;
const HIDE_LB: i64 = 8;
const HIDE_AJP: i64 = 16;

/// So many rules stand on the overview, and so many troubles at its top; more are a click away.
const MAPS_SHOWN: usize = 100;
const WRONG_SHOWN: usize = 10;
/// From so many rows on a filter helps.
const FILTER_FROM: usize = 15;

impl<'r> Filter<'r> {
    pub(super) fn none() -> Self {
        Self { find: String::new(), troubled_only: false, opt: 0, all_maps: false, request: None }
    }

    fn new(request: &'r Request) -> Self {
        Self {
            find: request.get("find").unwrap_or_default().replace('+', " ").trim().to_lowercase(),
            troubled_only: request.get("only") == Some("trouble"),
            opt: request.number("opt"),
            all_maps: request.get("maps") == Some("all"),
            request: Some(request),
        }
    }

    fn is_set(&self) -> bool {
        !self.find.is_empty() || self.troubled_only
    }

    fn finds(&self, texts: &[&str]) -> bool {
        self.find.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&self.find))
    }

    fn wants(&self, group: &str, member: &Member) -> bool {
        let word = is(member).1;
        let texts =
            [group, &member.ajp.name, &member.ajp.address, word, member.activation.word(), &member.route];
        (!self.troubled_only || is(member).0 > Tone::Ok) && self.finds(&texts)
    }
}

impl<'a> Overview<'a> {
    pub(super) fn new(base: Base<'a>, request: &Request, answer: Option<&str>) -> Self {
        let view = base.view;
        let filter = Filter::new(request);
        let (wrong, more_wrong) = wrong(view, base.writable);
        let n_members = view.groups.iter().map(|group| group.members.len()).sum::<usize>();
        let explain = request.get("explain").unwrap_or_default().to_owned();
        let shown = |bit| filter.opt & bit == 0;
        let groups = view.groups.iter().enumerate().filter(|_| shown(HIDE_LB));
        let groups: Vec<GroupTable<'a>> = groups
            .map(|(g, group)| GroupTable::new((g, group), view, base.writable, &filter))
            .filter(|table| !filter.is_set() || table.rows.as_ref().is_some_and(|rows| !rows.is_empty()))
            .collect();
        let workers = view.workers.iter().enumerate().filter(|_| shown(HIDE_AJP));
        let workers = workers.filter(|(_, worker)| {
            (!filter.troubled_only || worker_is(worker.state).0 > Tone::Ok)
                && filter.finds(&[&worker.ajp.name, &worker.ajp.address])
        });
        Self {
            wrong,
            more_wrong,
            persist: Form::new("Write to the file", &[("do", "persist")]),
            reload: Form::new("Read the file again", &[("do", "reload")]),
            n_members,
            durations: chart::durations(&view.totals),
            has_filter: filter.is_set() || n_members + view.workers.len() >= FILTER_FROM,
            is_filtered: filter.is_set(),
            find: request.get("find").unwrap_or_default().to_owned(),
            groups,
            workers: workers
                .map(|(w, worker)| WorkerRow {
                    ajp: &worker.ajp,
                    link: link(base.writable, &worker.ajp.name, None),
                    tone: worker_is(worker.state).0,
                    cells: WorkerCells::new(w, &worker.ajp, worker.state, view),
                })
                .collect(),
            mappings: shown(HIDE_MAPS).then(|| Mappings::new(view, &filter)),
            explanation: answer.filter(|_| !explain.is_empty()).map(str::to_owned),
            explain,
            listeners: view
                .listeners
                .iter()
                .enumerate()
                .map(|(l, listener)| (listener, listener_cells(l, listener)))
                .collect(),
            reload_ago: age(view.reload.ago),
            base,
        }
    }
}

/// What somebody should look at, a refused reload first.
fn wrong(view: &StatusView, writable: bool) -> (Vec<Wrong>, usize) {
    let mut all = Vec::new();
    if view.reload.failed {
        let by = if view.reload.by.is_empty() { String::new() } else { format!(" by {}", view.reload.by) };
        all.push(Wrong {
            name: "Reload refused".to_owned(),
            link: String::new(),
            text: format!("{} ago{by}; plan {} stays in force.", age(view.reload.ago), view.generation),
            lines: view.reload.lines.join("\n"),
            form: None,
        });
    }
    for group in &view.groups {
        let mut bad: Vec<&Member> = group.members.iter().filter(|member| is(member).0 == Tone::Bad).collect();
        bad.sort_by_key(|member| std::cmp::Reverse(member.ajp.error_at));
        for member in bad {
            all.push(of_member(group, member, view, writable));
        }
    }
    for worker in view.workers.iter().filter(|worker| worker_is(worker.state).0 == Tone::Bad) {
        all.push(Wrong {
            name: worker.ajp.name.clone(),
            link: link(writable, &worker.ajp.name, None),
            text: format!("in error{}: {}.", at(&worker.ajp), last_error(&worker.ajp, view)),
            lines: String::new(),
            form: None,
        });
    }
    let more = all.len().saturating_sub(WRONG_SHOWN);
    all.truncate(WRONG_SHOWN);
    (all, more)
}

fn of_member(group: &Group, member: &Member, view: &StatusView, writable: bool) -> Wrong {
    let (_, word) = is(member);
    let since = member.since.map(|since| format!(" for {}", age(since))).unwrap_or_default();
    let retry = if member.state == "ERR" {
        format!(" Next try in {}.", age(member.recover_min))
    } else {
        String::new()
    };
    let name = &member.ajp.name;
    let form = (writable && member.state == "ERR").then(|| {
        let pairs = [("cmd", "recover"), ("from", "list"), ("w", group.name.as_str()), ("sw", name)];
        let mut form = Form::new("Try now", &pairs);
        name.clone_into(&mut form.whom);
        form
    });
    Wrong {
        name: format!("{} / {name}", group.name),
        link: link(writable, &group.name, Some(name)),
        text: format!("{word}{since}{}: {}.{retry}", at(&member.ajp), last_error(&member.ajp, view)),
        lines: String::new(),
        form,
    }
}

/// Where, unless the error says it.
fn at(ajp: &Ajp) -> String {
    let is_said = ajp.last_error.as_ref().is_some_and(|(_, what)| what.contains(&ajp.address));
    if is_said { String::new() } else { format!(" at {}", ajp.address) }
}

impl<'a> GroupTable<'a> {
    pub(super) fn new(
        (g, group): (usize, &'a Group),
        view: &StatusView,
        writable: bool,
        filter: &Filter<'_>,
    ) -> Self {
        let total: u64 = group.members.iter().map(|member| u64::from(member.lbfactor)).sum();
        let (cell, tone) = verdict(g, group, view);
        let row = |(m, member): (usize, &'a Member)| MemberRow {
            member,
            link: link(writable, &group.name, Some(&member.ajp.name)),
            tone: is(member).0,
            cells: MemberCells::new(g, m, member, view),
            picture: chart::percentiles(member),
            weight: weight(member, total),
        };
        let members = group.members.iter().enumerate();
        let rows = || members.filter(|(_, member)| filter.wants(&group.name, member)).map(row).collect();
        Self {
            index: g,
            group,
            link: if filter.request.is_some() { link(writable, &group.name, None) } else { String::new() },
            verdict: cell,
            tone,
            settings: settings(group),
            rows: (filter.opt & HIDE_MEMBERS == 0).then(rows),
            is_filtered: filter.is_set(),
        }
    }
}

fn weight(member: &Member, total: u64) -> String {
    let share = u64::from(member.lbfactor) * 100 / total.max(1);
    let distance =
        if member.distance > 0 { format!(", distance {}", member.distance) } else { String::new() };
    format!("{share} %{distance}")
}

fn settings(group: &Group) -> String {
    let sticky = match (group.sticky, group.sticky_force) {
        (false, _) => "not sticky",
        (true, false) => "sticky",
        (true, true) => "sticky by force",
    };
    format!(
        "{} · method {} · {sticky} · {} · an error lasts {}",
        counted(group.members.len(), "member"),
        crate::change::method_key(&group.method),
        counted(group.mappings.len(), "mapping"),
        age(group.recover_time)
    )
}

impl<'a> Mappings<'a> {
    fn new(view: &'a StatusView, filter: &Filter<'_>) -> Self {
        let owned = view
            .groups
            .iter()
            .flat_map(|group| &group.mappings)
            .chain(view.workers.iter().flat_map(|worker| &worker.mappings))
            .chain(&view.own_mappings);
        let mut wanted = owned.filter(|mapping| {
            !filter.troubled_only
                && filter.finds(&[&mapping.uri, &mapping.target, &mapping.server, &mapping.source])
        });
        let limit = if filter.all_maps { usize::MAX } else { MAPS_SHOWN };
        let rows = wanted.by_ref().take(limit).map(MappingRow::new).collect();
        Self { rows, more: wanted.count() }
    }
}

impl<'a> MappingRow<'a> {
    fn new(mapping: &'a Mapping) -> Self {
        let goes_to = if mapping.excludes {
            format!("not to {}", if mapping.target == "*" { "any" } else { &mapping.target })
        } else {
            mapping.target.clone()
        };
        Self {
            mapping,
            goes_to,
            host: if mapping.server.is_empty() { "any" } else { &mapping.server },
            kind: match (mapping.enabled, mapping.uri.contains(['*', '?'])) {
                (false, _) => "off",
                (true, true) => "wildcard",
                (true, false) => "exact",
            },
            options: options(mapping),
        }
    }
}

fn options(mapping: &Mapping) -> String {
    let mut parts = Vec::new();
    match mapping.reply_timeout {
        0 => parts.push("reply_timeout never".to_owned()),
        timeout if timeout > 0 => parts.push(format!("reply_timeout {timeout} ms")),
        _ => {}
    }
    for (is_set, word) in [(mapping.sticky_ignore, "sticky_ignore"), (mapping.stateless, "stateless")] {
        if is_set {
            parts.push(word.to_owned());
        }
    }
    if mapping.use_server_errors > 0 {
        parts.push(format!("use_server_errors {}", mapping.use_server_errors));
    }
    for (word, value) in [
        ("fail_on_status", &mapping.fail_on_status),
        ("active", &mapping.active),
        ("disabled", &mapping.disabled),
        ("stopped", &mapping.stopped),
    ] {
        if !value.is_empty() {
            parts.push(format!("{word} {value}"));
        }
    }
    parts.join(", ")
}

/// Members of a group that could serve a new session.
pub(super) fn others_usable(group: &Group, but: &str) -> usize {
    group
        .members
        .iter()
        .filter(|member| {
            member.ajp.name != but
                && member.activation == crate::view::Activation::Active
                && is(member).0 != Tone::Bad
        })
        .count()
}

pub(super) fn sessions(member: &Member) -> String {
    counted(to_usize(member.sessions_lately), "session")
}
