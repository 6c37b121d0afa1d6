//! One command: done, and its answer rendered.

use std::sync::Arc;
use std::time::Instant;

use jk_config::Edit;
use jk_status::{Change, Cmd, Mime, Outcome, Request, StatusView};
use tracing::info;

use super::view;
use crate::control::Control;
use crate::explain::{Question, explain};

/// An answer, whole.
pub(super) struct Done {
    pub(super) mime: Mime,
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

pub(super) type Server = (String, u16);

/// Carries out a command and renders its answer.
pub(super) async fn run(
    control: &Arc<Control>,
    request: Request,
    (server, by): (Server, String),
    read_only: bool,
) -> Done {
    let changes =
        request.get("do").is_some() || matches!(request.cmd(), Ok(Cmd::Update | Cmd::Reset | Cmd::Recover));
    let worker = Arc::clone(control);
    // A change reads files and may open sockets; thousands of lines take milliseconds that others' requests would wait.
    made_aside(move || {
        if changes {
            change(&worker, &request, &server, &by)
        } else {
            read(&worker, &request, &server, read_only)
        }
    })
    .await
}

/// A change that was not made, because whoever asked may not make it.
pub(super) async fn refused(control: &Arc<Control>, request: Request, server: Server, why: String) -> Done {
    let control = Arc::clone(control);
    made_aside(move || {
        let view = view::take(&control, (&server.0, server.1), true);
        render(&control, &view, &request, &Outcome::Error(why), None)
    })
    .await
}

/// Outside the threads that serve requests.
async fn made_aside(make: impl FnOnce() -> Done + Send + 'static) -> Done {
    tokio::task::spawn_blocking(make).await.unwrap_or_else(|error| Done {
        mime: Mime::Txt,
        content_type: "text/plain",
        body: format!("{error}\n"),
    })
}

/// A command that changes nothing.
pub(super) fn read(control: &Arc<Control>, request: &Request, server: &Server, read_only: bool) -> Done {
    let view = view::take(control, (&server.0, server.1), read_only);
    let outcome = match request.cmd() {
        Err(message) => Outcome::Error(message.to_owned()),
        Ok(cmd @ (Cmd::Show | Cmd::Edit)) => match request.target(&view, cmd) {
            Ok(_) => Outcome::Ok,
            Err(message) => Outcome::Error(message.to_owned()),
        },
        Ok(_) => Outcome::Ok,
    };
    let answer = request
        .get("explain")
        .filter(|url| !url.is_empty())
        .map(|url| explain(&control.gateway().plan(), &Question::new("GET", url, &[])));
    render(control, &view, request, &outcome, answer.as_deref())
}

fn change(control: &Arc<Control>, request: &Request, server: &Server, by: &str) -> Done {
    let before = view::take(control, (&server.0, server.1), false);
    let result = match (request.get("do"), request.cmd()) {
        (Some("persist"), _) => control.persist().map(|paths| {
            paths.iter().map(|path| format!("written to {}", path.display())).collect::<Vec<_>>().join("\n")
        }),
        (Some("reload"), _) => {
            control.reload(by).map(|lines| lines.join("\n")).map_err(|refused| refused.lines().join("\n"))
        }
        (_, Err(message)) => Err(message.to_owned()),
        (_, Ok(Cmd::Update)) => update(control, request, &before, by),
        (_, Ok(cmd)) => reset_or_recover(control, request, (cmd, &before), by),
    };
    let after = view::take(control, (&server.0, server.1), false);
    let (outcome, answer) = match result {
        Ok(answer) => (Outcome::Ok, Some(answer).filter(|answer| !answer.is_empty())),
        Err(why) => (Outcome::Error(why), None),
    };
    render(control, &after, request, &outcome, answer.as_deref())
}

fn update(control: &Control, request: &Request, view: &StatusView, by: &str) -> Result<String, String> {
    let changes = jk_status::changes(request, view).map_err(str::to_owned)?;
    let edits: Vec<Edit> = changes
        .iter()
        .map(|Change { section, name, key, value }| {
            Edit::new(section, name, key, &jk_config::value_text(section, key, value))
        })
        .collect();
    if edits.is_empty() {
        return Ok(String::new());
    }
    match control.edit(&edits, by) {
        Ok(lines) => Ok(lines.join("\n")),
        Err(refused) => Err(refused.lines().join("; ")),
    }
}

fn reset_or_recover(
    control: &Control,
    request: &Request,
    (cmd, view): (Cmd, &StatusView),
    by: &str,
) -> Result<String, String> {
    let plan = control.gateway().plan();
    let recovery_failed = || "Marking worker for recovery failed".to_owned();
    let (w, sw) = request.target(view, cmd).map_err(str::to_owned)?;
    let group = plan.group_named(&w).ok_or("Could not find given worker")?;
    let member = sw.as_ref().and_then(|sw| group.members.iter().position(|worker| *worker.name == **sw));
    let now = Instant::now();
    if cmd == Cmd::Recover {
        let member = member.ok_or_else(recovery_failed)?;
        if !group.balancer.recover(member, now) {
            return Err(recovery_failed());
        }
    } else {
        group.balancer.reset(member, now);
        for (index, worker) in group.members.iter().enumerate() {
            if member.is_none_or(|only| only == index) {
                worker.pool.reset_max();
            }
        }
    }
    info!(%by, group = w, member = sw.as_deref().unwrap_or("all"), what = ?cmd, "Done by an operator.");
    Ok(String::new())
}

fn render(
    control: &Control,
    view: &StatusView,
    request: &Request,
    outcome: &Outcome,
    answer: Option<&str>,
) -> Done {
    let (mime, outcome) = match request.mime() {
        Ok(mime) => (mime, outcome.clone()),
        // mod_jk tells this in its property form, whatever else was wrong.
        Err(message) => (Mime::Prop, Outcome::Error(message.to_owned())),
    };
    let cmd = request.cmd().ok();
    let (body, content_type) = match mime {
        Mime::Html => (
            jk_status::page(view, request, cmd.unwrap_or(Cmd::List), &outcome, answer),
            "text/html; charset=utf-8",
        ),
        Mime::Json => (jk_status::json(view), "application/json"),
        Mime::Prometheus => (jk_status::metrics(view), "text/plain; version=0.0.4"),
        Mime::Toml => (toml_dump(control), "text/plain; charset=utf-8"),
        Mime::Text => (jk_status::terminal(view), "text/plain; charset=utf-8"),
        Mime::Nagios => (jk_status::nagios(view), "text/plain; charset=utf-8"),
        Mime::Xml | Mime::Txt | Mime::Prop => {
            let dump = view::dump(control);
            let kind = if mime == Mime::Xml { "text/xml" } else { "text/plain" };
            (jk_status::legacy(view, request, (cmd, mime), &outcome, &dump), kind)
        }
    };
    Done { mime, content_type, body }
}

/// The effective configuration as TOML.
fn toml_dump(control: &Control) -> String {
    let plan = control.gateway().plan();
    jk_config::dump(&plan.config, &plan.sources, &plan.originals)
}
