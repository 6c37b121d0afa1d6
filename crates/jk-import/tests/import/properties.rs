//! What holds for every input: no panic, and whatever is imported is a configuration that serves as the original did.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use jk_balance::wildcard_match;
use jk_config::Config;
use jk_import::{InputFile, NoteKind};
use proptest::prelude::*;

use crate::site::{Site, file, try_import};

const NAMES: [&str; 6] = [
    "workers2.properties",
    "workers.properties",
    "uriworkermap.properties",
    "httpd.conf",
    "server.xml",
    "notes",
];

/// Refused, or a configuration that can be read.
fn holds(files: &[InputFile]) -> Result<(), TestCaseError> {
    match try_import(files, &[]) {
        Ok(imported) => {
            let loaded = Config::from_toml("workers.toml", &imported.toml);
            let told = loaded.err().map(|problems| problems.lines().join("\n"));
            prop_assert!(told.is_none(), "{}\n{}", told.unwrap_or_default(), imported.toml);
        }
        Err(problems) => prop_assert!(!problems.is_empty()),
    }
    Ok(())
}

/// Words that mean something somewhere.
fn word() -> impl Strategy<Value = String> {
    let words = [
        "[lb:a]",
        "[lb:lb]",
        "[channel.socket:h:8009]",
        "[channel.socket:x]",
        "[channel.un:/s]",
        "[ajp13:h:8009]",
        "[ajp13:x]",
        "[uri:/a/*]",
        "[uri:/*.jsp]",
        "[uri:w.test/a]",
        "[uri:w.test]",
        "[uri:*:443/x]",
        "[status:]",
        "[shm]",
        "[config:]",
        "[workerEnv:]",
        "group=a",
        "group=ajp13:x",
        "group=status:",
        "worker=ajp13:x",
        "tomcatId=r",
        "tomcatId=${x}",
        "host=h",
        "port=9",
        "lb_factor=3",
        "lb_factor=255",
        "level=7",
        "alias=z.test:80",
        "inheritGlobals=0",
        "disabled=1",
        "x=1",
        "$y=${x}",
        "worker.list=w,l,s",
        "worker.w.host=h",
        "worker.w.reference=worker.t",
        "worker.t.reference=worker.w",
        "worker.t.port=1",
        "worker.l.type=lb",
        "worker.l.balance_workers=w",
        "worker.s.type=status",
        "worker.w.mount=/m /n|/*",
        "worker.w.lbfactor=0",
        "worker.w.reply_timeout=99999999999",
        "worker.w.route=/",
        "/a/*=w",
        "!/a=*",
        "-/b=l;reply_timeout=5;stopped=w",
        "/c|/*=s ;x",
        "/d=w;session_path=;p",
        "JkMount /a/* w",
        "JkUnMount /a/x w",
        "JkMountCopy All",
        "JkWorkerProperty worker.list=w",
        "<VirtualHost *:80>",
        "</VirtualHost>",
        "ServerName a.test",
        "ServerAlias *.b",
        "<Location /l>",
        "</Location>",
        "JkMount w",
        "<Proxy balancer://b>",
        "</Proxy>",
        "BalancerMember ajp://h:1/p route=q loadfactor=1.5",
        "ProxyPass /p balancer://b/p",
        "ProxyPass /p !",
        "ProxyPass / ajp://h/",
        "ProxySet stickysession=A|b",
        "Listen 80",
        "Listen [::]:443",
        "SetEnvIf Request_URI \"\\.gif$\" no-jk",
        "Include x/*.conf",
        "JkOptions +ForwardURIEscaped",
        "<Server><Service>",
        "</Service></Server>",
        "<Connector protocol=\"AJP/1.3\" port=\"8009\" secret=\"s\"/>",
        "<Engine jvmRoute=\"w\"/>",
        "\\",
        "=",
        "#",
        "[",
        "${",
        "$(",
        "\u{feff}",
        "\"",
    ];
    prop_oneof![8 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => "[ -~\\t]{0,20}", 1 => ".{0,8}"]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(word(), 0..30).prop_map(|words| words.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400), name in 0..NAMES.len()) {
        holds(&[file(NAMES[name], bytes)])?;
    }

    #[test]
    fn lines_in_any_order_do_no_harm(texts in proptest::collection::vec(text(), 1..4), names in proptest::collection::vec(0..NAMES.len(), 4)) {
        let files: Vec<InputFile> = texts.iter().zip(names).map(|(text, name)| file(NAMES[name], text)).collect();
        holds(&files)?;
    }
}

/// A path of few letters, so that patterns meet.
fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(vec!["a", "b", "ab", "x.do", "x.jsp", ""]), 1..4)
        .prop_map(|segments| format!("/{}", segments.join("/")))
}

fn pattern() -> impl Strategy<Value = String> {
    let exact = path().prop_map(|path| path.replace("//", "/"));
    let prefix = path().prop_map(|path| format!("{}/*", path.replace("//", "/").trim_end_matches('/')));
    let glob = proptest::sample::select(vec![
        "/*.do",
        "/*.jsp",
        "/a/*.do",
        "/a/b/*.do",
        "/a?",
        "/*/b",
        "/a/*/x.do",
        "/?/x.do",
    ])
    .prop_map(str::to_owned);
    prop_oneof![exact, prefix, glob]
}

/// mod_jk2's choice among the maps of one host: exact, the longest prefix, the path without its slash, globs by length.
fn jk2<'m>(maps: &'m [(String, usize)], path: &str) -> Option<&'m (String, usize)> {
    let prefix =
        |pattern: &str| pattern.strip_suffix('*').filter(|text| text.ends_with('/')).map(str::to_owned);
    maps.iter()
        .find(|(pattern, _)| pattern == path && !pattern.contains(['*', '?']))
        .or_else(|| {
            maps.iter()
                .filter(|(pattern, _)| prefix(pattern).is_some_and(|text| path.starts_with(&text)))
                .max_by_key(|(pattern, _)| pattern.len())
        })
        .or_else(|| {
            maps.iter()
                .find(|(pattern, _)| prefix(pattern).is_some_and(|text| text.strip_suffix('/') == Some(path)))
        })
        .or_else(|| {
            let globs = maps.iter().filter(|(pattern, _)| {
                prefix(pattern).is_none() && wildcard_match(pattern.as_bytes(), path.as_bytes())
            });
            globs.max_by_key(|(pattern, _)| pattern.len())
        })
}

fn is_ambiguous(maps: &[(String, usize)], path: &str) -> bool {
    let globs: Vec<_> = maps
        .iter()
        .filter(|(pattern, _)| {
            pattern.contains(['*', '?'])
                && !pattern.ends_with("/*")
                && wildcard_match(pattern.as_bytes(), path.as_bytes())
        })
        .collect();
    globs.iter().any(|a| globs.iter().any(|b| a.1 != b.1 && a.0.len() == b.0.len()))
}

fn unique(maps: Vec<(String, usize)>) -> Vec<(String, usize)> {
    let mut seen = std::collections::HashSet::new();
    maps.into_iter().filter(|(pattern, _)| seen.insert(pattern.clone())).collect()
}

fn maps() -> impl Strategy<Value = Vec<(String, usize)>> {
    proptest::collection::vec((pattern(), 0..3usize), 0..7).prop_map(unique)
}

fn name(target: Option<usize>) -> String {
    target.map_or("-".to_owned(), |target| format!("g{target}"))
}

/// mod_jk: more slashes, then longer; then an exclusion for the winner's worker takes all away.
fn modjk(rules: &[(bool, String, usize)], path: &str) -> Option<usize> {
    let matching = |wanted: bool| {
        rules.iter().filter(move |(excludes, pattern, _)| {
            *excludes == wanted && wildcard_match(pattern.as_bytes(), path.as_bytes())
        })
    };
    let rank = |pattern: &str| (pattern.bytes().filter(|b| *b == b'/').count(), pattern.len());
    let best = matching(false).max_by_key(|(_, pattern, _)| rank(pattern))?;
    let is_taken = matching(true).any(|(_, _, worker)| *worker == best.2);
    (!is_taken).then_some(best.2)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mod_jk2_and_its_import_choose_alike(global in maps(), own in maps(), inherits in any::<bool>(), paths in proptest::collection::vec(path(), 1..12)) {
        let mut text = String::from("[lb:g0]\n[lb:g1]\n[lb:g2]\n[channel.socket:h:8009]\ngroup=g0\ngroup=g1\ngroup=g2\n");
        let _infallible = writeln!(text, "[uri:own.test]\ninheritGlobals={}", u8::from(inherits));
        for (host, maps) in [("", &global), ("own.test", &own)] {
            for (pattern, target) in maps {
                let _infallible = writeln!(text, "[uri:{host}{pattern}]\ngroup=g{target}");
            }
        }
        let site = Site::of(try_import(&[file("workers2.properties", &text)], &[]).map_err(|problems| TestCaseError::fail(format!("{problems:?}\n{text}")))?);
        // Where the two orders cannot both be had, the import says so.
        let is_told = site.imported.notes.iter().any(|note| note.text.contains("the other way round"));
        let mut both = own.clone();
        if inherits {
            both.extend(global.iter().cloned());
        }
        let both = unique(both);
        for path in &paths {
            if path.contains("//") {
                continue;
            }
            for (host, maps) in [("any.test", &global), ("own.test", &both)] {
                if is_told || is_ambiguous(maps, path) {
                    continue;
                }
                let expected = name(jk2(maps, path).map(|(_, target)| *target));
                prop_assert_eq!(site.serves_at(host, 80, path), expected, "{}{}\n{}\n{}", host, path, text, site.imported.toml);
            }
        }
    }

    #[test]
    fn mod_jk_and_its_import_choose_alike(
        rules in proptest::collection::vec((any::<bool>(), pattern(), 0..3usize), 1..9),
        paths in proptest::collection::vec(path(), 1..12),
    ) {
        let mut seen = std::collections::HashSet::new();
        let rules: Vec<_> = rules.into_iter().filter(|(excludes, pattern, _)| seen.insert((*excludes, pattern.clone()))).collect();
        let mut map = String::new();
        for (excludes, pattern, worker) in &rules {
            let _infallible = writeln!(map, "{}{pattern} = g{worker}", if *excludes { "!" } else { "" });
        }
        let files = [file("workers.properties", "worker.list=g0,g1,g2\n"), file("uriworkermap.properties", &map)];
        let site = Site::of(try_import(&files, &[]).map_err(|problems| TestCaseError::fail(format!("{problems:?}\n{map}")))?);
        for path in paths.iter().filter(|path| !path.contains("//")) {
            let rank = |pattern: &str| (pattern.bytes().filter(|b| *b == b'/').count(), pattern.len());
            let matching: Vec<_> = rules.iter().filter(|(excludes, pattern, _)| !excludes && wildcard_match(pattern.as_bytes(), path.as_bytes())).collect();
            // mod_jk leaves the order of equals to chance.
            if matching.iter().any(|a| matching.iter().any(|b| a.2 != b.2 && rank(&a.1) == rank(&b.1))) {
                continue;
            }
            let expected = modjk(&rules, path).map_or("-".to_owned(), |worker| format!("worker g{worker}"));
            prop_assert_eq!(site.serves(path), expected, "{}\n{}", path, map);
        }
    }

    #[test]
    fn mod_proxy_and_its_import_choose_alike(
        passes in proptest::collection::vec((path(), 0..4usize), 1..7),
        paths in proptest::collection::vec(path(), 1..12),
    ) {
        let passes: Vec<(String, usize)> = passes.into_iter().map(|(path, target)| (path.replace("//", "/"), target)).collect();
        let mut text = String::new();
        for (path, target) in &passes {
            let url = if *target == 3 { "!".to_owned() } else { format!("ajp://192.0.2.{target}{path}") };
            let _infallible = writeln!(text, "ProxyPass {path} {url}");
        }
        let site = Site::of(try_import(&[file("proxy.conf", &text)], &[]).map_err(|problems| TestCaseError::fail(format!("{problems:?}\n{text}")))?);
        let is_told = site.imported.notes.iter().any(|note| note.kind == NoteKind::Warning && note.text.contains("takes"));
        for path in paths.iter().filter(|path| !is_told && !path.contains("//")) {
            let first = passes.iter().find(|(prefix, _)| match path.strip_prefix(prefix.as_str()) {
                Some(rest) => prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'),
                None => false,
            });
            let expected = match first {
                Some((_, target)) if *target < 3 => format!("worker 192.0.2.{target}:8009"),
                _ => "-".to_owned(),
            };
            prop_assert_eq!(site.serves(path), expected, "{}\n{}\n{}", path, text, site.imported.toml);
        }
    }
}

/// Ten megabytes of one kind of line; two where the compiler did not optimise.
fn large(line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut n = 0;
    let size = if cfg!(debug_assertions) { 2 << 20 } else { 10 << 20 };
    while text.len() < size {
        text.push_str(&line(n));
        n += 1;
    }
    text
}

#[test]
fn large_files_are_fast() {
    let begin = "worker.list=w\n";
    for (name, text) in [
        ("workers2.properties", large(|n| format!("[uri:/app{n}/*]\ngroup=lb\n"))),
        (
            "workers2.properties",
            large(|n| format!("[uri:/*{n}.do]\ngroup=g{}\n", n % 3)) + "[lb:g0]\n[lb:g1]\n[lb:g2]\n",
        ),
        ("workers2.properties", large(|n| format!("[channel.socket:h{n}:8009]\ntomcatId=same\n"))),
        (
            "workers2.properties",
            large(|n| format!("[uri:h{n}.test/a/*]\n")) + "[uri:/b/*]\n[channel.socket:h:8009]\n",
        ),
        ("workers2.properties", large(|_| "[uri:/a]\n".to_owned())),
        (
            "workers.properties",
            begin.to_owned() + &large(|n| format!("worker.w{n}.host=h\nworker.list=w{n}\n")),
        ),
        ("workers.properties", begin.to_owned() + &large(|n| format!("v{n}=$(v{})\n", n.saturating_sub(1)))),
        (
            "workers.properties",
            begin.to_owned() + &large(|n| format!("worker.w{n}.reference=worker.w{}\n", n + 1)),
        ),
        (
            "workers.properties",
            "worker.list=l\nworker.l.type=lb\n".to_owned()
                + &large(|n| format!("worker.l.balance_workers=w{n}\nworker.w{n}.port=1\n")),
        ),
        ("uriworkermap.properties", large(|n| format!("/app{n}/*=w;reply_timeout={n}\n"))),
        ("httpd.conf", large(|n| format!("JkMount /app{n}/* w\n"))),
        (
            "httpd.conf",
            "JkMountCopy All\nJkMount /x w\n".to_owned()
                + &large(|n| format!("<VirtualHost *:80>\nServerName h{n}\nJkMount /a w\n</VirtualHost>\n")),
        ),
        ("httpd.conf", large(|n| format!("ProxyPass /app{n} ajp://h{n}/app{n}\n"))),
        (
            "httpd.conf",
            large(|n| format!("<Proxy balancer://b>\nBalancerMember ajp://h{n} route=r\n</Proxy>\n")),
        ),
        ("httpd.conf", large(|_| "<Location /a>\n".to_owned())),
        ("server.xml", large(|n| format!("<Connector protocol='AJP/1.3' port='{n}'/>\n"))),
        ("server.xml", "<Server>".to_owned() + &large(|_| "<".to_owned())),
        ("notes", large(|_| "[".to_owned())),
        ("workers2.properties", large(|_| "\u{e9}".to_owned())),
    ] {
        let mut files = vec![file(name, text)];
        if matches!(name, "uriworkermap.properties" | "httpd.conf") {
            files.push(file("workers.properties", begin));
        }
        let start = Instant::now();
        let result = try_import(&files, &[]);
        let took = start.elapsed();
        let what = files[0].bytes.iter().take(60).map(|b| char::from(*b)).collect::<String>();
        eprintln!("{took:>10.1?} {} {name}: {what:?}", if result.is_ok() { "imported" } else { "refused " });
        assert!(took < LONGEST, "{name}: {what:?} took {took:?}");
    }
}

/// Without optimisation and beside other tests; a quadratic reader would need hours.
const LONGEST: Duration = Duration::from_secs(30);
