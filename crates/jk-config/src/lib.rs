//! workers.toml as types that cannot be wrong.
//!
//! ```text
//! text ──parse──► tables ──read──► Draft ──resolve──► Config      every problem of every file is collected on the way
//! ```
//!
//! Files are read here; sockets are not opened. What the keys mean to people stands in [`KEYS`].

mod beside;
mod config;
mod default;
mod diff;
mod edit;
mod export;
mod fields;
mod key;
mod load;
mod name;
mod pattern;
mod problem;
mod read;
mod resolve;
mod section;
mod spec;
mod unit;
mod users;

pub use config::Config;
pub use diff::diff;
pub use edit::{Edit, persist, section_text};
pub use export::{dump, schema, value_text};
pub use fields::worker_address;
pub use key::{ACTIVATIONS, KEYS, Key, Kind, METHODS, NAMED, Reload, SECTIONS, keys_of};
pub use load::{Loaded, load, load_edited, relay, watched};
pub use name::*;
pub use pattern::check_uri_pattern;
pub use problem::{Place, Problem, Problems, Severity, Source, Style};
pub use spec::*;
pub use unit::{parse_duration, parse_size, show_duration, show_size};
pub use users::{Password, User};
