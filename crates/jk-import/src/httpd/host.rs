//! Servers to mappings: what each virtual host sees, said with as little as possible.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::balancer::{Made, make, packet_size, whole_seconds};
use super::pass::{Pass, layers_suffice, rules as pass_rules};
use super::{Forward, Httpd, Server};
use crate::document::{Document, Host, Names, Rule, Table, quoted, texts};
use crate::modjk::{Rules, Targets};
use crate::report::Report;

/// `mounted`: what `mount` attributes and mount files of the command line say; they belong to the main server.
pub(crate) fn finish(
    httpd: &Httpd,
    (targets, mounted): (&Targets, &Rules),
    (document, names, report): (&mut Document, &mut Names, &mut Report),
) {
    let alone: Vec<_> = httpd
        .servers
        .iter()
        .flat_map(|server| &server.passes)
        .filter(|pass| super::balancer::url(&pass.url).is_some())
        .map(|pass| (pass.url.clone(), pass.parameters.clone(), pass.at.clone()))
        .collect();
    let made = make(httpd, &alone, (document, names, report));
    let Some((main, virtual_hosts)) = httpd.servers.split_first() else { return };
    let seen = Seen { httpd, targets, made: &made, main, mounted, n_rules: Cell::new(0) };
    let global = seen.rules(main, report);
    let global = seen.everywhere(virtual_hosts, &global, report).unwrap_or(global);
    let hosts = seen.hosts(virtual_hosts, &global, report);
    document.rules.extend(global);
    document.hosts.extend(hosts);
    settings(httpd, document, report);
    listeners(httpd, document, report);
    status(httpd, document);
    if httpd.n_foreign > 0 {
        let text = match httpd.n_foreign {
            1 => "one more directive of httpd has nothing to do with Tomcat and was not looked at".to_owned(),
            n => {
                format!("{n} more directives of httpd have nothing to do with Tomcat and were not looked at")
            }
        };
        report.dropped(&main.at, text);
    }
}

struct Seen<'s> {
    httpd: &'s Httpd,
    targets: &'s Targets,
    made: &'s Made,
    main: &'s Server,
    mounted: &'s Rules,
    /// Of all servers, copies counted.
    n_rules: Cell<usize>,
}

impl Seen<'_> {
    fn copies(&self, server: &Server) -> bool {
        server.copy.unwrap_or(self.httpd.mount_copy_all)
    }

    fn is_main(&self, server: &Server) -> bool {
        server.addresses.is_empty()
    }

    /// Everything that one server maps.
    fn rules(&self, server: &Server, report: &mut Report) -> Vec<Rule> {
        let mut own = server.rules.clone();
        if self.is_main(server) {
            own.inherit(self.mounted);
        } else if self.copies(server) {
            own.inherit_for_host(&self.main.rules, server.has_mount_file);
            if server.rules.is_empty() {
                own.inherit(self.mounted);
            }
        }
        self.n_rules.set(self.n_rules.get() + own.len());
        if self.n_rules.get() > MOST_RULES {
            report.problem(&server.at, None, "the virtual hosts have too many mappings between them").help(
                format!(
                    "at most {MOST_RULES}; import what belongs together in parts, and let include join them"
                ),
            );
            return Vec::new();
        }
        let mut rules = own.finish(self.targets, report);
        let mut passes: Vec<Pass> = server.passes.clone();
        if !self.is_main(server) {
            passes.extend(self.main.passes.iter().cloned());
        }
        rules.extend(pass_rules(&passes, self.made, report));
        let forward =
            server.forward.filter(|forward| Some(*forward) != self.httpd.forward && !self.is_main(server));
        if let Some(forward) = forward {
            for rule in rules.iter_mut().filter(|rule| !rule.pattern.contains('!')) {
                rule.options.push(("forward_uri".to_owned(), quoted(forward.word())));
            }
        }
        self.no_jk(server, &mut rules);
        rules
    }

    fn no_jk(&self, server: &Server, rules: &mut Vec<Rule>) {
        if rules.is_empty() {
            return;
        }
        let from_main: &[_] = if self.is_main(server) { &[] } else { &self.main.no_jk };
        for (pattern, at) in server.no_jk.iter().chain(from_main) {
            let pattern = format!("!{pattern}");
            let comment = format!("no-jk, {}", at.short());
            match rules.iter_mut().find(|rule| rule.pattern == pattern) {
                Some(known) if known.target == "*" => {}
                // It keeps out of every group, so of that one, too.
                Some(known) => {
                    known.comment = format!("{comment}; also for {} alone, {}", known.target, known.comment);
                    "*".clone_into(&mut known.target);
                }
                None => {
                    let (above, options) = (Vec::new(), Vec::new());
                    rules.push(Rule { above, pattern, target: "*".to_owned(), options, comment });
                }
            }
        }
    }

    /// The first virtual host for every address, if there is one: it serves what no other one does.
    fn everywhere(&self, servers: &[Server], global: &[Rule], report: &mut Report) -> Option<Vec<Rule>> {
        let is_any = |address: &String| matches!(address.as_str(), "*" | "_default_" | "*:*" | "_default_:*");
        let first = servers.iter().find(|server| server.addresses.iter().any(is_any))?;
        let mut unsaid = Report::default();
        let rules = self.rules(first, &mut unsaid);
        if !same(&rules, global) && !global.is_empty() {
            report.changed(&first.at, "this virtual host serves every address, so nothing reached the main server; its mappings stand for all hosts here");
        }
        Some(rules)
    }

    fn hosts(&self, servers: &[Server], global: &[Rule], report: &mut Report) -> Vec<Host> {
        let mut hosts: Vec<Host> = Vec::new();
        let ports_of_name = ports_of_name(servers);
        let mut taken: HashSet<String> = HashSet::new();
        let mut seen_ports: HashSet<String> = HashSet::new();
        // Ports on which an unknown name finds a virtual host and not the global mappings.
        let mut caught: HashSet<String> = HashSet::new();
        for server in servers {
            let rules = self.rules(server, report);
            let is_global = same(&rules, global);
            let mut names: Vec<String> = Vec::new();
            for name in server.name.iter().chain(&server.aliases) {
                names.extend(host_names(name, server, &ports_of_name, report));
            }
            let ports = ports(server);
            // Whoever comes first for a port serves what no other one does.
            for port in &ports {
                if seen_ports.insert(port.clone()) && !is_global {
                    names.push(format!("*:{port}"));
                    caught.insert(port.clone());
                }
            }
            names.retain(|name| taken.insert(name.clone()));
            let Some((name, aliases)) = names.split_first() else { continue };
            let is_caught = if ports.is_empty() {
                !caught.is_empty()
            } else {
                ports.iter().any(|port| caught.contains(port))
            };
            if is_global && !is_caught {
                continue;
            }
            if server.is_tls {
                report.changed(&server.at, NO_TLS);
            }
            hosts.push(self.host(server, (name, aliases), rules, global));
        }
        hosts
    }

    fn host(
        &self,
        server: &Server,
        (name, aliases): (&String, &[String]),
        rules: Vec<Rule>,
        global: &[Rule],
    ) -> Host {
        let mut host = Host { name: name.clone(), aliases: aliases.to_vec(), ..Host::default() };
        host.origin = format!("<VirtualHost {}>, {}", server.addresses.join(" "), server.at.short());
        let of_global: HashSet<_> = global.iter().map(key).collect();
        let of_host: HashSet<_> = rules.iter().map(key).collect();
        let has_all = of_global.is_subset(&of_host);
        let own: Vec<Rule> = rules.iter().filter(|rule| !of_global.contains(&key(rule))).cloned().collect();
        if has_all && !global.is_empty() && layers_suffice(&own, global) {
            host.rules = own;
            return host;
        }
        host.alone = (!global.is_empty()).then(|| {
            if rules.is_empty() {
                "nothing in it leads to Tomcat".to_owned()
            } else if self.copies(server) {
                "it has all its mappings here, those of the main server, too".to_owned()
            } else {
                "without JkMountCopy a virtual host sees only its own mappings".to_owned()
            }
        });
        host.rules = rules;
        host
    }
}

type RuleKey<'r> = (&'r str, &'r str, &'r [(String, String)]);

fn key(rule: &Rule) -> RuleKey<'_> {
    (&rule.pattern, &rule.target, &rule.options)
}

fn same(a: &[Rule], b: &[Rule]) -> bool {
    let keys =
        |rules: &[Rule]| -> HashSet<String> { rules.iter().map(|rule| format!("{:?}", key(rule))).collect() };
    a.len() == b.len() && keys(a) == keys(b)
}

/// Ports of a virtual host; a star is none.
fn ports(server: &Server) -> Vec<String> {
    let numbers =
        server.addresses.iter().filter_map(|address| address.rsplit_once(':')?.1.parse::<u16>().ok());
    let mut seen = HashSet::new();
    // As numbers, because `:080` is `:80`.
    numbers.filter(|port| *port > 0 && seen.insert(*port)).map(|port| port.to_string()).collect()
}

/// Names that stand in virtual hosts of several ports need the port here, too.
fn ports_of_name(servers: &[Server]) -> HashMap<String, HashSet<String>> {
    let mut found: HashMap<String, HashSet<String>> = HashMap::new();
    for server in servers {
        for name in server.name.iter().chain(&server.aliases) {
            found.entry(bare_name(name)).or_default().insert(ports(server).join(" "));
        }
    }
    found
}

/// `https://name:port` without what is about the port.
fn bare_name(name: &str) -> String {
    let name = name.split("://").last().unwrap_or(name);
    name.split(':').next().unwrap_or(name).to_ascii_lowercase()
}

fn host_names(
    name: &str,
    server: &Server,
    ports_of_name: &HashMap<String, HashSet<String>>,
    report: &mut Report,
) -> Vec<String> {
    let bare = bare_name(name);
    if bare.is_empty() || bare.contains(['*', '?', '/', '[']) || bare.chars().any(char::is_whitespace) {
        report.warn(
            &server.at,
            format!(
                "the name {name} is left out: a host's name has no stars here; write each name as an alias"
            ),
        );
        return Vec::new();
    }
    if ports_of_name.get(&bare).is_some_and(|ports| ports.len() > 1) {
        return ports(server).iter().map(|port| format!("{bare}:{port}")).collect();
    }
    vec![bare]
}

fn settings(httpd: &Httpd, document: &mut Document, report: &mut Report) {
    if let Some(forward) = httpd.forward.filter(|forward| *forward != Forward::Proxy) {
        document.group_defaults.set("forward_uri", quoted(forward.word()), "JkOptions");
    }
    if let Some((number, at)) = &httpd.reply_timeout {
        let proxied = document.workers.iter_mut().filter(|worker| worker.get("reply_timeout").is_none());
        for worker in proxied.filter(|_| *number > 0) {
            worker.set("reply_timeout", whole_seconds(*number), format!("ProxyTimeout, {}", at.short()));
        }
    }
    if let Some((number, at)) = &httpd.packet_size {
        let written = format!("ProxyIOBufferSize {number}");
        packet_size(&mut document.worker_defaults, Some(*number), (&written, at), report);
    }
    let Some((level, at)) = &httpd.log_level else { return };
    // A member that fails was an error in mod_jk's log and is a warning here.
    let filter = match level.as_str() {
        "trace" | "debug" | "info" | "warn" => level.as_str(),
        "error" => "warn",
        "emerg" => "error",
        _ => {
            let levels = "trace, debug, info, warn, error and emerg are";
            report.warn(at, format!("JkLogLevel {level} is no level: mod_jk took it for info; {levels}"));
            return;
        }
    };
    if filter != "info" {
        document.log.set("filter", quoted(filter), format!("JkLogLevel {level}, {}", at.short()));
    }
}

fn listeners(httpd: &Httpd, document: &mut Document, report: &mut Report) {
    let mut seen = HashSet::new();
    for listen in &httpd.listens {
        let (host, port) = listen.address.rsplit_once(':').unwrap_or(("", &listen.address));
        let host = if host.is_empty() || host == "*" { "0.0.0.0" } else { host };
        let address = format!("{host}:{port}");
        if listen.is_tls {
            let text = format!(
                "Listen {}: the gateway speaks no TLS; let a TLS terminator stand before it, and name that in trusted_proxies of its listener",
                listen.address
            );
            report.warn(&listen.at, text);
            continue;
        }
        if address.parse::<std::net::SocketAddr>().is_err() {
            report.warn(&listen.at, format!("Listen {} is no address and left out", listen.address));
            continue;
        }
        if !seen.insert(address.clone()) {
            continue;
        }
        let name = if document.listeners.is_empty() {
            "main".to_owned()
        } else {
            format!("listen{}", document.listeners.len() + 1)
        };
        let mut table = Table { name, ..Table::default() };
        table.set("address", quoted(&address), format!("Listen {}, {}", listen.address, listen.at.short()));
        document.listeners.push(table);
    }
}

/// Who may see the status page: what the Location of its path says.
fn status(httpd: &Httpd, document: &mut Document) {
    let hosts = document.hosts.iter().flat_map(|host| &host.rules);
    let paths: HashSet<String> = document
        .rules
        .iter()
        .chain(hosts)
        .filter(|rule| rule.target == "status")
        .map(|rule| {
            crate::glob::head(rule.pattern.split('|').next().unwrap_or_default())
                .trim_end_matches('/')
                .to_owned()
        })
        .collect();
    let is_status = |path: &str| paths.contains(path.trim_end_matches('/'));
    let mut networks: Vec<String> = Vec::new();
    for (_, allowed) in httpd.allowed.iter().filter(|(path, _)| is_status(path)) {
        for network in allowed {
            if !networks.contains(network) {
                networks.push(network.clone());
            }
        }
    }
    if !networks.is_empty() {
        document.status.set("readable_from", texts(&networks), "from the Location of its path");
    }
}

const MOST_RULES: usize = 1_000_000;
const NO_TLS: &str = "the gateway speaks no TLS: let a TLS terminator stand before it, and name that in trusted_proxies of its listener";
