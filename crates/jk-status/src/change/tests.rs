use super::*;

fn member(name: &str) -> Member {
    Member {
        ajp: Ajp {
            name: name.to_owned(),
            host: "a".to_owned(),
            port: 8009,
            reply_timeout: 300_000,
            max_packet_size: 8192,
            ..Ajp::default()
        },
        lbfactor: 1,
        route: name.to_owned(),
        redirect: "n9".to_owned(),
        ..Member::default()
    }
}

fn view() -> StatusView {
    let mut group = Group {
        name: "lb".to_owned(),
        sticky: true,
        retries: 2,
        retry_interval: 100,
        recover_time: 60,
        method: "Request".to_owned(),
        lock: "Optimistic".to_owned(),
        members: vec![member("n1"), member("n2"), member("m3")],
        ..Group::default()
    };
    group.members[1].activation = Activation::Disabled;
    let solo = crate::view::Plain { ajp: member("solo").ajp, ..crate::view::Plain::default() };
    StatusView { groups: vec![group], workers: vec![solo], ..StatusView::default() }
}

fn check(query: &str, expected: &str) {
    let shown = match changes(&Request::parse(query), &view()) {
        Ok(changes) => changes
            .iter()
            .map(|c| format!("{}.{}.{}={}", c.section, c.name, c.key, c.value))
            .collect::<Vec<_>>()
            .join(" "),
        Err(message) => message.to_owned(),
    };
    assert_eq!(shown, expected, "{query}");
}

#[test]
fn members() {
    check("cmd=update&w=lb&sw=n1&vwa=1", "ajp13.n1.activation=disabled");
    for (value, word) in [("2", "stopped"), ("S", "stopped"), ("Disabled", "disabled"), ("d", "disabled")] {
        check(&format!("w=lb&sw=n1&vwa={value}"), &format!("ajp13.n1.activation={word}"));
    }
    for value in ["0", "a", "", "9", "garbage", "%20s"] {
        check(&format!("w=lb&sw=n1&vwa={value}"), "");
        check(&format!("w=lb&sw=n2&vwa={value}"), "ajp13.n2.activation=active");
    }
    check("w=lb&sw=n*&vwa=s", "ajp13.n1.activation=stopped ajp13.n2.activation=stopped");
    check("w=lb&sw=?3&vwd=4", "ajp13.m3.distance=4");
    check(
        "w=lb&sw=n1&vwf=3&vwn=r1&vwr=&vwc=d",
        "ajp13.n1.lbfactor=3 ajp13.n1.route=r1 ajp13.n1.redirect= ajp13.n1.domain=d",
    );
    check("w=lb&sw=n1&vwf=+%202", "ajp13.n1.lbfactor=+ 2");
}

#[test]
fn channels() {
    check(
        "w=lb&sw=n1&vacpt=5&vapng=7&vact=8&vapt=9&vart=10&vacpi=66&varo=3&vabl=12&vamps=9000",
        "ajp13.n1.connection_pool_timeout=5s ajp13.n1.ping_timeout=7ms ajp13.n1.connect_timeout=8ms \
         ajp13.n1.prepost_timeout=9ms ajp13.n1.reply_timeout=10ms ajp13.n1.ping_interval=66s \
         ajp13.n1.recovery_options=3 ajp13.n1.busy_limit=12 ajp13.n1.max_packet_size=9KiB",
    );
    check("w=lb&sw=n1&vart=0&vacpt=0", "ajp13.n1.reply_timeout=never");
    check("w=lb&sw=n1&vact=0&vapng=0", "");
    check(
        "w=solo&vacpt=7&vart=never",
        "ajp13.solo.connection_pool_timeout=7s ajp13.solo.reply_timeout=never",
    );
    check("w=lb&sw=n1&vart=2m", "ajp13.n1.reply_timeout=2m");
    check("w=lb&sw=n1&vahst=b.example.test&vaprt=9", "ajp13.n1.address=b.example.test:9");
    check("w=lb&sw=n1&vahst=b.example.test", "ajp13.n1.address=b.example.test:8009");
    check("w=lb&sw=n1&vahst=::1&vaprt=", "ajp13.n1.address=[::1]:8009");
    check("w=lb&sw=n1&vahst=[::1]&vaprt=1", "ajp13.n1.address=[::1]:1");
    check("w=lb&sw=n1&vahst=a&vaprt=8009", "");
    check("w=solo&vart=77&vaprt=9999&vwf=5", "ajp13.solo.reply_timeout=77ms ajp13.solo.address=a:9999");
    // A worker has no retries of its own here.
    check("w=lb&sw=n1&var=4&vari=10", "");
}

#[test]
fn groups() {
    check(
        "w=lb&vlr=3&vlri=5&vlt=90&vlee=7&vlx=4&vls=0&vlf=1&vlm=b&vll=p",
        "lb.lb.retries=3 lb.lb.retry_interval=5ms lb.lb.recover_time=90s lb.lb.error_escalation_time=7s \
         lb.lb.max_reply_timeouts=4 lb.lb.sticky_session=false lb.lb.sticky_session_force=true \
         lb.lb.method=busyness lb.lb.lock=pessimistic",
    );
    for (value, word) in [
        ("s", "sessions"),
        ("1", "traffic"),
        ("Next", "next"),
        ("4", "next"),
        ("power_of_two", "power_of_two"),
        ("latency", "latency"),
    ] {
        check(&format!("w=lb&vlm={value}"), &format!("lb.lb.method={word}"));
    }
    for value in ["r", "0", "zz", "9", ""] {
        check(&format!("w=lb&vlm={value}"), "");
    }
    for value in ["x", "", "1", "true", "on", "Yes"] {
        check(&format!("w=lb&vls={value}"), "");
    }
    for value in ["0", "false", "off", "no", "N"] {
        check(&format!("w=lb&vls={value}"), "lb.lb.sticky_session=false");
    }
}

#[test]
fn what_is_so_already_is_no_change() {
    check("w=lb&vlr=2&vlt=60&vls=1&vlf=0&vlm=Request&vll=o", "");
    check("w=lb&sw=n1&vwa=0&vwf=1&vwn=n1&vwr=n9&vwc=&vwd=0&vart=300000&vamps=8192&vabl=0", "");
}

#[test]
fn what_is_out_of_range_goes_on_to_be_refused() {
    check("w=lb&sw=n1&vwf=0&vwd=-1", "ajp13.n1.lbfactor=0 ajp13.n1.distance=-1");
    check(
        "w=lb&sw=n1&vwf=abc&vart=-5&vamps=100",
        "ajp13.n1.lbfactor=abc ajp13.n1.reply_timeout=-5ms ajp13.n1.max_packet_size=1KiB",
    );
    // A form's empty field is none.
    check("w=lb&sw=n1&vwf=&vart=&vamps=&vaprt=&vahst=", "");
}

#[test]
fn one_attribute_of_all_members() {
    check("w=lb&att=vwf&val0=2&val1=3", "ajp13.n1.lbfactor=2 ajp13.n2.lbfactor=3");
    check("w=lb&att=vwa&val0=0&val1=0&val2=1", "ajp13.n2.activation=active ajp13.m3.activation=disabled");
    check("w=lb&att=vart&val2=50", "ajp13.m3.reply_timeout=50ms");
    for att in ["nope", "vlr", "vahst", "vaprt"] {
        check(&format!("w=lb&att={att}&val0=3"), "");
    }
}

#[test]
fn the_old_ant_tasks_names() {
    check(
        "mime=txt&w=lb&lr=9&lt=99&ls=false&lf=true",
        "lb.lb.retries=9 lb.lb.recover_time=99s lb.lb.sticky_session=false lb.lb.sticky_session_force=true",
    );
    check("mime=txt&w=n1&l=lb&wf=5&wr=x&wc=y", "ajp13.n1.lbfactor=5 ajp13.n1.redirect=x ajp13.n1.domain=y");
    check("w=n1&l=lb&wd=true&ws=false", "ajp13.n1.activation=disabled");
    check("w=n1&l=lb&wd=true&ws=true", "ajp13.n1.activation=stopped");
    check("w=n2&l=lb&wd=false&ws=false", "ajp13.n2.activation=active");
    check("w=n2&l=lb&ws=false", "");
    check("w=n9&l=lb&wd=true", "could not find sub worker");
}
