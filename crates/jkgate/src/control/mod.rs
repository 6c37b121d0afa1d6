//! The only writer: prepares a plan, commits it, retires the old one.
//!
//! ```text
//! read ─► resolve ─► PREPARE bind, open logs, compile   may fail: nothing has changed
//!                 ─► COMMIT  one store                  cannot fail
//!                 ─► RETIRE  drain pools, close fronts
//! ```

mod core;
mod health;
mod plan;
mod registry;
mod watch;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jk_config::{Edit, ListenAddress, ListenerSpec, Loaded, Problems};
use tracing::{error, info, warn};

pub(crate) use self::core::{Core, CoreOrder, cpus_for};
pub(crate) use self::plan::{Group, Plan, Worker};
use self::registry::Registry;
use crate::access_log::{AccessLog, AccessLogs};
use crate::front::{BindError, Bound, Front, bind};
use crate::gateway::Gateway;
use crate::stats::Stats;

/// Where plans come from.
pub(crate) struct Control {
    gateway: Arc<Gateway>,
    cores: Vec<Core>,
    /// `None`: a configuration that is not a file.
    path: Option<PathBuf>,
    /// Held for a whole change. A change waits for disks, and a file may take for ever; so nothing else waits for it.
    writer: Mutex<Registry>,
    /// Held for moments; only who holds `writer` changes it.
    state: Mutex<State>,
    last: Mutex<Reload>,
}

struct State {
    /// By [`front_key`].
    fronts: HashMap<String, Arc<Front>>,
    /// Laid over the file.
    edits: Vec<Edit>,
}

/// How the last reload ended.
#[derive(Debug, Clone)]
pub(crate) struct Reload {
    pub(crate) at: SystemTime,
    pub(crate) by: String,
    /// Lines of what changed, or of what was wrong.
    pub(crate) result: Result<Vec<String>, Vec<String>>,
    pub(crate) good: u64,
    pub(crate) bad: u64,
}

/// Why the gateway could not begin, or a reload was refused.
#[derive(Debug)]
pub enum Refused {
    Config(Problems),
    Bind(BindError),
    AccessLog(std::io::Error),
    /// A change without a file to read again, or an edit of something that is not there.
    Other(String),
}

/// All that can fail, done.
struct Prepared {
    loaded: Loaded,
    new_fronts: Vec<(Arc<ListenerSpec>, Bound)>,
    access_log: Option<AccessLog>,
}

impl Control {
    /// Opens everything that a configuration names and puts it in force.
    pub(crate) fn begin(loaded: Loaded, path: Option<PathBuf>) -> Result<Arc<Self>, Refused> {
        let threads =
            loaded.config.process().threads.map_or_else(n_cpus, |n| usize::try_from(n.get()).unwrap_or(1));
        let mut bound = Vec::new();
        for spec in loaded.config.listeners() {
            bound.push((Arc::clone(spec), bind(spec, threads).map_err(Refused::Bind)?));
        }
        let access_log = AccessLogs::new(loaded.config.access_log()).map_err(Refused::AccessLog)?;
        let mut registry = Registry::default();
        let plan = Plan::compile(loaded, 1, &mut registry, Instant::now());
        let gateway = Arc::new(Gateway {
            plan: arc_swap::ArcSwap::from_pointee(plan),
            access_log,
            stats: Stats::new(threads),
            draining: false.into(),
            control: std::sync::OnceLock::new(),
        });
        let cpus = if gateway.plan().config.process().cpu_affinity { cpus_for(threads) } else { Vec::new() };
        let core = |index| Core::start(index, Arc::clone(&gateway), cpus.get(index).copied());
        let cores = (0..threads).map(core).collect();
        let last =
            Reload { at: SystemTime::now(), by: "start".to_owned(), result: Ok(Vec::new()), good: 1, bad: 0 };
        let state = State { fronts: HashMap::new(), edits: Vec::new() };
        let control = Arc::new(Self {
            gateway,
            cores,
            path,
            writer: Mutex::new(registry),
            state: Mutex::new(state),
            last: Mutex::new(last),
        });
        control.open(&mut control.lock(), bound);
        let _set_once = control.gateway.control.set(Arc::clone(&control));
        Ok(control)
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    pub(crate) fn last_reload(&self) -> Reload {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Edits that are in force and not in the file.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        self.lock().edits.clone()
    }

    /// Where the listeners really listen, by name.
    pub(crate) fn fronts(&self) -> Vec<Arc<Front>> {
        let mut fronts: Vec<_> = self.lock().fronts.values().cloned().collect();
        fronts.sort_by(|a, b| a.spec.load().name.cmp(&b.spec.load().name));
        fronts
    }

    /// Reads the file again. Blocks on files, so not for a thread that serves requests.
    pub(crate) fn reload(&self, by: &str) -> Result<Vec<String>, Refused> {
        let Some(path) = &self.path else {
            return Err(Refused::Other("this configuration does not come from a file".to_owned()));
        };
        let mut registry = self.write();
        let result = self.reload_edited(path, &mut registry);
        self.note(by, &result);
        result
    }

    /// Changes keys as if they stood in the file.
    pub(crate) fn edit(&self, edits: &[Edit], by: &str) -> Result<Vec<String>, Refused> {
        let mut registry = self.write();
        let mut all = self.edits();
        for edit in edits {
            all.retain(|old| (&old.section, &old.name, &old.key) != (&edit.section, &edit.name, &edit.key));
            all.push(edit.clone());
        }
        let before = self.gateway.plan();
        let loaded = match &self.path {
            Some(path) => jk_config::load_edited(path, &all),
            None => jk_config::relay(&before.sources, edits),
        }
        .map_err(Refused::Config)?;
        let changes = self.adopt(&mut registry, loaded)?;
        self.lock().edits = all;
        self.level(edits);
        info!(%by, changes = changes.join("; "), "Changed by an operator.");
        Ok(changes)
    }

    /// Writes the edits in force into the files they belong to.
    pub(crate) fn persist(&self) -> Result<Vec<PathBuf>, String> {
        let _registry = self.write();
        let edits = self.edits();
        let plan = self.gateway.plan();
        let mut written = Vec::new();
        for (index, source) in plan.sources.iter().enumerate() {
            let of_file = |edit: &&Edit| {
                plan.config.source_of(&format!("{}.{}", edit.section, edit.name)) == Some(index)
            };
            let own: Vec<Edit> = edits.iter().filter(of_file).cloned().collect();
            if own.is_empty() {
                continue;
            }
            write_into(&source.path, &own)?;
            self.lock().edits.retain(|edit| !own.contains(edit));
            written.push(source.path.clone());
        }
        Ok(written)
    }

    /// Ends: readiness is gone at once, accepting a little later, requests under way have time to finish.
    pub(crate) async fn shut_down(&self) {
        let plan = self.gateway.plan();
        let process = plan.config.process().clone();
        self.gateway.draining.store(true, Relaxed);
        tokio::time::sleep(process.shutdown_delay).await;
        for front in self.fronts() {
            front.close();
        }
        for core in &self.cores {
            core.order(CoreOrder::Drain);
        }
        let deadline = Instant::now() + process.drain_timeout;
        while Instant::now() < deadline && self.is_busy() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let left = self.gateway.stats.served().under_way;
        if left > 0 {
            warn!(left, "Ending although requests are under way: drain_timeout is over.");
        }
        for front in self.fronts() {
            if let ListenAddress::Unix(path) = &front.spec.load().address {
                let _best_effort = std::fs::remove_file(path);
            }
        }
        self.stop();
        // What was cut has a line in the access log, too.
        let cut = Instant::now();
        while self.gateway.stats.served().under_way > 0 && cut.elapsed() < Duration::from_secs(1) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Ends the threads that serve requests, whatever is under way.
    pub(crate) fn stop(&self) {
        for front in self.fronts() {
            front.close();
        }
        for core in &self.cores {
            core.order(CoreOrder::Stop);
        }
    }

    fn is_busy(&self) -> bool {
        let open = self.fronts().iter().any(|front| front.stats.open.load(Relaxed) > 0);
        open || self.gateway.stats.served().under_way > 0
    }

    /// Tasks of all cores now.
    pub(crate) fn tasks(&self) -> usize {
        self.cores.iter().map(Core::tasks).sum()
    }

    fn reload_edited(&self, path: &std::path::Path, registry: &mut Registry) -> Result<Vec<String>, Refused> {
        let fresh = jk_config::load(path).map_err(Refused::Config)?;
        // The file wins for a key that it changed, and for what it does not define any more.
        let old = self.gateway.plan();
        let (edits, gone): (Vec<Edit>, Vec<Edit>) = self.edits().into_iter().partition(|edit| {
            let now = fresh.sources.iter().find_map(|source| edit.current(source.text()));
            let section = format!("{}.{}", edit.section, edit.name);
            fresh.config.source_of(&section).is_some() && now == self.file_value(&old, edit)
        });
        let loaded = if edits.is_empty() {
            fresh
        } else {
            jk_config::load_edited(path, &edits).map_err(Refused::Config)?
        };
        let changes = self.adopt(registry, loaded)?;
        for edit in gone {
            let section = format!("{}.{}", edit.section, edit.name);
            info!(section, key = edit.key, "The file changed what an operator had changed; the file counts.");
        }
        self.lock().edits = edits;
        Ok(changes)
    }

    /// What the file said under an edit when it was last read.
    fn file_value(&self, plan: &Plan, edit: &Edit) -> Option<String> {
        plan.originals.iter().find_map(|source| edit.current(source.text()))
    }

    fn adopt(&self, registry: &mut Registry, loaded: Loaded) -> Result<Vec<String>, Refused> {
        let prepared = self.prepare(loaded)?;
        // It may have taken so long that the process was told to end meanwhile; no listener opens then.
        if self.gateway.draining.load(Relaxed) {
            return Err(Refused::Other("the gateway is ending".to_owned()));
        }
        Ok(self.commit(registry, prepared))
    }

    fn prepare(&self, loaded: Loaded) -> Result<Prepared, Refused> {
        let known: Vec<String> = self.lock().fronts.keys().cloned().collect();
        let mut new_fronts = Vec::new();
        for spec in loaded.config.listeners() {
            if !known.contains(&front_key(spec)) {
                new_fronts.push((Arc::clone(spec), bind(spec, self.cores.len()).map_err(Refused::Bind)?));
            }
        }
        let access_log =
            self.gateway.access_log.prepare(loaded.config.access_log()).map_err(Refused::AccessLog)?;
        Ok(Prepared { loaded, new_fronts, access_log })
    }

    fn commit(&self, registry: &mut Registry, prepared: Prepared) -> Vec<String> {
        let Prepared { loaded, new_fronts, access_log } = prepared;
        let old = self.gateway.plan();
        let plan = Plan::compile(loaded, old.generation + 1, registry, Instant::now());
        let plan = Arc::new(plan);
        let changes = jk_config::diff(&old.config, &plan.config);
        self.gateway.plan.store(Arc::clone(&plan));
        if let Some(log) = access_log {
            self.gateway.access_log.replace(log);
        }
        let mut state = self.lock();
        self.open(&mut state, new_fronts);
        retire_fronts(&mut state, &plan);
        drop(state);
        retire_workers(&old, &plan);
        registry.forget(&plan);
        changes
    }

    /// Hands listening sockets to the cores.
    fn open(&self, state: &mut State, bound: Vec<(Arc<ListenerSpec>, Bound)>) {
        for (spec, bound) in bound {
            let front = Front::new(Arc::clone(&spec), bound.local_address());
            info!(listener = spec.name, address = %front.local.map_or_else(|| spec.address.to_string(), |local| local.to_string()), "Listening.");
            match bound {
                Bound::Tcp(sockets) => {
                    for (core, socket) in self.cores.iter().zip(sockets) {
                        core.order(CoreOrder::Tcp(Arc::clone(&front), socket));
                    }
                }
                Bound::Unix(socket, _) => {
                    if let Some(core) = self.cores.first() {
                        core.order(CoreOrder::Unix(Arc::clone(&front), socket));
                    }
                }
            }
            state.fronts.insert(front_key(&spec), front);
        }
    }

    fn note(&self, by: &str, result: &Result<Vec<String>, Refused>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        (last.at, last.by) = (SystemTime::now(), by.to_owned());
        match result {
            Ok(changes) => {
                last.good += 1;
                let plan = self.gateway.plan();
                for line in plan.warnings.lines() {
                    warn!("{line}");
                }
                info!(%by, generation = plan.generation, changes = changes.join("; "), "Configuration reloaded.");
                last.result = Ok(changes.clone());
            }
            Err(refused) => {
                last.bad += 1;
                let lines = refused.lines();
                for line in &lines {
                    error!("{line}");
                }
                error!(%by, problems = lines.len(), "Configuration not reloaded; everything goes on as before.");
                last.result = Err(lines);
            }
        }
    }

    /// mod_jk: a change of activation sets all loads of the group to zero.
    fn level(&self, edits: &[Edit]) {
        let plan = self.gateway.plan();
        for edit in edits.iter().filter(|edit| edit.section == "ajp13" && edit.key == "activation") {
            for group in plan.groups.values() {
                if group.members.iter().any(|worker| *worker.name == *edit.name) {
                    group.balancer.level_loads();
                }
            }
        }
    }

    fn write(&self) -> MutexGuard<'_, Registry> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn retire_fronts(state: &mut State, new: &Plan) {
    for spec in new.config.listeners() {
        if let Some(front) = state.fronts.get(&front_key(spec)) {
            front.spec.store(Arc::clone(spec));
        }
    }
    state.fronts.retain(|key, front| {
        let stays = new.config.listeners().iter().any(|spec| front_key(spec) == *key);
        if !stays {
            info!(listener = front.spec.load().name, "Listener closed.");
            front.close();
            if let ListenAddress::Unix(path) = &front.spec.load().address {
                let _best_effort = std::fs::remove_file(path);
            }
        }
        stays
    });
}

fn retire_workers(old: &Plan, new: &Plan) {
    for (name, worker) in &old.workers {
        let stays = new.workers.get(name).is_some_and(|now| Arc::ptr_eq(&now.pool, &worker.pool));
        if !stays {
            worker.pool.drain();
        }
    }
}

impl Refused {
    /// One line a problem.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Config(problems) => problems.lines(),
            Self::Bind(error) => vec![error.to_string()],
            Self::AccessLog(error) => vec![format!("access_log.target cannot be opened: {error}")],
            Self::Other(why) => vec![why.clone()],
        }
    }
}

/// Replaces a file by one with the edits, unless it changed meanwhile.
fn write_into(path: &std::path::Path, edits: &[Edit]) -> Result<(), String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    let changed = jk_config::persist(&text, edits).map_err(|why| format!("{shown}: {why}"))?;
    let fresh = path.with_extension("toml.new");
    let meta = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    std::fs::write(&fresh, changed).map_err(|error| format!("{}: {error}", fresh.display()))?;
    let finish = || {
        std::fs::set_permissions(&fresh, meta.permissions())?;
        if std::fs::read_to_string(path)? != text {
            return Err(std::io::Error::other("it changed meanwhile; nothing was written"));
        }
        std::fs::rename(&fresh, path)
    };
    finish().map_err(|error| {
        let _best_effort = std::fs::remove_file(&fresh);
        format!("{shown}: {error}")
    })
}

/// What makes a listener the same one after a reload: its address; for "any port", its name.
fn front_key(spec: &ListenerSpec) -> String {
    match &spec.address {
        ListenAddress::Tcp(address) if address.port() == 0 => format!("{}@{address}", spec.name),
        ListenAddress::Tcp(_) | ListenAddress::Unix(_) => spec.address.to_string(),
    }
}

fn n_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

pub(crate) use self::health::check_members;
pub(crate) use self::watch::watch_files;
