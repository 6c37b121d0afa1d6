//! Files in the shapes that people had, and what each must become.

use std::time::Duration;

use jk_config::Stickiness;
use jk_import::{NoteKind, Problem};

use crate::site::{Site, file, import, refused, seconds};

fn path(name: &str) -> String {
    format!("{}/tests/data/workers2/{name}.properties", env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> Site {
    import(&[file(&format!("{name}.properties"), std::fs::read(path(name)).unwrap())])
}

fn refuse(name: &str) -> Vec<Problem> {
    refused(&[file(&format!("{name}.properties"), std::fs::read(path(name)).unwrap())])
}

fn ids(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| format!("{} {}", problem.line, problem.id.unwrap_or("-"))).collect()
}

fn check(site: &Site, rows: &[(&str, &str)]) {
    for (path, target) in rows {
        assert_eq!(site.serves(path), *target, "{path}\n{}", site.imported.toml);
    }
}

#[test]
fn f01_smallest() {
    let site = read("01-smallest");
    assert_eq!(site.warned(), [""; 0]);
    assert_eq!(site.warnings, [""; 0]);
    assert_eq!(site.members("lb"), ["127.0.0.1:8009 127.0.0.1:8009 1 0"]);
    assert_eq!(site.address("127.0.0.1:8009"), "127.0.0.1:8009");
    check(
        &site,
        &[
            ("/shop", "lb"),
            ("/shop/", "lb"),
            ("/shop/x", "lb"),
            ("/shopping", "-"),
            ("/", "-"),
            ("/Shop/x", "-"),
        ],
    );
}

#[test]
fn f02_package_style() {
    let site = read("02-package-style");
    assert_eq!(site.warned(), [""; 0]);
    assert_eq!(site.members("lb"), ["tomcat-a:8009 tomcat-a:8009 1 0"]);
    assert_eq!(site.address("tomcat-a:8009"), "127.0.0.1:8009");
    check(
        &site,
        &[
            ("/servlet-demo", "lb"),
            ("/servlet-demo/x", "lb"),
            ("/jsp-demo/x.jsp", "lb"),
            ("/jkstatus", "status"),
            ("/jkstatus/", "status"),
            ("/", "-"),
            ("/servlet-demos/x", "-"),
        ],
    );
}

#[test]
fn f03_direct_worker() {
    let site = read("03-direct-worker");
    assert_eq!(site.warned(), ["4 W2-308", "7 W2-308", "10 W2-308"]);
    assert_eq!(site.members("lb"), ["app app 1 0"]);
    assert_eq!(site.address("app"), "127.0.0.1:11809");
    check(
        &site,
        &[
            ("/x.jsp", "worker app"),
            ("/wiki/p/x.jsp", "worker app"),
            ("/wiki/servlet", "worker app"),
            ("/wiki/servlet/x", "worker app"),
            ("/jkstatus/", "status"),
            ("/wiki/page", "-"),
        ],
    );
}

#[test]
fn f04_sticky_pair() {
    let site = read("04-sticky-pair");
    assert_eq!(site.warned(), [""; 0]);
    assert_eq!(site.members("web"), ["node1 node1 3 0", "node2 node2 1 0"]);
    assert_eq!(site.address("node1"), "192.0.2.11:8009");
    assert_eq!(site.address("node2"), "192.0.2.12:8009");
    let web = site.group("web");
    assert_eq!((web.stickiness, web.recover_time), (Stickiness::Prefer, seconds(30)));
    assert!(!site.config.groups().contains_key("lb"), "nobody uses the group that always was there");
    check(&site, &[("/portal", "web"), ("/portal/x", "web")]);
}

#[test]
fn f05_tiers_and_drain() {
    let site = read("05-tiers-and-drain");
    assert_eq!(site.warned(), ["30 W2-409"]);
    assert_eq!(
        site.members("web"),
        [
            "local local 1 0",
            "near near 1 1",
            "near-old near-old 1 1 disabled",
            "parked parked 1 1 stopped",
            "unreachable-tier unreachable-tier 1 4 stopped",
        ]
    );
    assert_eq!(site.group("web").unavailable.status, 502);
    check(&site, &[("/", "web"), ("/a/b", "web")]);
    assert!(site.imported.toml.contains("# same machine, always preferred"));
}

#[test]
fn f06_virtual_hosts() {
    let site = read("06-virtual-hosts");
    assert_eq!(site.warned(), [""; 0]);
    for (host, port, path, target) in [
        ("www.example.test", 80, "/app/x", "main"),
        ("example.test", 80, "/app/x", "main"),
        ("www.example.test", 80, "/common/x", "main"),
        ("example.test", 80, "/common/x", "main"),
        ("www.example.test", 80, "/ping", "main"),
        ("example.test", 80, "/ping", "main"),
        ("example.test", 8080, "/app/x", "-"),
        ("intranet.example.test", 8080, "/app/x", "main"),
        ("intranet.example.test", 8080, "/common/x", "main"),
        ("intranet.example.test", 80, "/app/x", "-"),
        ("bare.example.test", 80, "/app/x", "main"),
        ("bare.example.test", 80, "/common/x", "-"),
        ("other.test", 443, "/account/x", "secure"),
        ("www.example.test", 443, "/account/x", "-"),
        ("other.test", 80, "/common/x", "main"),
    ] {
        assert_eq!(site.serves_at(host, port, path), target, "{host}:{port}{path}\n{}", site.imported.toml);
    }
}

#[test]
fn f07_path_patterns() {
    let site = read("07-path-patterns");
    assert_eq!(site.warned(), ["8 W2-405"]);
    assert_eq!(site.ids(NoteKind::Kept), ["5 W2-408"]);
    assert_eq!(site.ids(NoteKind::Changed), ["13 W2-410"]);
    for (path, rule) in [
        ("/exact/page", "/exact/page"),
        ("/exact/page;jsessionid=1", "/exact/page"),
        ("/exact/page/", "-"),
        ("/pre", "/pre|/*"),
        ("/pre/", "/pre|/*"),
        ("/pre/a", "/pre|/*"),
        ("/pre/deep", "/pre|/*"),
        ("/pre/deep/x", "/pre/deep/*"),
        ("/glued", "/glued"),
        ("/gluedx", "-"),
        ("/a.jsp", "/*.jsp"),
        ("/a/b.jsp", "/*.jsp"),
        ("/a.jsp/info", "-"),
        ("/reports/2003/q1.pdf", "/reports/*.pdf"),
        ("/q1.pdf", "-"),
        ("/img7/logo", "/img?/logo"),
        ("/ctx", "-"),
        ("/ctx/do/it", "/ctx/do|/*"),
        ("/ctx/page.jsp", "/*.jsp"),
        ("/ctxual/page.jsp", "/*.jsp"),
    ] {
        assert_eq!(site.rule(path), rule, "{path}\n{}", site.imported.toml);
    }
}

#[test]
fn f08_shared_members() {
    let site = read("08-shared-members");
    assert_eq!(site.warned(), ["20 W2-403"]);
    assert_eq!(site.members("gold"), ["s1 s1 1 0"]);
    assert_eq!(site.members("silver"), ["s1 s1 1 0", "s2 s2 1 0"]);
    assert_eq!(site.members("lb"), [""; 0]);
    check(&site, &[("/gold/x", "gold"), ("/silver/x", "silver"), ("/fallthrough/x", "lb")]);
    assert_eq!(site.group("lb").unavailable.status, 503);
}

#[test]
fn f09_unix_sockets() {
    let site = read("09-unix-sockets");
    assert_eq!(site.warned(), [""; 0]);
    assert_eq!(site.members("lb"), ["un1 un1 1 0", "un2 un2 1 0"]);
    assert_eq!(site.address("un1"), "unix:/run/tomcat/jk2.socket");
    assert_eq!(site.address("un2"), "unix:/run/tomcat/second.socket");
    check(&site, &[("/local", "lb"), ("/local/x", "lb")]);
    for named in ["[channel.un:/run/tomcat/jk2.socket]", "[channel.un:second]"] {
        assert!(site.imported.toml.contains(named), "{named}");
    }
}

#[test]
fn f10_substitution() {
    let site = read("10-substitution");
    assert_eq!(site.warned(), ["21 W2-309"]);
    assert_eq!(site.members("lb")[0], "p-8109 p-8109 1 0");
    assert_eq!(site.address("p-8109"), "127.0.0.1:8109");
    assert_eq!(site.address("log-side"), "unix:/var/run/gw/side.socket");
    // The route was not replaced a second time, and as it stands no route can be it: a slash would not come through a URI.
    assert!(
        site.has_note(NoteKind::Changed, 20, "\"${run}/never-${nosuchname}\""),
        "{:?}",
        site.imported.notes
    );
    assert!(
        site.has_note(NoteKind::Dropped, 24, "file=/etc/httpd/logs/jk2.shm"),
        "{:?}",
        site.imported.notes
    );
    check(&site, &[("/s/x", "lb")]);
}

#[test]
fn f11_leftovers_crlf() {
    let site = read("11-leftovers-crlf");
    assert_eq!(site.warned(), ["39 W2-204"]);
    let dropped = site.ids(NoteKind::Dropped);
    for info in ["42 W2-204", "48 W2-204", "54 W2-204"] {
        assert!(dropped.contains(&info.to_owned()), "{dropped:?}");
    }
    assert!(dropped.iter().filter(|id| id.ends_with("W2-307")).count() > 5, "{dropped:?}");
    assert!(!site.imported.toml.contains('\r'));
    let t1 = site.worker("t1");
    assert_eq!(t1.address.to_string(), "127.0.0.1:8009");
    assert_eq!(t1.channel.pool_size, 2048);
    assert_eq!(t1.channel.connect_ping, Some(seconds(1)));
    assert_eq!(t1.channel.prepost_ping, Some(Duration::from_millis(500)));
    assert_eq!(t1.channel.reply_timeout, Some(seconds(60)));
    assert_eq!((t1.channel.send_timeout, t1.channel.socket_connect_timeout), (seconds(30), seconds(30)));
    assert!(t1.channel.keepalive && t1.recovery.abort_if_sent());
    check(&site, &[("/app/x", "lb"), ("/jkstatus/", "status")]);
}

#[test]
fn f12_quirks() {
    let site = read("12-quirks");
    assert_eq!(site.warned(), ["2 W2-106", "7 W2-306", "16 W2-203", "20 W2-203"]);
    assert_eq!(site.group("lb").recover_time, seconds(45));
    assert_eq!(site.members("lb"), ["second second 1 0"]);
    assert_eq!(site.members("other"), ["127.0.0.1:8019 127.0.0.1:8019 1 0"]);
    check(&site, &[("/once/x", "other")]);
    for info in ["# a=b=c keeps every equals sign after the first", "# declared here"] {
        assert!(site.imported.toml.contains(info), "{}", site.imported.toml);
    }
}

#[test]
fn f90_unclosed_header() {
    let problems = refuse("90-bad-unclosed-header");
    assert_eq!(
        crate::site::lines(&problems),
        [
            "90-bad-unclosed-header.properties:2:1: error[W2-101]: section header has no closing \"]\"\n    help: write [channel.socket:127.0.0.1:8009]\n    note: mod_jk2 crashed here"
        ]
    );
}

#[test]
fn f91_orphan_property() {
    let problems = refuse("91-bad-orphan-property");
    assert_eq!(
        crate::site::lines(&problems),
        [
            "91-bad-orphan-property.properties:2:1: error[W2-102]: property before the first section\n    help: put tomcatId=t1 under [channel.socket:127.0.0.1:8009]\n    note: mod_jk2 crashed here, although its documents describe this form"
        ]
    );
}

#[test]
fn f92_values() {
    let problems = refuse("92-bad-values");
    assert_eq!(ids(&problems), ["2 W2-305", "5 W2-303", "8 W2-105", "9 W2-302", "12 W2-105"]);
    for (problem, part) in problems.iter().zip([
        "quotes",
        "stickySession must be 0 or 1",
        "key \"group\"",
        "lb_factor is not a number",
        "key \"group\"",
    ]) {
        assert!(problem.title.contains(part), "{problem}");
    }
    for (problem, part) in problems.iter().zip([
        "quotes",
        "off",
        "never set",
        "read 0, and that member would take all traffic",
        "\" lb\"",
    ]) {
        assert!(problem.was.contains(part), "{problem}");
    }
}

#[test]
fn f93_references() {
    let problems = refuse("93-bad-references");
    assert_eq!(ids(&problems), ["3 W2-201", "7 W2-103", "8 W2-301", "10 W2-402", "14 W2-301", "17 W2-401"]);
    for (problem, help) in problems.iter().zip([
        "did you mean \"channel.socket\"?",
        "did you mean group=lb:web?",
        "did you mean \"tomcatId\"?",
        "rename it to [ajp13:127.0.0.1:8019]",
        "did you mean \"group\"?",
        "did you mean \"web\"?",
    ]) {
        assert_eq!(problem.help, help, "{problem}");
    }
    assert!(problems[3].title.contains("channel= is never followed"));
}
