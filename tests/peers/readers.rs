//! What others wrote to read and drive mod_jk's status worker, unchanged, before mod_jk and before jkgate: the same results.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use jk_worker::Worker;
use serde_json::Value;
use test_support::package::fetched;
use test_support::servers::{Apache, ApacheOptions, Jkgate, root};

/// One group of two members behind each, and a status page that takes updates.
struct Fronts {
    apache: Apache,
    jkgate: Jkgate,
    _workers: [Worker; 2],
}

impl Fronts {
    async fn start() -> Self {
        let workers = [Worker::polite().await, Worker::polite().await];
        let [first, second] = [workers[0].address(), workers[1].address()];
        let mut properties = String::from(
            "worker.list=lb,jkstatus\nworker.jkstatus.type=status\nworker.lb.type=lb\nworker.lb.balance_workers=t1,t2\n",
        );
        for (name, address) in [("t1", first), ("t2", second)] {
            properties += &format!(
                "worker.{name}.type=ajp13\nworker.{name}.host={}\nworker.{name}.port={}\n",
                address.ip(),
                address.port()
            );
        }
        let apache = Apache::start(&ApacheOptions {
            workers: &properties,
            conf: "JkMount /jkstatus jkstatus\nJkMount /jkstatus/* jkstatus\nJkMount /* lb\n",
            ..ApacheOptions::default()
        });
        let jkgate = Jkgate::start(
            env!("CARGO_BIN_EXE_jkgate"),
            &format!(
                "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"off\"\n\
                 [status]\nget_updates_from = [\"127.0.0.0/8\"]\n[lb.lb]\n[ajp13.t1]\naddress = \"{first}\"\ngroup = \"lb\"\n\
                 [ajp13.t2]\naddress = \"{second}\"\ngroup = \"lb\"\n[uri]\n\"/jkstatus|/*\" = \"status\"\n\"/*\" = \"lb\"\n"
            ),
        );
        Self { apache, jkgate, _workers: workers }
    }

    /// What a program prints when it is given the address of each status page: mod_jk's, jkgate's.
    fn run(&self, command: impl Fn(&str) -> Command) -> [String; 2] {
        [self.apache.address(), self.jkgate.address()].map(|front: SocketAddr| {
            let output = command(&format!("http://{front}/jkstatus")).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{errors}");
            String::from_utf8(output.stdout).unwrap()
        })
    }
}

#[tokio::test]
async fn salt_reads_and_steers() {
    let salt = salt();
    let fronts = Fronts::start().await;
    let [theirs, ours] = fronts.run(|url| {
        let mut python = Command::new("python3");
        python.arg(root().join("tests/data/salt.py")).arg(&salt).arg(url);
        python
    });
    let (theirs, ours) = (said(&theirs), said(&ours));
    assert_eq!(theirs.len(), 40, "as many as salt.py asks for");
    let mut wrong = Vec::new();
    for ((name, theirs), (same, ours)) in theirs.iter().zip(&ours) {
        assert_eq!(name, same);
        wrong.extend(differences(theirs, ours).into_iter().map(|difference| format!("{name}: {difference}")));
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn a_script_that_deploys_finds_what_it_knows() {
    let fronts = Fronts::start().await;
    let [theirs, ours] = fronts.run(|url| {
        let mut shell = Command::new("sh");
        shell.arg(root().join("tests/data/deploy.sh")).args([url, "lb", "t1", "t2"]);
        shell
    });
    assert_eq!(theirs, ours);
    assert!(theirs.contains("t1 is STP") && theirs.contains("t2 is ACT"), "{theirs}");
}

/// Lines of `[name, value]`.
fn said(output: &str) -> Vec<(String, Value)> {
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// A table may have more entries than mod_jk's, and some values are each server's own; everything else is the same.
fn differences(theirs: &Value, ours: &Value) -> Vec<String> {
    let (Value::Object(theirs), Value::Object(ours)) = (theirs, ours) else {
        return if theirs == ours { Vec::new() } else { vec![format!("mod_jk {theirs}, jkgate {ours}")] };
    };
    let ours: BTreeMap<&String, &Value> = ours.iter().collect();
    let compare = |(key, value): (&String, &Value)| match ours.get(key) {
        None => Some(format!("{key} is missing; mod_jk has {value}")),
        Some(_) if is_own(key) => None,
        Some(own) if *own == value => None,
        Some(own) => Some(format!("{key}: mod_jk {value}, jkgate {own}")),
    };
    theirs.iter().filter_map(compare).collect()
}

/// Times, versions, and what stands in a configuration file.
fn is_own(key: &str) -> bool {
    ["server_name", "server_port", "time_", "_time", "jk_version", "web_server", "last_reset"]
        .iter()
        .any(|own| key.contains(own))
}

/// Salt's package as it was released; the last one that still has the modules.
fn salt() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("salt");
    fetched(&folder, "salt<3008", "salt/modules/modjk.py").ancestors().nth(2).unwrap().to_owned()
}
