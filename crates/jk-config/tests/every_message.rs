//! Every message that a configuration can cause, as an operator sees it: `every_message.txt` holds them, and none is missing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use jk_config::{Edit, Style};

/// A listener, so that nothing is said about there being none.
const L: &str = "[listener.main]\naddress = \"127.0.0.1:8080\"\n";

/// Files by name; `workers.toml` is the first one read, and begins with [`L`] where it begins with a `+`.
type Case = &'static [(&'static str, &'static str)];

const CASES: &[Case] = &[
    &[("workers.toml", "[listener.main\naddress = 1\n[lb.lb]\nx == 2\n")],
    &[("workers.toml", "")],
    &[],
    &[("workers.toml", "+[ajp13.status]\naddress = \"127.0.0.1:8009\"\n")],
    &[("workers.toml", "+[lb.shop]\n[ajp13.shop]\naddress = \"127.0.0.1:8009\"\ngroup = \"shop\"\n")],
    &[("workers.toml", "+[listener.second]\naddress = \"127.0.0.1:8080\"\n")],
    &[
        ("workers.toml", "include = [\"more.toml\"]\n+"),
        ("more.toml", "[listener.main]\naddress = \"127.0.0.1:8081\"\n[process]\nthreads = 1\n"),
    ],
    &[
        ("workers.toml", "include = [\"more.toml\"]\n+[process]\nthreads = 1\n[defaults.lb]\nretries = 3\n"),
        ("more.toml", "[process]\nthreads = 2\n[defaults.lb]\nretries = 2\n[defaults.uri]\nx = 1\n"),
    ],
    &[("workers.toml", "include = 7\n+")],
    &[("workers.toml", "include = [1, \"a*/b*.toml\", \"missing.toml\"]\n+include = [\"late.toml\"]\n")],
    &[(
        "workers.toml",
        "+[ajp13.t1]\naddress = \"127.0.0.1:8009\"\nreply_timeout = \"1s\"\n[uri]\n\"/a\" = \"t1\"\n",
    )],
    &[("workers.toml", "+[ajp13.t1]\naddress = \"tomcat.example.test:8009\"\n[uri]\n\"/a\" = \"t1\"\n")],
    &[(
        "workers.toml",
        "+[ajp13.t1]\naddress = \"127.0.0.1:8009\"\nsecret = \"abc\"\n[uri]\n\"/a\" = \"t1\"\n",
    )],
    &[
        (
            "workers.toml",
            "+[ajp13.t1]\naddress = \"127.0.0.1:8009\"\nsecret = \"abc\"\nsecret_file = \"s\"\n[uri]\n\"/a\" = \"t1\"\n",
        ),
        ("s", "x"),
    ],
    &[
        (
            "workers.toml",
            "+[ajp13.t1]\naddress = \"127.0.0.1:8009\"\nsecret_file = \"empty\"\n[ajp13.t2]\naddress = \"127.0.0.1:8010\"\nsecret_file = \"none\"\n[uri]\n\"/a\" = \"t1\"\n\"/b\" = \"t2\"\n",
        ),
        ("empty", "\n"),
    ],
    &[(
        "workers.toml",
        "+[lb.lb]\nsecret_env = \"JKGATE_NO_SUCH_VARIABLE\"\n[ajp13.t1]\naddress = \"127.0.0.1:8009\"\ngroup = \"lb\"\nsecret = 123\n[uri]\n\"/a\" = \"lb\"\n",
    )],
    &[(
        "workers.toml",
        "+[lb.lb]\n[ajp13.t1]\naddress = \"127.0.0.1:8009\"\ngroup = \"lb\"\n[ajp13.t2]\naddress = \"127.0.0.1:8010\"\ngroup = \"lb\"\nroute = \"t1\"\nredirect = \"t9\"\n[uri]\n\"/a\" = \"lb\"\n",
    )],
    &[(
        "workers.toml",
        "+[lb.lb]\n[ajp13.t1]\naddress = \"127.0.0.1:8009\"\ngroup = \"lb\"\n[uri]\n\"/a\" = { group = \"lb\", stopped = \"t7\" }\n",
    )],
    &[(
        "workers.toml",
        "+[lb.lb]\n[uri]\n\"/a/*\" = \"lb\"\n\"/a|/*\" = \"status\"\n\"/x\" = 7\n\"/y\" = { reply_timeout = \"1m\" }\n\"b\" = \"lb\"\n\"!-/c\" = \"lb\"\n\"/d;e\" = \"lb\"\n\"/f\" = \"bl\"\n",
    )],
    &[(
        "workers.toml",
        "+[ajp13.t1]\naddress = \"127.0.0.1:8009\"\nactivation = \"stopped\"\n[ajp13.t2]\naddress = \"127.0.0.1:8010\"\n[uri]\n\"/a\" = \"t1\"\n",
    )],
    &[(
        "workers.toml",
        "+[host.\"a.example.test\"]\n[host.\"b.example.test\"]\naliases = [\"a.example.test\", \"*\", \"x y\", \"\"]\n[host.\"c/d\"]\n",
    )],
    &[(
        "workers.toml",
        "process = 3\n+[ajp13]\naddress = \"127.0.0.1:8009\"\n[wokrers.t1]\n[lb.\"a b\"]\n[lb.good]\nsticky_sesion = true\nlb_factor = 3\n",
    )],
    &[(
        "workers.toml",
        "+[ajp13.t1]\nhost = \"127.0.0.1\"\nport = 8009\nmax_busy_limit = 3\n[ajp13.t2]\naddress = \"127.0.0.1:x\"\n[ajp13.t3]\naddress = \"unix:\"\n[ajp13.t4]\naddress = \"127.0.0.1\"\n",
    )],
    &[(
        "workers.toml",
        "+[ajp13.t1]\naddress = \"127.0.0.1:8009\"\nreply_timeout = \"5\"\nping_timeout = \"2 weeks\"\nsocket_connect_timeout = \"9000000h\"\nmax_packet_size = \"9\"\nconnection_pool_size = 0\nping_mode = [\"conect\"]\nfail_on_status = [500, 9]\nsocket_keepalive = 1\nhealth_check = \"cping\"\n",
    )],
    &[(
        "workers.toml",
        "+[ajp13.t1]\naddress = \"127.0.0.1:8009\"\nhealth_check = { kind = \"request\", path = \"x\", interval = \"0s\" }\nmax_packet_size = \"9GB\"\n",
    )],
    &[
        (
            "workers.toml",
            "+[status]\nreadable_from = [\"10.0.0.0/99\"]\nusers_file = \"users\"\n[admin]\naddress = \"0.0.0.0:9\"\n",
        ),
        ("users", "ann:$apr1$x\n"),
    ],
    &[("workers.toml", "+[status]\nusers_file = \"users\"\n"), ("users", "ann:word\n")],
];

#[test]
fn each_is_what_it_was() {
    let mut shown = String::new();
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in *case {
            let text = text.replacen('+', L, 1);
            writeln!(shown, "──── {name}\n{text}").unwrap();
            fs::write(folder.path().join(name), text).unwrap();
        }
        shown += &loaded(folder.path(), &[]);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("workers.toml"), L).unwrap();
    shown += "──── a change from outside: lb.shop retries = 3\n";
    shown += &loaded(folder.path(), &[Edit::new("lb", "shop", "retries", "3")]);
    fs::write(folder.path().join("workers.toml"), [L.as_bytes(), b"# caf\xe9\n"].concat()).unwrap();
    shown += "──── a file in Latin-1\n";
    shown += &loaded(folder.path(), &[]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/every_message.txt");
    expect_test::expect_file![&file].assert_eq(&shown);
    let missing: Vec<String> = in_the_source().into_iter().filter(|text| !shown.contains(text)).collect();
    assert!(missing.is_empty(), "never shown: {missing:#?}");
}

fn loaded(folder: &Path, edits: &[Edit]) -> String {
    let text = match jk_config::load_edited(&folder.join("workers.toml"), edits) {
        Ok(loaded) if loaded.warnings.is_empty() => "fine\n".to_owned(),
        Ok(loaded) => loaded.warnings.render(Style::Plain),
        Err(problems) => problems.render(Style::Plain),
    };
    format!("{}\n", text.replace(&format!("{}/", folder.display()), ""))
}

/// The longest fixed part of every sentence that is made into a problem.
fn in_the_source() -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for start in ["Problem::error(", "Problem::warning(", "Problem::whole("] {
            for call in text.split(start).skip(1) {
                let Some((_, rest)) = call.split_once('"') else { continue };
                let sentence = rest.replace("\\\"", "\u{1}");
                let sentence = sentence.split('"').next().unwrap_or_default().replace('\u{1}', "\"");
                let fixed = sentence.split(['{', '}']).step_by(2).max_by_key(|part| part.len());
                found.extend(fixed.map(|part| part.trim().to_owned()));
            }
        }
    }
    assert!(found.len() > 40, "{found:?}");
    found
}

/// Files that are no configuration at all: one clear error each, soon, and no panic.
#[test]
fn strange_files_are_refused_in_a_sentence() {
    let deep = format!("{L}x = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let tables = format!("{L}[{}]\n", vec!["a"; 50_000].join("."));
    let huge = format!("{L}# {}\n", "x".repeat(80_000_000));
    let long = format!("{L}[uri]\n\"/{}\" = \"nowhere\"\n", "x".repeat(1_000_000));
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("a NUL", format!("{L}x = \"\0\"\n").into_bytes(), "this is not TOML"),
        ("Latin-1", [L.as_bytes(), b"# caf\xe9\n"].concat(), "a byte E9 that is none"),
        ("UTF-16", [&[0xFF, 0xFE][..], b"[\0l\0"].concat(), "UTF-8"),
        ("deep arrays", deep.into_bytes(), "this is not TOML"),
        ("deep tables", tables.into_bytes(), "error"),
        ("80 MB", huge.into_bytes(), "more than a configuration can need"),
        ("one long line", long.into_bytes(), "there is no target"),
        ("a byte order mark", [b"\xEF\xBB\xBF", L.as_bytes()].concat(), "fine"),
        ("carriage returns", L.replace('\n', "\r\n").into_bytes(), "fine"),
    ];
    for (name, bytes, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("workers.toml"), bytes).unwrap();
        let said = loaded(folder.path(), &[]);
        assert!(said.contains(expected), "{name}: {}", said.chars().take(500).collect::<String>());
        assert!(said.len() < 10_000, "{name}: {} bytes of message", said.len());
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("workers.toml")).unwrap();
    assert!(loaded(folder.path(), &[]).contains("it is not a file"));
}
