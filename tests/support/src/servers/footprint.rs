//! What a process holds of the machine: for tests that nothing leaks.

use std::fs;

/// What a process holds at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Footprint {
    /// Open file descriptors.
    pub files: usize,
    pub threads: usize,
    /// Resident memory.
    pub memory_kb: usize,
}

impl Footprint {
    /// # Panics
    ///
    /// When there is no such process.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let count = |what: &str| {
            let listed = fs::read_dir(format!("/proc/{pid}/{what}"));
            listed.unwrap_or_else(|error| panic!("process {pid}: {error}")).count()
        };
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory_kb = memory.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
        Self { files: count("fd"), threads: count("task"), memory_kb: memory_kb.unwrap_or(0) }
    }
}
