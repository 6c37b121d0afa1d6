//! Every view of the page, held against the rules of axe-core: contrast, names, roles, landmarks, order of headings.

use std::fs;
use std::path::Path;

use test_support::package::fetched;

use crate::Site;
use crate::driver::Browser;

#[tokio::test]
async fn no_view_has_a_barrier() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe");
    let axe = fetched(&folder, "axe-playwright-python==0.1.8", "axe_playwright_python/axe.min.js");
    let axe = fs::read_to_string(axe).unwrap();
    let (site, browser) = (Site::start().await, Browser::start().await);
    let load = site.load();
    let mut found = Vec::new();
    let views = [
        "",
        "?cmd=edit&w=shop",
        "?cmd=edit&w=shop&att=vwa",
        "?cmd=edit&w=shop&sw=shop1",
        "?cmd=edit&w=shop&sw=shop3",
        "?cmd=update&w=shop&sw=shop1&vwf=many",
        "?explain=/shop/cart",
        "?cmd=version",
        "?cmd=dump",
        "?cmd=list&opt=63",
        "?cmd=show&w=shop",
        "?cmd=nonsense",
    ];
    for dark in [false, true] {
        browser.prefer_dark(dark).await;
        for (width, view) in views.iter().flat_map(|view| [(360, *view), (1400, *view)]) {
            browser.resize(width, 900).await;
            browser.open(&site.url(view)).await;
            for violation in browser.violations(&axe).await {
                found.push(format!("{view:?}, {width} px, dark {dark}: {violation}"));
            }
        }
    }
    load.end().await;
    assert!(found.is_empty(), "{} barriers:\n{}", found.len(), found.join("\n"));
}
