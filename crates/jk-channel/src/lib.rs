//! Channels to AJP13 workers: connecting, pooling, lending, and moving one exchange over a lent channel.
//!
//! This crate is the only owner of sockets to workers, so that what happens to a channel when a client leaves, a worker
//! dies or a reload removes it is decided in one place: a [`Lease`] that is dropped closes its channel, and only a clean
//! END_RESPONSE gives it back.
//!
//! It knows neither groups nor HTTP servers: who is asked is decided by the caller, and what a failure means is read
//! from [`Failure`] by the caller.

mod body;
mod channel;
mod connect;
mod core;
mod drive;
mod failure;
mod finish;
mod lease;
mod ping;
mod pool;
mod reply;
mod socket;
mod timer;

pub use crate::body::{BodyLength, RequestBody};
pub use crate::core::{current as current_core, enter_core, n_cores};
pub use crate::drive::{Forward, Limits, Lost, Started, forward};
pub use crate::failure::{Cause, Failure, Stage};
pub use crate::lease::Lease;
pub use crate::ping::ping;
pub use crate::pool::{Pool, PoolView};
pub use crate::reply::{BrokenOff, Ending, Framing, Moved, ReplyBody, Tail};
