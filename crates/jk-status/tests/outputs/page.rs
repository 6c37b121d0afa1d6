//! The page: what it offers to whom, and that its cells are those of the event stream.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jk_status::{Activation, Cmd, Outcome, Request, SCRIPT, STYLE, cells};

use crate::sample::{calm, large, troubled};
use crate::{markup, page};

#[test]
fn cells_are_on_the_page_with_the_same_text() {
    for view in [calm(), troubled()] {
        let html = page(&view, "maps=all");
        for (id, text) in cells(&view) {
            let escaped = text.replace('&', "&#38;");
            assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
            let after = html.split(&format!("id=\"{id}\"")).nth(1).unwrap();
            let shown = after.split_once('>').unwrap().1.split('<').next().unwrap();
            assert_eq!(shown, escaped, "{id}");
        }
    }
}

#[test]
fn ids_are_unique() {
    for query in
        ["", "cmd=edit&w=shop", "cmd=edit&w=shop&sw=shop1", "cmd=edit&w=shop&att=vwf", "cmd=edit&w=reports"]
    {
        let html = page(&troubled(), query);
        let mut seen = BTreeMap::new();
        for tag in markup::tags(html.strip_prefix("<!doctype html>").unwrap()) {
            if let Some(id) = tag.get("id") {
                assert!(seen.insert(id, ()).is_none(), "{query}: {id} twice");
            }
            // A label leads to a field.
            if let Some(field) = tag.get("for") {
                assert!(html.contains(&format!("id=\"{field}\"")), "{query}: {field}");
            }
        }
    }
}

#[test]
fn every_form_that_changes_something_is_a_post_with_the_token() {
    for query in
        ["", "cmd=edit&w=shop", "cmd=edit&w=shop&sw=shop3", "cmd=edit&w=shop&att=vwa", "cmd=edit&w=reports"]
    {
        let html = page(&troubled(), query);
        for form in html.split("<form ").skip(1) {
            let form = form.split("</form>").next().unwrap();
            if form.starts_with("method=\"post\"") {
                assert!(form.contains("name=\"token\" value=\"0123456789abcdef\""), "{query}: {form}");
            } else {
                assert!(!form.contains("token") && !form.contains("\"cmd\""), "{query}: {form}");
            }
        }
        // A form under "no referrer" would send `Origin: null`, and be refused as another site's.
        assert!(html.contains("<meta name=\"referrer\" content=\"same-origin\">"));
        assert!(!html.contains("href=\"?cmd=update") && !html.contains("href=\"?cmd=reset"));
    }
}

#[test]
fn who_may_only_read_sees_no_controls_and_no_token() {
    let mut view = troubled();
    view.options.read_only = true;
    for query in
        ["", "cmd=show&w=shop", "cmd=show&w=shop&sw=shop3", "cmd=edit&w=shop&att=vwa", "cmd=edit&w=reports"]
    {
        let html = page(&view, query);
        assert!(!html.contains("method=\"post\""), "{query}");
        assert!(!html.contains("0123456789abcdef"), "{query}");
        assert!(!html.contains("cmd=edit"), "{query}");
        assert!(html.contains("read only"), "{query}");
        let by_opt = page(&troubled(), &format!("{query}&opt=32"));
        assert!(!by_opt.contains("method=\"post\""), "{query}");
    }
}

#[test]
fn the_bits_of_opt_hide_what_mod_jks_hide() {
    let view = calm();
    let has = |query: &str, what: &str| page(&view, query).contains(what);
    for (bit, what) in
        [(1, "Members of shop"), (2, "id=\"mappings\""), (8, "id=\"group-0\""), (16, "id=\"workers\"")]
    {
        assert!(has("", what), "{what}");
        assert!(!has(&format!("opt={bit}"), what), "{bit}");
    }
}

#[test]
fn what_is_wrong_comes_first() {
    let html = page(&troubled(), "");
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("Reload refused") < at("Changed here, not in the file"));
    assert!(at("Connection refused") < at("id=\"group-0\""));
    assert!(at("1 member in error, the last reload failed") < at("Reload refused"));
    assert!(html.contains("did you mean &#34;lbfactor&#34;"));
    assert!(page(&calm(), "").contains("Nothing is in error"));
}

#[test]
fn a_stop_says_what_it_costs() {
    let view = troubled();
    let of = |view: &jk_status::StatusView, member: &str| page(view, &format!("cmd=edit&w=shop&sw={member}"));
    assert!(of(&view, "shop2").contains("Its 17 sessions, an estimate, lose their member"));
    // The only member left that takes new sessions.
    assert!(of(&view, "shop1").contains("No other member of the group can take new sessions."));
    assert!(!of(&calm(), "shop1").contains("No other member"));
    let mut drained = view.clone();
    drained.groups[0].members[1].sessions_lately = 0;
    drained.groups[0].members[1].ajp.busy = 0;
    assert!(of(&drained, "shop2").contains("safe to stop"));
    drained.groups[0].sticky_force = true;
    assert!(of(&drained, "shop1").contains("get 503"));
    assert!(of(&view, "shop3").contains("The next request goes to it as a trial, 29 s early."));
    assert!(!of(&view, "shop1").contains("as a trial"));
}

#[test]
fn a_change_can_be_undone() {
    let mut view = calm();
    view.groups[0].members[0].activation = Activation::Disabled;
    let html = page(&view, "cmd=update&w=shop&sw=shop1&vwa=disabled&was_vwa=active&vwf=1&was_vwf=1");
    let form = html.split("<form ").nth(1).unwrap().split("</form>").next().unwrap();
    for pair in [
        "name=\"vwa\" value=\"active\"",
        "name=\"was_vwa\" value=\"disabled\"",
        "name=\"sw\" value=\"shop1\"",
        "name=\"cmd\" value=\"update\"",
    ] {
        assert!(form.contains(pair), "{pair}: {form}");
    }
    assert!(form.contains("Undo") && !form.contains("vwf"), "{form}");
    assert!(html.contains("shop1: activation active → disabled"));
    // One setting of all members.
    let html = page(&view, "cmd=update&w=shop&att=vwf&val0=3&was_val0=1&val1=1&was_val1=1");
    let form = html.split("<form ").nth(1).unwrap().split("</form>").next().unwrap();
    assert!(
        form.contains("name=\"att\" value=\"vwf\"")
            && form.contains("name=\"val0\" value=\"1\"")
            && !form.contains("val1")
    );
    assert!(html.contains("shop1: lbfactor 1 → 3"));
    // A script says nothing of what was; there is nothing to undo then.
    assert!(!page(&view, "cmd=update&w=shop&sw=shop1&vwa=1").contains("Undo"));
}

#[test]
fn a_refused_change_says_why_where_it_was_made() {
    let request = Request::parse("cmd=update&w=shop&sw=shop1&vwf=0");
    let outcome = Outcome::Error("lbfactor: 0 is not from 1 to 1000000".to_owned());
    let html = jk_status::page(&calm(), &request, Cmd::Update, &outcome, None);
    assert!(html.contains("role=\"alert\"") && html.contains("lbfactor: 0 is not from 1 to 1000000"));
    assert!(html.contains("Member shop1") && html.contains("data-posted"));
}

#[test]
fn rows_can_be_filtered_without_script() {
    let html = page(&large(300, 3000), "find=shop-01");
    assert_eq!(html.matches("<tr><th scope=\"row\"><a href=\"?cmd=edit&#38;w=shop").count(), 10);
    assert!(!html.contains("search-011</a> <small>"));
    let troubled = page(&large(300, 0), "only=trouble");
    assert_eq!(troubled.matches("class=\"is bad\"").count(), 3);
    assert!(!troubled.contains("class=\"is ok\""));
    assert!(
        page(&large(300, 3000), "").contains("Show 2903 more")
            || page(&large(300, 3000), "").contains("more</a>")
    );
    assert_eq!(page(&large(3, 3000), "maps=all").matches("/area").count(), 3000);
}

#[test]
fn refresh_without_script() {
    assert!(page(&calm(), "re=7").contains("http-equiv=\"refresh\" content=\"7\""));
    for query in ["", "re=0", "re=-5", "re=x", "re=5&cmd=update&w=shop"] {
        assert!(!page(&calm(), query).contains("http-equiv=\"refresh\""), "{query}");
    }
}

#[test]
fn assets_are_small_and_addressed_by_their_content() {
    assert!(SCRIPT.len() < 8192, "{}", SCRIPT.len());
    assert!(STYLE.len() < 16 * 1024, "{}", STYLE.len());
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    let html = page(&calm(), "");
    let address = html.split("href=\"?asset=style&amp;v=").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(address.len(), 16);
    assert!(page(&troubled(), "").contains(address));
}

/// Loose, as other tests run beside it in a build without optimisation; `cargo run --release --example speed` measures.
#[test]
fn a_large_page_is_quick_and_not_too_large() {
    let view = large(501, 5000);
    let html = page(&view, "");
    assert!(html.len() < 700 * 1024, "{}", html.len());
    let best = (0..3)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(page(&view, ""));
            start.elapsed()
        })
        .min()
        .unwrap();
    assert!(best < Duration::from_secs(2), "{best:?}");
}
