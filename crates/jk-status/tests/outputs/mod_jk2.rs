//! mod_jk2's queries: read-only ones are answered, the others are changes.

use jk_status::{Cmd, Mime, Request};

use crate::answer;
use crate::sample::troubled;

#[test]
fn get_has_its_fourth_bar() {
    let view = troubled();
    for (query, expected) in [
        ("get=ajp13:shop2|graceful", "OK|ajp13:shop2|graceful|1\n"),
        ("get=ajp13:shop3%7CerrorState", "OK|ajp13:shop3|errorState|1\n"),
        ("get=lb:shop|workers", "OK|lb:shop|workers|3\n"),
        ("get=ajp13:shop1|groups", "OK|ajp13:shop1|groups|:shop\n"),
        ("get=uri:/shop/*|group", "OK|uri:/shop/*|group|shop\n"),
        ("get=ajp13:nope|x", "ERROR|mbean not found|ajp13:nope\n"),
        ("get=ajp13:shop1|secret", "ERROR|attribute not found|ajp13:shop1|secret\n"),
        ("get=ajp13:shop1", "ERROR: no attribute named; write get=OBJECT|ATTRIBUTE\n"),
    ] {
        assert_eq!(answer(&view, query, &[]), expected, "{query}");
    }
}

#[test]
fn patterns() {
    let view = troubled();
    let names = |query: &str| {
        let shown = answer(&view, query, &[]);
        shown.lines().filter(|line| line.starts_with('[')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names("lst=lb:*"), ["[lb:shop]", "[lb:search]"]);
    assert_eq!(names("dmp=ajp13:shop1"), ["[ajp13:shop1]"]);
    assert!(names("dmp=nothing").is_empty());
    assert_eq!(names("lst=*").len(), 6 + 6 + 2 + 7 + 1);
    assert!(
        answer(&view, "qry=ajp13:shop1", &[])
            .starts_with("MXAgent: mod_jk2\n\nName: modjk:type=ajp13,name=shop1\n")
    );
    assert!(answer(&view, "qry=uri:/shop/*", &[]).contains(",name=\"/shop/\\*\"\n"));
}

#[test]
fn what_changed_something_is_a_change() {
    let cmd = |query: &str| Request::parse(query).cmd();
    assert_eq!(cmd("set=ajp13:t1|disabled|1"), Ok(Cmd::Update));
    assert_eq!(cmd("inv=ajp13:t1|init"), Ok(Cmd::Update));
    assert_eq!(cmd("scoreboard.reset"), Ok(Cmd::Reset));
    assert_eq!(Request::parse("rld=1").get("do"), Some("reload"));
    for query in [
        "lst=*",
        "dmp=*&cmd=update",
        "qry=*",
        "get=a|b",
        "cfgOrig=1",
        "cfgParsed=1",
        "scoreboard=1",
        "endpoints=1",
    ] {
        assert_eq!(cmd(query), Ok(Cmd::List), "{query}");
    }
    assert_eq!(Request::parse("cfgParsed=1").mime(), Ok(Mime::Toml));
    assert_eq!(Request::parse("scoreboard=1").mime(), Ok(Mime::Html));
    // Only at the very start, and in its own case.
    assert_eq!(Request::parse("w=a&set=b").cmd(), Ok(Cmd::List));
    assert_eq!(Request::parse("SET=b").cmd(), Ok(Cmd::List));
    assert!(answer(&troubled(), "set=ajp13:shop1|disabled|1", &[]).contains("type=ERROR"));
}
