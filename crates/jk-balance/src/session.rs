//! From a request to the routes its session ids name (mod_jk: `get_sessionid`, `get_path_param`, `get_cookie`).

/// The session ids of a request: those in path parameters, or, if the path has none, all cookies of the name, in order.
///
/// `path` is the path as received; `parameter` is `jsessionid` without its semicolon.
pub fn session_ids<'a>(
    path: &'a [u8],
    parameter: &'a str,
    cookies: impl Iterator<Item = &'a [u8]> + 'a,
    cookie: &'a str,
) -> impl Iterator<Item = &'a [u8]> + 'a {
    let mut from_path = path_parameters(path, parameter).peekable();
    let has_path = from_path.peek().is_some();
    let from_cookies =
        cookies.flat_map(move |header| cookie_values(header, cookie)).filter(move |_| !has_path);
    from_path.chain(from_cookies)
}

/// The part of a session id behind its first dot, if there is one that can be a route.
#[must_use]
pub fn route(id: &[u8]) -> Option<&str> {
    let dot = memchr::memchr(b'.', id)?;
    let route = id.get(dot + 1..)?;
    std::str::from_utf8(route).ok().filter(|route| !route.is_empty())
}

fn path_parameters<'a>(path: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
    let segments = path.split(|b| *b == b'/');
    segments.flat_map(move |segment| {
        segment.split(|b| *b == b';').skip(1).filter_map(move |pair| {
            let value = pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(value)
        })
    })
}

fn cookie_values<'a>(header: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
    header.split(|b| matches!(b, b';' | b',')).filter_map(move |pair| {
        let rest = pair.trim_ascii_start().strip_prefix(name.as_bytes())?;
        // Blanks around the value are not part of it; mod_jk keeps those behind it and loses the session.
        let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
        Some(value.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\"")).unwrap_or(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, cookies: &[&str], expected: &str) {
        let cookies = cookies.iter().map(|cookie| cookie.as_bytes());
        let ids = session_ids(path.as_bytes(), "jsessionid", cookies, "JSESSIONID");
        let routes: Vec<&str> = ids.map(|id| route(id).unwrap_or("-")).collect();
        assert_eq!(routes.join(" "), expected, "{path}");
    }

    #[test]
    fn the_path_comes_first_and_alone() {
        check("/a;jsessionid=x.n1", &["JSESSIONID=y.n2"], "n1");
        check("/a;jsessionid=x.n1/b;jsessionid=y.n3", &[], "n1 n3");
        check("/a;v=1;jsessionid=x.n1", &[], "n1");
        check("/a;jsessionid=", &["JSESSIONID=y.n2"], "-");
        check("/a;jsessionids=x.n1", &["JSESSIONID=y.n2"], "n2");
        check("/a;JSESSIONID=x.n1", &["JSESSIONID=y.n2"], "n2");
    }

    #[test]
    fn every_cookie_of_the_name_counts_in_order() {
        check("/a", &["JSESSIONID=x.gone; JSESSIONID=y.n2"], "gone n2");
        check("/a", &["a=b; JSESSIONID=x.n1", "JSESSIONID=y.n2"], "n1 n2");
        check("/a", &["XJSESSIONID=x.n1; JSESSIONID2=x.n3; jsessionid=x.n4"], "");
        check("/a", &["JSESSIONID=x.n1 ; x=y"], "n1");
        check("/a", &["JSESSIONID = \"x.n1\""], "n1");
        check("/a", &["$Version=1, JSESSIONID=x.n1"], "n1");
    }

    #[test]
    fn a_route_is_all_behind_the_first_dot() {
        assert_eq!(route(b"abc.n1.x"), Some("n1.x"));
        assert_eq!(route(b"abc"), None);
        assert_eq!(route(b"abc."), None);
        assert_eq!(route(b".n1"), Some("n1"));
        assert_eq!(route(b"a.\xff"), None);
    }
}
