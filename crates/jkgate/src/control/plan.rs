//! What is in force: one configuration, compiled, with the states that outlive it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jk_ajp::PacketSize;
use jk_balance::{Balancer, Hosts, WorkerCounters};
use jk_channel::Pool;
use jk_config::{Config, GroupSpec, MappingKind, Problems, Source, Target, WorkerName, WorkerSpec};
use tokio::sync::Notify;

use super::registry::Registry;

/// Immutable; replaced whole.
pub(crate) struct Plan {
    pub(crate) config: Config,
    /// Counts plans, from 1.
    pub(crate) generation: u64,
    pub(crate) loaded_at: SystemTime,
    pub(crate) warnings: Problems,
    /// As in force, edits included.
    pub(crate) sources: Vec<Source>,
    /// As the files were.
    pub(crate) originals: Vec<Source>,
    pub(crate) hosts: Hosts,
    /// A tree: names are hardly ever long or many, and hashing one costs more than three comparisons.
    pub(crate) groups: BTreeMap<Target, Arc<Group>>,
    pub(crate) workers: BTreeMap<WorkerName, Arc<Worker>>,
}

/// A group, or a worker that a mapping points to itself.
pub(crate) struct Group {
    pub(crate) name: Arc<str>,
    pub(crate) spec: Arc<GroupSpec>,
    pub(crate) balancer: Arc<Balancer>,
    /// In the balancer's order.
    pub(crate) members: Vec<Arc<Worker>>,
    pub(crate) queue: Arc<Queue>,
    /// A worker without a group.
    pub(crate) is_solo: bool,
}

pub(crate) struct Worker {
    pub(crate) name: Arc<str>,
    pub(crate) spec: Arc<WorkerSpec>,
    pub(crate) size: PacketSize,
    pub(crate) pool: Arc<Pool>,
    pub(crate) counters: Arc<WorkerCounters>,
    pub(crate) trouble: Arc<Trouble>,
}

/// Requests that wait until a member of the group has room.
#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) freed: Notify,
    pub(crate) waiting: AtomicU32,
}

/// What went wrong with a worker lately, for people.
#[derive(Default)]
pub(crate) struct Trouble {
    /// A connect and a CPing of their own are under way.
    pub(crate) verifying: AtomicBool,
    last: Mutex<Option<(SystemTime, String)>>,
    /// Second of the last log line.
    logged: AtomicU64,
}

impl Plan {
    /// Compiles a configuration. What needs a socket or a file was done before; this cannot fail.
    pub(crate) fn compile(
        loaded: jk_config::Loaded,
        generation: u64,
        registry: &mut Registry,
        now: Instant,
    ) -> Self {
        let jk_config::Loaded { config, warnings, sources, originals } = loaded;
        let workers: BTreeMap<WorkerName, Arc<Worker>> = config
            .workers()
            .values()
            .map(|spec| (spec.name.clone(), Arc::new(registry.worker(spec))))
            .collect();
        let mut groups = BTreeMap::new();
        for spec in config.groups().values() {
            let group = group(Arc::clone(spec), &workers, registry, now);
            groups.insert(Target::Group(spec.name.clone()), Arc::new(group));
        }
        for name in solo_targets(&config) {
            if let Some(spec) = config.solo(&name) {
                let group = Group { is_solo: true, ..group(Arc::new(spec), &workers, registry, now) };
                groups.insert(Target::Worker(name), Arc::new(group));
            }
        }
        let hosts = Hosts::compile(config.mappings(), config.hosts());
        Self {
            generation,
            loaded_at: SystemTime::now(),
            warnings,
            sources,
            originals,
            hosts,
            groups,
            workers,
            config,
        }
    }

    /// A plan without a gateway, for explanations.
    pub(crate) fn alone(loaded: jk_config::Loaded, now: Instant) -> Self {
        Self::compile(loaded, 1, &mut Registry::default(), now)
    }

    /// The group of a name, as operators write it.
    pub(crate) fn group_named(&self, name: &str) -> Option<&Arc<Group>> {
        self.groups.values().find(|group| &*group.name == name)
    }
}

fn solo_targets(config: &Config) -> Vec<WorkerName> {
    let all = config.mappings().iter().chain(config.hosts().iter().flat_map(|host| &host.mappings));
    let mut names: Vec<WorkerName> = all
        .filter_map(|mapping| match &mapping.kind {
            MappingKind::Map(Target::Worker(name)) => Some(name.clone()),
            MappingKind::Map(_) | MappingKind::Exclude(_) => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn group(
    spec: Arc<GroupSpec>,
    workers: &BTreeMap<WorkerName, Arc<Worker>>,
    registry: &mut Registry,
    now: Instant,
) -> Group {
    let members: Vec<Arc<Worker>> =
        spec.members.iter().filter_map(|member| workers.get(&member.worker)).cloned().collect();
    let counters: Vec<Arc<WorkerCounters>> =
        members.iter().map(|worker| Arc::clone(&worker.counters)).collect();
    let (state, queue) = registry.group(&spec.name);
    Group {
        name: Arc::from(spec.name.as_str()),
        balancer: Arc::new(Balancer::new(Arc::clone(&spec), state, &counters, now)),
        members,
        queue,
        spec,
        is_solo: false,
    }
}

impl Queue {
    /// Waits for room in the group. False: too many wait already, or it took too long.
    pub(crate) async fn wait(&self, spec: &jk_config::QueueSpec, since: Instant) -> bool {
        struct Place<'a>(&'a AtomicU32);
        impl Drop for Place<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Relaxed);
            }
        }
        let freed = self.freed.notified();
        let before = self.waiting.fetch_add(1, Relaxed);
        let _place = Place(&self.waiting);
        if before >= spec.size {
            return false;
        }
        let left = spec.timeout.saturating_sub(since.elapsed());
        // A member may become free without telling us (a check, the status page), so a look now and then does no harm.
        let _either = tokio::time::timeout(left.min(RECHECK), freed).await;
        since.elapsed() < spec.timeout
    }
}

const RECHECK: Duration = Duration::from_millis(250);

impl Trouble {
    pub(crate) fn note(&self, text: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((SystemTime::now(), text));
    }

    pub(crate) fn last(&self) -> Option<(SystemTime, String)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True once a second: a dead worker under load must not fill the disk.
    pub(crate) fn may_log(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        self.logged.swap(now, Relaxed) != now
    }
}
