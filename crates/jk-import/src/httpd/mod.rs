//! httpd's configuration as far as it leads to Tomcat: mod_jk's directives, and mod_proxy's for `ajp:`.
//!
//! ```text
//! lines ──lex──► directives ──read──► servers, balancers ──host──► groups, workers, mappings, hosts
//! ```

mod balancer;
mod condition;
mod files;
mod host;
mod jk;
mod lex;
mod network;
mod pass;
mod proxy;
mod read;

use std::collections::{BTreeMap, HashSet};

use crate::modjk::{Properties, Rules};
use crate::report::At;

pub(crate) use host::finish;
pub(crate) use read::read;

/// What all configuration files say together.
#[derive(Debug, Default)]
pub(crate) struct Httpd {
    /// The main server comes first.
    pub(crate) servers: Vec<Server>,
    pub(crate) properties: Properties,
    /// `balancer://NAME` and its members; the order is that of the names.
    balancers: BTreeMap<String, balancer::Balancer>,
    /// What `<Proxy ajp://…>` says, by URL.
    worker_settings: BTreeMap<String, Vec<(String, String, At)>>,
    listens: Vec<Listen>,
    /// Paths and the networks that may see them.
    allowed: Vec<(String, Vec<String>)>,
    mount_copy_all: bool,
    log_level: Option<(String, At)>,
    forward: Option<Forward>,
    reply_timeout: Option<(i64, At)>,
    packet_size: Option<(i64, At)>,
    /// Files of the command line that a directive names.
    pub(crate) named: HashSet<usize>,
    /// Directives that have nothing to do with Tomcat.
    n_foreign: usize,
}

/// The main server or a virtual host.
#[derive(Debug)]
pub(crate) struct Server {
    at: At,
    /// Where it listens: `*:80`; empty for the main server.
    addresses: Vec<String>,
    name: Option<String>,
    aliases: Vec<String>,
    rules: Rules,
    has_mount_file: bool,
    copy: Option<bool>,
    passes: Vec<pass::Pass>,
    /// Patterns that SetEnvIf takes away from mod_jk.
    no_jk: Vec<(String, At)>,
    forward: Option<Forward>,
    is_tls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forward {
    Proxy,
    Unparsed,
    Escaped,
}

#[derive(Debug)]
struct Listen {
    address: String,
    is_tls: bool,
    at: At,
}

impl Forward {
    fn word(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Unparsed => "unparsed",
            Self::Escaped => "escaped",
        }
    }
}

impl Server {
    fn new(at: At, addresses: Vec<String>) -> Self {
        Self {
            at,
            addresses,
            name: None,
            aliases: Vec::new(),
            rules: Rules::default(),
            has_mount_file: false,
            copy: None,
            passes: Vec::new(),
            no_jk: Vec::new(),
            forward: None,
            is_tls: false,
        }
    }
}

impl Server {
    pub(crate) fn at(&self) -> &At {
        &self.at
    }

    pub(crate) fn has_mounts(&self) -> bool {
        !self.rules.is_empty()
    }
}

/// Words by which a file is known to be httpd's.
pub(crate) fn is_directive(line: &str) -> bool {
    let word =
        line.trim_start_matches('<').split([' ', '\t', '>']).next().unwrap_or_default().to_ascii_lowercase();
    let section = line.starts_with('<')
        && ["virtualhost", "proxy", "location", "ifmodule", "directory", "ifdefine", "locationmatch"]
            .contains(&word.as_str());
    let known = [
        "serverroot",
        "servername",
        "listen",
        "include",
        "includeoptional",
        "loadmodule",
        "documentroot",
        "balancermember",
        "setenvif",
    ];
    section
        || (word.starts_with("jk") && !line.contains('=') || word == "jkworkerproperty")
        || word.starts_with("proxypass")
        || (known.contains(&word.as_str()) && line.contains([' ', '\t']))
}
