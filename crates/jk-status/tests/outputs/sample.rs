//! Gateways that never were, for snapshots, screenshots and measurements.

use jk_status::{
    Activation, Ajp, Group, Listener, Mapping, Member, Options, Plain, Reload, StatusView, Totals,
};

const NOW: u64 = 1_796_137_661;

pub(crate) fn calm() -> StatusView {
    let shop = vec![
        member("shop1", 1, "OK"),
        member("shop2", 2, "OK"),
        Member { lbfactor: 2, ..member("shop3", 3, "OK/IDLE") },
    ];
    let search = vec![member("search1", 11, "OK"), member("search2", 12, "OK")];
    let mut shop = group("shop", "Busyness", shop);
    shop.mappings = vec![
        mapping("/shop/*", "shop"),
        Mapping { excludes: true, ..mapping("/shop/*.css", "shop") },
        Mapping {
            reply_timeout: 120_000,
            fail_on_status: "-503".to_owned(),
            server: "www.example.test".to_owned(),
            ..mapping("/shop/report", "shop")
        },
    ];
    let mut search = group("search", "Request", search);
    search.mappings = vec![mapping("/search|/*", "search")];
    StatusView {
        server: "gateway.example.test".to_owned(),
        port: 8080,
        now: NOW,
        datetime: "20261201150741".to_owned(),
        tz: "+0000".to_owned(),
        software: "jkgate/0.1.0".to_owned(),
        uptime: 12 * 86_400 + 4 * 3600,
        config: "/etc/jkgate/workers.toml".to_owned(),
        generation: 37,
        loaded_ago: 5412,
        reload: Reload { ago: 5412, by: "SIGHUP".to_owned(), good: 36, bad: 2, ..Reload::default() },
        listeners: vec![
            listener("main", "0.0.0.0:8080", 212, 1_204_338),
            listener("local", "unix:/run/jkgate/http.sock", 3, 40_112),
        ],
        totals: Totals {
            by_class: [1204, 0, 8_930_221, 121_004, 30_551, 312],
            under_way: 38,
            retries: 41,
            sessions_lost: 17,
            refused: 930,
            log_dropped: 0,
            durations: durations(),
            duration_sum: 402_331.25,
        },
        groups: vec![shop, search],
        workers: vec![Plain {
            ajp: ajp("reports", 21),
            state: "OK",
            mappings: vec![mapping("/reports/*", "reports")],
        }],
        own_mappings: vec![mapping("/jkstatus|/*", "status"), mapping("/metrics", "metrics")],
        options: Options {
            prefix: "worker".to_owned(),
            ns: "jk:".to_owned(),
            xmlns: "xmlns:jk=\"http://tomcat.apache.org\"".to_owned(),
            token: "0123456789abcdef".to_owned(),
            ..Options::default()
        },
        ..StatusView::default()
    }
}

/// One member draining, one in error, a reload refused, a change that is not in the file.
pub(crate) fn troubled() -> StatusView {
    let mut view = calm();
    let members = &mut view.groups[0].members;
    members[1].activation = Activation::Disabled;
    members[1].sessions_lately = 17;
    members[1].ajp.busy = 1;
    members[2].state = "ERR";
    members[2].since = Some(312);
    members[2].recover_min = 29;
    members[2].recover_max = 29;
    members[2].ajp.errors = 3;
    members[2].ajp.error_at = Some(NOW - 312);
    members[2].ajp.last_error = Some((NOW - 31, "connect: Connection refused (os error 111)".to_owned()));
    members[2].ajp.connected = 0;
    members[2].ajp.idle = 0;
    (members[2].p50, members[2].p90, members[2].p99) = (None, None, None);
    view.reload = Reload {
        ago: 95,
        by: "a change of the file".to_owned(),
        failed: true,
        lines: vec![
            "/etc/jkgate/workers.toml:14:1: [ajp13.shop1]: unknown key \"lbfctor\"; did you mean \"lbfactor\"?"
                .to_owned(),
            "/etc/jkgate/workers.toml:31:9: [uri]: there is no group \"serach\"".to_owned(),
        ],
        good: 36,
        bad: 3,
    };
    view.edits = vec!["ajp13.shop2.activation = \"disabled\"".to_owned()];
    view
}

pub(crate) fn large(n_members: usize, n_mappings: usize) -> StatusView {
    let mut view = calm();
    let per_group = n_members / 3;
    view.groups = ["shop", "search", "account"]
        .iter()
        .enumerate()
        .map(|(g, name)| {
            let members = (0..per_group).map(|m| {
                let state = match (g * per_group + m) % 97 {
                    13 => "ERR",
                    40 => "OK/BUSY",
                    n if n % 7 == 0 => "OK/IDLE",
                    _ => "OK",
                };
                let mut member = member(&format!("{name}-{:03}", m + 1), m, state);
                if state == "ERR" {
                    member.ajp.last_error = Some((NOW - 40, "CPing: no answer within 1s".to_owned()));
                    member.recover_min = 20;
                }
                if m % 50 == 49 {
                    member.activation = Activation::Disabled;
                }
                member
            });
            let mut group = group(name, "Request", members.collect());
            group.mappings =
                (0..n_mappings / 3).map(|n| mapping(&format!("/{name}/area{n}/*"), name)).collect();
            group
        })
        .collect();
    view
}

/// Every text is markup, and more than one line.
pub(crate) fn hostile() -> StatusView {
    let mut view = troubled();
    let evil = EVIL.to_owned();
    view.server.clone_from(&evil);
    view.config.clone_from(&evil);
    view.software = format!("jkgate/{evil}");
    view.reload.by.clone_from(&evil);
    view.reload.lines = vec![evil.clone()];
    view.edits = vec![evil.clone()];
    view.options.token.clone_from(&evil);
    view.options.css = Some(evil.clone());
    view.listeners[0].name.clone_from(&evil);
    view.listeners[0].address.clone_from(&evil);
    for group in &mut view.groups {
        group.name.push_str(&evil);
        group.method.clone_from(&evil);
        group.lock.clone_from(&evil);
        for member in &mut group.members {
            spoil(&mut member.ajp);
            for text in [&mut member.route, &mut member.redirect, &mut member.domain] {
                text.clone_from(&evil);
            }
        }
        group.mappings.iter_mut().for_each(spoil_mapping);
    }
    for worker in &mut view.workers {
        spoil(&mut worker.ajp);
        worker.mappings.iter_mut().for_each(spoil_mapping);
    }
    view.own_mappings.iter_mut().for_each(spoil_mapping);
    view
}

pub(crate) const EVIL: &str = "<script>alert(1)</script>\"'&\n\r\u{1b}[2J\t\0x=1|\\";

fn spoil(ajp: &mut Ajp) {
    ajp.name.push_str(EVIL);
    ajp.host = EVIL.to_owned();
    ajp.address = EVIL.to_owned();
    ajp.last_error = Some((NOW - 1, EVIL.to_owned()));
}

fn spoil_mapping(mapping: &mut Mapping) {
    for text in [
        &mut mapping.uri,
        &mut mapping.server,
        &mut mapping.source,
        &mut mapping.target,
        &mut mapping.fail_on_status,
        &mut mapping.active,
        &mut mapping.disabled,
        &mut mapping.stopped,
    ] {
        *text = EVIL.to_owned();
    }
}

fn group(name: &str, method: &str, members: Vec<Member>) -> Group {
    Group {
        name: name.to_owned(),
        sticky: true,
        retries: 2,
        recover_time: 60,
        error_escalation_time: 30,
        method: method.to_owned(),
        lock: "Optimistic".to_owned(),
        to_maintenance: 21,
        maintain: 60,
        reset_at: NOW - 5000,
        members,
        ..Group::default()
    }
}

fn member(name: &str, n: usize, state: &'static str) -> Member {
    let n = n as u64;
    Member {
        ajp: ajp(name, n),
        state,
        lbfactor: 1,
        route: name.to_owned(),
        mult: 2,
        value: 81_000 + n,
        sessions: 4000 + 17 * n,
        sessions_lately: 214 + n,
        p50: Some(11_000 + 900 * n),
        p90: Some(42_000 + 3100 * n),
        p99: Some(180_000 + 41_000 * n),
        latencies: durations(),
        latency_sum: 5120.5,
        ..Member::default()
    }
}

fn ajp(name: &str, n: u64) -> Ajp {
    Ajp {
        name: name.to_owned(),
        host: format!("10.0.{}.{}", n / 250, n % 250),
        port: 8009,
        address: format!("10.0.{}.{}:8009", n / 250, n % 250),
        pool_timeout: 60,
        ping_timeout: 1000,
        connect_timeout: 1000,
        prepost_timeout: 1000,
        reply_timeout: 300_000,
        retries: 2,
        busy_limit: 150,
        max_packet_size: 8192,
        elected: 81_204 + 1007 * n,
        errors: n % 3,
        client_errors: n % 2 * 5,
        transferred: 51_230_441 + n,
        read: 1_840_112_040 + n,
        busy: u32::try_from(n % 13).unwrap(),
        max_busy: 61,
        connected: u32::try_from(n % 13).unwrap() + 31,
        max_connected: 80,
        idle: 31,
        reset_at: NOW - 5000,
        ..Ajp::default()
    }
}

fn mapping(uri: &str, target: &str) -> Mapping {
    Mapping {
        uri: uri.to_owned(),
        enabled: true,
        source: "/etc/jkgate/workers.toml:22".to_owned(),
        target: target.to_owned(),
        reply_timeout: -1,
        ..Mapping::default()
    }
}

fn listener(name: &str, address: &str, open: u64, accepted: u64) -> Listener {
    Listener { name: name.to_owned(), address: address.to_owned(), open, accepted, full: 0 }
}

fn durations() -> Vec<(f64, u64)> {
    let counts = [12, 90, 410, 1300, 2900, 2100, 900, 310, 90, 21, 4, 2, 0];
    let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, f64::INFINITY];
    bounds.into_iter().zip(counts).collect()
}
