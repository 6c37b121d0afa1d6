//! What moves on the page: an id and a text for each. Page and event stream are made of the same, so that they cannot differ.

use crate::rating::{Masks, Rating};
use crate::view::{Ajp, Group, Member, StatusView};
use crate::words::{Tone, age, counted, grouped, is, latencies, rate, size};

/// A text that moves, and its place on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) id: String,
    pub(crate) text: String,
}

impl Cell {
    fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into() }
    }
}

/// What moves: cell id and text, in the same order as long as the plan is the same.
#[must_use]
pub fn cells(view: &StatusView) -> Vec<(String, String)> {
    let mut all = Head::new(view).into_cells();
    for (g, group) in view.groups.iter().enumerate() {
        all.push(verdict(g, group, view).0);
        for (m, member) in group.members.iter().enumerate() {
            all.extend(MemberCells::new(g, m, member, view).into_cells());
        }
    }
    for (w, worker) in view.workers.iter().enumerate() {
        all.extend(WorkerCells::new(w, &worker.ajp, worker.state, view).into_cells());
    }
    for (l, listener) in view.listeners.iter().enumerate() {
        all.extend(listener_cells(l, listener));
    }
    all.into_iter().map(|cell| (cell.id, cell.text)).collect()
}

/// The top of the page.
pub(crate) struct Head {
    pub(crate) uptime: Cell,
    /// Its change tells the page that rows may have moved.
    pub(crate) plan: Cell,
    pub(crate) attention: Cell,
    pub(crate) requests: Cell,
    pub(crate) rate: Cell,
    pub(crate) under_way: Cell,
    pub(crate) failed: Cell,
    pub(crate) members: Cell,
}

impl Head {
    pub(crate) fn new(view: &StatusView) -> Self {
        let requests = view.totals.by_class.iter().sum::<u64>();
        let members = || view.groups.iter().flat_map(|group| &group.members);
        let of = |tone: Tone| members().filter(|member| is(member).0 == tone).count();
        let (ok, off, warn, bad) = (of(Tone::Ok), of(Tone::Off), of(Tone::Warn), of(Tone::Bad));
        let mut parts = vec![format!("{ok} OK")];
        for (count, word) in [(warn, "to watch"), (off, "out by wish"), (bad, "in error")] {
            if count > 0 {
                parts.push(format!("{count} {word}"));
            }
        }
        Self {
            uptime: Cell::new("uptime", age(view.uptime)),
            plan: Cell::new("plan", view.generation.to_string()),
            attention: Cell::new("attention", attention(view)),
            requests: Cell::new("requests", grouped(requests)),
            rate: Cell::new("rate", rate(requests, view.uptime)),
            under_way: Cell::new("underway", grouped(view.totals.under_way)),
            failed: Cell::new("failed", grouped(view.totals.by_class.get(5).copied().unwrap_or(0))),
            members: Cell::new("members", parts.join(" · ")),
        }
    }

    fn into_cells(self) -> Vec<Cell> {
        vec![
            self.uptime,
            self.plan,
            self.attention,
            self.requests,
            self.rate,
            self.under_way,
            self.failed,
            self.members,
        ]
    }
}

/// How many things want somebody's attention, in a sentence.
fn attention(view: &StatusView) -> String {
    let bad = view.groups.iter().flat_map(|group| &group.members).filter(|member| is(member).0 == Tone::Bad);
    let bad = bad.count() + view.workers.iter().filter(|worker| worker.state.starts_with("ERR")).count();
    let mut parts = Vec::new();
    if bad > 0 {
        parts.push(format!("{} in error", counted(bad, "member")));
    }
    if view.reload.failed {
        parts.push("the last reload failed".to_owned());
    }
    if parts.is_empty() { "Nothing is in error".to_owned() } else { parts.join(", ") }
}

/// A group's verdict by mod_jk's rating, and its tone.
pub(crate) fn verdict(g: usize, group: &Group, view: &StatusView) -> (Cell, Tone) {
    let masks = Masks::new(view.options.good.as_deref(), view.options.bad.as_deref());
    let count = |rating| group.members.iter().filter(|member| masks.rate(member) == rating).count();
    let (good, degraded, bad) = (count(Rating::Good), count(Rating::Degraded), count(Rating::Bad));
    let (tone, word) = match (good, degraded, bad) {
        (0, 0, 0) => (Tone::Off, "empty"),
        (0, 0, _) => (Tone::Bad, "bad"),
        (_, 0, 0) => (Tone::Ok, "good"),
        _ => (Tone::Warn, "degraded"),
    };
    let waiting = if group.waiting > 0 {
        format!(", {} waiting", counted_requests(group.waiting))
    } else {
        String::new()
    };
    let text = format!("{}: {good} good, {degraded} degraded, {bad} bad{waiting}", tone.with(word));
    (Cell::new(format!("g{g}"), text), tone)
}

fn counted_requests(count: u32) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "request")
}

/// A row of a group's table: its numbers, and what only members have.
pub(crate) struct MemberCells {
    pub(crate) is: Cell,
    pub(crate) why: Cell,
    pub(crate) latency: Cell,
    pub(crate) sessions: Cell,
    pub(crate) numbers: Numbers,
}

impl MemberCells {
    pub(crate) fn new(g: usize, m: usize, member: &Member, view: &StatusView) -> Self {
        let (tone, word) = is(member);
        let row = format!("g{g}m{m}");
        let cell = |name: &str, text: String| Cell::new(format!("{row}{name}"), text);
        Self {
            is: cell("is", tone.with(word)),
            why: cell("why", why(member, view)),
            latency: cell("lat", latencies(member.p50, member.p90, member.p99)),
            sessions: cell("sess", grouped(member.sessions_lately)),
            numbers: Numbers::new(&row, &member.ajp, view),
        }
    }

    fn into_cells(self) -> Vec<Cell> {
        let mut cells = vec![self.is, self.why, self.latency, self.sessions];
        cells.extend(self.numbers.into_cells());
        cells
    }
}

/// A row of the table of workers that have no group.
pub(crate) struct WorkerCells {
    pub(crate) is: Cell,
    pub(crate) why: Cell,
    pub(crate) numbers: Numbers,
}

impl WorkerCells {
    pub(crate) fn new(w: usize, ajp: &Ajp, state: &'static str, view: &StatusView) -> Self {
        let (tone, word) = worker_is(state);
        let row = format!("w{w}");
        let why = if tone == Tone::Bad { last_error(ajp, view) } else { String::new() };
        Self {
            is: Cell::new(format!("{row}is"), tone.with(word)),
            why: Cell::new(format!("{row}why"), why),
            numbers: Numbers::new(&row, ajp, view),
        }
    }

    fn into_cells(self) -> Vec<Cell> {
        let mut cells = vec![self.is, self.why];
        cells.extend(self.numbers.into_cells());
        cells
    }
}

/// What every worker counts. The second of a pair stands small under the first.
pub(crate) struct Numbers {
    pub(crate) busy: Cell,
    pub(crate) requests: Cell,
    pub(crate) rate: Cell,
    pub(crate) errors: Cell,
    pub(crate) by_clients: Cell,
    pub(crate) used: Cell,
    pub(crate) idle: Cell,
    pub(crate) sent: Cell,
    pub(crate) received: Cell,
}

impl Numbers {
    fn new(row: &str, ajp: &Ajp, view: &StatusView) -> Self {
        let cell = |name: &str, text: String| Cell::new(format!("{row}{name}"), text);
        let by_clients = match ajp.client_errors {
            0 => String::new(),
            count => format!("+ {} by clients", grouped(count)),
        };
        let waiting = if ajp.waiting > 0 { format!(", {} waiting", ajp.waiting) } else { String::new() };
        Self {
            busy: cell("busy", ajp.busy.to_string()),
            requests: cell("req", grouped(ajp.elected)),
            rate: cell("rate", rate(ajp.elected, view.now.saturating_sub(ajp.reset_at))),
            errors: cell("err", grouped(ajp.errors)),
            by_clients: cell("cerr", by_clients),
            used: cell("con", format!("{} used", ajp.connected.saturating_sub(ajp.idle))),
            idle: cell("idle", format!("{} idle{waiting}", ajp.idle)),
            sent: cell("out", size(ajp.transferred)),
            received: cell("in", size(ajp.read)),
        }
    }

    fn into_cells(self) -> [Cell; 9] {
        [
            self.busy,
            self.requests,
            self.rate,
            self.errors,
            self.by_clients,
            self.used,
            self.idle,
            self.sent,
            self.received,
        ]
    }
}

pub(crate) fn worker_is(state: &'static str) -> (Tone, &'static str) {
    is(&Member { state, ..Member::default() })
}

pub(crate) fn listener_cells(l: usize, listener: &crate::view::Listener) -> [Cell; 3] {
    let cell = |name: &str, number| Cell::new(format!("l{l}{name}"), grouped(number));
    [cell("open", listener.open), cell("all", listener.accepted), cell("full", listener.full)]
}

/// Under the state, when there is something to say.
fn why(member: &Member, view: &StatusView) -> String {
    let ajp = &member.ajp;
    let (tone, word) = is(member);
    if tone == Tone::Bad {
        let retry = if member.state == "ERR" {
            format!("; next try in {}", age(member.recover_min))
        } else {
            String::new()
        };
        return format!("{}{retry}", last_error(ajp, view));
    }
    match word {
        "draining" => {
            format!("{} lately, {} under way", counted(to_usize(member.sessions_lately), "session"), ajp.busy)
        }
        "drained" => "safe to stop".to_owned(),
        "full" => format!("{} waiting", counted_requests(ajp.waiting)),
        _ => String::new(),
    }
}

pub(crate) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

pub(crate) fn last_error(ajp: &Ajp, view: &StatusView) -> String {
    match &ajp.last_error {
        None => "no reason is known".to_owned(),
        Some((at, what)) => format!("{what}, {} ago", age(view.now.saturating_sub(*at))),
    }
}
