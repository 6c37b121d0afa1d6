//! The channels of one worker: idle ones by core (last in, first out), a limit over all cores, and a queue when it is reached.
//!
//! One mutex guards the whole pool. It is held for a push, a pop or a count, never over a system call or an await.
//!
//! Seats: every open channel, every connect under way and every channel that waits for its END_RESPONSE holds one seat; a seat ends in
//! [`Pool::put`] (the channel rests in the pool and keeps its seat) or [`Pool::vacate`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jk_config::{ChannelSettings, WorkerAddress};
use tokio::sync::oneshot;

use crate::channel::Channel;
use crate::connect::connect;
use crate::failure::{Cause, Failure, Stage};
use crate::lease::Lease;
use crate::ping::ping_channel;

/// All channels to one worker.
pub struct Pool {
    address: WorkerAddress,
    state: Mutex<State>,
}

/// How many channels there are, at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolView {
    /// Seats taken: open channels and connects under way.
    pub open: u32,
    pub idle: u32,
    /// Requests that wait for a channel.
    pub waiting: u32,
    /// Most seats taken at one time.
    pub max_open: u32,
    /// Connects since the start.
    pub connects: u64,
}

// The boxes make moving a channel between pool, lease and waiter a move of one pointer.
#[allow(clippy::vec_box, reason = "channels are large and move often")]
#[derive(Default)]
struct State {
    /// By core.
    idle: Vec<Vec<Box<Channel>>>,
    taken: u32,
    max_taken: u32,
    connects: u64,
    /// Channels whose END_RESPONSE is awaited after the client has had its answer.
    finishing: u32,
    waiters: VecDeque<oneshot::Sender<Grant>>,
    draining: bool,
}

/// What a waiting request gets.
enum Grant {
    Channel(Box<Channel>),
    /// The right to connect.
    Seat,
}

enum Step {
    Idle(Box<Channel>),
    Connect,
    Wait(oneshot::Receiver<Grant>, Patience),
    Full,
}

/// How long a request waits and what it does then.
enum Patience {
    /// A channel is about to come back: wait a moment for it rather than connecting.
    Moment,
    /// The pool is full.
    Queue,
}

impl Pool {
    #[must_use]
    pub fn new(address: WorkerAddress) -> Arc<Self> {
        Arc::new(Self { address, state: Mutex::default() })
    }

    #[must_use]
    pub fn address(&self) -> &WorkerAddress {
        &self.address
    }

    /// A channel that is open, silent and, if the settings ask for it, pinged. `now` is the caller's clock, good to a millisecond.
    ///
    /// Err: [`Stage::Acquire`] when the pool is full, [`Stage::Connect`] or [`Stage::Ping`] when the worker is not there.
    pub async fn acquire(
        self: &Arc<Self>,
        settings: &ChannelSettings,
        now: Instant,
    ) -> Result<Lease, Failure> {
        if let Some(lease) = self.take_ready(settings, now) {
            return Ok(lease);
        }
        // Boxed, so that the usual request's future stays small.
        Box::pin(self.acquire_slowly(settings, now)).await
    }

    /// An idle channel that needs no CPing.
    fn take_ready(self: &Arc<Self>, settings: &ChannelSettings, now: Instant) -> Option<Lease> {
        let mut state = self.lock();
        let idle = state.idle.get_mut(crate::core::current())?;
        let channel = idle.pop_if(|channel| !needs_ping(channel, settings, now))?;
        drop(state);
        // A lease at once: dropped, it closes the channel and gives the seat back.
        let mut lease = Lease::new(Arc::clone(self), channel);
        lease.channel()?.is_quiet().then_some(lease)
    }

    async fn acquire_slowly(
        self: &Arc<Self>,
        settings: &ChannelSettings,
        now: Instant,
    ) -> Result<Lease, Failure> {
        let mut moment_waited = false;
        let deadline = now.checked_add(settings.acquire_timeout);
        loop {
            match self.step(settings, moment_waited) {
                Step::Idle(channel) => {
                    if let Some(lease) = self.revive(channel, settings, now).await {
                        return Ok(lease);
                    }
                }
                Step::Connect => return self.connect(settings).await,
                Step::Wait(grant, Patience::Moment) => {
                    moment_waited = true;
                    let grant = self.wait(grant, Instant::now().checked_add(MOMENT)).await;
                    if let Some(lease) = self.redeem(grant, settings).await? {
                        return Ok(lease);
                    }
                }
                Step::Wait(grant, Patience::Queue) => {
                    let grant = self.wait(grant, deadline).await;
                    if grant.is_none() && deadline.is_some_and(|due| Instant::now() >= due) {
                        return Err(Failure::new(Stage::Acquire, Cause::PoolFull));
                    }
                    if let Some(lease) = self.redeem(grant, settings).await? {
                        return Ok(lease);
                    }
                }
                Step::Full => return Err(Failure::new(Stage::Acquire, Cause::PoolFull)),
            }
        }
    }

    /// A new channel that answered a CPing, opened beside the pool's limit and closed again: whether the worker is there at all.
    pub async fn probe(self: &Arc<Self>, settings: &ChannelSettings) -> Result<(), Failure> {
        let mut settings = settings.clone();
        let wait = settings.connect_ping.or(settings.prepost_ping).unwrap_or(PROBE_TIMEOUT);
        settings.connect_ping = Some(wait);
        connect(&self.address, &settings).await.map(drop)
    }

    /// Closes what has been idle for too long and pings what asked for it; called about once a second by each core for itself.
    pub async fn maintain(self: &Arc<Self>, settings: &ChannelSettings) {
        let now = Instant::now();
        let core = crate::core::current();
        drop(self.expired(settings, core, now));
        let Some(interval) = settings.interval_ping else { return };
        for channel in self.unproven(interval.every, core, now) {
            let mut lease = Lease::new(Arc::clone(self), channel);
            if let Some(channel) = lease.channel()
                && ping_channel(channel, interval.timeout).await.is_ok()
            {
                channel.proven = Instant::now();
                lease.give_back_unused();
            }
        }
    }

    /// Closes idle channels now, every other one when its request has ended. Requests that began under an old plan are still served, each
    /// on a channel of its own.
    pub fn drain(&self) {
        let mut state = self.lock();
        state.draining = true;
        let idle: Vec<Box<Channel>> = state.idle.iter_mut().flat_map(std::mem::take).collect();
        state.taken = state.taken.saturating_sub(u32::try_from(idle.len()).unwrap_or(u32::MAX));
        drop(state);
        drop(idle);
    }

    #[must_use]
    pub fn view(&self) -> PoolView {
        let state = self.lock();
        PoolView {
            open: state.taken,
            idle: state.idle.iter().map(|idle| u32::try_from(idle.len()).unwrap_or(u32::MAX)).sum(),
            waiting: u32::try_from(state.waiters.len()).unwrap_or(u32::MAX),
            max_open: state.max_taken,
            connects: state.connects,
        }
    }

    /// Starts the high-water mark anew (the status page's `reset`).
    pub fn reset_max(&self) {
        let mut state = self.lock();
        state.max_taken = state.taken;
    }

    /// A channel comes back: to whoever waits, else to this core's stack.
    pub(crate) fn put(&self, channel: Box<Channel>) {
        let mut channel = channel;
        let mut state = self.lock();
        while let Some(waiter) = state.waiters.pop_front() {
            match waiter.send(Grant::Channel(channel)) {
                Ok(()) => return,
                Err(Grant::Channel(returned)) => channel = returned,
                Err(Grant::Seat) => return,
            }
        }
        // Read under the lock that pushes: read outside, a channel could slip back into a drained pool.
        if state.draining {
            state.taken = state.taken.saturating_sub(1);
            drop(state);
            drop(channel);
            return;
        }
        let core = channel.core;
        if let Some(idle) = state.idle_of(core) {
            idle.push(channel);
        }
    }

    /// A seat becomes free: whoever waits may connect.
    pub(crate) fn vacate(&self) {
        let mut state = self.lock();
        while let Some(waiter) = state.waiters.pop_front() {
            if waiter.send(Grant::Seat).is_ok() {
                return;
            }
        }
        state.taken = state.taken.saturating_sub(1);
    }

    pub(crate) fn note_finishing(&self, more: bool) {
        let mut state = self.lock();
        state.finishing = if more { state.finishing + 1 } else { state.finishing.saturating_sub(1) };
    }

    fn step(&self, settings: &ChannelSettings, moment_waited: bool) -> Step {
        let mut state = self.lock();
        let may_open = state.taken < settings.pool_size;
        if let Some(channel) = state.pop(crate::core::current(), may_open, Instant::now()) {
            return Step::Idle(channel);
        }
        let waiting = u32::try_from(state.waiters.len()).unwrap_or(u32::MAX);
        if state.taken < settings.pool_size {
            if !moment_waited && state.finishing > waiting {
                return Step::Wait(state.enqueue(), Patience::Moment);
            }
            state.taken += 1;
            state.max_taken = state.max_taken.max(state.taken);
            return Step::Connect;
        }
        if waiting >= settings.acquire_queue {
            return Step::Full;
        }
        Step::Wait(state.enqueue(), Patience::Queue)
    }

    /// `None`: the deadline passed.
    async fn wait(&self, grant: oneshot::Receiver<Grant>, deadline: Option<Instant>) -> Option<Grant> {
        let mut waiting = Waiting { pool: self, grant };
        match deadline {
            Some(due) => tokio::time::timeout_at(due.into(), &mut waiting.grant).await.ok()?.ok(),
            None => (&mut waiting.grant).await.ok(),
        }
    }

    /// Turns a grant into a lease. `Ok(None)`: nothing usable came of it, look again.
    async fn redeem(
        self: &Arc<Self>,
        grant: Option<Grant>,
        settings: &ChannelSettings,
    ) -> Result<Option<Lease>, Failure> {
        match grant {
            Some(Grant::Channel(channel)) => Ok(self.revive(channel, settings, Instant::now()).await),
            Some(Grant::Seat) => self.connect(settings).await.map(Some),
            None => Ok(None),
        }
    }

    /// Makes sure that an idle channel is still good. `None`: it was not and is closed.
    async fn revive(
        self: &Arc<Self>,
        channel: Box<Channel>,
        settings: &ChannelSettings,
        now: Instant,
    ) -> Option<Lease> {
        // The lease comes first, so that a cancelled await gives the seat back.
        let Some(channel) = channel.adopt() else {
            self.vacate();
            return None;
        };
        let ping = needs_ping(&channel, settings, now).then_some(settings.prepost_ping).flatten();
        let mut lease = Lease::new(Arc::clone(self), channel);
        if let Some(limit) = ping {
            ping_channel(lease.channel()?, limit).await.ok()?;
        }
        Some(lease)
    }

    /// Uses the seat that the caller took.
    async fn connect(self: &Arc<Self>, settings: &ChannelSettings) -> Result<Lease, Failure> {
        let mut lease = Lease::seat(Arc::clone(self));
        let channel = connect(&self.address, settings).await?;
        self.lock().connects += 1;
        lease.fill(channel);
        Ok(lease)
    }

    #[allow(clippy::vec_box, reason = "they are boxed already")]
    fn expired(&self, settings: &ChannelSettings, core: usize, now: Instant) -> Vec<Box<Channel>> {
        let mut state = self.lock();
        let Some(limit) = settings.pool_timeout else { return Vec::new() };
        let spare = usize::try_from(state.taken.saturating_sub(settings.pool_minsize)).unwrap_or(usize::MAX);
        let Some(idle) = state.idle_of(core) else { return Vec::new() };
        // The oldest lie at the bottom.
        let old = idle.iter().take_while(|channel| now.duration_since(channel.idle_since) >= limit).count();
        let expired: Vec<_> = idle.drain(..old.min(spare)).collect();
        // Those that the worker has closed go at any age, so that no half-closed socket stays behind.
        let closed: Vec<_> = idle.extract_if(.., |channel| !channel.is_quiet()).collect();
        state.taken =
            state.taken.saturating_sub(u32::try_from(expired.len() + closed.len()).unwrap_or(u32::MAX));
        expired.into_iter().chain(closed).collect()
    }

    #[allow(clippy::vec_box, reason = "they are boxed already")]
    fn unproven(&self, every: Duration, core: usize, now: Instant) -> Vec<Box<Channel>> {
        let mut state = self.lock();
        let Some(idle) = state.idle_of(core) else { return Vec::new() };
        idle.extract_if(.., |channel| now.duration_since(channel.proven) >= every).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    #[allow(clippy::vec_box, reason = "they are boxed already")]
    fn idle_of(&mut self, core: usize) -> Option<&mut Vec<Box<Channel>>> {
        if self.idle.len() <= core {
            self.idle.resize_with(core + 1, Vec::new);
        }
        self.idle.get_mut(core)
    }

    /// This core's youngest idle channel, else the oldest of another core: that one is missed least. As long as a new one may be opened,
    /// the other core keeps what it has used lately: a channel that goes to and fro costs each time what a channel of its own costs once.
    fn pop(&mut self, core: usize, may_open: bool, now: Instant) -> Option<Box<Channel>> {
        if let Some(channel) = self.idle_of(core).and_then(Vec::pop) {
            return Some(channel);
        }
        let other = self.idle.iter_mut().max_by_key(|idle| idle.len())?;
        let rested = now.saturating_duration_since(other.first()?.idle_since);
        (!may_open || rested >= SURPLUS).then(|| other.remove(0))
    }

    fn enqueue(&mut self) -> oneshot::Receiver<Grant> {
        // Requests that gave up are taken out here, so that the queue holds only living ones.
        self.waiters.retain(|waiter| !waiter.is_closed());
        let (give, take) = oneshot::channel();
        self.waiters.push_back(give);
        take
    }
}

/// Whether a channel has rested for so long that it has to prove itself.
fn needs_ping(channel: &Channel, settings: &ChannelSettings, now: Instant) -> bool {
    settings.prepost_ping.is_some()
        && now.saturating_duration_since(channel.idle_since) >= settings.prepost_idle
}

/// A grant that arrives after its request has gone must not be lost: the receiver hands it back on drop.
struct Waiting<'a> {
    pool: &'a Pool,
    grant: oneshot::Receiver<Grant>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.grant.close();
        match self.grant.try_recv() {
            Ok(Grant::Channel(channel)) => self.pool.put(channel),
            Ok(Grant::Seat) => self.pool.vacate(),
            Err(_) => {}
        }
    }
}

/// A channel that its core has not needed for so long may go to another one.
const SURPLUS: Duration = Duration::from_secs(1);

/// How long a request waits for a channel that is about to come back before it connects.
const MOMENT: Duration = Duration::from_millis(20);

/// Wait for CPONG when the settings ask for no CPing at all.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
