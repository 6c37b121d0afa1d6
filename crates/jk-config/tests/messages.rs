//! Every message, as an operator sees it.

use expect_test::{Expect, expect};
use jk_config::{Config, Style};

#[allow(clippy::needless_pass_by_value, reason = "the macro makes values")]
fn check(text: &str, expected: Expect) {
    let shown = match Config::from_toml("workers.toml", text) {
        Ok(loaded) if loaded.warnings.is_empty() => "fine".to_owned(),
        Ok(loaded) => loaded.warnings.render(Style::Plain),
        Err(problems) => problems.render(Style::Plain),
    };
    expected.assert_eq(&shown);
}

const LISTENER: &str = "[listener.main]\naddress = \"127.0.0.1:8080\"\n";

#[test]
fn the_seed_is_fine() {
    check(
        r#"
[listener.main]
address = "0.0.0.0:8080"

[lb.lb]

[ajp13.tomcat1]
address = "127.0.0.1:8009"
group   = "lb"

[uri]
"/servlets-examples|/*" = "lb"
"/jsp-examples|/*"      = "lb"
"/jkstatus|/*"          = "status"
"#,
        expect!["fine"],
    );
}

#[test]
fn several_problems_at_once() {
    check(
        &format!(
            "{LISTENER}[lb.shop]\nmethod = \"busynes\"\n\n[ajp13.t1]\naddress = \"127.0.0.1\"\nlbfctor = 2\nreply_timeout = 120\ngroup = \"shp\"\n\n[uri]\n\"shop/*\" = \"shop\"\n\"/x\" = \"nowhere\"\n"
        ),
        expect![[r#"
            warning: group "shop" has no members
             --> workers.toml:3:5
              |
            3 | [lb.shop]
              |     ^^^^ answers 503 to everything
              |
              = help: Say group = "shop" in a worker: [ajp13.NAME].

            error: method cannot have this value
             --> workers.toml:4:10
              |
            4 | method = "busynes"
              |          ^^^^^^^^^ expected one of "requests", "sessions", "traffic", "busyness", "next", "power_of_two", "latency"; did you mean "busyness"?

            error: unknown key "lbfctor"
             --> workers.toml:8:1
              |
            8 | lbfctor = 2
              | ^^^^^^^ did you mean "lbfactor"?
              |
              = help: Known here: address, group, route, lbfactor, distance, domain, redirect, activation, secret, secret_file, secret_env, connection_pool_size, connection_pool_minsize, connection_pool_timeout, acquire_timeout, acquire_queue, socket_connect_timeout, ping_mode, ping_timeout, connect_timeout, prepost_timeout, prepost_idle, ping_interval, socket_keepalive, reply_timeout, send_timeout, max_packet_size, method_by_name, busy_limit, fail_on_status, recovery_options, health_check.

            error: reply_timeout cannot have this value
             --> workers.toml:9:17
              |
            9 | reply_timeout = 120
              |                 ^^^ 120 what? write "120s" for seconds or "120ms" for milliseconds

            error: there is no group "shp"
              --> workers.toml:10:9
               |
            10 | group = "shp"
               |         ^^^^^ did you mean "shop"?
               |
               = help: There are: shop.

            error: this cannot be a URI pattern
              --> workers.toml:13:1
               |
            13 | "shop/*" = "shop"
               | ^^^^^^^^ "shop/*" does not begin with a slash

            error: there is no target "nowhere"
              --> workers.toml:14:8
               |
            14 | "/x" = "nowhere"
               |        ^^^^^^^^^ no target has this name
               |
               = help: There are: metrics, shop, status, t1."#]],
    );
}

/// Work that grows with the square of a file's size would make this take an hour.
#[test]
fn a_hundred_thousand_mappings_are_read_and_as_many_mistakes_are_bearable() {
    use std::fmt::Write as _;
    let mut text =
        "[listener.main]\naddress = \"127.0.0.1:8080\"\n[lb.a]\n[ajp13.t]\naddress = \"[::1]:8009\"\ngroup = \"a\"\n[uri]\n"
            .to_owned();
    for number in 0..100_000 {
        writeln!(text, "\"/app{number}/*\" = \"a\"").unwrap();
    }
    assert_eq!(Config::from_toml("large", &text).unwrap().config.mappings().len(), 100_000);
    let wrong = text.replace("/*\" = \"a\"", "/*\" = \"nobody\"");
    let problems = Config::from_toml("wrong", &wrong).unwrap_err();
    let drawn = problems.render(Style::Plain);
    assert_eq!(drawn.matches("error: ").count(), 100);
    assert!(drawn.ends_with("more"), "{}", &drawn[drawn.len() - 100..]);
}
