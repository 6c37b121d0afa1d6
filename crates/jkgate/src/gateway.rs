//! What all cores share: the plan in force, the logs, the counters.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;

use crate::access_log::AccessLogs;
use crate::control::Plan;
use crate::stats::Stats;

pub(crate) struct Gateway {
    pub(crate) plan: ArcSwap<Plan>,
    pub(crate) access_log: AccessLogs,
    pub(crate) stats: Stats,
    /// Set when the end has begun.
    pub(crate) draining: AtomicBool,
    /// The writer of plans; the status page asks it for changes.
    pub(crate) control: std::sync::OnceLock<Arc<crate::control::Control>>,
}

impl Gateway {
    /// What is in force; requests ask [`crate::stack::Stack::plan`].
    pub(crate) fn plan(&self) -> Arc<Plan> {
        // Not `load`: its guard must not cross an await.
        self.plan.load_full()
    }
}
