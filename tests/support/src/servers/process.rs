//! One child process: started, waited for, and ended.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A child process that is killed with its owner.
pub struct Server {
    child: Child,
    guard: Guard,
    log: PathBuf,
    name: &'static str,
}

impl Server {
    /// Its output is appended to `output.log` in `folder`.
    #[must_use]
    pub fn start(name: &'static str, command: &mut Command, folder: &Path) -> Self {
        let log = folder.join("output.log");
        let output = fs::OpenOptions::new().create(true).append(true).open(&log);
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", log.display()));
        let errors = output.try_clone().unwrap_or_else(|error| panic!("{error}"));
        let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        let child = child.unwrap_or_else(|error| {
            panic!("cannot start {name}: {error}; tests/install.sh installs what is missing")
        });
        let guard = Guard::of(child.id(), folder);
        Self { child, guard, log, name }
    }

    /// Everything it printed so far.
    #[must_use]
    pub fn output(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// True until its end.
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal by name: `TERM`, `HUP`, `KILL`.
    pub fn signal(&self, name: &str) {
        let _gone_is_fine =
            Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
    }

    /// Waits for its end; the exit code, `None` when a signal ended it.
    ///
    /// # Panics
    ///
    /// When it does not end in time.
    pub fn wait(&mut self, limit: Duration) -> Option<i32> {
        let begin = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.code();
            }
            assert!(begin.elapsed() < limit, "{} does not end: {}", self.name, self.output());
            std::thread::park_timeout(LOOK);
        }
    }

    /// Waits until its output holds a text.
    ///
    /// # Panics
    ///
    /// When it does not come in time, or the process ends without it.
    pub fn wait_for_output(&mut self, text: &str, limit: Duration) {
        let begin = Instant::now();
        while !self.output().contains(text) {
            let ended = !self.runs() && !self.output().contains(text);
            let what = if ended { "ended without" } else { "does not print" };
            assert!(!ended && begin.elapsed() < limit, "{} {what} {text:?}: {}", self.name, self.output());
            std::thread::park_timeout(LOOK);
        }
    }

    /// Waits until `ready`, failing early when the process ends.
    ///
    /// # Panics
    ///
    /// When it does not get ready in time, or ends.
    pub fn wait_until(&mut self, limit: Duration, ready: impl Fn() -> bool) {
        let begin = Instant::now();
        while !ready() {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("{} ended with {status}: {}", self.name, self.output());
            }
            assert!(begin.elapsed() < limit, "{} does not get ready: {}", self.name, self.output());
            std::thread::park_timeout(LOOK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // First, so that it never kills a process that was given the same number.
        self.guard.dismiss();
        let _gone_is_fine = self.child.kill();
        let _gone_is_fine = self.child.wait();
    }
}

/// Kills a process and clears its folder when the test process ends without running destructors: a `static` has none, and
/// a killed test binary runs none at all. It waits for the end of a pipe that only the test process holds.
struct Guard(Option<Child>);

impl Guard {
    fn of(pid: u32, folder: &Path) -> Self {
        let script = "read -r _; kill -9 \"$1\" 2>/dev/null; rm -rf \"$2\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, "guard", &pid.to_string()]).arg(folder);
        let guard = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self(Some(guard.unwrap_or_else(|error| panic!("cannot start sh: {error}"))))
    }

    fn dismiss(&mut self) {
        if let Some(mut guard) = self.0.take() {
            let _gone_is_fine = guard.kill();
            let _gone_is_fine = guard.wait();
        }
    }
}

pub(crate) fn answers(port: u16) -> bool {
    TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).is_ok()
}

/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(folder: &Path) -> Server {
        Server::start("sleep", Command::new("sleep").arg("600"), folder)
    }

    fn is_alive(pid: u32) -> bool {
        // A zombie is dead, although its number is still taken.
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn a_child_ends_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let server = sleeper(folder.path());
        let pid = server.pid();
        assert!(is_alive(pid));
        drop(server);
        assert!(!is_alive(pid));
        assert!(folder.path().exists(), "the folder is its owner's");
    }

    #[test]
    fn a_child_ends_with_the_test_process_and_its_folder_goes() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = sleeper(folder.path());
        // What the end of the test process does: the pipe's only writer is gone.
        drop(server.guard.0.as_mut().unwrap().stdin.take());
        assert_eq!(server.wait(Duration::from_secs(10)), None);
        let begin = Instant::now();
        while folder.path().exists() {
            assert!(begin.elapsed() < Duration::from_secs(10));
            std::thread::yield_now();
        }
    }

    #[test]
    fn output_is_kept_over_a_restart_and_an_exit_code_is_told() {
        let folder = tempfile::tempdir().unwrap();
        for (word, code) in [("one", 0), ("two", 7)] {
            let script = format!("echo {word}; exit {code}");
            let mut server = Server::start("sh", Command::new("sh").args(["-c", &script]), folder.path());
            assert_eq!(server.wait(Duration::from_secs(10)), Some(code));
            server.wait_for_output(word, Duration::from_secs(10));
            assert!(!server.runs());
        }
        assert_eq!(fs::read_to_string(folder.path().join("output.log")).unwrap(), "one\ntwo\n");
    }
}
