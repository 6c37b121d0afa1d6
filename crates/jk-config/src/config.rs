//! A configuration that is right. There is no other way to one than reading, so holding one is the proof.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::name::{GroupName, WorkerName};
use crate::spec::*;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub(crate) listeners: Vec<Arc<ListenerSpec>>,
    pub(crate) workers: BTreeMap<WorkerName, Arc<WorkerSpec>>,
    /// Each worker as a member, for mappings that point to it without a group.
    pub(crate) solo: BTreeMap<WorkerName, MemberSpec>,
    pub(crate) groups: BTreeMap<GroupName, Arc<GroupSpec>>,
    pub(crate) mappings: Vec<MappingSpec>,
    pub(crate) hosts: Vec<HostSpec>,
    pub(crate) status: StatusSpec,
    pub(crate) admin: AdminSpec,
    pub(crate) access_log: AccessLogSpec,
    pub(crate) log: LogSpec,
    pub(crate) process: ProcessSpec,
    /// Sections by the file that defines them, for edits.
    pub(crate) defined: Vec<(String, usize)>,
}

impl Config {
    #[must_use]
    pub fn listeners(&self) -> &[Arc<ListenerSpec>] {
        &self.listeners
    }

    #[must_use]
    pub fn workers(&self) -> &BTreeMap<WorkerName, Arc<WorkerSpec>> {
        &self.workers
    }

    #[must_use]
    pub fn groups(&self) -> &BTreeMap<GroupName, Arc<GroupSpec>> {
        &self.groups
    }

    /// A worker as the only member of a group of its own name, for mappings that point to the worker itself. Activation is a member's:
    /// whoever asks the worker itself gets it (mod_jk: `ajp13` workers have none).
    #[must_use]
    pub fn solo(&self, worker: &WorkerName) -> Option<GroupSpec> {
        let member = MemberSpec { activation: Activation::Active, ..self.solo.get(worker)?.clone() };
        let name = GroupName::new(worker.as_str())?;
        Some(GroupSpec { members: vec![member], stickiness: Stickiness::Off, ..GroupSpec::new(name) })
    }

    /// Mappings that every host sees unless it says otherwise.
    #[must_use]
    pub fn mappings(&self) -> &[MappingSpec] {
        &self.mappings
    }

    #[must_use]
    pub fn hosts(&self) -> &[HostSpec] {
        &self.hosts
    }

    #[must_use]
    pub fn status(&self) -> &StatusSpec {
        &self.status
    }

    #[must_use]
    pub fn admin(&self) -> &AdminSpec {
        &self.admin
    }

    #[must_use]
    pub fn access_log(&self) -> &AccessLogSpec {
        &self.access_log
    }

    #[must_use]
    pub fn log(&self) -> &LogSpec {
        &self.log
    }

    #[must_use]
    pub fn process(&self) -> &ProcessSpec {
        &self.process
    }

    /// Index of the source that defines a section such as `ajp13.t1`.
    #[must_use]
    pub fn source_of(&self, section: &str) -> Option<usize> {
        self.defined.iter().find(|(name, _)| name == section).map(|(_, source)| *source)
    }
}
