//! `serve` and `demo`.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use jk_config::{Config, ListenAddress, Loaded, LogSpec};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{info, warn};
use tracing_subscriber::EnvFilter;

use super::{fail, style};
use crate::admin;
use crate::control::Refused;
use crate::running::Running;

pub(super) fn serve(file: &Path) -> ExitCode {
    on_runtime(async |signals| {
        let loaded = match super::config::load(file) {
            Ok(loaded) => loaded,
            Err(code) => return code,
        };
        log_to_stderr(loaded.config.log());
        if !loaded.warnings.is_empty() {
            eprintln!("{}\n", loaded.warnings.render(style()));
        }
        run(loaded, signals, Some(file), None).await
    })
}

/// The gateway with two workers of its own on loopback.
pub(super) fn demo(listen: Option<&str>) -> ExitCode {
    let wanted = listen.unwrap_or("127.0.0.1:8080");
    let Ok(address) = wanted.parse::<SocketAddr>() else {
        return fail(format!("\"{wanted}\" is no address such as 127.0.0.1:8080"));
    };
    log_to_stderr(&LogSpec { filter: "warn".to_owned(), json: false });
    on_runtime(async |signals| {
        let mut workers = String::new();
        for name in ["tomcat1", "tomcat2"] {
            let listener = match tokio::net::TcpListener::bind("127.0.0.1:0").await {
                Ok(listener) => listener,
                Err(error) => return fail(format!("cannot start a worker on loopback: {error}")),
            };
            let Ok(at) = listener.local_addr() else { return fail("a socket without an address") };
            workers.push_str(&format!("[ajp13.{name}]\naddress = \"{at}\"\ngroup = \"lb\"\n\n"));
            tokio::spawn(jk_worker::demo::serve(listener, name));
        }
        let text = DEMO.replace("@ADDRESS@", &address.to_string()).replace("@WORKERS@", &workers);
        let loaded = match Config::from_toml("demo", &text) {
            Ok(loaded) => loaded,
            Err(problems) => return fail(problems.render(style())),
        };
        run(loaded, signals, None, Some(address)).await
    })
}

async fn run(
    loaded: Loaded,
    mut signals: Signals,
    file: Option<&Path>,
    demo: Option<SocketAddr>,
) -> ExitCode {
    let admin = loaded.config.admin().clone();
    let running = match Running::start(loaded, file) {
        Ok(running) => running,
        Err(refused) => return refused_start(&refused, demo),
    };
    let admin = admin::open(&admin, &running.control);
    match demo {
        Some(address) => welcome(running.address("main").unwrap_or(address)),
        None => info!(version = env!("CARGO_PKG_VERSION"), "jkgate serves."),
    }
    signals.until_told(&running).await;
    let gateway = Arc::clone(running.control.gateway());
    info!("Ending: no new connections, requests under way are finished.");
    tokio::select! {
        () = running.shut_down() => {}
        () = any(&mut signals.ends) => warn!("Ending at once."),
    }
    drop(admin);
    gateway.access_log.finish();
    ExitCode::SUCCESS
}

/// A port that is taken is the usual reason; the demo then names the whole command that works.
fn refused_start(refused: &Refused, demo: Option<SocketAddr>) -> ExitCode {
    for line in refused.lines() {
        eprintln!("jkgate: {line}");
    }
    if let Some(mut address) = demo {
        address.set_port(0);
        let free = TcpListener::bind(address).and_then(|listener| listener.local_addr());
        if let Ok(free) = free {
            eprintln!("jkgate: this port is free: jkgate demo --listen {free}");
        }
    }
    ExitCode::FAILURE
}

/// HUP reloads, USR1 reopens logs; TERM, INT and QUIT end.
struct Signals {
    hup: Signal,
    usr1: Signal,
    ends: [Signal; 3],
}

impl Signals {
    /// From now on none of them ends the process by itself, and none is lost.
    fn open() -> Result<Self, ExitCode> {
        let open = || {
            Ok(Self {
                hup: signal(SignalKind::hangup())?,
                usr1: signal(SignalKind::user_defined1())?,
                ends: [
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::interrupt())?,
                    signal(SignalKind::quit())?,
                ],
            })
        };
        open().map_err(|error: std::io::Error| fail(format!("cannot listen for signals: {error}")))
    }

    /// A reload may wait for a disk; the other signals do not wait for it. A HUP that comes meanwhile is answered when it is done.
    async fn until_told(&mut self, running: &Running) {
        let mut reload = None;
        loop {
            let is_idle = reload.is_none();
            tokio::select! {
                _ = self.hup.recv(), if is_idle => reload = Some(Box::pin(running.reload("SIGHUP"))),
                () = end_of(&mut reload), if !is_idle => reload = None,
                _ = self.usr1.recv() => running.reopen_logs(),
                () = any(&mut self.ends) => return,
            }
        }
    }
}

async fn end_of<F: Future + Unpin>(task: &mut Option<F>) {
    if let Some(task) = task {
        let _logged = task.await;
    }
}

async fn any(signals: &mut [Signal; 3]) {
    let [a, b, c] = signals;
    tokio::select! { _ = a.recv() => {}, _ = b.recv() => {}, _ = c.recv() => {} }
}

/// What is not for requests runs here: signals, files, maintenance, the admin channel.
fn on_runtime(task: impl AsyncFnOnce(Signals) -> ExitCode) -> ExitCode {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let code = runtime.block_on(async {
                // Before anything else: a supervisor may tell a process to reload or to end as soon as it has started it.
                match Signals::open() {
                    Ok(signals) => task(signals).await,
                    Err(code) => code,
                }
            });
            runtime.shutdown_timeout(Duration::from_millis(100));
            code
        }
        Err(error) => fail(format!("cannot start: {error}")),
    }
}

fn log_to_stderr(spec: &LogSpec) {
    let filter = std::env::var("JKGATE_LOG").unwrap_or_else(|_| spec.filter.clone());
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let colour = style() == jk_config::Style::Colour;
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    if spec.json { log.json().init() } else { log.init() }
}

fn welcome(address: SocketAddr) {
    let at = format!("http://{address}");
    let text = format!(
        "jkgate demo: two AJP13 workers and the gateway in front of them.\n\n\
         Open in a browser:\n  \
           {at}/servlets-examples/servlet/HelloWorldExample   a page from a worker\n  \
           {at}/servlets-examples/servlet/RequestInfoExample  what AJP13 tells a worker\n  \
           {at}/servlets-examples/servlet/SessionExample      a session sticks to its worker\n  \
           {at}/jkstatus/                                     live state of the workers\n\n\
         End with Ctrl-C.\n"
    );
    super::print(&text);
}

/// Where an admin address from a configuration file leads, for the commands that talk to a running gateway.
pub(super) fn admin_address(file: &Path) -> Result<ListenAddress, String> {
    let loaded = jk_config::load(file);
    let spec = loaded
        .as_ref()
        .map_or_else(|_| jk_config::AdminSpec::default(), |loaded| loaded.config.admin().clone());
    spec.address
        .ok_or_else(|| "the admin channel is off; set [admin] address in the configuration".to_owned())
}

const DEMO: &str = r#"
[listener.main]
address = "@ADDRESS@"

[lb.lb]

@WORKERS@
[uri]
"/servlets-examples|/*" = "lb"
"/jsp-examples|/*"      = "lb"
"/jkstatus|/*"          = "status"

[access_log]
target = "off"

[admin]
address = "off"
"#;
