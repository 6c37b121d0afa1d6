use super::*;

fn check(path: &str, expected: &str) {
    check_bytes(path.as_bytes(), expected);
}

fn check_bytes(path: &[u8], expected: &str) {
    let mut scratch = Scratch::default();
    let shown = match normalise(path, &mut scratch) {
        Ok(normal) => {
            let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
            if normal.matched == normal.proxy {
                text(normal.matched)
            } else {
                format!("{} <- {}", text(normal.matched), text(normal.proxy))
            }
        }
        Err(bad) => format!("{bad:?}"),
    };
    assert_eq!(shown, expected, "{}", path.escape_ascii());
}

#[test]
fn plain_paths_stay() {
    check("/", "/");
    check("/app", "/app");
    check("/a.b/c-d_e~f/g$h+i!j*k(l)m,n:o@p&q=r", "/a.b/c-d_e~f/g$h+i!j*k(l)m,n:o@p&q=r");
    check("/.a/..b/c..", "/.a/..b/c..");
}

#[test]
fn dots_and_double_slashes_are_resolved() {
    check("//app", "/app");
    check("/./app", "/app");
    check("/x/../app", "/app");
    check("/a/.", "/a/");
    check("/a/..", "/");
    check("/a//", "/a/");
    check("/a/%2e%2e/b", "/b");
    check("/a/.%2e/b", "/b");
    check("/a/%2E/b", "/a/b");
    check("/a/b/../../c", "/c");
    check("/..", "AboveRoot");
    check("/../a", "AboveRoot");
    check("/a/../../b", "AboveRoot");
    check("/a/..;x/../b", "/a/b");
}

#[test]
fn parameters_are_forwarded_but_not_matched() {
    check("/app;jsessionid=A.n1", "/app <- /app;jsessionid=A.n1");
    check("/app;v=1/x", "/app/x <- /app;v=1/x");
    check("/a/..;x=1/b", "/b <- /a/..;x=1/b");
    check("/a;x/../b", "/b");
    check("/x;y/..;z/w1/hello", "/w1/hello <- /x;y/..;z/w1/hello");
    check("/..;x", "AboveRoot");
    check("/a/;x/b", "/a/b <- /a/;x/b");
    check("/a/;x", "/a/ <- /a/;x");
    check("/a/.;x", "/a/ <- /a/.;x");
    check("/a/..;x", "/ <- /a/..;x");
}

#[test]
fn reserved_escapes_stay_and_unreserved_ones_go() {
    check("/%41%2d%7E%5f", "/A-~_");
    check("/w1/..%3Bx/loc", "/w1/..;x/loc <- /w1/..%3Bx/loc");
    check("/a%3bb", "/a;b <- /a%3Bb");
    check("/a%3Fb%23c%25d%2Ce", "/a?b#c%d,e <- /a%3Fb%23c%25d%2Ce");
    check("/%252e%252e/a", "/%2e%2e/a <- /%252e%252e/a");
    check("/a%20b/%C3%BC", "/a b/\\xc3\\xbc <- /a%20b/%C3%BC");
    check("/a[]{}|^`\"<>", "/a[]{}|^`\\\"<> <- /a%5B%5D%7B%7D%7C%5E%60%22%3C%3E");
    check_bytes(b"/\xc3\xa9", "/\\xc3\\xa9 <- /%C3%A9");
}

#[test]
fn what_cannot_be_read_safely_is_refused() {
    check("app", "NotAbsolute");
    check("", "NotAbsolute");
    check("*", "NotAbsolute");
    check("/a%00b", "Nul");
    check("/a%zz", "BadEscape");
    check("/a%2", "BadEscape");
    check("/a%", "BadEscape");
    check("/a;x=%zz", "BadEscape");
    check("/%u0041", "BadEscape");
    check("/a\\b", "Backslash");
    check_bytes(b"/a\x01b", "Control");
    check_bytes(b"/a\x7fb", "Control");
    check_bytes(b"/a\0b", "Nul");
}

#[test]
fn escaped_slashes_are_told_and_left_alone() {
    for path in ["/a%2Fb", "/a%2fb", "/a%5Cb", "/a%5cb"] {
        let mut scratch = Scratch::default();
        let normal = normalise(path.as_bytes(), &mut scratch).unwrap();
        assert!(normal.escaped_slash);
        assert_eq!(normal.matched, path.to_uppercase().replace("/A", "/a").replace("B", "b").as_bytes());
        assert_eq!(normal.matched, normal.proxy);
    }
}

#[test]
fn the_raw_path_is_forwarded_only_if_it_means_the_same() {
    let check = |raw: &str| {
        let mut scratch = Scratch::default();
        let matched = normalise(raw.as_bytes(), &mut scratch).unwrap().matched;
        check_unparsed(raw.as_bytes(), matched)
    };
    assert_eq!(check("/a//b/./c/../d;x=1/%7Eu"), Ok(()));
    assert_eq!(check("/a/..;x/b"), Ok(()));
    // httpd takes the segment in front of the dots away, whatever it is; Tomcat looks at its name first.
    assert_eq!(check("/a/b/.;x/../c"), Err(BadPath::Ambiguous));
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// Paths of pieces that have broken such code before.
    fn paths() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("/"),
            Just("."),
            Just(".."),
            Just(";"),
            Just(";a=b"),
            Just("%2e"),
            Just("%2E"),
            Just("%2f"),
            Just("%5C"),
            Just("%3b"),
            Just("%25"),
            Just("%"),
            Just("a"),
            Just("B"),
            Just("%41"),
            Just("\\"),
            Just("%00"),
            Just("é"),
            Just("?"),
            Just("/../"),
            Just("/./"),
            Just("//"),
            Just(" "),
            Just("%20"),
            Just("%252e"),
        ];
        proptest::collection::vec(piece, 0..12)
            .prop_map(|pieces| format!("/{}", pieces.concat()).into_bytes())
    }

    /// How Tomcat reads a URI, written down on its own: parameters off, decode once, then resolve.
    fn tomcat(uri: &[u8]) -> Option<Vec<u8>> {
        let text = uri.to_vec();
        let mut bare = Vec::new();
        let mut skipping = false;
        for byte in text {
            match byte {
                b';' => skipping = true,
                b'/' => skipping = false,
                _ => {}
            }
            if !skipping {
                bare.push(byte);
            }
        }
        let mut decoded = Vec::new();
        let mut at = 0;
        while at < bare.len() {
            if bare[at] == b'%' {
                let hex = std::str::from_utf8(bare.get(at + 1..at + 3)?).ok()?;
                let value = u8::from_str_radix(hex, 16).ok()?;
                if matches!(value, b'/' | b'\\') {
                    decoded.extend(hex.to_uppercase().bytes().fold(vec![b'%'], |mut v, b| {
                        v.push(b);
                        v
                    }));
                } else {
                    decoded.push(value);
                }
                at += 3;
            } else {
                decoded.push(bare[at]);
                at += 1;
            }
        }
        let mut path = decoded;
        if path.ends_with(b"/.") || path.ends_with(b"/..") {
            path.push(b'/');
        }
        while let Some(at) = path.windows(2).position(|w| w == b"//") {
            path.remove(at);
        }
        while let Some(at) = path.windows(3).position(|w| w == b"/./") {
            path.drain(at..at + 2);
        }
        while let Some(at) = path.windows(4).position(|w| w == b"/../") {
            if at == 0 {
                return None;
            }
            let before = path[..at].iter().rposition(|b| *b == b'/')?;
            path.drain(before..at + 3);
        }
        Some(path)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn tomcat_serves_what_was_matched(path in paths()) {
            let mut scratch = Scratch::default();
            if let Ok(normal) = normalise(&path, &mut scratch) {
                let served = tomcat(normal.proxy);
                prop_assert_eq!(served.as_deref(), Some(normal.matched), "{}", normal.proxy.escape_ascii());
            }
        }

        #[test]
        fn reading_the_forwarded_form_again_changes_nothing(path in paths()) {
            let mut scratch = Scratch::default();
            if let Ok(normal) = normalise(&path, &mut scratch) {
                let (matched, proxy) = (normal.matched.to_vec(), normal.proxy.to_vec());
                let mut again = Scratch::default();
                let second = normalise(&proxy, &mut again).unwrap();
                prop_assert_eq!(second.matched, &matched[..]);
                prop_assert_eq!(second.proxy, &proxy[..]);
            }
        }

        #[test]
        fn a_faithful_raw_path_is_served_as_matched(path in paths()) {
            let mut scratch = Scratch::default();
            if let Ok(normal) = normalise(&path, &mut scratch)
                && check_unparsed(&path, normal.matched).is_ok()
                && path.iter().all(|b| *b != b'?')
            {
                let served = tomcat(&path);
                prop_assert_eq!(served.as_deref(), Some(normal.matched));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(path in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut scratch = Scratch::default();
            let _read_or_refused = normalise(&path, &mut scratch);
        }
    }
}
