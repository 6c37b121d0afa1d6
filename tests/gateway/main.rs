//! The whole gateway in process, in front of scripted workers: every failure on purpose.

mod aborts;
mod balance;
mod bodies;
mod channels;
mod harness;
mod heads;
mod reload;
mod violations;
