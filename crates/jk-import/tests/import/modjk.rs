//! workers.properties and uriworkermap.properties.

use std::time::Duration;

use jk_config::{Method, Stickiness};
use jk_import::NoteKind;

use crate::site::{Site, file, import, lines, refused, seconds};

fn workers(text: &str) -> Site {
    import(&[file("workers.properties", text)])
}

fn refusal(text: &str) -> String {
    lines(&refused(&[file("workers.properties", text)])).join("\n")
}

/// Workers of plain names, and rules for them.
fn mapped(names: &str, rules: &str) -> Site {
    import(&[
        file("workers.properties", format!("worker.list={names}\n")),
        file("uriworkermap.properties", rules),
    ])
}

const SHOP: &str = "\
# two Tomcats behind one name
worker.list=shop,jkstatus
worker.template.type=ajp13
worker.template.port=8109
worker.template.socket_timeout=20
worker.template.socket_connect_timeout=1500
worker.template.ping_mode=A
worker.template.connection_pool_timeout=600
worker.t1.reference=worker.template
worker.t1.host=192.0.2.11
worker.t1.lbfactor=3
worker.t2.reference=worker.template
worker.t2.host=192.0.2.12
worker.t2.redirect=t1
worker.shop.type=lb
worker.shop.balance_workers=t1
worker.shop.balance_workers=t2
worker.shop.method=Busyness
worker.shop.sticky_session_force=yes
worker.shop.recover_time=30
worker.jkstatus.type=status
worker.jkstatus.read_only=true
worker.maintain=120
";

#[test]
fn a_group_with_a_template() {
    let site = workers(SHOP);
    assert_eq!(site.members("shop"), ["t1 t1 3 0", "t2 t2 1 0"]);
    assert_eq!(
        (site.address("t1"), site.address("t2")),
        ("192.0.2.11:8109".into(), "192.0.2.12:8109".into())
    );
    let shop = site.group("shop");
    assert_eq!((shop.method, shop.stickiness), (Method::Busyness, Stickiness::Force));
    assert_eq!((shop.recover_time, shop.maintain), (seconds(30), seconds(120)));
    let channel = &site.worker("t2").channel;
    assert_eq!(channel.socket_connect_timeout, Duration::from_millis(1500));
    assert_eq!(channel.reply_timeout, Some(seconds(20)));
    assert_eq!(channel.pool_timeout, Some(seconds(600)));
    assert_eq!((channel.connect_ping, channel.prepost_ping), (Some(seconds(10)), Some(seconds(10))));
    let interval = channel.interval_ping.unwrap();
    assert_eq!((interval.every, interval.timeout), (seconds(100), seconds(10)));
    assert!(site.config.status().read_only);
}

#[test]
fn seconds_and_milliseconds_get_their_units() {
    let site = workers(
        "worker.list=w\n\
         worker.w.socket_timeout=9\nworker.w.socket_connect_timeout=9\nworker.w.ping_timeout=9\nworker.w.connect_timeout=8\n\
         worker.w.prepost_timeout=7\nworker.w.connection_ping_interval=9\nworker.w.reply_timeout=90000\n\
         worker.w.connection_pool_timeout=9\nworker.w.connection_acquire_timeout=9\n",
    );
    let channel = &site.worker("w").channel;
    let ms = Duration::from_millis;
    assert_eq!(channel.socket_connect_timeout, ms(9));
    assert_eq!((channel.connect_ping, channel.prepost_ping), (Some(ms(8)), Some(ms(7))));
    assert_eq!(channel.interval_ping.map(|ping| (ping.every, ping.timeout)), Some((seconds(9), ms(9))));
    assert_eq!(channel.reply_timeout, Some(seconds(90)));
    assert_eq!((channel.pool_timeout, channel.acquire_timeout), (Some(seconds(9)), ms(9)));
}

#[test]
fn zero_means_what_it_meant() {
    let site = workers(
        "worker.list=w\nworker.w.reply_timeout=0\nworker.w.connection_pool_timeout=0\nworker.w.lbfactor=0\nworker.w.busy_limit=0\nworker.w.port=0\n",
    );
    let worker = site.worker("w");
    assert_eq!((worker.channel.reply_timeout, worker.channel.pool_timeout), (None, None));
    assert_eq!(worker.busy_limit, None);
    assert!(site.has_note(NoteKind::Changed, 4, "lbfactor=0 becomes 1"));
    assert!(site.has_note(NoteKind::Changed, 6, "port=0"));
    assert!(
        site.imported.toml.contains("activation    = \"stopped\"")
            || site.imported.toml.contains("\"stopped\"")
    );
}

#[test]
fn byte_order_marks_line_ends_and_blanks() {
    let text = "\u{feff}worker.list = a b,\tc  \r\n\r\n   worker.a.host =  192.0.2.1   \r\nworker.b.host=192.0.2.2 # second\r\nworker.c.host=192.0.2.3\r\n";
    let site = workers(text);
    for (name, address) in [("a", "192.0.2.1:8009"), ("b", "192.0.2.2:8009"), ("c", "192.0.2.3:8009")] {
        assert_eq!(site.address(name), address);
    }
    assert!(site.has_note(NoteKind::Warning, 1, "byte order mark"));
    let latin1 = import(&[file("workers.properties", b"# \xe4\xf6\xfc\nworker.list=w\n".as_slice())]);
    assert!(latin1.has_note(NoteKind::Warning, 1, "ISO-8859-1"));
}

#[test]
fn a_number_sign_cuts_a_value_and_is_pointed_out() {
    let site = workers("worker.list=w\nworker.w.secret=qzx1#qzx2\nworker.w.host=192.0.2.1\t# fine\n");
    assert_eq!(site.worker("w").secret.as_ref().unwrap().expose(), "qzx1");
    assert!(site.has_note(NoteKind::Warning, 2, "the secret ends before the #"));
    assert!(!site.has_note(NoteKind::Warning, 3, ""));
    // Neither what was cut nor what is left is told to anybody.
    assert!(site.imported.notes.iter().all(|note| !note.text.contains("qzx")));
}

#[test]
fn a_key_that_stands_twice() {
    let site = workers(
        "worker.list=a\nworker.list=b\nworker.a.host=192.0.2.1\nworker.a.host=192.0.2.2\nworker.a.distance=1\nworker.a.distance=2\n",
    );
    assert_eq!(site.address("a"), "192.0.2.2:8009");
    assert!(site.config.workers().contains_key("b"));
    assert!(site.has_note(NoteKind::Warning, 4, "line 3"));
    assert!(site.has_note(NoteKind::Warning, 6, "line 5"));
    assert!(site.imported.toml.contains("distance"));
    assert_eq!(site.config.solo(&jk_config::WorkerName::new("a").unwrap()).unwrap().members[0].distance, 1);
}

#[test]
fn variables_come_from_earlier_lines_and_the_environment() {
    let site = workers(
        "net=192.0.2\nhost=$(net).7\nworker.list=w,$(FROM_ENVIRONMENT)\nworker.w.host=$(host)\nworker.w.route=$(later)x\nlater=no\n",
    );
    assert_eq!(site.address("w"), "192.0.2.7:8009");
    assert!(site.config.workers().contains_key("environment"));
    assert!(site.imported.toml.contains("route   = \"$(later)x\""), "{}", site.imported.toml);
    assert!(site.has_note(NoteKind::Warning, 5, "$(later)"));
}

#[test]
fn old_names_are_translated_and_told() {
    let site = workers(
        "worker.list=lb\nworker.lb.type=lb\nworker.lb.balanced_workers=a,b\nworker.a.jvm_route=r1\nworker.a.cachesize=20\nworker.a.cache_timeout=60\n\
         worker.b.disabled=1\nworker.b.recycle_timeout=300\nworker.b.local_worker=1\n",
    );
    assert_eq!(site.members("lb"), ["a r1 1 0", "b b 1 0 disabled"]);
    assert_eq!(site.worker("a").channel.pool_size, 20);
    for line in [3, 4, 5, 6] {
        assert!(site.has_note(NoteKind::Changed, line, "today"), "{line}");
    }
    assert!(
        site.has_note(NoteKind::Dropped, 8, "recycle_timeout")
            && site.has_note(NoteKind::Dropped, 9, "local_worker")
    );
}

#[test]
fn templates_go_through_several_levels_and_the_nearest_value_counts() {
    let site = workers(
        "worker.list=w\nworker.w.reference=worker.near\nworker.near.reference=worker.far\nworker.near.port=1\nworker.far.port=2\nworker.far.host=192.0.2.9\n",
    );
    assert_eq!(site.address("w"), "192.0.2.9:1");
    for (text, part) in [
        ("worker.list=w\nworker.w.reference=worker.v\nworker.v.reference=worker.w\n", "refers to itself"),
        ("worker.list=w\nworker.w.reference=worker.nothing\n", "names no worker"),
        ("worker.list=w\nworker.w.reference=tmpl\nworker.tmpl.port=1\n", "write reference=worker.tmpl"),
    ] {
        assert!(refusal(text).contains(part), "{}", refusal(text));
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "worker.list=lb,old\nworker.lb.type=lb\nworker.lb.balance_workers=a,b,zz\nworker.a.hots=192.0.2.1\nworker.a.route=same\n\
                worker.b.route=same\nworker.b.host=192.0.2.2:8009\nworker.old.type=ajp12\nworker.a.port=70000\n";
    let rules = "/x=lb\n";
    let problems = refused(&[file("workers.properties", text), file("uriworkermap.properties", rules)]);
    let told = lines(&problems);
    for part in [
        "workers.properties:3:1: error: member \"zz\" of group \"lb\" is not defined",
        "workers.properties:4:1: error: worker.a.hots is no attribute that a worker can have\n    help: did you mean \"host\"?",
        "workers.properties:6:1: error: route \"same\" is that of \"a\" and of \"b\"",
        "workers.properties:7:1: error: host=192.0.2.2:8009 is no name of a machine\n    help: write worker.b.host=192.0.2.2 and worker.b.port=8009",
        "workers.properties:8:1: error: worker \"old\" is of type \"ajp12\"",
        "workers.properties:9:1: error: port=70000 is out of range",
    ] {
        assert!(told.iter().any(|line| line.starts_with(part)), "{part}\nin\n{}", told.join("\n"));
    }
    assert_eq!(told.len(), 6, "{}", told.join("\n"));
}

/// mod_jk went on with the other rules; a typo must not keep a whole site from coming over, nor let another group serve it.
#[test]
fn rules_that_serve_nothing_keep_no_site_from_coming_over() {
    let text = "worker.list=shop,w\nworker.shop.type=lb\nworker.shop.balance_workers=a\nworker.a.host=192.0.2.1\nworker.w.host=192.0.2.2\n";
    let rules =
        "z=w\n!-/q=w\n/*=w\n/y/*=shpo\n/y/z=shpo\n/m=a\n/jk-status=jk-status\n/n=nobody\n!/o=nobody\n";
    let site = import(&[file("workers.properties", text), file("uriworkermap.properties", rules)]);
    for (path, target) in [
        ("/x", "worker w"),
        ("/y/x", "shpo"),
        ("/y/z", "shpo"),
        ("/m", "a-2"),
        ("/jk-status", "jk-status"),
        ("/n", "nobody"),
        ("/o", "worker w"),
    ] {
        assert_eq!(site.serves(path), target, "{path}\n{}", site.imported.toml);
    }
    for group in ["shpo", "a-2", "jk-status", "nobody"] {
        assert!(site.members(group).is_empty(), "{group}");
    }
    for (line, part) in [
        (1, "\"z\" is no pattern"),
        (2, "write -!/q"),
        (4, "did you mean \"shop\"?"),
        (5, "did you mean \"shop\"?"),
        (6, "if it should serve, add a to worker.list"),
        (7, "for the status page, let it lead to \"status\""),
        (8, "workers are shop, w"),
    ] {
        assert!(site.has_note(NoteKind::Warning, line, part), "{line} {part}: {:?}", site.warned());
    }
    assert_eq!(site.warned().len(), 7, "{:?}", site.warned());
    assert!(site.has_note(NoteKind::Dropped, 9, "excludes from \"nobody\""));
}

/// Its build of the connector has an attribute more, which others do not start with.
#[test]
fn files_of_coldfusion_come_over() {
    let site = workers("worker.list=w\nworker.w.host=192.0.2.1\nworker.w.max_reuse_connections=250\n");
    assert!(site.has_note(NoteKind::Dropped, 3, "max_reuse_connections is known to ColdFusion"));
}

#[test]
fn what_is_not_used_is_told() {
    let site = workers(
        "worker.list=w\nworker.v.host=192.0.2.1\nworker.w.method=Request\nworker.w.retries=1\nworker.w.route=\n",
    );
    assert!(!site.config.workers().contains_key("v"));
    assert!(site.has_note(NoteKind::Dropped, 2, "\"v\" is neither in worker.list"));
    assert!(site.has_note(NoteKind::Dropped, 3, "method=Request means nothing for a worker of type ajp13"));
    assert!(site.has_note(NoteKind::Dropped, 4, "retries=1"));
    assert!(site.has_note(NoteKind::Dropped, 5, "empty value"));
}

#[test]
fn switches_and_numbers_that_cannot_be_read_are_the_default() {
    let site = workers(
        "worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=a\nworker.lb.sticky_session=enabled\nworker.a.port=http\nworker.a.socket_timeout=10s\n",
    );
    assert_eq!(site.group("lb").stickiness, Stickiness::Prefer);
    assert_eq!(site.address("a"), "localhost:8009");
    assert_eq!(site.worker("a").channel.reply_timeout, Some(seconds(10)));
    assert!(
        site.has_note(NoteKind::Warning, 4, "neither on nor off")
            && site.has_note(NoteKind::Warning, 5, "not a number")
    );
}

#[test]
fn names_that_mean_something_here_get_others() {
    let site = import(&[
        file(
            "workers.properties",
            "worker.list=status,jk\nworker.status.host=192.0.2.1\nworker.jk.type=status\n",
        ),
        file("uriworkermap.properties", "/app/*=status\n/jk=jk\n"),
    ]);
    assert_eq!((site.serves("/app/x"), site.serves("/jk")), ("worker status-2".into(), "status".into()));
    // Tomcat still knows itself by the old name.
    assert!(site.imported.toml.contains("route   = \"status\""), "{}", site.imported.toml);
}

#[test]
fn rules_are_as_mod_jk_understands_them() {
    let deep = "/*=root\n/app/*=app\n!/app/static/*=app\n";
    for (names, rules, rows) in [
        (
            "w",
            "/app=w",
            vec![
                ("/app", "w"),
                ("/app/", "-"),
                ("/App", "-"),
                ("/app;jsessionid=A.n1", "w"),
                ("//app", "w"),
                ("/x/../app", "w"),
            ],
        ),
        (
            "w",
            "/app/*=w",
            vec![("/app", "-"), ("/app/", "w"), ("/app/x/y", "w"), ("/application/x", "-"), ("/app//x", "w")],
        ),
        ("w", "/app|/*=w", vec![("/app", "w"), ("/app/x", "w"), ("/appx", "-")]),
        (
            "j a d",
            "/*.jsp=j\n/app/*=a\n/*/adm/*.jsp=d",
            vec![
                ("/x.jsp", "j"),
                ("/a/b/x.jsp", "j"),
                ("/app/x.jsp", "a"),
                ("/app/adm/x.jsp", "d"),
                ("/x.JSP", "-"),
                ("/.jsp", "j"),
            ],
        ),
        ("exact star", "/a/b=exact\n/a/b*=star", vec![("/a/b", "star"), ("/a/bc", "star")]),
        ("w", "/p?.do=w", vec![("/p1.do", "w"), ("/p.do", "-"), ("/p/.do", "w")]),
        (
            "w",
            "/app/*=w\n!/app/*.gif=w",
            vec![("/app/x.gif", "-"), ("/app/x.GIF", "w"), ("/app/x.gif/y", "w")],
        ),
        ("w v", "/app/*=w\n!/app/*.gif=v\n/v=v", vec![("/app/x.gif", "w")]),
        ("w", "/app/*=w\n!/*.gif=*", vec![("/app/x.gif", "-")]),
        ("root app", deep, vec![("/app/static/x", "-"), ("/app/dyn/x", "app"), ("/x", "root")]),
        ("w root", "-/app/*=w\n/*=root", vec![("/app/x", "root")]),
        ("w", "/app/*=w\n-!/app/*.gif=w", vec![("/app/x.gif", "w")]),
        ("a b", "/dup=a\n/dup=b", vec![("/dup", "b")]),
        ("w v", "/*=w\n!/gif/*=v\n!/gif/*=w", vec![("/gif/x", "-")]),
    ] {
        let site = mapped(names, rules);
        for (path, target) in rows {
            let wanted = if target == "-" { "-".to_owned() } else { format!("worker {target}") };
            assert_eq!(site.serves(path), wanted, "{rules}\n{path}");
        }
    }
}

#[test]
fn extensions_keep_their_meaning() {
    let site = import(&[
        file("workers.properties", SHOP),
        file(
            "uriworkermap.properties",
            "limit=1200000\n/report/*=shop;reply_timeout=$(limit);sticky_ignore=1;stopped=t2\n/never=shop;reply_timeout=0\n/same=shop;reply_timeout=-1\n\
             /e=shop;use_server_errors=500;fail_on_status=503,-404;session_path=;sess;session_cookie=SID\n/blank=shop ; stateless=1\n/odd=shop;colour=red\n\
             !/report/x=shop;stateless=1\n",
        ),
    ]);
    let rule = |written: &str| {
        site.config.mappings().iter().find(|rule| rule.written == written).unwrap().options.clone()
    };
    use jk_config::ReplyTimeout::{After, Never};
    let report = rule("/report/*");
    assert_eq!((report.reply_timeout, report.sticky_ignore), (Some(After(seconds(1200))), true));
    assert_eq!(report.activation.len(), 1);
    assert_eq!((rule("/never").reply_timeout, rule("/same").reply_timeout), (Some(Never), None));
    let e = rule("/e");
    assert_eq!(
        (e.use_server_errors, e.session_path.as_deref(), e.session_cookie.as_deref()),
        (Some(500), Some("sess"), Some("SID"))
    );
    assert_eq!(e.fail_on_status.as_ref().unwrap().len(), 2);
    assert!(rule("/blank").stateless);
    assert!(site.has_note(NoteKind::Warning, 6, "blank before the semicolon"));
    assert!(site.has_note(NoteKind::Warning, 7, "colour=red"));
    assert!(site.has_note(NoteKind::Dropped, 8, "exclusion"));
}

#[test]
fn the_mount_file_goes_before_the_mount_attribute() {
    let site = import(&[
        file(
            "workers.properties",
            "worker.list=a,b\nworker.a.mount=/x/* /y\nworker.a.mount=/z|/*\nworker.b.host=192.0.2.2\n",
        ),
        file("uriworkermap.properties", "/x/*=b\n"),
    ]);
    assert_eq!(
        (site.serves("/x/1"), site.serves("/y"), site.serves("/z")),
        ("worker b".into(), "worker a".into(), "-".into())
    );
    assert!(site.has_note(NoteKind::Warning, 2, "goes before this one"));
    assert!(site.has_note(NoteKind::Warning, 2, "| was a letter"));
}

#[test]
fn status_workers_share_one_page() {
    let site = import(&[
        file(
            "workers.properties",
            "worker.list=see,do\nworker.see.type=status\nworker.see.read_only=1\nworker.see.user=ann bob\nworker.do.type=status\nworker.do.prefix=p\nworker.see.ns=-\n",
        ),
        file("uriworkermap.properties", "/see=see\n/do=do\n"),
    ]);
    assert_eq!((site.serves("/see"), site.serves("/do")), ("status".into(), "status".into()));
    let status = site.config.status();
    assert_eq!(
        (status.read_only, status.user.clone(), status.ns.as_str()),
        (true, vec!["ann".to_owned(), "bob".to_owned()], "")
    );
    assert!(
        site.has_note(NoteKind::Changed, 6, "prefix of worker \"do\"")
            && site.has_note(NoteKind::Changed, 5, "allowed changes")
    );
}

#[test]
fn a_map_alone_asks_for_its_workers() {
    let problems = refused(&[file("uriworkermap.properties", "/x=w\n")]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].help.contains("workers.properties"));
}
