//! States by name: what a reload keeps.

use std::collections::HashMap;
use std::sync::Arc;

use jk_ajp::PacketSize;
use jk_balance::{GroupState, WorkerCounters};
use jk_channel::Pool;
use jk_config::{GroupName, WorkerAddress, WorkerName, WorkerSpec};

use super::plan::{Queue, Trouble, Worker};

/// Only [`super::Control`] has one.
#[derive(Default)]
pub(crate) struct Registry {
    workers: HashMap<WorkerName, Kept>,
    groups: HashMap<GroupName, (Arc<GroupState>, Arc<Queue>)>,
}

struct Kept {
    /// Sockets serve one address with one set of socket options; another one needs another pool.
    key: (WorkerAddress, bool, usize, Option<jk_config::Secret>),
    pool: Arc<Pool>,
    counters: Arc<WorkerCounters>,
    trouble: Arc<Trouble>,
}

impl Registry {
    pub(super) fn worker(&mut self, spec: &Arc<WorkerSpec>) -> Worker {
        let channel = &spec.channel;
        let key = (spec.address.clone(), channel.keepalive, channel.max_packet_size, spec.secret.clone());
        let kept = self.workers.entry(spec.name.clone()).or_insert_with(|| Kept {
            key: key.clone(),
            pool: Pool::new(spec.address.clone()),
            counters: Arc::default(),
            trouble: Arc::default(),
        });
        if kept.key != key {
            kept.key = key;
            kept.pool = Pool::new(spec.address.clone());
        }
        Worker {
            name: Arc::from(spec.name.as_str()),
            size: PacketSize::new(channel.max_packet_size).unwrap_or_default(),
            pool: Arc::clone(&kept.pool),
            counters: Arc::clone(&kept.counters),
            trouble: Arc::clone(&kept.trouble),
            spec: Arc::clone(spec),
        }
    }

    pub(super) fn group(&mut self, name: &GroupName) -> (Arc<GroupState>, Arc<Queue>) {
        self.groups.entry(name.clone()).or_default().clone()
    }

    /// Forgets what the plan in force does not name any more.
    pub(super) fn forget(&mut self, plan: &super::Plan) {
        self.workers.retain(|name, _| plan.workers.contains_key(name));
        let named = |name: &GroupName| plan.groups.values().any(|group| group.spec.name == *name);
        self.groups.retain(|name, _| named(name));
    }
}
