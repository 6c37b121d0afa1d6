//! The groups and request sequences that mod_jk and jkgate are compared on.

use Step::{Ask, Command, Hold, Release, Start, Stop};

/// A key as mod_jk and as jkgate want it.
pub type Key = (&'static str, &'static str, &'static str);

/// One group, and what is done to it.
pub struct Case {
    pub name: &'static str,
    pub group: &'static [Key],
    /// The worker's letter (`x`, `y`: nobody listens there), and its keys. The route is the letter.
    pub members: &'static [(char, &'static [Key])],
    /// Extensions of the mapping, by key.
    pub mapping: &'static [Key],
    pub steps: &'static [Step],
    /// Compared are choices only: what a failure makes of a member differs on purpose (docs/differences.md).
    pub states: bool,
}

/// What happens next.
pub enum Step {
    /// A request, some times over: method, times, cookies, and what stands behind the path.
    Ask(&'static str, usize, &'static str, &'static str),
    /// A request whose answer waits for the next `Release`.
    Hold(&'static str),
    Release,
    /// A worker ends, like a Tomcat that is shut down.
    Stop(char),
    Start(char),
    /// To the status page, about the member with this letter: a command and its parameters.
    Command(char, &'static str),
}

const fn plain(times: usize) -> Step {
    Ask("GET", times, "", "")
}

const fn cookie(cookie: &'static str) -> Step {
    Ask("GET", 2, cookie, "")
}

const fn rest(rest: &'static str) -> Step {
    Ask("GET", 1, "", rest)
}

const fn post(rest: &'static str) -> Step {
    Ask("POST", 1, "", rest)
}

/// A case without extensions whose members' states are compared, too.
const fn case(
    name: &'static str,
    group: &'static [Key],
    members: &'static [(char, &'static [Key])],
    steps: &'static [Step],
) -> Case {
    Case { name, group, members, mapping: &[], steps, states: true }
}

const TWO: &[(char, &[Key])] = &[('a', &[]), ('b', &[])];
const THREE: &[(char, &[Key])] = &[('a', &[]), ('b', &[]), ('c', &[])];
const WEIGHED: &[(char, &[Key])] =
    &[('a', &[("lbfactor", "1", "1")]), ('b', &[("lbfactor", "2", "2")]), ('c', &[("lbfactor", "3", "3")])];
const DOMAINS: &[(char, &[Key])] = &[
    ('a', &[("domain", "east", "\"east\"")]),
    ('b', &[("domain", "east", "\"east\"")]),
    ('c', &[("domain", "west", "\"west\"")]),
];
const SLOW: &[(char, &[Key])] =
    &[('a', &[("reply_timeout", "300", "\"300ms\"")]), ('b', &[("reply_timeout", "300", "\"300ms\"")])];
const ONCE: &[(char, &[Key])] =
    &[('a', &[("recovery_options", "3", "3")]), ('b', &[("recovery_options", "3", "3")])];
const NO_GET: &[(char, &[Key])] =
    &[('a', &[("recovery_options", "16", "16")]), ('b', &[("recovery_options", "16", "16")])];
const NO_HEAD: &[(char, &[Key])] =
    &[('a', &[("recovery_options", "8", "8")]), ('b', &[("recovery_options", "8", "8")])];
const STICKY: &[Step] = &[
    plain(1),
    cookie("JSESSIONID=1.a"),
    cookie("JSESSIONID=1.b"),
    cookie("JSESSIONID=1.zzz"),
    cookie("JSESSIONID=1"),
    cookie("JSESSIONID=1.zzz; JSESSIONID=2.b"),
    cookie("other=1.b; JSESSIONID=2.a"),
    cookie("JSESSIONID=1.b.x"),
    rest(";jsessionid=3.b"),
    rest(";jsessionid=3.a;v=1"),
    rest(";v=1;jsessionid=3.b"),
    rest("?jsessionid=3.b"),
    plain(4),
];

pub const CASES: &[Case] = &[
    case("turns", &[], THREE, &[plain(9)]),
    case("weights", &[], WEIGHED, &[plain(24)]),
    case(
        "weights by sessions",
        &[("method", "S", "\"sessions\"")],
        WEIGHED,
        &[plain(12), cookie("JSESSIONID=1.a"), cookie("JSESSIONID=1.zzz"), plain(12)],
    ),
    case("weights by traffic", &[("method", "T", "\"traffic\"")], WEIGHED, &[plain(18)]),
    case("weights by busyness", &[("method", "B", "\"busyness\"")], WEIGHED, &[plain(12)]),
    case("next", &[("method", "N", "\"next\"")], WEIGHED, &[plain(12), cookie("JSESSIONID=1.a"), plain(6)]),
    case("sticky", &[], TWO, STICKY),
    case("sticky off", &[("sticky_session", "0", "false")], TWO, STICKY),
    case("forced", &[("sticky_session_force", "1", "true")], TWO, STICKY),
    case(
        "forced, and the member is dead",
        &[("sticky_session_force", "1", "true")],
        &[('a', &[]), ('x', &[])],
        &[plain(3), cookie("JSESSIONID=1.x"), cookie("JSESSIONID=1.a"), plain(2)],
    ),
    case(
        "own names",
        &[("session_cookie", "SID", "\"SID\""), ("session_path", ";sid", "\";sid\"")],
        TWO,
        &[
            plain(1),
            cookie("SID=1.b"),
            cookie("JSESSIONID=1.a"),
            rest(";sid=1.a"),
            rest(";jsessionid=1.b"),
            plain(3),
        ],
    ),
    case(
        "distance",
        &[],
        &[('a', &[("distance", "1", "1")]), ('b', &[]), ('c', &[])],
        &[plain(6), cookie("JSESSIONID=1.a"), plain(2)],
    ),
    case(
        "distance, and the near one is dead",
        &[],
        &[('a', &[("distance", "1", "1")]), ('x', &[]), ('c', &[("distance", "1", "1")])],
        &[plain(6)],
    ),
    case(
        "disabled",
        &[],
        &[('a', &[]), ('b', &[("activation", "disabled", "\"disabled\"")]), ('c', &[])],
        &[plain(6), cookie("JSESSIONID=1.b"), plain(2)],
    ),
    case(
        "stopped",
        &[],
        &[('a', &[]), ('b', &[("activation", "stopped", "\"stopped\"")]), ('c', &[])],
        &[plain(6), cookie("JSESSIONID=1.b"), plain(2)],
    ),
    case(
        "nobody is active",
        &[],
        &[
            ('a', &[("activation", "disabled", "\"disabled\"")]),
            ('b', &[("activation", "stopped", "\"stopped\"")]),
        ],
        &[plain(2), cookie("JSESSIONID=1.a"), cookie("JSESSIONID=1.b")],
    ),
    case(
        "one member, disabled",
        &[],
        &[('a', &[("activation", "disabled", "\"disabled\"")])],
        &[plain(2), cookie("JSESSIONID=1.a")],
    ),
    case(
        "redirect",
        &[],
        &[('x', &[("redirect", "c", "\"c\"")]), ('b', &[]), ('c', &[])],
        &[plain(4), cookie("JSESSIONID=1.x"), cookie("JSESSIONID=1.b"), plain(3)],
    ),
    case(
        "hot standby",
        &[],
        &[('x', &[("redirect", "c", "\"c\"")]), ('c', &[("activation", "disabled", "\"disabled\"")])],
        &[plain(4), cookie("JSESSIONID=1.x"), cookie("JSESSIONID=1.c")],
    ),
    case(
        "domains",
        &[],
        &[
            ('x', &[("domain", "east", "\"east\"")]),
            ('b', &[("domain", "west", "\"west\"")]),
            ('c', &[("domain", "east", "\"east\"")]),
            ('d', &[("domain", "west", "\"west\"")]),
        ],
        &[
            plain(5),
            cookie("JSESSIONID=1.x"),
            cookie("JSESSIONID=1.b"),
            cookie("JSESSIONID=1.east"),
            cookie("JSESSIONID=1.west.q"),
            plain(3),
        ],
    ),
    case("a dead member", &[], &[('a', &[]), ('x', &[]), ('c', &[])], &[plain(8)]),
    case("all are dead", &[], &[('x', &[]), ('y', &[])], &[plain(1)]),
    case(
        "a status that counts as failure",
        &[],
        &[('a', &[("fail_on_status", "500", "[500]")]), ('b', &[("fail_on_status", "500", "[500]")])],
        &[plain(2), rest("?500=a"), plain(3), rest("?404=b"), plain(1)],
    ),
    case(
        "a status that counts as failure of the request only",
        &[],
        &[('a', &[("fail_on_status", "-500", "[-500]")]), ('b', &[("fail_on_status", "-500", "[-500]")])],
        &[plain(2), rest("?500=a"), plain(3)],
    ),
    case("an error page is an answer", &[], TWO, &[rest("?500=ab"), rest("?503=ab"), plain(2)]),
    // Requests under way.
    case(
        "busyness, some under way",
        &[("method", "B", "\"busyness\"")],
        THREE,
        &[Hold(""), Hold(""), plain(4), Hold(""), Hold("JSESSIONID=1.b"), plain(4), Release, plain(3)],
    ),
    case(
        "busyness by weight, some under way",
        &[("method", "B", "\"busyness\"")],
        WEIGHED,
        &[Hold(""), Hold(""), Hold(""), Hold(""), Hold(""), Hold(""), Hold(""), plain(2), Release, plain(3)],
    ),
    case(
        "a full member",
        &[],
        &[('a', &[("busy_limit", "1", "1")]), ('b', &[])],
        &[Hold("JSESSIONID=1.a"), plain(4), cookie("JSESSIONID=1.a"), Release, plain(4)],
    ),
    case(
        "requests under way do not count by requests",
        &[],
        TWO,
        &[Hold(""), Hold(""), Hold(""), plain(3), Release],
    ),
    // What a rule says in place of the group.
    Case {
        mapping: &[("sticky_ignore", "1", "true")],
        ..case("a rule that ignores sessions", &[], TWO, STICKY)
    },
    Case {
        mapping: &[("stateless", "1", "true")],
        ..case(
            "a stateless rule, by sessions",
            &[("method", "S", "\"sessions\"")],
            WEIGHED,
            &[plain(8), cookie("JSESSIONID=1.a"), plain(4)],
        )
    },
    Case {
        mapping: &[("stateless", "1", "true")],
        ..case("a stateless rule, by requests", &[], WEIGHED, &[plain(8), cookie("JSESSIONID=1.a"), plain(4)])
    },
    Case {
        mapping: &[("disabled", "@b", "\"@b\""), ("stopped", "@c", "\"@c\"")],
        ..case(
            "members of which a rule thinks otherwise",
            &[],
            THREE,
            &[plain(3), cookie("JSESSIONID=1.b"), cookie("JSESSIONID=1.c"), plain(2)],
        )
    },
    Case {
        mapping: &[("active", "@b", "\"@b\"")],
        ..case(
            "a member that is active for a rule",
            &[],
            &[('a', &[]), ('b', &[("activation", "stopped", "\"stopped\"")])],
            &[plain(4), cookie("JSESSIONID=1.b")],
        )
    },
    Case {
        mapping: &[("session_cookie", "SID", "\"SID\""), ("session_path", ";sid", "\";sid\"")],
        ..case(
            "a rule with names of its own",
            &[],
            TWO,
            &[
                plain(1),
                cookie("SID=1.b"),
                cookie("JSESSIONID=1.b"),
                rest(";sid=1.a"),
                rest(";jsessionid=1.a"),
                plain(2),
            ],
        )
    },
    Case {
        mapping: &[("fail_on_status", "503", "[503]")],
        ..case("a rule for which a status is a failure", &[], TWO, &[plain(2), rest("?503=a"), plain(3)])
    },
    // The balancer's own cookie.
    case(
        "a cookie of the balancer's own",
        &[("set_session_cookie", "1", "true")],
        TWO,
        &[
            plain(2),
            cookie("JSESSIONID=.b"),
            cookie("JSESSIONID=.zzz"),
            cookie("other=1"),
            rest(";jsessionid=3.b"),
            post(""),
        ],
    ),
    case(
        "a cookie with a name and a path",
        &[
            ("set_session_cookie", "1", "true"),
            ("session_cookie", "ROUTE", "\"ROUTE\""),
            ("session_cookie_path", "/shop", "\"/shop\""),
        ],
        TWO,
        &[plain(2), cookie("ROUTE=.b"), cookie("JSESSIONID=1.a")],
    ),
    case(
        "one member sets no cookie",
        &[("set_session_cookie", "1", "true")],
        &[('a', &[])],
        &[plain(2), cookie("JSESSIONID=1.zzz")],
    ),
    // Members that die, and return.
    case(
        "a member dies and returns",
        &[],
        THREE,
        &[plain(4), Stop('b'), plain(6), Start('b'), plain(3), Command('b', "cmd=recover"), plain(9)],
    ),
    case(
        "a session's member dies and returns",
        &[],
        TWO,
        &[
            cookie("JSESSIONID=1.b"),
            Stop('b'),
            cookie("JSESSIONID=1.b"),
            plain(1),
            Start('b'),
            cookie("JSESSIONID=1.b"),
            Command('b', "cmd=recover"),
            cookie("JSESSIONID=1.b"),
            plain(4),
        ],
    ),
    case(
        "weights after a return",
        &[],
        WEIGHED,
        &[plain(7), Stop('c'), plain(9), Start('c'), Command('c', "cmd=recover"), plain(12)],
    ),
    case(
        "busyness after a return",
        &[("method", "B", "\"busyness\"")],
        TWO,
        &[plain(3), Stop('a'), plain(4), Start('a'), Command('a', "cmd=recover"), plain(4)],
    ),
    case(
        "sessions after a return",
        &[("method", "S", "\"sessions\"")],
        WEIGHED,
        &[plain(7), Stop('a'), plain(6), Start('a'), Command('a', "cmd=recover"), plain(8)],
    ),
    case(
        "a member that is tried and is still dead",
        &[],
        &[('a', &[]), ('x', &[])],
        &[plain(4), Command('x', "cmd=recover"), plain(4)],
    ),
    case("reset", &[], &[('a', &[]), ('x', &[])], &[plain(4), Command('x', "cmd=reset"), plain(4)]),
    case(
        "the only member dies and returns",
        &[],
        &[('a', &[])],
        &[plain(1), Stop('a'), plain(1), Start('a'), plain(2)],
    ),
    case(
        "all die and return",
        &[],
        TWO,
        &[plain(2), Stop('a'), Stop('b'), plain(1), Start('a'), Start('b'), plain(4)],
    ),
    case(
        "a domain loses a member",
        &[],
        DOMAINS,
        &[
            cookie("JSESSIONID=1.a"),
            Stop('a'),
            cookie("JSESSIONID=1.a"),
            plain(4),
            Start('a'),
            Command('a', "cmd=recover"),
            cookie("JSESSIONID=1.a"),
            plain(4),
        ],
    ),
    case(
        "a domain loses all its members",
        &[],
        DOMAINS,
        &[
            cookie("JSESSIONID=1.a"),
            Stop('a'),
            Stop('b'),
            cookie("JSESSIONID=1.a"),
            cookie("JSESSIONID=1.b"),
            plain(3),
            Start('a'),
            Start('b'),
        ],
    ),
    case(
        "force, and a domain loses a member",
        &[("sticky_session_force", "1", "true")],
        DOMAINS,
        &[cookie("JSESSIONID=1.a"), Stop('a'), Ask("GET", 1, "JSESSIONID=1.a", ""), plain(3), Start('a')],
    ),
    case(
        "redirect to a member that is away, too",
        &[],
        &[
            ('x', &[("redirect", "b", "\"b\"")]),
            ('b', &[("activation", "stopped", "\"stopped\"")]),
            ('c', &[]),
        ],
        &[cookie("JSESSIONID=1.x"), plain(2)],
    ),
    case(
        "redirect and distance",
        &[],
        &[('x', &[("redirect", "c", "\"c\"")]), ('b', &[]), ('c', &[("distance", "1", "1")])],
        &[plain(2), cookie("JSESSIONID=1.x"), plain(2)],
    ),
    case(
        "domains and distance",
        &[],
        &[
            ('x', &[("domain", "east", "\"east\"")]),
            ('b', &[("domain", "east", "\"east\""), ("distance", "1", "1")]),
            ('c', &[("domain", "west", "\"west\"")]),
            ('d', &[("domain", "east", "\"east\""), ("distance", "2", "2")]),
        ],
        &[
            plain(3),
            cookie("JSESSIONID=1.x"),
            cookie("JSESSIONID=1.d"),
            Stop('b'),
            cookie("JSESSIONID=1.x"),
            Start('b'),
            plain(2),
        ],
    ),
    // Steering changes the choice.
    case(
        "disabled by hand, and active again",
        &[],
        THREE,
        &[
            plain(4),
            Command('b', "cmd=update&vwa=1"),
            plain(4),
            cookie("JSESSIONID=1.b"),
            Command('b', "cmd=update&vwa=0"),
            plain(6),
        ],
    ),
    case(
        "stopped by hand",
        &[],
        THREE,
        &[plain(4), Command('b', "cmd=update&vwa=2"), cookie("JSESSIONID=1.b"), plain(4)],
    ),
    case("another weight by hand", &[], THREE, &[plain(3), Command('c', "cmd=update&vwf=3"), plain(12)]),
    case("another distance by hand", &[], THREE, &[plain(3), Command('a', "cmd=update&vwd=1"), plain(4)]),
    case(
        "another route by hand",
        &[],
        TWO,
        &[Command('a', "cmd=update&vwn=q"), cookie("JSESSIONID=1.q"), cookie("JSESSIONID=1.a")],
    ),
    // Which requests are asked again. What the failure makes of the member differs: see docs/differences.md.
    Case { states: false, ..case("a GET whose member closes", &[], TWO, &[rest("?close=a")]) },
    Case { states: false, ..case("a GET whose members all close", &[], TWO, &[rest("?close=ab")]) },
    Case { states: false, ..case("POST is sent once", &[], ONCE, &[post("?close=a")]) },
    Case { states: false, ..case("GET is sent once", &[], NO_GET, &[rest("?close=a")]) },
    Case { states: false, ..case("HEAD is sent once", &[], NO_HEAD, &[Ask("HEAD", 1, "", "?close=a")]) },
    Case { states: false, ..case("a member that is too slow", &[], SLOW, &[rest("?hang=a")]) },
    case(
        "a member that is too slow too often",
        &[("max_reply_timeouts", "0", "0")],
        SLOW,
        &[rest("?hang=a"), plain(3)],
    ),
    Case { states: false, ..case("all members are too slow", &[], SLOW, &[rest("?hang=ab")]) },
];
