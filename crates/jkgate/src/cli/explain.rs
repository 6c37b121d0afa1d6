//! `explain`: asks the running gateway, which knows who is alive; without one, the file.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use super::{client, fail, print, serve};
use crate::control::Plan;
use crate::explain::{Question, explain as answer};

pub(super) fn explain(file: &Path, words: &[String], headers: &[String]) -> ExitCode {
    let (method, url) = match words {
        [url] => ("GET", url.as_str()),
        [method, url] => (method.as_str(), url.as_str()),
        _ => return fail("expected a URL, or a method and a URL"),
    };
    let mut pairs = Vec::new();
    for header in headers {
        let Some((name, value)) = header.split_once(':') else {
            return fail(format!("\"{header}\" is no header: write 'Name: value'"));
        };
        pairs.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    if let Ok(address) = serve::admin_address(file) {
        let mut query = format!("/explain?method={}&url={}", encode(method), encode(url));
        for (name, value) in &pairs {
            query.push_str(&format!("&header={}", encode(&format!("{name}: {value}"))));
        }
        if let Ok(reply) = client::ask(&address, "GET", &query)
            && reply.status == 200
        {
            return print(&reply.body);
        }
    }
    let loaded = match super::config::load(file) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let plan = Plan::alone(loaded, Instant::now());
    eprintln!("jkgate: no running gateway was asked; every member is taken to be alive");
    print(&answer(&plan, &Question::new(method, url, &pairs)))
}

pub(super) fn encode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
