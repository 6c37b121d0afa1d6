//! Notices that a file changed: by looking, not by asking the kernel to tell, because looking also sees files that were renamed into
//! place, symbolic links that were turned, and file systems that tell nobody.

use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Control;
use super::plan::Plan;

/// Runs until the gateway ends. Each look is on a thread that may block, since a file may lie on a disk that does not answer.
pub(crate) async fn watch_files(control: Arc<Control>) {
    if control.path().is_none() {
        return;
    }
    let mut watch = Watch::begin(&control);
    loop {
        tokio::time::sleep(LOOK).await;
        let looking = Arc::clone(&control);
        let looked = tokio::task::spawn_blocking(move || {
            if watch.look(&looking) {
                let _logged = looking.reload("file change");
            }
            watch
        });
        watch = match looked.await {
            Ok(same) => same,
            Err(error) if error.is_panic() => Watch::begin(&control),
            Err(_) => return,
        };
    }
}

/// What is looked at, and what was seen there.
struct Watch {
    plan: Arc<Plan>,
    paths: Vec<PathBuf>,
    settling: Settling,
}

impl Watch {
    fn begin(control: &Control) -> Self {
        let plan = control.gateway().plan();
        let paths = paths(control, &plan);
        let settling = Settling::new(stamps(&paths), contents(&paths));
        Self { plan, paths, settling }
    }

    /// True: to be read now.
    fn look(&mut self, control: &Control) -> bool {
        // Finding out what to look at takes a parse of all files; that must not happen at every look. If includes came or went, other files
        // are looked at from now on, and one more look decides.
        let current = control.gateway().plan();
        if !Arc::ptr_eq(&self.plan, &current) {
            self.plan = current;
            let before = std::mem::replace(&mut self.paths, paths(control, &self.plan));
            self.settling.changed |= self.paths != before;
        }
        self.settling.look(stamps(&self.paths), || contents(&self.paths))
    }
}

/// Decides when what was found counts: once two looks in a row found the same, so that no half-written file is read.
struct Settling {
    seen: Vec<Stamp>,
    /// Contents at the last look that read them.
    last: u64,
    applied: u64,
    changed: bool,
}

impl Settling {
    fn new(seen: Vec<Stamp>, content: u64) -> Self {
        Self { seen, last: content, applied: content, changed: false }
    }

    /// True: to be read now. Contents are asked for only if something moved.
    fn look(&mut self, stamps: Vec<Stamp>, contents: impl FnOnce() -> u64) -> bool {
        let moved = stamps != self.seen;
        self.seen = stamps;
        self.changed |= moved;
        if !self.changed {
            return false;
        }
        let content = contents();
        let settled = !moved && content == self.last;
        self.last = content;
        if !settled {
            return false;
        }
        self.changed = false;
        std::mem::replace(&mut self.applied, content) != content
    }
}

/// Time of the last change, length and inode; `None`: it is not there.
type Stamp = Option<(SystemTime, u64, u64)>;

fn paths(control: &Control, plan: &Plan) -> Vec<PathBuf> {
    let mut paths = jk_config::watched(&plan.originals);
    paths.extend(control.path().cloned());
    paths.sort();
    paths.dedup();
    paths
}

fn stamps(watched: &[PathBuf]) -> Vec<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let stamp = |path: &PathBuf| {
        let meta = std::fs::metadata(path).ok();
        meta.and_then(|meta| Some((meta.modified().ok()?, meta.len(), meta.ino())))
    };
    watched.iter().map(stamp).collect()
}

/// A hash over all files; folders count by the names in them. What is no file, a pipe say, is not read: only a reload may take from it.
fn contents(watched: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in watched {
        hasher.write(path.as_os_str().as_encoded_bytes());
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_file() => hasher.write(&std::fs::read(path).unwrap_or_default()),
            Ok(_) | Err(_) => {
                let names =
                    std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name());
                let mut names: Vec<_> =
                    names.filter(|name| name.to_string_lossy().ends_with(".toml")).collect();
                names.sort();
                for name in names {
                    hasher.write(name.as_encoded_bytes());
                }
            }
        }
    }
    hasher.finish()
}

/// Two looks and a reload fit well into the two seconds in which a change has to be in force.
const LOOK: Duration = Duration::from_millis(300);

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(length: u64) -> Vec<Stamp> {
        vec![Some((SystemTime::UNIX_EPOCH, length, 1))]
    }

    #[test]
    fn a_file_counts_when_it_has_stopped_moving() {
        let mut settling = Settling::new(stamp(1), 1);
        assert!(!settling.look(stamp(1), || panic!("nothing moved")));
        // It grows at every look, then stands still; a second look makes sure.
        for length in 2..9 {
            assert!(!settling.look(stamp(length), || length));
        }
        assert!(settling.look(stamp(8), || 8));
        assert!(!settling.look(stamp(8), || panic!("nothing moved")));
    }

    #[test]
    fn a_file_that_moves_under_the_same_stamp_is_looked_at_again() {
        let mut settling = Settling::new(stamp(1), 1);
        assert!(!settling.look(stamp(2), || 20));
        assert!(!settling.look(stamp(2), || 21));
        assert!(settling.look(stamp(2), || 21));
    }

    #[test]
    fn what_is_as_before_is_not_read() {
        let mut settling = Settling::new(stamp(1), 1);
        assert!(!settling.look(stamp(2), || 1));
        assert!(!settling.look(stamp(2), || 1));
        // Gone, and back within two looks, as some editors write.
        assert!(!settling.look(vec![None], || 0));
        assert!(!settling.look(stamp(3), || 1));
        assert!(!settling.look(stamp(3), || 1));
    }
}
