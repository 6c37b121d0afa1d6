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
mod dump;
mod edit;
mod fields;
mod key;
mod load;
mod name;
mod origin;
mod pattern;
mod problem;
mod read;
mod resolve;
mod schema;
mod section;
mod spec;
mod text;
mod unit;
mod users;
mod values;

pub use config::Config;
pub use diff::diff;
pub use dump::dump;
pub use edit::{Edit, persist, section_text};
pub use fields::worker_address;
pub use key::{ACTIVATIONS, KEYS, Key, Kind, METHODS, NAMED, Reload, SECTIONS, keys_of};
pub use load::{Loaded, load, load_edited, relay, watched};
pub use name::*;
pub use pattern::check_uri_pattern;
pub use problem::{Place, Problem, Problems, Severity, Source, Style};
pub use schema::schema;
pub use spec::*;
pub use text::value_text;
pub use unit::{parse_duration, parse_size, show_duration, show_size};
pub use users::{Password, User};
