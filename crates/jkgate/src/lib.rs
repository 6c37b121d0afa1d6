//! jkgate: the gateway in front of Apache Tomcat.
//!
//! This library is the program's inside; `main.rs` only calls [`cli::main`]. Tests start whole gateways with [`Running`].

mod access_log;
mod admin;
mod answer;
pub mod cli;
mod control;
mod explain;
mod front;
mod gateway;
mod proxy;
mod running;
mod stack;
mod stats;
mod status;
mod ticket;

pub use control::Refused;
pub use front::BindError;
pub use running::Running;
