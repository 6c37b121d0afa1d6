//! Workers of type status as `[status]`.

use super::workers::Worker;
use crate::document::{Document, quoted, texts};
use crate::number::items;
use crate::report::Report;

/// There is one status page; where several workers say different things, the first one counts.
pub(super) fn set(worker: &Worker, document: &mut Document, report: &mut Report) {
    let _ = (worker.get("type"), worker.get("reference"), worker.get("mount"));
    let table = &mut document.status;
    let is_first = table.keys.is_empty();
    if is_first {
        table.origin = super::ajp::origin(worker);
        table.set(
            "readable_from",
            "[\"127.0.0.0/8\", \"::1/128\"]",
            "httpd decided who may see it; say it here",
        );
    }
    let mut put = |key: &'static str, value: String, at: &crate::report::At, comment: &str| {
        if is_first {
            table.set(key, value, comment);
        } else if table.get(key) != Some(value.as_str()) {
            let text = format!(
                "{key} of worker \"{}\" is left out: there is one status page, and the first status worker says how it is",
                worker.name
            );
            report.changed(at, text);
        }
    };
    for key in ["css", "prefix", "ns", "xmlns", "doctype", "good", "bad"] {
        if let Some(attribute) = worker.get(key) {
            put(key, quoted(&attribute.value), &attribute.at, "");
        }
    }
    if let Some(users) = worker.get("user") {
        put(
            "user",
            texts(&items(&users.value)),
            &users.at,
            "counts with users_file: the gateway asks for passwords itself",
        );
    }
    for key in ["read_only", "user_case_insensitive"] {
        let Some(attribute) = worker.get(key) else { continue };
        match crate::number::switch(&attribute.value) {
            Some(true) => put(key, "true".to_owned(), &attribute.at, ""),
            Some(false) => {}
            None => put(key, "false".to_owned(), &attribute.at, "mod_jk took this for the default"),
        }
    }
    if !is_first && worker.get("read_only").is_none() && document.status.get("read_only") == Some("true") {
        let text = format!(
            "worker \"{}\" allowed changes; the first status worker is read_only, so take that line out of [status] if changes are wanted",
            worker.name
        );
        report.changed(&worker.at, text);
    }
}
