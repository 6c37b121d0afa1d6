//! From what was written to what it means: names are followed, contradictions found, and what is surely not meant is pointed out.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::config::Config;
use crate::fields::At;
use crate::name::{GroupName, WorkerName};
use crate::problem::{Place, Problem, Problems, nearest};
use crate::read::{Draft, DraftHost, DraftMapping, DraftWorker};
use crate::spec::*;

/// The one way to a [`Config`]. Errors and warnings are added to `problems`; the result counts only without errors.
pub(crate) fn resolve(mut draft: Draft, problems: &mut Problems) -> Config {
    let names = names(&draft, problems);
    join(&mut draft, &names, problems);
    check_listeners(&draft, problems);
    check_workers(&draft, problems);
    check_groups(&draft, problems);
    let mut used = Used::default();
    let mappings = mappings(&draft.mappings, &names, &mut used, problems);
    let hosts = hosts(&draft.hosts, &names, &mut used, problems);
    check_unused(&draft, &used, problems);
    let workers = draft.workers.into_iter().map(|at| (at.value.spec.name.clone(), at.value));
    let workers: BTreeMap<WorkerName, DraftWorker> = workers.collect();
    Config {
        listeners: draft.listeners.into_iter().map(|at| Arc::new(at.value)).collect(),
        solo: workers.iter().map(|(name, worker)| (name.clone(), worker.member.clone())).collect(),
        workers: workers.into_iter().map(|(name, worker)| (name, Arc::new(worker.spec))).collect(),
        groups: draft.groups.into_iter().map(|at| (at.value.name.clone(), Arc::new(at.value))).collect(),
        mappings,
        hosts,
        status: draft.status.unwrap_or_default(),
        admin: draft.admin.unwrap_or_default(),
        access_log: draft.access_log.unwrap_or_default(),
        log: draft.log.unwrap_or_default(),
        process: draft.process.unwrap_or_default(),
        defined: draft.defined,
    }
}

/// What a mapping can point to.
type Names = HashMap<String, (Target, Option<Place>)>;

#[derive(Default)]
struct Used {
    targets: std::collections::HashSet<Target>,
}

fn names(draft: &Draft, problems: &mut Problems) -> Names {
    let mut names: Names = HashMap::new();
    names.insert("status".to_owned(), (Target::Status, None));
    names.insert("metrics".to_owned(), (Target::Metrics, None));
    let groups = draft
        .groups
        .iter()
        .map(|at| (at.value.name.to_string(), Target::Group(at.value.name.clone()), &at.place));
    let workers = draft
        .workers
        .iter()
        .map(|at| (at.value.spec.name.to_string(), Target::Worker(at.value.spec.name.clone()), &at.place));
    for (name, target, place) in groups.chain(workers) {
        match names.get(&name) {
            None => {
                names.insert(name, (target, Some(place.clone())));
            }
            Some((_, None)) => problems.push(
                Problem::error(
                    place.clone(),
                    format!("\"{name}\" is taken"),
                    "this name means something already",
                )
                .help("Mappings use \"status\" and \"metrics\" for the gateway's own pages."),
            ),
            Some((_, Some(first))) => problems.push(
                Problem::error(place.clone(), format!("\"{name}\" is defined twice"), "the second one")
                    .related(first.clone(), "the first one")
                    .help("Groups and workers share one space of names, because mappings point to both."),
            ),
        }
    }
    names
}

/// Puts workers into their groups.
fn join(draft: &mut Draft, names: &Names, problems: &mut Problems) {
    let mut at: HashMap<GroupName, usize> = HashMap::new();
    for (index, group) in draft.groups.iter().enumerate() {
        at.insert(group.value.name.clone(), index);
    }
    for worker in &mut draft.workers {
        let DraftWorker { spec, member, groups, .. } = &mut worker.value;
        for group in groups.iter() {
            match names.get(&group.value) {
                Some((Target::Group(name), _)) => {
                    if spec.secret.is_none() {
                        spec.secret = draft.group_secrets.get(name).cloned();
                    }
                    if let Some(group) = at.get(name).and_then(|index| draft.groups.get_mut(*index)) {
                        group.value.members.push(member.clone());
                    }
                }
                _ => problems.push(unknown(
                    group,
                    "group",
                    names
                        .iter()
                        .filter(|(_, (target, _))| matches!(target, Target::Group(_)))
                        .map(|(name, _)| name.as_str()),
                )),
            }
        }
    }
}

fn unknown<'a>(found: &At<String>, what: &str, known: impl Iterator<Item = &'a str>) -> Problem {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    let label = match nearest(&found.value, known.iter().copied()) {
        Some(word) => format!("did you mean \"{word}\"?"),
        None => format!("no {what} has this name"),
    };
    let list = if known.is_empty() {
        format!("There is no {what} yet.")
    } else {
        format!("There are: {}.", known.join(", "))
    };
    Problem::error(found.place.clone(), format!("there is no {what} \"{}\"", found.value), label).help(list)
}

fn check_listeners(draft: &Draft, problems: &mut Problems) {
    let mut seen: HashMap<&ListenAddress, &Place> = HashMap::new();
    let mut names: HashMap<&str, &Place> = HashMap::new();
    for At { value, place } in &draft.listeners {
        let is_any_port = matches!(&value.address, ListenAddress::Tcp(address) if address.port() == 0);
        if let Some(first) = seen.insert(&value.address, place).filter(|_| !is_any_port) {
            problems.push(
                Problem::error(
                    place.clone(),
                    format!("{} is listened on twice", value.address),
                    "the second one",
                )
                .related(first.clone(), "the first one"),
            );
        }
        if let Some(first) = names.insert(&value.name, place) {
            problems.push(
                Problem::error(
                    place.clone(),
                    format!("listener \"{}\" is defined twice", value.name),
                    "the second one",
                )
                .related(first.clone(), "the first one"),
            );
        }
    }
    if draft.listeners.is_empty() {
        problems.push(Problem::whole(
            "there is no listener, so nobody could connect",
            "Add [listener.main] with address = \"0.0.0.0:8080\".",
        ));
    }
}

fn check_workers(draft: &Draft, problems: &mut Problems) {
    for At { value: DraftWorker { spec, .. }, place } in &draft.workers {
        let channel = &spec.channel;
        if channel.reply_timeout.is_some_and(|reply| reply < channel.socket_connect_timeout) {
            problems.push(Problem::warning(
                place.clone(),
                format!("worker \"{}\": reply_timeout is shorter than socket_connect_timeout", spec.name),
                "surely not meant: an answer takes longer than a connect",
            ));
        }
        let is_far = match &spec.address {
            WorkerAddress::Tcp { host, .. } => !is_loopback(host),
            WorkerAddress::Unix(_) => false,
        };
        if is_far && spec.secret.is_none() {
            problems.push(
                Problem::warning(
                    place.clone(),
                    format!("worker \"{}\" is on another machine and has no secret", spec.name),
                    "whoever reaches its AJP port can speak for us",
                )
                .help("Set the connector's secret in Tomcat and secret_file here."),
            );
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn check_groups(draft: &Draft, problems: &mut Problems) {
    for At { value: group, place } in &draft.groups {
        if group.members.is_empty() {
            problems.push(
                Problem::warning(
                    place.clone(),
                    format!("group \"{}\" has no members", group.name),
                    "answers 503 to everything",
                )
                .help(format!("Say group = \"{}\" in a worker: [ajp13.NAME].", group.name)),
            );
        }
        let mut routes: HashMap<&str, &MemberSpec> = HashMap::new();
        for member in &group.members {
            if let Some(first) = routes.insert(member.route.as_str(), member) {
                let of = |member: &MemberSpec| {
                    draft
                        .workers
                        .iter()
                        .find(|at| at.value.spec.name == member.worker)
                        .map(|at| at.place.clone())
                };
                let second = of(member).unwrap_or_else(|| place.clone());
                let mut problem = Problem::error(
                    second,
                    format!("route \"{}\" stands twice in group \"{}\"", member.route, group.name),
                    "the second one",
                )
                .help("A session id names its member by the route, so each member needs one of its own.");
                if let Some(first) = of(first) {
                    problem = problem.related(first, "the first one");
                }
                problems.push(problem);
            }
        }
        for member in &group.members {
            if let Some(redirect) = &member.redirect
                && !group.members.iter().any(|other| other.route == *redirect)
            {
                let at = draft.workers.iter().find(|at| at.value.spec.name == member.worker);
                problems.push(Problem::warning(
                    at.map_or_else(|| place.clone(), |at| at.place.clone()),
                    format!("redirect \"{redirect}\" is no route of group \"{}\"", group.name),
                    "will never be followed",
                ));
            }
        }
    }
}

fn mappings(
    draft: &[At<DraftMapping>],
    names: &Names,
    used: &mut Used,
    problems: &mut Problems,
) -> Vec<MappingSpec> {
    let mut seen: HashMap<(String, bool), (Target, Place)> = HashMap::new();
    let mut specs = Vec::new();
    for At { value: mapping, place } in draft {
        let target = if mapping.excludes && mapping.target.value == "*" {
            None
        } else {
            let Some((target, _)) = names.get(&mapping.target.value) else {
                let known = names.keys().map(String::as_str);
                problems.push(unknown(&mapping.target, "target", known));
                continue;
            };
            Some(target.clone())
        };
        if let Some(target) = &target {
            if !mapping.excludes {
                used.targets.insert(target.clone());
            }
            check_rule_members(mapping, target, names, problems);
        }
        if mapping.enabled && !mapping.excludes {
            warn_if_hidden(mapping, place, target.as_ref(), &mut seen, problems);
        }
        specs.push(MappingSpec {
            pattern: mapping.pattern.clone(),
            kind: match (mapping.excludes, target) {
                (true, target) => MappingKind::Exclude(target),
                (false, Some(target)) => MappingKind::Map(target),
                (false, None) => continue,
            },
            enabled: mapping.enabled,
            written: mapping.written.clone(),
            origin: origin(place, problems),
            options: Arc::new(mapping.options.clone()),
        });
    }
    specs
}

fn check_rule_members(mapping: &DraftMapping, target: &Target, names: &Names, problems: &mut Problems) {
    for worker in mapping.options.activation.keys() {
        let known = names.get(worker.as_str()).is_some_and(|(named, _)| matches!(named, Target::Worker(_)));
        if !known || !matches!(target, Target::Group(_)) {
            problems.push(Problem::warning(
                mapping.target.place.clone(),
                format!("\"{worker}\" is no member here"),
                "active, disabled and stopped name members of the mapping's group",
            ));
        }
    }
}

fn warn_if_hidden(
    mapping: &DraftMapping,
    place: &Place,
    target: Option<&Target>,
    seen: &mut HashMap<(String, bool), (Target, Place)>,
    problems: &mut Problems,
) {
    let Some(target) = target else { return };
    let key = (mapping.pattern.clone(), mapping.excludes);
    match seen.get(&key) {
        Some((first, at)) if first != target => problems.push(
            Problem::warning(
                place.clone(),
                format!("\"{}\" is mapped twice, and this one never wins", mapping.pattern),
                "the second one",
            )
            .related(at.clone(), "this one wins"),
        ),
        Some(_) => {}
        None => {
            seen.insert(key, (target.clone(), place.clone()));
        }
    }
}

fn origin(place: &Place, problems: &Problems) -> String {
    match problems.sources.get(place.source) {
        Some(source) => format!("{}:{}", source.path.display(), source.position(place.span.start).0),
        None => String::new(),
    }
}

fn hosts(draft: &[At<DraftHost>], names: &Names, used: &mut Used, problems: &mut Problems) -> Vec<HostSpec> {
    let mut seen: HashMap<&HostPattern, &Place> = HashMap::new();
    let mut specs = Vec::new();
    for At { value: host, .. } in draft {
        for At { value: name, place } in &host.names {
            if let Some(first) = seen.insert(name, place) {
                problems.push(
                    Problem::error(place.clone(), "this host is named twice", "the second time")
                        .related(first.clone(), "the first time"),
                );
            }
        }
        specs.push(HostSpec {
            names: host.names.iter().map(|at| at.value.clone()).collect(),
            inherit: host.inherit,
            mappings: mappings(&host.mappings, names, used, problems),
        });
    }
    specs
}

fn check_unused(draft: &Draft, used: &Used, problems: &mut Problems) {
    for At { value: worker, place } in &draft.workers {
        let name = &worker.spec.name;
        if worker.member.activation != Activation::Active
            && used.targets.contains(&Target::Worker(name.clone()))
        {
            problems.push(
                Problem::warning(
                    place.clone(),
                    format!("a mapping asks worker \"{name}\" directly, whatever its activation is"),
                    "activation is about the worker as a member of a group",
                )
                .help("Let the mapping point to a group of which this worker is the only member."),
            );
        }
        if worker.groups.is_empty() && !used.targets.contains(&Target::Worker(name.clone())) {
            problems.push(
                Problem::warning(place.clone(), format!("nobody uses worker \"{name}\""), "gets no requests")
                    .help("Give it a group = \"…\", or let a mapping point to it."),
            );
        }
    }
}
