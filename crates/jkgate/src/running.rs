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

    /// What a listener's gateway counts now, for tests: open client connections and requests under way.
    #[must_use]
    pub fn under_way(&self) -> (usize, u64) {
        use std::sync::atomic::Ordering::Relaxed;
        let open = self.control.fronts().iter().map(|front| front.stats.open.load(Relaxed)).sum();
        (open, self.control.gateway().stats.served().under_way)
    }

    /// Tasks that its cores have now, for tests: connections, listeners, and what goes on for a moment.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.control.tasks()
    }

    /// A member as the balancer sees it now: its state's text, requests under way, and channels (open, idle).
    #[must_use]
    pub fn member(&self, group: &str, worker: &str) -> Option<(&'static str, u32, (u32, u32))> {
        let plan = self.control.gateway().plan();
        let group = plan.group_named(group)?;
        let view = group.balancer.view(std::time::Instant::now());
        let mut members = group.members.iter().zip(view.members);
        let (worker, member) = members.find(|(known, _)| &*known.name == worker)?;
        let pool = worker.pool.view();
        Some((member.health.text(), member.busy, (pool.open, pool.idle)))
    }

    /// Opens the access log's file by its name again, after a rotation moved the old one away.
    pub fn reopen_logs(&self) {
        self.control.gateway().access_log.reopen();
    }

    /// Lines of the access log that the disk was too slow for.
    #[must_use]
    pub fn log_dropped(&self) -> u64 {
        self.control.gateway().access_log.dropped()
    }

    /// Stops accepting, lets requests under way end, and ends.
    pub async fn shut_down(self) {
        self.control.shut_down().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control.stop();
    }
}
