//! Time limits for clients, kept by one sweep over all connections of a core instead of a timer for each.
//!
//! ```text
//!            first byte of a head          head complete               response out
//!   Idle ───────────────────────► Head ───────────────────► Busy ───────────────────► Idle
//!   idle_timeout: closed           header_timeout: 408        idle_timeout without a byte moved
//!                                                             while it is the client's turn: closed
//! ```

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

use jk_config::ListenerSpec;
use tokio::sync::Notify;

/// What a connection is doing, told by its socket and its service; read by the sweep.
#[derive(Debug)]
pub(crate) struct Pulse {
    born: Instant,
    phase: AtomicU8,
    requests: AtomicU64,
    /// Counts bytes events; the sweep compares.
    beats: AtomicU64,
    write_blocked: AtomicBool,
    body_wanted: AtomicBool,
    left_over: AtomicBool,
    /// The client has ended its side while its request is served.
    side_ended: AtomicBool,
    /// It was told to park and has not woken up.
    parked: AtomicBool,
    order: AtomicU8,
    waker: Mutex<Option<Waker>>,
}

/// What the sweep tells a connection to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Go,
    /// Give back memory until the next request.
    Park,
    /// End after the request under way.
    Drain,
    /// The head did not come in time.
    HeadTooSlow,
    /// Silent for too long.
    Close,
}

/// What it means that a client has ended its side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SideEnded {
    /// It waits for its answer, perhaps.
    Wait,
    /// That is not known yet.
    LookAgain,
    /// It owes the rest of its request, or has none under way.
    Gone,
}

const IDLE: u8 = 0;
const HEAD: u8 = 1;
const BUSY: u8 = 2;

impl Pulse {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            born: Instant::now(),
            phase: AtomicU8::new(IDLE),
            requests: AtomicU64::new(0),
            beats: AtomicU64::new(0),
            write_blocked: AtomicBool::new(false),
            body_wanted: AtomicBool::new(false),
            left_over: AtomicBool::new(false),
            side_ended: AtomicBool::new(false),
            parked: AtomicBool::new(false),
            order: AtomicU8::new(0),
            waker: Mutex::new(None),
        })
    }

    pub(crate) fn bytes_came(&self) {
        self.beat();
        if self.phase.load(Relaxed) == IDLE {
            self.phase.store(HEAD, Relaxed);
        }
    }

    pub(crate) fn bytes_went(&self) {
        self.beat();
        self.write_blocked.store(false, Relaxed);
    }

    pub(crate) fn write_blocked(&self) {
        self.write_blocked.store(true, Relaxed);
    }

    /// Whether the gateway waits for more of the request's body. True when it begins to, and nothing can come any more: the connection
    /// must be looked at again, and its reader will not be woken for it.
    pub(crate) fn body_wanted(&self, wanted: bool) -> bool {
        let begins = wanted && !self.body_wanted.load(Relaxed);
        self.body_wanted.store(wanted, Relaxed);
        begins && self.side_ended.load(Relaxed)
    }

    /// The client will send nothing more.
    pub(crate) fn side_ended(&self) -> SideEnded {
        if self.phase.load(Relaxed) != BUSY {
            return SideEnded::Gone;
        }
        // The last of the body may lie with the server, and whoever wants it has not been told yet.
        let again = self.side_ended.swap(true, Relaxed);
        match (self.body_wanted.load(Relaxed), again) {
            (false, _) => SideEnded::Wait,
            (true, false) => SideEnded::LookAgain,
            (true, true) => SideEnded::Gone,
        }
    }

    /// A request head is complete.
    pub(crate) fn request_begins(&self) {
        self.side_ended.store(false, Relaxed);
        self.phase.store(BUSY, Relaxed);
        self.requests.store(self.requests.load(Relaxed).wrapping_add(1), Relaxed);
        self.beat();
    }

    /// Its response is out, as far as the service can know.
    pub(crate) fn request_ends(&self) {
        self.body_wanted.store(false, Relaxed);
        self.phase.store(IDLE, Relaxed);
        self.beat();
    }

    /// A request's body was not read to its end: what comes next may be the rest of it.
    pub(crate) fn body_left_over(&self) {
        self.left_over.store(true, Relaxed);
    }

    pub(crate) fn has_left_over(&self) -> bool {
        self.left_over.load(Relaxed)
    }

    /// True when nothing is under way in either direction.
    pub(crate) fn may_park(&self) -> bool {
        self.phase.load(Relaxed) == IDLE && !self.write_blocked.load(Relaxed) && !self.left_over.load(Relaxed)
    }

    pub(crate) fn set_waker(&self, waker: &Waker) {
        let mut own = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        if !own.as_ref().is_some_and(|own| own.will_wake(waker)) {
            *own = Some(waker.clone());
        }
    }

    pub(crate) fn order(&self) -> Order {
        match self.order.load(Relaxed) {
            1 => Order::Park,
            2 => Order::Drain,
            3 => Order::HeadTooSlow,
            4 => Order::Close,
            _ => Order::Go,
        }
    }

    /// The connection has done what was ordered.
    pub(crate) fn order_done(&self) {
        self.order.store(0, Relaxed);
    }

    pub(crate) fn give_order(&self, order: Order) {
        let code = match order {
            Order::Go => 0,
            Order::Park => 1,
            Order::Drain => 2,
            Order::HeadTooSlow => 3,
            Order::Close => 4,
        };
        self.order.store(code, Relaxed);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn beat(&self) {
        // One writer a connection, so a plain load and store will do.
        self.beats.store(self.beats.load(Relaxed).wrapping_add(1), Relaxed);
    }
}

/// One core's connections.
#[derive(Default)]
struct Sweep {
    /// Those that hold HTTP state and a read buffer; looked at often.
    awake: Vec<Entry>,
    /// Those that were told to park.
    parked: Vec<Entry>,
    /// Told when `awake` is no longer empty.
    first: Arc<Notify>,
}

struct Entry {
    pulse: Weak<Pulse>,
    limits: Limits,
    seen_beats: u64,
    seen_phase: u8,
    seen_requests: u64,
    /// Age of the connection when it last moved, as of a sweep.
    since: Duration,
}

#[derive(Clone, Copy)]
struct Limits {
    header: Duration,
    idle: Duration,
}

/// What one look at a connection finds.
enum Finding {
    Moved,
    Quiet,
    Due(Order),
}

thread_local! {
    static SWEEP: RefCell<Sweep> = RefCell::default();
}

/// Puts a connection under this core's sweep; once more when it wakes up.
pub(crate) fn watch(pulse: &Arc<Pulse>, listener: &ListenerSpec) {
    let limits = Limits { header: listener.header_timeout, idle: listener.idle_timeout };
    pulse.parked.store(false, Relaxed);
    let entry = Entry {
        pulse: Arc::downgrade(pulse),
        limits,
        seen_beats: 0,
        seen_phase: IDLE,
        seen_requests: 0,
        since: pulse.born.elapsed(),
    };
    SWEEP.with_borrow_mut(|sweep| {
        if sweep.awake.is_empty() {
            sweep.first.notify_one();
        }
        sweep.awake.push(entry);
    });
}

/// This core's sweep for whoever calls it: told when there is something to look at often.
pub(crate) fn first_awake() -> Arc<Notify> {
    SWEEP.with_borrow(|sweep| Arc::clone(&sweep.first))
}

/// True while [`sweep_awake`] has something to look at.
pub(crate) fn any_awake() -> bool {
    SWEEP.with_borrow(|sweep| !sweep.awake.is_empty())
}

/// Looks at the connections of this core that hold memory; those that are quiet give it back.
pub(crate) fn sweep_awake() {
    let mut orders = Vec::new();
    SWEEP.with_borrow_mut(|sweep| {
        let Sweep { awake, parked, .. } = sweep;
        let quiet = awake.extract_if(.., |entry| {
            let Some(pulse) = entry.pulse.upgrade() else { return true };
            let Finding::Due(order) = entry.look(&pulse) else { return false };
            let parks = order == Order::Park;
            pulse.parked.store(parks, Relaxed);
            orders.push((pulse, order));
            parks
        });
        parked.extend(quiet.filter(|entry| entry.pulse.strong_count() > 0));
    });
    give(orders);
}

/// Looks at every other connection of this core.
pub(crate) fn sweep_parked() {
    let mut orders = Vec::new();
    SWEEP.with_borrow_mut(|sweep| {
        let Sweep { awake, parked, .. } = sweep;
        parked.retain_mut(|entry| {
            // It woke up and is watched anew, or it has ended.
            let Some(pulse) = entry.pulse.upgrade().filter(|pulse| pulse.parked.load(Relaxed)) else {
                return false;
            };
            match entry.look(&pulse) {
                // It was busy when it was told to park.
                Finding::Moved => {
                    pulse.parked.store(false, Relaxed);
                    awake.push(Entry { pulse: Arc::downgrade(&pulse), ..*entry });
                    false
                }
                Finding::Due(order) if order != Order::Park => {
                    orders.push((pulse, order));
                    true
                }
                Finding::Due(_) | Finding::Quiet => true,
            }
        });
    });
    give(orders);
}

/// Outside the borrow: a woken task may run code that comes back here.
fn give(orders: Vec<(Arc<Pulse>, Order)>) {
    for (pulse, order) in orders {
        pulse.give_order(order);
    }
}

/// Tells every connection of this core to end after the request under way.
pub(crate) fn drain() {
    let pulses = SWEEP.with_borrow(|sweep| {
        let all = sweep.awake.iter().chain(&sweep.parked);
        all.filter_map(|entry| entry.pulse.upgrade()).collect::<Vec<_>>()
    });
    for pulse in pulses {
        pulse.give_order(Order::Drain);
    }
}

impl Entry {
    fn look(&mut self, pulse: &Pulse) -> Finding {
        let (phase, beats, now) =
            (pulse.phase.load(Relaxed), pulse.beats.load(Relaxed), pulse.born.elapsed());
        // Inside a head bytes do not count: a client that sends one a minute must not stay for ever.
        let requests = pulse.requests.load(Relaxed);
        let moved = (phase, requests) != (self.seen_phase, self.seen_requests)
            || (phase != HEAD && beats != self.seen_beats);
        (self.seen_phase, self.seen_requests, self.seen_beats) = (phase, requests, beats);
        if moved {
            self.since = now;
            return Finding::Moved;
        }
        let quiet = now.saturating_sub(self.since);
        let clients_turn = pulse.write_blocked.load(Relaxed) || pulse.body_wanted.load(Relaxed);
        match phase {
            BUSY if quiet >= GRACE && pulse.side_ended.load(Relaxed) => Finding::Due(Order::Close),
            HEAD if quiet >= self.limits.header => Finding::Due(Order::HeadTooSlow),
            BUSY if clients_turn && quiet >= self.limits.idle => Finding::Due(Order::Close),
            HEAD | BUSY => Finding::Quiet,
            _ if quiet >= self.limits.idle => Finding::Due(Order::Close),
            _ if quiet >= PARK_AFTER => Finding::Due(Order::Park),
            _ => Finding::Quiet,
        }
    }
}

/// How long a client that has ended its side may wait for its answer, or for more of it. One that resets its connection is gone at once.
const GRACE: Duration = Duration::from_secs(1);

/// An idle connection keeps its HTTP state and read buffer this long. Short, because memory is counted at its peak: of thousands of clients
/// that come at once, only those of the last moments hold any. Waking up again costs a request about as much as parsing its head.
const PARK_AFTER: Duration = Duration::from_millis(50);
