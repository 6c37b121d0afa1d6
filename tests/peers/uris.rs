//! Request targets of every shape, each through every way to forward a path.

use test_support::request::Request;

use crate::fronts::Front;
use crate::scenarios::Scenario;

pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (front, name) in [(Front::Group, "proxy"), (Front::Unparsed, "unparsed"), (Front::Escaped, "escaped")]
    {
        let targets = TAILS.iter().map(|tail| format!("/echo/dump/{tail}"));
        for target in targets.chain(WHOLE.iter().map(|whole| (*whole).to_owned())) {
            let request = Request::new("GET", &target).host(front.host());
            all.push(Scenario::new(format!("{name} {target}"), request));
        }
    }
    // Bytes beyond ASCII go out as they are: a target is text everywhere else here.
    let request = Request::new("GET", "/echo/dump/\u{e9}");
    all.push(Scenario::new("raw-utf8", request));
    all
}

/// Below `/echo/dump/`.
const TAILS: &[&str] = &[
    "",
    "a",
    "a%20b",
    "a+b",
    "a%2Bb",
    "a;v=1/b",
    "a%3Bv=1/b",
    "a;jsessionid=AB.t1",
    "a%3Bjsessionid=AB.t1",
    ";/a",
    ";x=1",
    "a;x=%2F;y/b",
    "a%2Fb",
    "a%2fb",
    "%2F",
    "a%5Cb",
    "a\\b",
    "a%25b",
    "100%25",
    "%252F",
    "%252e%252e/a",
    "a%3Fb",
    "a%23b",
    "a?b=1?c=2",
    "a?",
    "a?%00",
    "a?a=[]|&b=%zz&d=a?b",
    "a#frag",
    "%C3%A9",
    "%c3%a9",
    "%E9",
    "%F0%9F%98%80",
    "%C0%AF",
    "~%7E%7e",
    "!$&'()*,=:@-._",
    "%21%24%26%27%28%29%2A%2C%3D%3A%40%2D%2E%5F",
    "%5B%5D",
    "[]",
    "{}",
    "%7B%7D",
    "|^`",
    "%7C%5E%60",
    "\"<>",
    "%22%3C%3E",
    "a//b",
    "//a",
    "a/./b",
    "a/.",
    "a/..",
    "a/../b",
    "a/%2e%2e/b",
    "a/%2E/b",
    "a/.%2e/b",
    "a/..;x/b",
    "a/.;x/b",
    "a;x/../b",
    "x;p/..;q/a",
    "../dump/a",
    "..%2Fdump",
    "..%5Cdump",
    "../../echo/dump/a",
    "%00",
    "a%00b",
    "a%01b",
    "a%09b",
    "a%0Ab",
    "a%0D%0Ab",
    "a%7Fb",
    "a%zz",
    "a%",
    "a%2",
    "%u0041",
    "WEB-INF/web.xml",
    "%41%42%43",
    "a%2eb",
    "x.jsp",
    "...",
    "a/...",
];

/// From the root on.
const WHOLE: &[&str] = &[
    "/echo",
    "/echo/",
    "/echo/dump",
    "/echo//dump///a",
    "/echo/x/../dump/./a",
    "/echo/../echo/dump",
    "/echo/..;/echo/dump",
    "/echo/%2e%2e/echo/dump",
    "//echo/dump",
    "/echo;v=1/dump",
    "/ech%6f/dump",
    "/ECHO/dump",
    "/echo/WEB-INF/web.xml",
    "/echo/%57EB-INF/web.xml",
    "/../echo/dump",
    "/echo/../../dump",
    "/examples/../echo/dump",
    "/echo%2Fdump",
    "/echo/..",
    "/",
];
