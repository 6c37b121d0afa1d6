//! A name is shown, not run, in every form.

use jk_status::{StatusView, cells, json, metrics, nagios, terminal};
use proptest::prelude::*;

use crate::sample::{EVIL, calm, hostile};
use crate::{answer, markup, page};

const PAGES: &[&str] = &[
    "",
    "cmd=version",
    "cmd=dump",
    "find=%3Cscript%3E%22%27&explain=%3Cscript%3Ealert(1)%3C/script%3E%22&maps=all",
    "cmd=show&w=NAME",
    "cmd=edit&w=NAME",
    "cmd=edit&w=NAME&sw=MEMBER",
    "cmd=edit&w=NAME&att=vwn",
    "cmd=edit&w=WORKER",
    "cmd=update&w=NAME&sw=MEMBER&vwn=%22%3E%3Cscript%3E&was_vwn=%22%3E%3Cimg%20onerror=1%3E&was_%22x=1&%22x=2",
    "cmd=%3Cscript%3E",
];

/// Queries about the first group of a view.
fn queries(view: &StatusView) -> Vec<String> {
    let percent = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let group = &view.groups[0];
    let of = |query: &&str| {
        query
            .replace("NAME", &percent(&group.name))
            .replace("MEMBER", &percent(&group.members[0].ajp.name))
            .replace("WORKER", &percent(&view.workers[0].ajp.name))
    };
    PAGES.iter().map(of).collect()
}

fn check_page(html: &str) {
    let known = "html head meta title link script body a header div p span b code nav main section h1 h2 h3 pre ul li form input button svg path circle rect table caption thead tbody tr th td small footer label select option fieldset legend dl dt dd strong figure figcaption";
    for tag in markup::tags(html.strip_prefix("<!doctype html>").unwrap()) {
        let name = tag.name.trim_start_matches('/');
        assert!(known.split(' ').any(|known| known == name), "<{name}>");
        for (attribute, value) in &tag.attributes {
            assert!(!attribute.starts_with("on") && *attribute != "style", "{attribute}");
            if matches!(*attribute, "href" | "src" | "action") && !value.contains("script&#62;") {
                assert!(value.starts_with(['?', '#']) || *value == "data:,", "{attribute}={value}");
            }
        }
        if name == "script" && !tag.name.starts_with('/') {
            assert!(tag.get("src").unwrap().starts_with("?asset=script"));
        }
    }
    assert!(!html.contains("<script>"));
}

#[test]
fn pages() {
    let view = hostile();
    for query in queries(&view) {
        check_page(&page(&view, &query));
    }
    assert!(
        page(&view, "").contains("shop1&#60;script&#62;") || page(&view, "").contains("shop1&lt;script&gt;")
    );
}

#[test]
fn pages_of_a_calm_gateway_too() {
    let view = calm();
    for query in queries(&view) {
        check_page(&page(&view, &query));
    }
}

#[test]
fn json_gives_the_very_name() {
    let view = hostile();
    let value: serde_json::Value = serde_json::from_str(&json(&view)).unwrap();
    assert_eq!(value["config"], EVIL);
    assert_eq!(value["groups"][0]["members"][0]["name"], format!("shop1{EVIL}"));
    assert_eq!(value["groups"][0]["members"][0]["last_error"]["text"], EVIL);
    assert!(!json(&view).trim_end().contains(|c: char| c.is_control()));
}

fn xml(view: &StatusView) -> String {
    let xml = answer(view, "mime=xml", &[]);
    for tag in markup::tags(&xml) {
        assert!(
            tag.name.starts_with("jk:") || tag.name.starts_with("/jk:") || tag.name == "?xml",
            "{}",
            tag.name
        );
    }
    assert!(!xml.contains(|c: char| c.is_control() && c != '\n'));
    xml
}

#[test]
fn mod_jks_forms_have_as_many_lines_as_ever() {
    let (evil, good) = (hostile(), crate::sample::troubled());
    let lines = |view: &StatusView, mime: &str| answer(view, &format!("mime={mime}"), &[]).lines().count();
    for mime in ["xml", "txt", "prop"] {
        assert_eq!(lines(&evil, mime), lines(&good, mime), "{mime}");
    }
    xml(&evil);
    for line in answer(&evil, "mime=prop", &[]).lines() {
        assert!(line.starts_with("worker."), "{line}");
    }
    for query in ["dmp=*", "lst=*", "qry=*", "get=ajp13:x|y%0Az"] {
        let shown = answer(&evil, query, &[]);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{query}");
    }
    for line in answer(&evil, "dmp=*", &[]).lines() {
        assert!(line.is_empty() || line.starts_with('[') || line.contains('='), "{line}");
    }
}

#[test]
fn a_terminal_gets_no_commands() {
    let view = hostile();
    for text in [terminal(&view), nagios(&view)] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
    assert_eq!(nagios(&view).lines().count(), 1);
}

#[test]
fn metrics_stay_lines() {
    let shown = metrics(&hostile());
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'));
    assert_eq!(shown.lines().count(), metrics(&crate::sample::troubled()).lines().count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_only_text(name in any::<String>(), route in any::<String>(), error in any::<String>()) {
        let mut view = crate::sample::troubled();
        view.groups[0].name.clone_from(&name);
        view.groups[0].members[0].ajp.name.clone_from(&name);
        view.groups[0].members[2].ajp.last_error = Some((1, error));
        view.groups[0].mappings[0].uri = route.clone();
        view.groups[0].members[0].route = route;
        for query in queries(&view) {
            check_page(&page(&view, &query));
        }
        xml(&view);
        let value: serde_json::Value = serde_json::from_str(&json(&view)).unwrap();
        prop_assert_eq!(&value["groups"][0]["name"], &name);
        prop_assert_eq!(metrics(&view).lines().count(), metrics(&crate::sample::troubled()).lines().count());
        prop_assert_eq!(cells(&view).len(), cells(&crate::sample::troubled()).len());
    }

    #[test]
    fn any_query_has_an_answer(query in "[ -~]{0,60}", cmd in "(list|show|edit|update|reset|recover|version|dump)?", w in "(shop|reports|x)?", sw in "(shop1|shop\\*|x)?") {
        let view = calm();
        let whole = format!("{query}&cmd={cmd}&w={w}&sw={sw}&{query}");
        check_page(&page(&view, &whole));
        for mime in ["xml", "txt", "prop"] {
            let shown = answer(&view, &format!("{whole}&mime={mime}"), &[]);
            prop_assert!(!shown.is_empty());
        }
    }
}
