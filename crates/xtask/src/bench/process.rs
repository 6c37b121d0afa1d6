//! Processes, and what the system says they have used.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A server that ends with its owner.
pub(crate) struct Server {
    child: Child,
}

impl Server {
    pub(crate) fn start(command: &mut Command, log: &Path) -> io::Result<Self> {
        let log = fs::File::create(log)?;
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        Ok(Self { child })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Asked, so that servers with children take them along.
        let asked = Command::new("kill").arg("-TERM").arg(self.pid().to_string()).status();
        let begin = Instant::now();
        while asked.is_ok() && begin.elapsed() < Duration::from_secs(10) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        let _gone_is_fine = self.child.kill();
        let _gone_is_fine = self.child.wait();
    }
}

/// A process and its descendants.
fn tree(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut at = 0;
    while let Some(parent) = all.get(at).copied() {
        let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
        at += 1;
    }
    all
}

/// Time on a CPU so far, of the process and its descendants, as the scheduler counted it.
pub(crate) fn cpu(pid: u32) -> Duration {
    let mut nanos = 0;
    for process in tree(pid) {
        for thread in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let counted = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            nanos +=
                counted.split_whitespace().next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    Duration::from_nanos(nanos)
}

/// Resident memory in KiB of the process and its descendants; pages that they share count once.
pub(crate) fn memory(pid: u32) -> u64 {
    let own = |process: &u32| {
        let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).unwrap_or(0)
    };
    tree(pid).iter().map(own).sum()
}
