//! The status page in a real browser. `SCREENSHOTS=1` also takes the pictures of `docs/status.md`.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test that cannot go on has failed"
)]

mod axe;
mod driver;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use jk_worker::Worker;
use serde_json::Value;
use test_support::http::Client;
use test_support::servers::{Jkgate, root};

use crate::driver::{Browser, ENTER, TAB};

/// A gateway with a group of three, of which the last one is not there.
struct Site {
    gateway: Jkgate,
    _workers: [Worker; 2],
}

impl Site {
    async fn start() -> Self {
        let workers = [Worker::polite().await, Worker::polite().await];
        let mut text = String::from(
            "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"off\"\n\
             [lb.shop]\n[uri]\n\"/jkstatus|/*\" = \"status\"\n\"/shop|/*\" = \"shop\"\n\"!/shop/static/*\" = \"shop\"\n",
        );
        let addresses =
            [workers[0].address().to_string(), workers[1].address().to_string(), "127.0.0.1:9".to_owned()];
        for (number, address) in addresses.iter().enumerate() {
            write!(text, "[ajp13.shop{}]\naddress = \"{address}\"\ngroup = \"shop\"\n", number + 1).unwrap();
        }
        Self { gateway: Jkgate::start(env!("CARGO_BIN_EXE_jkgate"), &text), _workers: workers }
    }

    fn url(&self, query: &str) -> String {
        format!("http://{}/jkstatus{query}", self.gateway.address())
    }

    /// Requests until it is told to stop.
    fn load(&self) -> Load {
        let (address, stop) = (self.gateway.address(), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            let mut client = Client::connect(address).await;
            while !told.load(SeqCst) {
                client.send("GET /shop/cart HTTP/1.1\r\nHost: a\r\nCookie: JSESSIONID=1.shop2\r\n\r\n").await;
                assert_eq!(client.response("GET").await.status, 200);
                assert_eq!(client.get("/shop/x").await.status, 200);
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        });
        Load { stop, task }
    }
}

struct Load {
    stop: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

impl Load {
    async fn end(self) {
        self.stop.store(true, SeqCst);
        self.task.await.unwrap();
    }
}

async fn number(browser: &Browser, selector: &str) -> u64 {
    let digits: String = browser.text(selector).await.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// True if nothing has to be scrolled sideways but tables in their own frames.
async fn fits(browser: &Browser) -> bool {
    let wider = "const page = document.scrollingElement; return page.scrollWidth <= page.clientWidth;";
    browser.run(wider).await == Value::Bool(true)
}

#[tokio::test]
async fn the_page_is_quiet_alive_and_narrow_if_need_be() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.open(&site.url("")).await;
    assert_eq!(browser.console().await, Vec::<String>::new());
    // A page that was loaded again would not know this.
    browser.run("window.same = true;").await;
    let before = number(&browser, "#requests").await;
    let load = site.load();
    browser.until("numbers move", &format!(
        "return window.same && Number(document.getElementById('requests').textContent.replace(/\\D/g, '')) > {}",
        before + 100
    )).await;
    browser
        .until(
            "the dead member shows",
            "return document.getElementById('g0m2is').textContent.includes('in error')",
        )
        .await;
    browser
        .until(
            "attention is called",
            "return document.getElementById('attention').textContent.includes('in error')",
        )
        .await;
    load.end().await;
    for (width, height) in [(360, 740), (800, 900), (1600, 1000)] {
        browser.resize(width, height).await;
        for query in ["", "?cmd=edit&w=shop", "?cmd=edit&w=shop&sw=shop1"] {
            browser.open(&site.url(query)).await;
            assert!(fits(&browser).await, "{query} does not fit into {width} pixels");
        }
    }
    assert_eq!(browser.console().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_change_is_made_and_undone() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.open(&site.url("?cmd=edit&w=shop&sw=shop1")).await;
    browser.write("#vwf", "many").await;
    browser.follow("form.edit button.main").await;
    assert!(browser.text("section.notice.bad").await.contains("many"), "{}", browser.text("main").await);
    browser.open(&site.url("?cmd=edit&w=shop&sw=shop1")).await;
    browser.write("#vwf", "7").await;
    browser.follow("form.edit button.main").await;
    assert!(browser.text("section.notice").await.contains('7'), "{}", browser.text("main").await);
    browser.open(&site.url("?cmd=edit&w=shop&sw=shop1")).await;
    assert_eq!(browser.run("return document.getElementById('vwf').value").await, "7");
    browser.write("#vwf", "9").await;
    browser.follow("form.edit button.main").await;
    browser.follow("section.notice form button").await;
    browser.open(&site.url("?cmd=edit&w=shop&sw=shop1")).await;
    assert_eq!(browser.run("return document.getElementById('vwf').value").await, "7");
    assert_eq!(browser.console().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_member_is_drained() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let load = site.load();
    browser.open(&site.url("?cmd=edit&w=shop&sw=shop2")).await;
    let disable = "const button = [...document.querySelectorAll('.actions button')].find(button => button.textContent.startsWith('Disable'));\
                   button.id = 'disable';";
    browser.run(disable).await;
    browser.follow("#disable").await;
    browser.open(&site.url("")).await;
    browser
        .until("it drains", "return document.getElementById('g0m1is').textContent.includes('draining')")
        .await;
    // Its session is still served by it.
    let before = number(&browser, "#g0m1req").await;
    browser
        .until(
            "sessions stay",
            &format!(
                "return Number(document.getElementById('g0m1req').textContent.replace(/\\D/g, '')) > {before}"
            ),
        )
        .await;
    load.end().await;
}

#[tokio::test]
async fn the_keyboard_is_enough() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    browser.open(&site.url("")).await;
    browser.press(&[TAB]).await;
    assert_eq!(browser.run("return document.activeElement.className").await, "skip");
    browser.press(&[ENTER]).await;
    assert_eq!(browser.run("return document.activeElement.id").await, "main");
    // To the first member, and into its page.
    let mut presses = 0;
    while browser.run("return document.activeElement.textContent").await != "shop1" {
        browser.press(&[TAB]).await;
        presses += 1;
        assert!(presses < 20, "no way to the members");
        let visible = "const style = getComputedStyle(document.activeElement); return style.outlineStyle !== 'none' || style.boxShadow !== 'none';";
        assert_eq!(browser.run(visible).await, true, "where the focus is does not show");
    }
    browser.press(&[ENTER]).await;
    browser
        .until("its page is here", "return document.querySelector('h1').textContent.includes('shop1')")
        .await;
    // Every field has a name that is spoken.
    let nameless = "return [...document.querySelectorAll('input:not([type=hidden]), select, button, a')]\
                    .filter(one => !(one.labels && one.labels.length) && !one.textContent.trim()).length";
    assert_eq!(browser.run(nameless).await, 0);
}

#[tokio::test]
async fn three_hundred_members_fit() {
    let mut text = String::from(
        "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[access_log]\ntarget = \"off\"\n[admin]\naddress = \"off\"\n\
         [uri]\n\"/jkstatus|/*\" = \"status\"\n",
    );
    for group in 0..30 {
        writeln!(text, "\"/g{group}/*\" = \"group{group}\"").unwrap();
    }
    for group in 0..30 {
        writeln!(text, "[lb.group{group}]").unwrap();
    }
    for member in 0..300 {
        write!(text, "[ajp13.member{member}]\naddress = \"127.0.0.1:9\"\ngroup = \"group{}\"\n", member / 10)
            .unwrap();
    }
    let (gateway, browser) = (Jkgate::start(env!("CARGO_BIN_EXE_jkgate"), &text), Browser::start().await);
    browser.open(&format!("http://{}/jkstatus", gateway.address())).await;
    assert_eq!(browser.run("return document.querySelectorAll('table.members tbody tr').length").await, 300);
    assert!(fits(&browser).await);
    browser.write("#find", "member29").await;
    let shown =
        "return [...document.querySelectorAll('table.members tbody tr')].filter(row => !row.hidden).length";
    assert_eq!(browser.run(shown).await, 11);
    browser.until("numbers come", "return document.getElementById('live').textContent === 'live'").await;
    assert_eq!(browser.console().await, Vec::<String>::new());
    picture(&browser, "status-300").await;
}

#[tokio::test]
async fn pictures() {
    let (site, browser) = (Site::start().await, Browser::start().await);
    let load = site.load();
    browser.resize(1280, 860).await;
    for (name, dark) in [("status-light", false), ("status-dark", true)] {
        browser.prefer_dark(dark).await;
        browser.open(&site.url("")).await;
        browser
            .until(
                "there is something to see",
                "return document.getElementById('spark').classList.contains('on')",
            )
            .await;
        picture(&browser, name).await;
    }
    browser.prefer_dark(false).await;
    browser.resize(1280, 1300).await;
    browser.open(&site.url("?cmd=edit&w=shop&sw=shop2")).await;
    picture(&browser, "status-member").await;
    browser.resize(360, 780).await;
    browser.open(&site.url("")).await;
    picture(&browser, "status-narrow").await;
    load.end().await;
}

async fn picture(browser: &Browser, name: &str) {
    let picture = browser.picture().await;
    assert!(picture.starts_with(b"\x89PNG"));
    if std::env::var_os("SCREENSHOTS").is_some() {
        std::fs::write(root().join(format!("docs/{name}.png")), picture).unwrap();
    }
}
