//! `status`, `set`, `reload`: the running gateway, over its admin channel.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use jk_config::ListenAddress;

use super::client::{self, Reply};
use super::explain::encode;
use super::words::{Set, Status, StatusForm};
use super::{fail, print, serve};

/// The running gateway of a configuration file.
struct Live {
    address: ListenAddress,
}

impl Live {
    fn find(file: &Path) -> Result<Self, ExitCode> {
        serve::admin_address(file).map(|address| Self { address }).map_err(fail)
    }

    fn ask(&self, method: &str, target: &str) -> Result<Reply, ExitCode> {
        client::ask(&self.address, method, target).map_err(|error| {
            fail(format!(
                "no gateway answers at {}: {error}; is it running, and with this configuration?",
                self.address
            ))
        })
    }
}

pub(super) fn reload(file: &Path) -> ExitCode {
    let live = match Live::find(file) {
        Ok(live) => live,
        Err(code) => return code,
    };
    match live.ask("POST", "/reload") {
        Ok(reply) if reply.status == 200 => print(&reply.body),
        Ok(reply) => {
            eprint!("{}", reply.body);
            fail("not reloaded; everything goes on as before")
        }
        Err(code) => code,
    }
}

pub(super) fn status(file: &Path, wanted: &Status) -> ExitCode {
    let form = match wanted.format {
        StatusForm::Text => "text",
        StatusForm::Json => "json",
        StatusForm::Nagios => "nagios",
    };
    loop {
        let reply = match &wanted.url {
            Some(url) => {
                client::ask_url(url, &format!("mime={form}")).map_err(|error| fail(format!("{url}: {error}")))
            }
            None => Live::find(file).and_then(|live| live.ask("GET", &format!("/status?mime={form}"))),
        };
        let reply = match reply {
            Ok(reply) => reply,
            // Nagios' word for "cannot say" is 3.
            Err(code) => return if wanted.format == StatusForm::Nagios { ExitCode::from(3) } else { code },
        };
        if reply.status != 200 {
            eprint!("{}", reply.body);
            return fail(format!("the gateway answered {}", reply.status));
        }
        if wanted.watch {
            print("\x1b[H\x1b[2J");
        }
        let code = print(&reply.body);
        if wanted.format == StatusForm::Nagios {
            return nagios_code(&reply.body);
        }
        if !wanted.watch {
            return code;
        }
        std::thread::sleep(Duration::from_secs(2));
    }
}

fn nagios_code(line: &str) -> ExitCode {
    let word = line.split_whitespace().find(|word| matches!(*word, "OK" | "WARNING" | "CRITICAL"));
    ExitCode::from(match word {
        Some("OK") => 0,
        Some("WARNING") => 1,
        Some("CRITICAL") => 2,
        _ => 3,
    })
}

pub(super) fn set(file: &Path, wanted: &Set) -> ExitCode {
    let live = match Live::find(file) {
        Ok(live) => live,
        Err(code) => return code,
    };
    let mut target = format!("/set?target={}", encode(&wanted.target));
    for change in &wanted.changes {
        if !change.contains('=') {
            return fail(format!("\"{change}\" is no change: write key=value"));
        }
        target.push_str(&format!("&change={}", encode(change)));
    }
    if wanted.persist {
        target.push_str("&persist=1");
    }
    match live.ask("POST", &target) {
        Ok(reply) if reply.status == 200 => {
            print(&reply.body);
        }
        Ok(reply) => {
            eprint!("{}", reply.body);
            return fail("nothing was changed");
        }
        Err(code) => return code,
    }
    if wanted.wait { wait_until_free(&live, &wanted.target) } else { ExitCode::SUCCESS }
}

/// Until no request is under way on the member and no session of it was seen for a while.
fn wait_until_free(live: &Live, target: &str) -> ExitCode {
    let mut last = String::new();
    loop {
        let reply = match live.ask("GET", &format!("/drained?target={}", encode(target))) {
            Ok(reply) => reply,
            Err(code) => return code,
        };
        if reply.status != 200 {
            eprint!("{}", reply.body);
            return ExitCode::FAILURE;
        }
        if reply.body.starts_with("free") {
            return print(&reply.body);
        }
        if reply.body != last {
            eprint!("{}", reply.body);
            last = reply.body;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}
