//! The client's side: sockets that listen, connections, and what is known of each.

mod bind;
mod conn;
mod info;
mod listener;
mod sweep;
mod watched;

pub use bind::BindError;
pub(crate) use bind::{Bound, bind};
pub(crate) use info::ConnInfo;
pub(crate) use listener::Front;
pub(crate) use sweep::{Pulse, any_awake, drain, first_awake, sweep_awake, sweep_parked};
