//! An imported configuration as the gateway would run it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jk_balance::{Hosts, Scratch, normalise};
use jk_config::{Activation, Config, GroupSpec, MemberSpec, Target, WorkerSpec};
use jk_import::{Imported, InputFile, NoteKind, Options, Problem};

pub(crate) struct Site {
    pub(crate) imported: Imported,
    pub(crate) config: Config,
    /// What jk-config warns of, line by line.
    pub(crate) warnings: Vec<String>,
    hosts: Hosts,
}

pub(crate) fn file(path: &str, text: impl AsRef<[u8]>) -> InputFile {
    InputFile { path: PathBuf::from(path), bytes: text.as_ref().to_vec() }
}

/// Files that an import may find besides those it is given; no environment.
pub(crate) fn try_import(files: &[InputFile], others: &[InputFile]) -> Result<Imported, Vec<Problem>> {
    let by_path: BTreeMap<&Path, &[u8]> =
        others.iter().chain(files).map(|file| (file.path.as_path(), file.bytes.as_slice())).collect();
    let read = |path: &Path| {
        by_path.get(path).map(|bytes| bytes.to_vec()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    let list = |folder: &Path| -> io::Result<Vec<PathBuf>> {
        let inside: Vec<PathBuf> = by_path
            .keys()
            .filter(|path| path.parent() == Some(folder))
            .map(|path| path.to_path_buf())
            .collect();
        if inside.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(inside) }
    };
    let variable = |name: &str| (name == "FROM_ENVIRONMENT").then(|| "environment".to_owned());
    let options =
        Options { server_root: Some("/etc/httpd".into()), read: &read, list: &list, variable: &variable };
    jk_import::import_with(files, &options)
}

pub(crate) fn import(files: &[InputFile]) -> Site {
    import_among(files, &[])
}

pub(crate) fn import_among(files: &[InputFile], others: &[InputFile]) -> Site {
    let imported = match try_import(files, others) {
        Ok(imported) => imported,
        Err(problems) => panic!("refused:\n{}", lines(&problems).join("\n")),
    };
    Site::of(imported)
}

pub(crate) fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// `line id` of each problem.
pub(crate) fn refused(files: &[InputFile]) -> Vec<Problem> {
    match try_import(files, &[]) {
        Ok(imported) => panic!("accepted:\n{}", imported.toml),
        Err(problems) => problems,
    }
}

impl Site {
    pub(crate) fn of(imported: Imported) -> Self {
        let loaded = match Config::from_toml("workers.toml", &imported.toml) {
            Ok(loaded) => loaded,
            Err(problems) => panic!("{}\n{}", problems.lines().join("\n"), imported.toml),
        };
        let hosts = Hosts::compile(loaded.config.mappings(), loaded.config.hosts());
        Self { imported, warnings: loaded.warnings.lines(), config: loaded.config, hosts }
    }

    /// Name of the target of a path on any host; `-`: nobody's.
    pub(crate) fn serves(&self, path: &str) -> String {
        self.serves_at("unknown.example.test", 80, path)
    }

    pub(crate) fn serves_at(&self, host: &str, port: u16, path: &str) -> String {
        let mut scratch = Scratch::default();
        let Ok(path) = normalise(path.as_bytes(), &mut scratch) else { return "400".to_owned() };
        match self.hosts.find(host, port, path.matched).map(|found| found.target) {
            Some(Target::Group(name)) => name.to_string(),
            Some(Target::Worker(name)) => format!("worker {name}"),
            Some(Target::Status) => "status".to_owned(),
            Some(Target::Metrics) => "metrics".to_owned(),
            None => "-".to_owned(),
        }
    }

    /// The rule as it is written in the file.
    pub(crate) fn rule(&self, path: &str) -> String {
        let mut scratch = Scratch::default();
        let path = normalise(path.as_bytes(), &mut scratch).unwrap();
        self.hosts
            .find("unknown.example.test", 80, path.matched)
            .map_or("-".to_owned(), |found| found.mapping.written.clone())
    }

    pub(crate) fn group(&self, name: &str) -> &GroupSpec {
        self.config.groups().get(name).unwrap_or_else(|| panic!("no group {name}\n{}", self.imported.toml))
    }

    pub(crate) fn worker(&self, name: &str) -> &WorkerSpec {
        self.config.workers().get(name).unwrap_or_else(|| panic!("no worker {name}\n{}", self.imported.toml))
    }

    /// `worker route weight distance activation` of each member.
    pub(crate) fn members(&self, group: &str) -> Vec<String> {
        let of = |member: &MemberSpec| {
            let activation = match member.activation {
                Activation::Active => "",
                Activation::Disabled => " disabled",
                Activation::Stopped => " stopped",
            };
            format!("{} {} {} {}{activation}", member.worker, member.route, member.lbfactor, member.distance)
        };
        self.group(group).members.iter().map(of).collect()
    }

    pub(crate) fn address(&self, worker: &str) -> String {
        self.worker(worker).address.to_string()
    }

    /// `line id` of the notes of a kind, those without an id left out.
    pub(crate) fn ids(&self, kind: NoteKind) -> Vec<String> {
        self.imported
            .notes
            .iter()
            .filter(|note| note.kind == kind)
            .filter_map(|note| note.id.map(|id| format!("{} {id}", note.line)))
            .collect()
    }

    pub(crate) fn warned(&self) -> Vec<String> {
        let mut warned: Vec<String> = self
            .imported
            .notes
            .iter()
            .filter(|note| note.kind == NoteKind::Warning)
            .map(|note| format!("{} {}", note.line, note.id.unwrap_or(&note.text)))
            .collect();
        warned.sort_by_key(|text| text.split(' ').next().and_then(|line| line.parse::<usize>().ok()));
        warned
    }

    pub(crate) fn has_note(&self, kind: NoteKind, line: usize, part: &str) -> bool {
        self.imported
            .notes
            .iter()
            .any(|note| note.kind == kind && note.line == line && note.text.contains(part))
    }
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
