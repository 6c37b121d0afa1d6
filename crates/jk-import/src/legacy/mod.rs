//! mod_jk's files.

pub(crate) mod note;
pub(crate) mod properties;
pub(crate) mod toml;
pub(crate) mod urimap;
pub(crate) mod workers;
