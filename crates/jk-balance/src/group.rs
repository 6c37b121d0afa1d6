//! What a group remembers from one request to the next, and from one plan to the next: found by name, without any setting in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jk_config::WorkerName;

use crate::budget::RetryBudget;
use crate::counters::WorkerCounters;
use crate::health::{Health, Outcome};
use crate::histogram::Histogram;
use crate::sketch::Sessions;

/// State of one group. One short lock guards it; nothing slow is done under it.
#[derive(Debug, Default)]
pub struct GroupState {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
pub(crate) struct Inner {
    names: HashMap<WorkerName, usize>,
    /// What choosing reads, packed.
    pub(crate) hot: Vec<Hot>,
    pub(crate) members: Vec<Record>,
    /// Where the next round-robin look begins, as an index into the plan's members.
    pub(crate) next: usize,
    pub(crate) last_maintained: Option<Instant>,
    pub(crate) budget: RetryBudget,
    pub(crate) random: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hot {
    pub(crate) load: u64,
    pub(crate) health: Health,
}

/// What is known of one member.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) counters: Arc<WorkerCounters>,
    pub(crate) sessions: u64,
    pub(crate) errors: u64,
    /// Decayed by maintenance.
    pub(crate) reply_timeouts: u32,
    pub(crate) all_reply_timeouts: u64,
    pub(crate) first_error: Option<Instant>,
    pub(crate) last_error: Option<(Instant, Outcome)>,
    /// When the present health began.
    pub(crate) since: Option<Instant>,
    pub(crate) used_since_maintenance: bool,
    /// `busy` when the member turned out to be full.
    pub(crate) full_at: u32,
    /// Slow start began.
    pub(crate) returned: Option<Instant>,
    pub(crate) failures_in_a_row: u32,
    /// Health checks in a row with the same result.
    pub(crate) checks_in_a_row: (bool, u32),
    /// Nanoseconds, peak-sensitive.
    pub(crate) ewma: f64,
    pub(crate) ewma_at: Option<Instant>,
    pub(crate) latency: Histogram,
    pub(crate) seen: Sessions,
    pub(crate) reset_at: Instant,
    /// Forgotten by the plan in force.
    pub(crate) retired: bool,
}

impl GroupState {
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The places of a plan's members. One that was gone comes back as new; one that is not named any more is forgotten.
    pub(crate) fn enlist(
        &mut self,
        members: &[(WorkerName, Arc<WorkerCounters>)],
        now: Instant,
    ) -> Vec<usize> {
        for record in &mut self.members {
            record.retired = true;
        }
        let mut places = Vec::with_capacity(members.len());
        for (name, counters) in members {
            let place = match self.names.get(name) {
                Some(place) => *place,
                None => {
                    self.names.insert(name.clone(), self.members.len());
                    self.hot.push(Hot::default());
                    self.members.push(Record::new(Arc::clone(counters), now));
                    self.members.len() - 1
                }
            };
            if let Some(record) = self.members.get_mut(place) {
                record.retired = false;
                record.counters = Arc::clone(counters);
            }
            places.push(place);
        }
        for (hot, record) in self.hot.iter_mut().zip(&mut self.members) {
            if record.retired {
                *hot = Hot::default();
                *record = Record { retired: true, ..Record::new(Arc::clone(&record.counters), now) };
            }
        }
        places
    }

    pub(crate) fn set_health(&mut self, place: usize, health: Health, now: Instant) {
        if let (Some(hot), Some(record)) = (self.hot.get_mut(place), self.members.get_mut(place))
            && hot.health != health
        {
            hot.health = health;
            record.since = Some(now);
        }
    }

    pub(crate) fn health(&self, place: usize) -> Health {
        self.hot.get(place).map(|hot| hot.health).unwrap_or_default()
    }

    /// xorshift64*: a choice between equals needs no better one.
    pub(crate) fn random(&mut self) -> u64 {
        let mut x = self.random | 1;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.random = x;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

impl Record {
    pub(crate) fn new(counters: Arc<WorkerCounters>, now: Instant) -> Self {
        Self {
            counters,
            sessions: 0,
            errors: 0,
            reply_timeouts: 0,
            all_reply_timeouts: 0,
            first_error: None,
            last_error: None,
            since: None,
            used_since_maintenance: false,
            full_at: 0,
            returned: None,
            failures_in_a_row: 0,
            checks_in_a_row: (true, 0),
            ewma: 0.0,
            ewma_at: None,
            latency: Histogram::default(),
            seen: Sessions::default(),
            reset_at: now,
            retired: false,
        }
    }
}
