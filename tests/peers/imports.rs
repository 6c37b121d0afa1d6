//! Generated configurations of mod_jk: the original under Apache, its import under jkgate, the same requests in the same order; each is
//! served by the same worker, or by none.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::Command;

use jk_worker::Worker;
use test_support::http::Client;
use test_support::request::Generator;
use test_support::servers::{Apache, ApacheOptions, Jkgate, Mpm};

/// Each site is one start of Apache; each of its virtual hosts is a configuration of its own.
const SITES: u64 = 6;
const HOSTS: usize = 50;
const URIS: usize = 24;
const WORKERS: usize = 6;
const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

#[tokio::test]
async fn an_import_serves_what_its_original_served() {
    let mut workers = Vec::new();
    for letter in 'a'..'g' {
        workers.push(named(letter).await);
    }
    let ports: Vec<u16> = workers.iter().map(|worker| worker.address().port()).collect();
    let (mut wrong, mut served, mut unmapped) = (Vec::new(), 0, 0);
    // More sites than usual, for a search that takes its time.
    let sites = std::env::var("IMPORT_SITES").ok().and_then(|text| text.parse().ok()).unwrap_or(SITES);
    for seed in 0..sites {
        let mut generator = Generator::new(0xC0_FFEE + seed);
        let site = Site::draw(&mut generator, &ports);
        let apache = Apache::start(&ApacheOptions {
            workers: &site.workers,
            files: &site.files,
            conf: &site.conf,
            mpm: Mpm::Worker,
        });
        let gateway = imported(&apache);
        let mut of_site = Vec::new();
        for n in 0..HOSTS * URIS {
            let host = n % HOSTS;
            let request = draw_request(&mut generator, host);
            let theirs = who(apache.address(), &request).await;
            let ours = who(gateway.address(), &request).await;
            if theirs.len() == 1 {
                served += 1
            } else {
                unmapped += 1
            }
            if theirs != ours {
                of_site.push((
                    host,
                    format!("{}: mod_jk {theirs}, jkgate {ours}", request.lines().next().unwrap_or("")),
                ));
            }
        }
        if let Some((host, _)) = of_site.first() {
            let about = site.host_text(*host);
            let lines: Vec<String> =
                of_site.iter().take(6).map(|(host, text)| format!("h{host} {text}")).collect();
            wrong.push(format!(
                "site {seed}: {} differences:\n{}\n{about}\n{}",
                of_site.len(),
                lines.join("\n"),
                site.workers
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(served > 1000 && unmapped > 1000, "{served} {unmapped}");
}

pub(crate) async fn named(letter: char) -> Worker {
    Worker::start(move |mut exchange| async move {
        exchange.answer(200, &[], letter.to_string().as_bytes()).await;
        exchange
    })
    .await
}

/// The worker's letter, or the status.
async fn who(address: SocketAddr, request: &str) -> String {
    let mut client = Client::connect(address).await;
    client.send(request).await;
    let response = client.response("GET").await;
    if response.status == 200 { response.text() } else { response.status.to_string() }
}

fn draw_request(generator: &mut Generator, host: usize) -> String {
    let mut uri = String::new();
    for _ in 0..=generator.below(3) {
        uri.push('/');
        uri.push_str(
            generator.one_of(&["app", "shop", "a", "b.jsp", "x.do", "static", "img.png", "app2", "deep"]),
        );
    }
    // SetEnvIf sees path parameters, the rules that stand in for it do not.
    let session = if uri.ends_with(".png") { "" } else { ";jsessionid=1.r2" };
    uri += generator.one_of(&["", "", "", "/", "?q=1", session]);
    let cookie = generator.one_of(&[
        "",
        "",
        "Cookie: JSESSIONID=1.r0\r\n",
        "Cookie: JSESSIONID=1.w1\r\n",
        "Cookie: JSESSIONID=1.r3\r\n",
    ]);
    format!("GET {uri} HTTP/1.1\r\nHost: h{host}.example.test\r\n{cookie}Connection: close\r\n\r\n")
}

/// What `jkgate import` makes of it, on a port of its own.
pub(crate) fn imported(apache: &Apache) -> Jkgate {
    let output = Command::new(PROGRAM).arg("import").arg(apache.conf()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let toml = String::from_utf8(output.stdout).unwrap();
    let there = format!("127.0.0.1:{}", apache.port);
    assert!(toml.contains(&there), "{toml}");
    let mut toml = toml.replace(&there, "127.0.0.1:@PORT@");
    if !toml.contains("[admin]") {
        toml += "\n[admin]\naddress = \"off\"\n";
    }
    Jkgate::start(PROGRAM, &toml)
}

/// A generated site.
struct Site {
    workers: String,
    files: Vec<(String, String)>,
    conf: String,
}

impl Site {
    fn draw(generator: &mut Generator, ports: &[u16]) -> Self {
        let mut site = Self { workers: String::new(), files: Vec::new(), conf: String::new() };
        let groups = site.draw_workers(generator, ports);
        site.conf += "LoadModule setenvif_module /usr/lib/apache2/modules/mod_setenvif.so\n";
        // The first one is for hosts that have no name of their own here.
        site.conf += "JkMount /global/* g0\nJkMount /deep/app g0\n";
        site.conf += "<VirtualHost *:@PORT@>\nServerName other.example.test\n</VirtualHost>\n";
        for host in 0..HOSTS {
            site.draw_host(generator, host, &groups);
        }
        site
    }

    /// Six workers and a few groups of them, written in the many ways that workers.properties knows.
    fn draw_workers(&mut self, generator: &mut Generator, ports: &[u16]) -> Vec<String> {
        let out = &mut self.workers;
        let n_groups = 2 + generator.below(3);
        let mut listed: Vec<String> = (0..n_groups).map(|group| format!("g{group}")).collect();
        listed.push("w0".to_owned());
        if generator.once_in(2) {
            writeln!(out, "worker.list={}", listed.join(",")).unwrap();
        } else {
            for name in &listed {
                writeln!(out, "worker.list = {name} ").unwrap();
            }
        }
        out.push_str("# where they are\nhere=127.0.0.1\nworker.common.type=ajp13\nworker.common.host=$(here)\nworker.common.reply_timeout=20000\n");
        for (number, port) in ports.iter().enumerate().take(WORKERS) {
            if generator.once_in(2) {
                writeln!(out, "worker.w{number}.reference=worker.common").unwrap();
            } else {
                writeln!(
                    out,
                    "worker.w{number}.type=ajp13\nworker.w{number}.host={}",
                    generator.one_of(&["127.0.0.1", "$(here)"])
                )
                .unwrap();
            }
            writeln!(out, "worker.w{number}.port={port}").unwrap();
            for (key, values) in [
                ("lbfactor", &["1", "2", "3"][..]),
                ("activation", &["active", "A", "disabled", "d", "stopped"]),
                ("distance", &["0", "1"]),
                ("domain", &["east", "west"]),
                ("redirect", &["r1", "r2"]),
                ("socket_keepalive", &["1", "True"]),
                ("cache_timeout", &["60"]),
                ("connection_pool_size", &["10", "64"]),
                ("connect_timeout", &["2000"]),
                ("disabled", &["1"]),
            ] {
                if generator.once_in(5) {
                    writeln!(out, "worker.w{number}.{key}={}", generator.one_of(values)).unwrap();
                }
            }
            if generator.once_in(2) {
                writeln!(out, "worker.w{number}.route=r{number}").unwrap();
            }
        }
        self.draw_groups(generator, n_groups);
        listed
    }

    fn draw_groups(&mut self, generator: &mut Generator, n_groups: usize) {
        let out = &mut self.workers;
        for group in 0..n_groups {
            let mut members: Vec<String> = Vec::new();
            for number in 0..WORKERS {
                // A worker is a member of one group, or its state would be shared in ways of its own.
                if number % n_groups == group {
                    members.push(format!("w{number}"));
                }
            }
            let word = generator.one_of(&["balance_workers", "balance_workers", "balanced_workers"]);
            writeln!(out, "worker.g{group}.type=lb\nworker.g{group}.{word}={}", members.join(", ")).unwrap();
            for (key, values) in [
                ("method", &["R", "S", "B", "Request", "Busyness", "N"][..]),
                ("sticky_session", &["0", "1", "False", "true"]),
                ("sticky_session_force", &["0", "1"]),
                ("retries", &["2", "3"]),
                ("recover_time", &["30"]),
                ("lock", &["O", "P"]),
            ] {
                if generator.once_in(4) {
                    writeln!(out, "worker.g{group}.{key}={}", generator.one_of(values)).unwrap();
                }
            }
        }
    }

    fn draw_host(&mut self, generator: &mut Generator, host: usize, groups: &[String]) {
        let mut lines = String::new();
        let mut file = String::new();
        let mut ranks = Vec::new();
        for _ in 0..2 + generator.below(5) {
            let pattern = draw_pattern(generator);
            let expanded = match pattern.split_once('|') {
                Some((first, second)) => vec![first.to_owned(), format!("{first}{second}")],
                None => vec![pattern.clone()],
            };
            let own: Vec<_> = expanded.iter().map(|text| (text.matches('/').count(), text.len())).collect();
            // Of two rules of equal rank the order is mod_jk's secret.
            if own.iter().any(|rank| ranks.contains(rank)) {
                continue;
            }
            ranks.extend(own);
            let group = &groups[generator.below(groups.len())];
            let excludes = generator.once_in(4);
            match (generator.below(4), excludes) {
                (0, true) => writeln!(lines, "JkUnMount {pattern} {group}").unwrap(),
                (0 | 1, false) => writeln!(lines, "  JkMount  {pattern}\t{group}").unwrap(),
                (_, true) => writeln!(file, "!{pattern}={group}").unwrap(),
                (2, false) => writeln!(file, "{pattern} = {group}").unwrap(),
                (_, false) => {
                    let more = generator.one_of(&[
                        ";sticky_ignore=1",
                        ";stateless=1",
                        ";reply_timeout=15000",
                        ";session_cookie=SID",
                        ";active=w0",
                        ";stopped=w1,w2",
                        "",
                    ]);
                    let off = if generator.once_in(5) { "-" } else { "" };
                    writeln!(file, "{off}{pattern}={group}{more}").unwrap();
                }
            }
        }
        if generator.once_in(5) {
            lines += "JkMountCopy On\n";
        }
        if !ranks.contains(&(1, "/static".len())) && generator.once_in(5) {
            writeln!(lines, "<Location /static>\n  JkMount {}\n</Location>", groups[0]).unwrap();
        }
        if generator.once_in(4) {
            lines += "SetEnvIf Request_URI \"\\.png$\" no-jk\n";
        }
        if !file.is_empty() {
            writeln!(lines, "JkMountFile @DIR@/map{host}").unwrap();
            self.files.push((format!("map{host}"), format!("# rules of host {host}\n\n{file}")));
        }
        write!(self.conf, "<VirtualHost *:@PORT@>\nServerName h{host}.example.test\n{lines}</VirtualHost>\n")
            .unwrap();
    }

    /// One host's part, for messages.
    fn host_text(&self, host: usize) -> String {
        let name = format!("h{host}.example.test");
        let part =
            self.conf.split("<VirtualHost").find(|part| part.contains(&format!("ServerName {name}\n")));
        let file = self.files.iter().find(|(name, _)| *name == format!("map{host}"));
        format!("{}\n{}", part.unwrap_or_default(), file.map_or("", |(_, text)| text))
    }
}

fn draw_pattern(generator: &mut Generator) -> String {
    let mut pattern = String::new();
    for _ in 0..=generator.below(2) {
        pattern.push('/');
        pattern.push_str(generator.one_of(&["app", "shop", "a", "static", "app2", "deep", "b.jsp"]));
    }
    match generator.below(6) {
        0 => pattern,
        1 => format!("{pattern}|/*"),
        2 => format!("{pattern}/*.jsp"),
        3 => generator.one_of(&["/*", "/*.jsp", "/*.do", "/*.png", "/a*/b*"]).to_owned(),
        _ => format!("{pattern}/*"),
    }
}
