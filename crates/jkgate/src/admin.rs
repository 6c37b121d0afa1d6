//! The admin channel: health for orchestrators, and what `jkgate reload`, `status`, `set` and `explain` ask. For this machine only.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jk_config::{AdminSpec, Edit, ListenAddress};
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::{info, warn};

use crate::control::Control;
use crate::explain::{Question, explain};
use crate::status;

/// Keeps the channel open; a unix socket's file goes with it.
pub(crate) struct Admin {
    path: Option<std::path::PathBuf>,
}

impl Drop for Admin {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _best_effort = std::fs::remove_file(path);
        }
    }
}

/// Opens the channel. Where it cannot be opened the gateway serves without one, and says so.
pub(crate) fn open(spec: &AdminSpec, control: &Arc<Control>) -> Admin {
    let Some(address) = &spec.address else { return Admin { path: None } };
    match listen(address, control) {
        Ok(admin) => {
            info!(%address, "Admin channel open.");
            admin
        }
        Err(error) => {
            warn!(%address, %error, "No admin channel: reload, status, set and health checks are not to be had; set [admin] address.");
            Admin { path: None }
        }
    }
}

fn listen(address: &ListenAddress, control: &Arc<Control>) -> std::io::Result<Admin> {
    let control = Arc::clone(control);
    match address {
        ListenAddress::Tcp(address) => {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&control)));
                }
            });
            Ok(Admin { path: None })
        }
        ListenAddress::Unix(_) => {
            let spec = jk_config::ListenerSpec::new("admin", address.clone());
            let crate::front::Bound::Unix(listener, path) =
                crate::front::bind(&spec, 1).map_err(|error| error.error)?
            else {
                return Err(std::io::ErrorKind::InvalidInput.into());
            };
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            let listener = tokio::net::UnixListener::from_std(listener)?;
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&control)));
                }
            });
            Ok(Admin { path: Some(path) })
        }
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, control: Arc<Control>) {
    let service = service_fn(move |request| {
        let control = Arc::clone(&control);
        async move { Ok::<_, Infallible>(answer(&control, &request).await) }
    });
    let _client_left = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

type Reply = Response<Full<Bytes>>;

async fn answer(control: &Arc<Control>, request: &Request<Incoming>) -> Reply {
    // A page in a browser must not reach this by a name that somebody made point here.
    let host =
        request.headers().get(http::header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if !matches!(name, "localhost" | "127.0.0.1" | "[::1]" | "") {
        return text(StatusCode::FORBIDDEN, "this is the admin channel of this machine\n");
    }
    let foreign = request.headers().contains_key(http::header::ORIGIN)
        || request.headers().get("sec-fetch-site").is_some_and(|site| site != "none");
    let query = Query::read(request.uri().query().unwrap_or_default());
    match (request.method(), request.uri().path()) {
        (_, "/healthz") => text(StatusCode::OK, "ok\n"),
        (_, "/readyz") => ready(control),
        (&Method::GET, "/status") => status::admin(control, request.uri().query().unwrap_or_default()),
        (&Method::GET, "/explain") => explained(control, &query),
        (&Method::GET, "/drained") => drained(control, &query),
        (&Method::POST, _) if foreign => text(StatusCode::FORBIDDEN, "not from a browser\n"),
        (&Method::POST, "/reload") => reload(control).await,
        (&Method::POST, "/set") => set(control, query).await,
        (_, "/reload" | "/set") => text(StatusCode::METHOD_NOT_ALLOWED, "use POST\n"),
        _ => {
            text(StatusCode::NOT_FOUND, "there are /healthz /readyz /status /explain /drained /reload /set\n")
        }
    }
}

fn ready(control: &Control) -> Reply {
    if control.gateway().draining.load(Relaxed) {
        return text(StatusCode::SERVICE_UNAVAILABLE, "draining\n");
    }
    text(StatusCode::OK, "ready\n")
}

async fn reload(control: &Arc<Control>) -> Reply {
    let control = Arc::clone(control);
    let done = tokio::task::spawn_blocking(move || control.reload("jkgate reload")).await;
    match done {
        Ok(Ok(changes)) if changes.is_empty() => text(StatusCode::OK, "reloaded; nothing changed\n"),
        Ok(Ok(changes)) => text(StatusCode::OK, &lines(&changes)),
        Ok(Err(refused)) => text(StatusCode::UNPROCESSABLE_ENTITY, &lines(&refused.lines())),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n")),
    }
}

async fn set(control: &Arc<Control>, query: Query) -> Reply {
    let Some(target) = query.first("target") else {
        return text(StatusCode::BAD_REQUEST, "expected target=\n");
    };
    let mut edits = Vec::new();
    for change in query.all("change") {
        match edit(control, target, change) {
            Ok(edit) => edits.push(edit),
            Err(why) => return text(StatusCode::UNPROCESSABLE_ENTITY, &format!("{why}\n")),
        }
    }
    let persist = query.first("persist").is_some();
    let control = Arc::clone(control);
    let done = tokio::task::spawn_blocking(move || {
        let mut changes = control.edit(&edits, "jkgate set").map_err(|refused| lines(&refused.lines()))?;
        if persist {
            for path in control.persist()? {
                changes.push(format!("written to {}", path.display()));
            }
        }
        Ok::<_, String>(changes)
    })
    .await;
    match done {
        Ok(Ok(changes)) => text(StatusCode::OK, &lines(&changes)),
        Ok(Err(why)) => text(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n")),
    }
}

/// `shop/t1` and `activation=stopped` as a line of the file.
fn edit(control: &Control, target: &str, change: &str) -> Result<Edit, String> {
    let plan = control.gateway().plan();
    let (key, value) = change.split_once('=').ok_or("expected key=value")?;
    let (section, name) = match target.split_once('/') {
        Some((group, member)) => {
            let group = plan.group_named(group).ok_or_else(|| format!("there is no group \"{group}\""))?;
            let known = group.members.iter().any(|worker| &*worker.name == member);
            if !known {
                return Err(format!("group \"{}\" has no member \"{member}\"", group.name));
            }
            ("ajp13", member)
        }
        None if plan.workers.keys().any(|name| name.as_str() == target) => ("ajp13", target),
        None if plan.group_named(target).is_some() => ("lb", target),
        None => return Err(format!("there is no group or worker \"{target}\"")),
    };
    let value = jk_config::value_text(section, key, value);
    Ok(Edit::new(section, name, key, &value))
}

fn explained(control: &Control, query: &Query) -> Reply {
    let Some(url) = query.first("url") else { return text(StatusCode::BAD_REQUEST, "expected url=\n") };
    let headers: Vec<(String, String)> = query
        .all("header")
        .filter_map(|header| header.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect();
    let question = Question::new(query.first("method").unwrap_or("GET"), url, &headers);
    text(StatusCode::OK, &explain(&control.gateway().plan(), &question))
}

/// Whether a member can be taken away: no request under way, no session seen lately.
fn drained(control: &Control, query: &Query) -> Reply {
    let plan = control.gateway().plan();
    let target = query.first("target").unwrap_or_default();
    let (group, member) = target.split_once('/').unwrap_or(("", target));
    let mut found = false;
    let (mut busy, mut sessions) = (0, 0);
    for each in plan.groups.values().filter(|each| group.is_empty() || &*each.name == group) {
        let view = each.balancer.view(std::time::Instant::now());
        for (_, seen) in each.members.iter().zip(view.members).filter(|(worker, _)| &*worker.name == member) {
            found = true;
            busy += seen.busy;
            sessions += seen.sessions_lately;
        }
    }
    if !found {
        return text(StatusCode::NOT_FOUND, &format!("there is no member \"{target}\"\n"));
    }
    if busy == 0 && sessions == 0 {
        return text(
            StatusCode::OK,
            &format!("free: {target} has no request under way and no session was seen in the last minutes\n"),
        );
    }
    text(
        StatusCode::OK,
        &format!("waiting: {busy} requests under way, about {sessions} sessions seen in the last minutes\n"),
    )
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn text(status: StatusCode, body: &str) -> Reply {
    let mut reply = Response::new(Full::from(body.to_owned()));
    *reply.status_mut() = status;
    reply
}

/// A decoded query string.
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    pub(crate) fn read(query: &str) -> Self {
        let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        Self { pairs: pairs.map(|(name, value)| (decode(name), decode(value))).collect() }
    }

    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
