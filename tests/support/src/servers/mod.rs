//! Real servers as children of a test, each in a temporary folder. They end with their owner, and with the test process.

mod apache;
mod footprint;
mod jkgate;
mod port;
mod process;
mod tomcat;

use std::path::{Path, PathBuf};

pub use apache::{Apache, ApacheOptions, Mpm};
pub use footprint::Footprint;
pub use jkgate::Jkgate;
pub use port::free_port;
pub use process::Server;
pub use tomcat::{SECRET, Tomcat, pings};

/// The project's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
