//! Notices that a file changed: by looking, not by asking the kernel to tell, because looking also sees files that were renamed into
//! place, symbolic links that were turned, and file systems that tell nobody.

use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Control;
use super::plan::Plan;

/// Runs until the gateway ends. A file counts once two looks in a row found the same, so that no half-written one is read.
pub(crate) async fn watch_files(control: Arc<Control>) {
    if control.path().is_none() {
        return;
    }
    let mut plan = control.gateway().plan();
    let mut watched = paths(&control, &plan);
    let mut seen = stamps(&watched);
    let mut applied = contents(&watched);
    let mut last = applied;
    let mut changed = false;
    loop {
        tokio::time::sleep(LOOK).await;
        // Finding out what to look at takes a parse of all files; that must not happen at every look. If includes came or went, other files
        // are looked at from now on, and one more look decides.
        let current = control.gateway().plan();
        if !Arc::ptr_eq(&plan, &current) {
            plan = current;
            let before = std::mem::replace(&mut watched, paths(&control, &plan));
            changed |= watched != before;
        }
        let now = stamps(&watched);
        let moved = now != seen;
        seen = now;
        changed |= moved;
        if !changed {
            continue;
        }
        let content = contents(&watched);
        let settled = !moved && content == last;
        last = content;
        if !settled {
            continue;
        }
        changed = false;
        if content == applied {
            continue;
        }
        applied = content;
        let reloading = Arc::clone(&control);
        let _logged = tokio::task::spawn_blocking(move || reloading.reload("file change")).await;
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

/// A hash over all files; folders count by the names in them.
fn contents(watched: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in watched {
        hasher.write(path.as_os_str().as_encoded_bytes());
        match std::fs::read(path) {
            Ok(bytes) => hasher.write(&bytes),
            Err(_) => {
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
