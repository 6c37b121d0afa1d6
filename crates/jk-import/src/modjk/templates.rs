//! `reference`: one worker as a template for others.

use std::collections::{HashMap, HashSet};

use super::workers::{Attribute, Worker, index};
use crate::near::nearest;
use crate::report::Report;

/// `reference` copies what a worker does not have itself, through several levels. Returns the names of templates.
pub(super) fn follow(workers: &mut [Worker], report: &mut Report) -> HashSet<String> {
    let index = index(workers);
    let mut templates = HashSet::new();
    let mut copies: Vec<(usize, &'static str, Attribute)> = Vec::new();
    for (at, worker) in workers.iter().enumerate() {
        let mut has: HashSet<&'static str> = worker.attributes.keys().copied().collect();
        let mut current = worker;
        for depth in 0..=DEEPEST {
            let Some(reference) = current.get("reference") else { break };
            let target = reference
                .value
                .strip_prefix("worker.")
                .and_then(|name| index.get(name))
                .and_then(|at| workers.get(*at));
            let Some(target) = target else {
                no_template(reference, &index, report);
                break;
            };
            templates.insert(target.name.clone());
            if depth == DEEPEST || target.name == worker.name {
                report
                    .problem(
                        &reference.at,
                        None,
                        format!("worker \"{}\" refers to itself through reference", worker.name),
                    )
                    .help("a template must not lead back to a worker that uses it")
                    .was("mod_jk did not start with it");
                break;
            }
            for (key, attribute) in target.attributes.iter().filter(|(key, _)| **key != "reference") {
                if has.insert(key) {
                    copies.push((at, key, Attribute { is_inherited: true, ..attribute.clone() }));
                }
            }
            current = target;
        }
    }
    for (at, key, attribute) in copies {
        if let Some(worker) = workers.get_mut(at) {
            worker.attributes.insert(key, attribute);
        }
    }
    templates
}

fn no_template(reference: &Attribute, index: &HashMap<String, usize>, report: &mut Report) {
    let value = &reference.value;
    let telling = report
        .problem(&reference.at, None, format!("reference={value} names no worker of this file"))
        .was("mod_jk did not start with it");
    let bare = value.strip_prefix("worker.").unwrap_or(value);
    if index.contains_key(bare) {
        telling.help(format!("write reference=worker.{bare}"));
    } else if let Some(word) = nearest(bare, index.keys().take(1_000).map(String::as_str)) {
        telling.help(format!("did you mean worker.{word}?"));
    } else {
        telling.expected("worker.NAME, with the template's name");
    }
}

/// Levels of `reference`.
const DEEPEST: usize = 20;
