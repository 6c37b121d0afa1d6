//! The status page and mod_jk's status interface as functions of plain data: queries in, pages out. No I/O.
//!
//! The gateway takes a [`StatusView`] at one instant; every renderer sees that and nothing else.

mod change;
mod command;
mod fields;
mod html;
mod jk2;
mod json;
mod legacy;
mod metrics;
mod rating;
mod terminal;
mod view;
mod words;

pub use change::{Change, UPDATE_KEYS, changes};
pub use command::{Cmd, Mime, Request};
pub use html::{CSP, SCRIPT, STYLE, cells, page};
pub use json::json;
pub use legacy::{Outcome, legacy};
pub use metrics::metrics;
pub use rating::{Masks, Rating};
pub use terminal::{nagios, terminal};
pub use view::*;
