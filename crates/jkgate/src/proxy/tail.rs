//! The end of an exchange, wherever it comes: the member is told, the log line is completed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jk_balance::{Attempt, Outcome, Traffic};
use jk_channel::{Ending, Failure, Moved, Tail};
use tracing::{debug, warn};

use super::verdict::{Circumstances, verdict};
use crate::control::{Group, Worker};
use crate::ticket::Ticket;

/// Goes with the reply body and ends with it.
pub(crate) struct ExchangeTail {
    pub(crate) ticket: Ticket,
    pub(crate) attempt: Attempt,
    pub(crate) group: Arc<Group>,
    pub(crate) worker: Arc<Worker>,
    /// To the reply's head.
    pub(crate) latency: Duration,
}

impl Tail for ExchangeTail {
    fn done(mut self, ending: Ending, moved: Moved, now: Instant) {
        let facts = &mut self.ticket.facts;
        facts.bytes = moved.to_client;
        let outcome = match ending {
            Ending::Complete => {
                let over = (&mut self.ticket, self.attempt);
                return complete(over, &self.group, moved, self.latency, now);
            }
            Ending::ClientGone => {
                facts.outcome = "client_gone";
                Outcome::ClientAborted
            }
            Ending::Failed(failure) => {
                facts.outcome = if failure.is_clients() { "client_gone" } else { "broke_off" };
                let outcome = verdict(&failure, Circumstances::STREAMING).outcome;
                report(&self.group, &self.worker, &failure, outcome, self.attempt.member());
                outcome
            }
        };
        self.attempt.settle(outcome, traffic(moved), self.latency, now);
        self.group.queue.freed.notify_one();
        self.ticket.ended = Some(now);
    }
}

/// The client has been handed everything.
pub(super) fn complete(
    (ticket, attempt): (&mut Ticket, Attempt),
    group: &Group,
    moved: Moved,
    latency: Duration,
    now: Instant,
) {
    ticket.facts.bytes = moved.to_client;
    ticket.facts.outcome = "ok";
    attempt.settle(Outcome::Served, traffic(moved), latency, now);
    group.queue.freed.notify_one();
    ticket.ended = Some(now);
}

pub(super) fn traffic(moved: Moved) -> Traffic {
    Traffic { to_worker: moved.to_worker, from_worker: moved.from_worker }
}

/// Tells people what went wrong, and finds out whether the worker is there at all when that is open.
pub(super) fn report(
    group: &Arc<Group>,
    worker: &Arc<Worker>,
    failure: &Failure,
    outcome: Outcome,
    member: usize,
) {
    if failure.is_clients() || outcome == Outcome::Stale {
        debug!(group = %group.name, worker = %worker.name, error = %failure, "Exchange ended by the client or on a dead channel.");
        return;
    }
    worker.trouble.note(format!("{failure} ({})", worker.spec.address));
    if worker.trouble.may_log() {
        warn!(
            group = %group.name,
            worker = %worker.name,
            address = %worker.spec.address,
            stage = failure.stage.word(),
            cause = failure.cause.word(),
            error = %failure,
            "Exchange failed."
        );
    }
    if matches!(outcome, Outcome::Broken | Outcome::Protocol | Outcome::ReplyTimeout) {
        verify(Arc::clone(group), Arc::clone(worker), member);
    }
}

/// One visitor's broken exchange is evidence only; a connect and a CPing of our own decide.
fn verify(group: Arc<Group>, worker: Arc<Worker>, member: usize) {
    use std::sync::atomic::Ordering::Relaxed;
    if worker.trouble.verifying.swap(true, Relaxed) {
        return;
    }
    tokio::spawn(async move {
        let probe = worker.pool.probe(&worker.spec.channel).await;
        worker.trouble.verifying.store(false, Relaxed);
        if let Err(failure) = probe {
            warn!(group = %group.name, worker = %worker.name, error = %failure, "Worker is in error: it does not answer a CPing either.");
            worker.trouble.note(format!("{failure} ({})", worker.spec.address));
            group.balancer.confirm(member, false, Instant::now());
        }
    });
}
