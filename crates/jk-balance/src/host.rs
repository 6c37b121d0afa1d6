//! Virtual hosts: which rules a request sees.

use std::collections::HashMap;
use std::sync::Arc;

use jk_config::{HostSpec, MappingKind, MappingSpec, Target};

use crate::map::{Explanation, Rule, RuleKind, UriMap};

/// The rules of all hosts, compiled.
#[derive(Debug)]
pub struct Hosts {
    global: Arc<Table>,
    by_name: HashMap<Box<str>, Vec<Named>>,
    by_port: HashMap<u16, Arc<Table>>,
}

/// A name's table, for one port or for any.
type Named = (Option<u16>, Arc<Table>);

/// One host's rules; `inherit` leads to the global ones.
#[derive(Debug)]
pub struct Table {
    map: UriMap,
    mappings: Vec<Arc<MappingSpec>>,
    targets: Vec<Option<Target>>,
    inherit: bool,
}

/// A rule that serves a path.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    pub mapping: &'a Arc<MappingSpec>,
    pub target: &'a Target,
}

impl Hosts {
    #[must_use]
    pub fn compile(global: &[MappingSpec], hosts: &[HostSpec]) -> Self {
        let mut compiled = Self {
            global: Arc::new(Table::compile(global, false)),
            by_name: HashMap::new(),
            by_port: HashMap::new(),
        };
        for host in hosts {
            let table = Arc::new(Table::compile(&host.mappings, host.inherit));
            for name in &host.names {
                match (&name.name, name.port) {
                    (Some(text), port) => {
                        compiled
                            .by_name
                            .entry(text.as_str().into())
                            .or_default()
                            .push((port, Arc::clone(&table)));
                    }
                    (None, Some(port)) => {
                        compiled.by_port.insert(port, Arc::clone(&table));
                    }
                    (None, None) => {}
                }
            }
        }
        compiled
    }

    /// The rule for a normalised path. `host` in lower case, without port and brackets.
    ///
    /// A host's own rules come first, and an exclusion among them is final; the global ones are asked for what they do not know.
    #[must_use]
    pub fn find(&self, host: &str, port: u16, path: &[u8]) -> Option<Found<'_>> {
        let table = self.table(host, port);
        if let Some(found) = table.find(path) {
            return Some(found);
        }
        if std::ptr::eq(table, &*self.global) || !table.inherit || table.excludes(path) {
            return None;
        }
        self.global.find(path)
    }

    /// The tables that are asked for a host, in order, for explanations.
    #[must_use]
    pub fn tables(&self, host: &str, port: u16) -> Vec<&Table> {
        let table = self.table(host, port);
        if std::ptr::eq(table, &*self.global) || !table.inherit {
            vec![table]
        } else {
            vec![table, &self.global]
        }
    }

    fn table(&self, host: &str, port: u16) -> &Table {
        if self.by_name.is_empty() && self.by_port.is_empty() {
            return &self.global;
        }
        if let Some(tables) = self.by_name.get(host) {
            let at =
                |wanted: Option<u16>| tables.iter().find(|(port, _)| *port == wanted).map(|(_, table)| table);
            if let Some(table) = at(Some(port)).or_else(|| at(None)) {
                return table;
            }
        }
        self.by_port.get(&port).unwrap_or(&self.global)
    }
}

impl Table {
    fn compile(mappings: &[MappingSpec], inherit: bool) -> Self {
        let mut ids: HashMap<&Target, u32> = HashMap::new();
        let mut id = |target| {
            let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            *ids.entry(target).or_insert(next)
        };
        let rules: Vec<Rule<'_>> = mappings
            .iter()
            .map(|mapping| {
                let kind = match &mapping.kind {
                    MappingKind::Map(target) => RuleKind::Map(id(target)),
                    MappingKind::Exclude(target) => RuleKind::Exclude(target.as_ref().map(&mut id)),
                };
                Rule { pattern: &mapping.pattern, kind, enabled: mapping.enabled }
            })
            .collect();
        Self {
            map: UriMap::compile(&rules),
            mappings: mappings.iter().cloned().map(Arc::new).collect(),
            targets: mappings
                .iter()
                .map(|mapping| match &mapping.kind {
                    MappingKind::Map(target) => Some(target.clone()),
                    MappingKind::Exclude(_) => None,
                })
                .collect(),
            inherit,
        }
    }

    fn find(&self, path: &[u8]) -> Option<Found<'_>> {
        let index = self.map.find(path)?;
        Some(Found { mapping: self.mappings.get(index)?, target: self.targets.get(index)?.as_ref()? })
    }

    fn excludes(&self, path: &[u8]) -> bool {
        self.map.excludes(path)
    }

    #[must_use]
    pub fn mappings(&self) -> &[Arc<MappingSpec>] {
        &self.mappings
    }

    #[must_use]
    pub fn explain(&self, path: &[u8]) -> Explanation {
        self.map.explain(path)
    }
}
