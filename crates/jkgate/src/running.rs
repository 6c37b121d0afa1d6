//! A gateway in service, as the program and the tests hold it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use jk_config::Loaded;

use crate::control::{Control, Refused, check_members, watch_files};

/// A gateway that serves. Its cores run on threads of their own; what is not for requests runs on the runtime that started it.
pub struct Running {
    pub(crate) control: Arc<Control>,
}

impl Running {
    /// Puts a configuration in force. `path` is where it came from, if it is a file and is to be watched.
    ///
    /// Must be called inside a runtime.
    pub fn start(loaded: Loaded, path: Option<&Path>) -> Result<Self, Refused> {
        let control = Control::begin(loaded, path.map(Path::to_owned))?;
        tokio::spawn(check_members(Arc::clone(control.gateway())));
        tokio::spawn(watch_files(Arc::clone(&control)));
        Ok(Self { control })
    }

    /// Where a listener really listens, for configurations that asked for any port.
    #[must_use]
    pub fn address(&self, listener: &str) -> Option<SocketAddr> {
        self.control
            .fronts()
            .iter()
            .find(|front| front.spec.load().name == listener)
            .and_then(|front| front.local)
    }

    /// Reads the configuration file again; the lines say what changed, or what was wrong.
    pub async fn reload(&self, by: &str) -> Result<Vec<String>, Vec<String>> {
        let (control, by) = (Arc::clone(&self.control), by.to_owned());
        let reloaded = tokio::task::spawn_blocking(move || control.reload(&by)).await;
        match reloaded {
            Ok(result) => result.map_err(|refused| refused.lines()),
            Err(error) => Err(vec![error.to_string()]),
        }
    }

    /// Stops accepting, lets requests under way end, and ends.
    pub async fn shut_down(self) {
        self.control.shut_down().await;
    }
}
