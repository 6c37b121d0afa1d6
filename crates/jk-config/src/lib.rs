//! workers.toml as types that cannot be wrong.

mod name;
mod spec;

pub use name::*;
pub use spec::*;
