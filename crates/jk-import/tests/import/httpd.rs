//! httpd.conf and what it includes.

use jk_config::{ForwardUri, Method, Stickiness};
use jk_import::{InputFile, NoteKind};

use crate::site::{Site, file, import, import_among, lines, refused, seconds, try_import};

const WORKERS: &str = "worker.list=main,shop,jkstatus\nworker.main.host=192.0.2.1\nworker.shop.host=192.0.2.2\nworker.jkstatus.type=status\n";

fn conf(text: &str) -> Site {
    conf_among(text, &[])
}

fn conf_among(text: &str, others: &[InputFile]) -> Site {
    let mut all = vec![file("/etc/httpd/conf/workers.properties", WORKERS)];
    all.extend(others.iter().cloned());
    import_among(
        &[file("/etc/httpd/conf/httpd.conf", format!("JkWorkersFile conf/workers.properties\n{text}"))],
        &all,
    )
}

fn check(site: &Site, rows: &[(&str, u16, &str, &str)]) {
    for (host, port, path, target) in rows {
        let wanted = match *target {
            "-" | "status" => (*target).to_owned(),
            name if site.config.groups().contains_key(name) => name.to_owned(),
            name => format!("worker {name}"),
        };
        assert_eq!(site.serves_at(host, *port, path), wanted, "{host}:{port}{path}\n{}", site.imported.toml);
    }
}

#[test]
fn mounts_of_the_main_server() {
    let site = conf(
        "Listen 8081\nJkMount /app/* main\nJkUnMount /app/static/* main\nJkMount /shop|/* shop;reply_timeout=60000\n\
         <Location /jkstatus>\n  JkMount jkstatus\n  Require ip 10.0.0.0/8 192.0.2.7\n</Location>\n",
    );
    check(
        &site,
        &[
            ("any.test", 80, "/app/x", "main"),
            ("any.test", 80, "/app", "-"),
            ("any.test", 80, "/app/static/x", "-"),
            ("any.test", 80, "/shop", "shop"),
            ("any.test", 80, "/jkstatus", "status"),
            ("any.test", 80, "/jkstatus/x", "-"),
        ],
    );
    assert_eq!(site.config.listeners()[0].address.to_string(), "0.0.0.0:8081");
    let networks: Vec<String> = site.config.status().readable_from.iter().map(ToString::to_string).collect();
    assert_eq!(networks, ["10.0.0.0/8", "192.0.2.7/32"]);
}

#[test]
fn a_virtual_host_sees_its_own_mounts_only() {
    let site = conf(
        "JkMount /main/* main\n\
         <VirtualHost *:80>\nServerName first.test\nServerAlias www.first.test\nJkMount /shop/* shop\n</VirtualHost>\n\
         <VirtualHost *:80>\nServerName plain.test\nDocumentRoot /var/www\n</VirtualHost>\n\
         <VirtualHost *:80>\nServerName copy.test\nJkMountCopy On\n</VirtualHost>\n\
         <VirtualHost *:80>\nServerName both.test\nJkMountCopy On\nJkMount /shop/* shop\n</VirtualHost>\n",
    );
    check(
        &site,
        &[
            ("first.test", 80, "/shop/x", "shop"),
            ("www.first.test", 80, "/shop/x", "shop"),
            ("first.test", 80, "/main/x", "-"),
            ("plain.test", 80, "/main/x", "-"),
            ("copy.test", 80, "/main/x", "main"),
            ("copy.test", 80, "/shop/x", "-"),
            ("both.test", 80, "/main/x", "main"),
            ("both.test", 80, "/shop/x", "shop"),
            // The first virtual host for a port serves every name that no other one has.
            ("other.test", 80, "/shop/x", "shop"),
            ("other.test", 80, "/main/x", "-"),
            ("other.test", 8080, "/main/x", "main"),
        ],
    );
    let toml = &site.imported.toml;
    assert!(
        toml.contains("[host.\"both.test\".uri]") && !toml.contains("[host.\"copy.test\".uri]"),
        "{toml}"
    );
}

#[test]
fn copies_keep_the_order_of_one_map() {
    // Asked first, the host's own "/*" would hide the main server's "/main/*".
    let site = conf(
        "JkMount /main/* main\n<VirtualHost *:80>\nServerName a.test\nJkMountCopy On\nJkMount /* shop\n</VirtualHost>\n",
    );
    check(&site, &[("a.test", 80, "/main/x", "main"), ("a.test", 80, "/x", "shop")]);
    let all = conf(
        "JkMountCopy all\nJkMount /main/* main\n<VirtualHost *:80>\nServerName a.test\n</VirtualHost>\n<VirtualHost *:80>\nServerName b.test\nJkMountCopy Off\n</VirtualHost>\n",
    );
    check(&all, &[("a.test", 80, "/main/x", "main"), ("b.test", 80, "/main/x", "-")]);
}

#[test]
fn one_name_on_two_ports() {
    let site = conf(
        "<VirtualHost *:80>\nServerName a.test\nJkMount /x main\n</VirtualHost>\n<VirtualHost *:443>\nServerName a.test:443\nSSLEngine on\nJkMount /x shop\n</VirtualHost>\n",
    );
    check(&site, &[("a.test", 80, "/x", "main"), ("a.test", 443, "/x", "shop")]);
    assert!(site.has_note(NoteKind::Changed, 6, "TLS"));
}

#[test]
fn the_virtual_host_of_every_address_hides_the_main_server() {
    let site = conf(
        "JkMount /main/* main\n<VirtualHost *>\nServerName a.test\nJkMount /shop/* shop\n</VirtualHost>\n<VirtualHost *>\nServerName b.test\nJkMount /b/* main\n</VirtualHost>\n",
    );
    check(
        &site,
        &[
            ("a.test", 80, "/shop/x", "shop"),
            ("other.test", 80, "/shop/x", "shop"),
            ("other.test", 80, "/main/x", "-"),
            ("b.test", 80, "/b/x", "main"),
            ("b.test", 80, "/shop/x", "-"),
        ],
    );
    assert!(site.has_note(NoteKind::Changed, 3, "nothing reached the main server"));
}

#[test]
fn includes_are_followed_with_globs_variables_and_conditions() {
    let others = [
        file("/etc/httpd/conf.d/10-b.conf", "JkMount /b/* main\n"),
        file("/etc/httpd/conf.d/05-a.conf", "JkMount /a/* main\nInclude conf.d/10-b.conf\n"),
        file("/etc/httpd/conf.d/notes.txt", "JkMount /txt/* main\n"),
        file("/etc/httpd/map.properties", "/file/* = shop\n!/file/x = *\n"),
    ];
    let site = conf_among(
        "Define mine shop\nInclude conf.d/*.conf\nIncludeOptional nothing/*.conf\nInclude gone.conf\n\
         JkMount /v/* \\\n  ${mine}\nJkMountFile \"map.properties\"\n\
         <IfModule mod_jk.c>\nJkMount /if/* main\n</IfModule>\n<IfModule !mod_jk.c>\n<Location /n>\nJkMount main\n</Location>\n</IfModule>\n\
         <IfDefine OTHER>\nJkMount /def/* main\n</IfDefine>\n",
        &others,
    );
    for (path, target) in [
        ("/a/1", "main"),
        ("/b/1", "main"),
        ("/txt/1", "-"),
        ("/v/1", "shop"),
        ("/file/1", "shop"),
        ("/file/x", "-"),
        ("/if/1", "main"),
        ("/n", "-"),
        ("/def/1", "-"),
    ] {
        check(&site, &[("any.test", 80, path, target)]);
    }
    assert!(site.has_note(NoteKind::Warning, 5, "gone.conf"));
    assert!(!site.imported.notes.iter().any(|note| note.text.contains("nothing/")));
    assert!(
        site.has_note(NoteKind::Warning, 17, "switched off")
            || site.has_note(NoteKind::Warning, 18, "switched off"),
        "{:?}",
        site.imported.notes
    );
}

#[test]
fn a_file_that_includes_itself_ends() {
    let site = conf_among(
        "Include conf/loop.conf\n",
        &[file("/etc/httpd/conf/loop.conf", "JkMount /x main\nInclude conf/loop.conf\n")],
    );
    check(&site, &[("any.test", 80, "/x", "main")]);
    assert!(site.imported.notes.iter().any(|note| note.text.contains("includes itself")));
}

#[test]
fn files_of_the_command_line_go_before_those_on_disk() {
    let site = import(&[
        file(
            "/tmp/httpd.conf",
            "JkWorkersFile /nowhere/workers.properties\nJkMountFile /nowhere/map.properties\n",
        ),
        file("/tmp/workers.properties", "worker.list=w\n"),
        file("/tmp/map.properties", "/x=w\n"),
    ]);
    check(&site, &[("any.test", 80, "/x", "w")]);
    let problems = refused(&[file("/tmp/httpd.conf", "JkWorkersFile /nowhere/workers.properties\n")]);
    assert!(
        lines(&problems)[0].contains("/nowhere/workers.properties cannot be read"),
        "{:?}",
        lines(&problems)
    );
}

#[test]
fn worker_properties_in_the_configuration() {
    let site = import(&[file(
        "httpd.conf",
        "JkWorkerProperty worker.list=w\nJkWorkerProperty worker.w.host=192.0.2.9\nJkMount /* w\n",
    )]);
    check(&site, &[("any.test", 80, "/x", "w")]);
    assert_eq!(site.address("w"), "192.0.2.9:8009");
}

#[test]
fn options_and_variables() {
    let site = conf(
        "JkOptions +ForwardURICompatUnparsed -ForwardDirectories\nJkOptions +DisableReuse FlushPackets\nJkEnvVar SSL_CLIENT_S_DN\nJkLogLevel debug\nJkShmFile logs/jk.shm\n\
         SetEnvIf Request_URI \"\\.(gif|png)$\" no-jk\nSetEnvIf Request_URI \"^/static/\" no-jk\nSetEnvIf User-Agent bot no-jk\nSetEnv no-jk 1\nJkMount /* main\n\
         <VirtualHost *:80>\nServerName a.test\nJkOptions ForwardURIEscaped\nJkMount /* main\n</VirtualHost>\n",
    );
    check(
        &site,
        &[
            ("any.test", 81, "/x", "main"),
            ("any.test", 81, "/x.gif", "-"),
            ("any.test", 81, "/a/x.png", "-"),
            ("any.test", 81, "/static/x", "-"),
            ("a.test", 80, "/x.gif", "-"),
            ("a.test", 80, "/x", "main"),
        ],
    );
    assert!(site.imported.toml.contains("[defaults.lb]"));
    let host = site.config.hosts()[0].mappings.iter().find(|rule| rule.pattern == "/*").unwrap();
    assert_eq!(host.options.forward_uri, Some(ForwardUri::Escaped));
    assert_eq!(site.config.log().filter, "debug");
    for (kind, line, part) in [
        (NoteKind::Kept, 2, "-ForwardDirectories"),
        (NoteKind::Warning, 3, "DisableReuse"),
        (NoteKind::Dropped, 3, "FlushPackets"),
        (NoteKind::Warning, 4, "SSL_CLIENT_S_DN"),
        (NoteKind::Dropped, 6, "JkShmFile"),
        (NoteKind::Warning, 9, "left out"),
        (NoteKind::Dropped, 10, "too late"),
    ] {
        assert!(site.has_note(kind, line, part), "{line} {part}\n{:#?}", site.imported.notes);
    }
}

#[test]
fn mistakes_in_directives_are_told_at_once() {
    let problems = refused(&[
        file("workers.properties", "worker.list=w\n"),
        file(
            "httpd.conf",
            "JkMuont /x w\nJkMount x w\nJkMount /y\nJkOptions +FlushPakets\nProxyPass /p balancer://none\nJkWorkersFile workers.properties\n",
        ),
    ]);
    let told = lines(&problems).join("\n");
    for part in [
        "httpd.conf:1:1: error: JkMuont is no directive of mod_jk\n    help: did you mean jkmount?",
        "httpd.conf:2:1: error: \"x\" is no pattern",
        "httpd.conf:3:1: error: JkMount /y needs a path and a worker",
        "httpd.conf:4:1: error: +FlushPakets is no option of mod_jk\n    help: did you mean flushpackets?",
        "httpd.conf:5:1: error: balancer://none has no members",
    ] {
        assert!(told.contains(part), "{part}\nin\n{told}");
    }
    assert_eq!(problems.len(), 5, "{told}");
}

const BALANCER: &str = "\
ProxyRequests Off
<Proxy balancer://shop>
  BalancerMember ajp://192.0.2.11:8009 route=t1 loadfactor=2 retry=30 ping=3 secret=geheim
  BalancerMember \"ajp://192.0.2.12:8009\" route=t2 loadfactor=1 status=+H timeout=120
  BalancerMember http://192.0.2.13:8080
  ProxySet lbmethod=bybusyness stickysession=JSESSIONID|jsessionid nofailover=On
</Proxy>
ProxyPass /shop/static !
ProxyPass /shop balancer://shop/shop
ProxyPassReverse /shop balancer://shop/shop
ProxyPass /wiki/ ajp://192.0.2.20/wiki/ connectiontimeout=500ms max=40 nocanon
ProxyPass /old ajp://192.0.2.20/new
ProxyPass /http http://192.0.2.9/http
ProxyPass /wiki/deep ajp://192.0.2.21/wiki/deep
ProxyPassMatch ^/x(.*)$ ajp://192.0.2.20/$1
ProxyTimeout 90
ProxyIOBufferSize 65536
";

#[test]
fn balancers_of_mod_proxy() {
    let site = import(&[file("proxy.conf", BALANCER)]);
    check(
        &site,
        &[
            ("any.test", 80, "/shop", "shop"),
            ("any.test", 80, "/shop/x", "shop"),
            ("any.test", 80, "/shopping", "-"),
            ("any.test", 80, "/shop/static/x", "-"),
            ("any.test", 80, "/shop/static", "-"),
            ("any.test", 80, "/wiki/x", "192.0.2.20:8009"),
            ("any.test", 80, "/wiki", "-"),
            ("any.test", 80, "/wiki/deep/x", "192.0.2.20:8009"),
            ("any.test", 80, "/old/x", "-"),
        ],
    );
    assert_eq!(site.members("shop"), ["t1 t1 2 0", "t2 t2 1 100"]);
    let shop = site.group("shop");
    assert_eq!(
        (shop.method, shop.stickiness, shop.recover_time),
        (Method::Busyness, Stickiness::Force, seconds(30))
    );
    let (t1, t2) = (site.worker("t1"), site.worker("t2"));
    assert_eq!(t1.secret.as_ref().unwrap().expose(), "geheim");
    assert_eq!((t1.channel.prepost_ping, t1.channel.reply_timeout), (Some(seconds(3)), Some(seconds(90))));
    assert_eq!((t2.channel.reply_timeout, t2.channel.max_packet_size), (Some(seconds(120)), 65536));
    let wiki = site.worker("192.0.2.20:8009");
    assert_eq!((wiki.channel.pool_size, wiki.channel.socket_connect_timeout.as_millis()), (40, 500));
    assert!(!site.imported.notes.iter().any(|note| note.text.contains("geheim")));
    for (line, part) in [
        (5, "AJP only"),
        (12, "changes no paths"),
        (13, "AJP only"),
        (14, "comes first and covers it"),
        (15, "regular expressions"),
    ] {
        assert!(site.has_note(NoteKind::Warning, line, part), "{line} {part}\n{:#?}", site.imported.notes);
    }
}

#[test]
fn mod_proxy_in_virtual_hosts_and_locations() {
    let site = import(&[file(
        "proxy.conf",
        "ProxyPass /all ajp://192.0.2.1/all\n<VirtualHost *:80>\nServerName a.test\n<Location /a>\nProxyPass ajp://192.0.2.2:9009/a\n</Location>\n</VirtualHost>\n\
         <VirtualHost *:80>\nServerName b.test\n</VirtualHost>\nProxyPass /u unix:/run/t.sock|ajp://localhost/u\n",
    )]);
    check(
        &site,
        &[
            ("a.test", 80, "/a/x", "192.0.2.2:9009"),
            ("a.test", 80, "/all/x", "192.0.2.1:8009"),
            ("b.test", 80, "/all/x", "192.0.2.1:8009"),
            ("b.test", 80, "/a/x", "-"),
        ],
    );
    assert_eq!(site.address("run_t.sock"), "unix:/run/t.sock");
}

#[test]
fn nothing_to_import_is_still_a_configuration() {
    let imported =
        try_import(&[file("httpd.conf", "ServerName a.test\nListen 80\nDocumentRoot /var/www\n")], &[])
            .unwrap();
    let site = Site::of(imported);
    assert!(site.has_note(NoteKind::Dropped, 0, "nothing to do with Tomcat"));
}

#[test]
fn the_status_mounts_that_packages_ship_may_lead_to_nobody() {
    // Packages mount these names whether workers.properties has them or not.
    let site = import(&[
        file("workers.properties", "worker.list=w\n"),
        file(
            "jk.conf",
            "JkWorkersFile /etc/workers.properties\nJkLogLevel loud\n<Location /jk-status>\n  JkMount jk-status\n</Location>\nJkMount /* w\n",
        ),
    ]);
    assert_eq!((site.serves("/jk-status").as_str(), site.serves("/x").as_str()), ("jk-status", "worker w"));
    assert!(site.members("jk-status").is_empty());
    assert!(site.has_note(NoteKind::Warning, 4, "for the status page, let it lead to \"status\""));
    assert!(site.has_note(NoteKind::Warning, 2, "JkLogLevel loud is no level"));
}

#[test]
fn one_remark_for_all_workers_that_wait_for_ever() {
    let site = conf("JkMount /x main\n");
    let told: Vec<_> =
        site.imported.notes.iter().filter(|note| note.text.contains("no reply_timeout")).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].text.starts_with("worker \"main\" and 1 more have no reply_timeout"), "{}", told[0].text);
}

#[test]
fn a_secret_in_a_directive_is_not_told() {
    let site = conf(
        "<IfDefine NEVER>\nProxyPass /a ajp://h/a secret=geheim\nJkWorkerProperty worker.w.secret=geheim\n</IfDefine>\n\
         ProxyPassMatch ^/x ajp://h/x secret=geheim\n<LocationMatch \"^/y\">\nProxyPass ajp://h/y secret=geheim\n</LocationMatch>\nJkMount /x main\n",
    );
    let told: Vec<_> = site.imported.notes.iter().filter(|note| note.text.contains("secret")).collect();
    assert_eq!(told.len(), 4, "{told:#?}");
    assert!(
        !site.imported.toml.contains("geheim") && told.iter().all(|note| !note.text.contains("geheim")),
        "{told:#?}"
    );
}
