//! Which thread of the gateway this is.
//!
//! The gateway runs one single-threaded runtime a core, each with its own listening socket. A channel is registered with one
//! runtime's reactor, so idle channels are kept by core and handed over only when another core has none left.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::finish::Finisher;

thread_local! {
    static INDEX: Cell<usize> = const { Cell::new(0) };
    static FINISHER: RefCell<Option<Finisher>> = const { RefCell::new(None) };
}

static CORES: AtomicUsize = AtomicUsize::new(1);

/// Says that this thread is core number `index`, counted from 0, and starts what it needs. Call it inside the thread's own runtime, before
/// the first request.
pub fn enter_core(index: usize) {
    CORES.fetch_max(index + 1, Ordering::SeqCst);
    INDEX.set(index);
    FINISHER.set(Some(Finisher::start()));
}

/// How many cores have been entered so far, at least 1.
#[must_use]
pub fn n_cores() -> usize {
    CORES.load(Ordering::Relaxed)
}

/// The number that this thread entered with; 0 for a thread that entered no core.
#[must_use]
pub fn current() -> usize {
    INDEX.get()
}

/// This core's finisher; a thread that never entered a core (tests) gets one of its own for the call.
pub(crate) fn with_finisher(use_it: impl FnOnce(&Finisher)) {
    FINISHER.with_borrow(|own| match own {
        Some(finisher) => use_it(finisher),
        None => use_it(&Finisher::start()),
    });
}
