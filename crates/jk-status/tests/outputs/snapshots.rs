//! Each form as a file, so that a change of it is seen. `UPDATE_EXPECT=1` writes them anew.

use expect_test::{ExpectFile, expect_file};
use jk_status::StatusView;

use crate::sample::{calm, troubled};
use crate::{answer, page};

fn check(file: &ExpectFile, shown: &str) {
    file.assert_eq(shown);
}

#[test]
fn pages() {
    check(&expect_file!["../data/overview.html"], &page(&troubled(), ""));
    check(&expect_file!["../data/group.html"], &page(&troubled(), "cmd=edit&w=shop"));
    check(&expect_file!["../data/member.html"], &page(&troubled(), "cmd=edit&w=shop&sw=shop3"));
    check(&expect_file!["../data/worker.html"], &page(&calm(), "cmd=show&w=reports&opt=32"));
    check(&expect_file!["../data/bulk.html"], &page(&calm(), "cmd=edit&w=shop&att=vwa"));
}

#[test]
fn forms_for_programs() {
    let view = troubled();
    check(&expect_file!["../data/status.json"], &pretty(&jk_status::json(&view)));
    check(&expect_file!["../data/metrics.txt"], &jk_status::metrics(&view));
    check(&expect_file!["../data/list.xml"], &answer(&view, "mime=xml", &dump(&view)));
    check(&expect_file!["../data/list.txt"], &answer(&view, "mime=txt", &dump(&view)));
    check(&expect_file!["../data/list.prop"], &answer(&view, "mime=prop", &dump(&view)));
    check(&expect_file!["../data/mod_jk2-dmp.txt"], &answer(&view, "dmp=*", &[]));
    check(&expect_file!["../data/mod_jk2-lst.txt"], &answer(&view, "lst=ajp13:shop1", &[]));
    check(&expect_file!["../data/mod_jk2-qry.txt"], &answer(&view, "qry=lb:*", &[]));
}

#[test]
fn forms_for_a_terminal() {
    check(&expect_file!["../data/terminal.txt"], &jk_status::terminal(&troubled()));
    check(
        &expect_file!["../data/nagios.txt"],
        &format!("{}{}", jk_status::nagios(&troubled()), jk_status::nagios(&calm())),
    );
}

fn dump(_: &StatusView) -> Vec<(String, String)> {
    vec![("worker.list".to_owned(), "shop,search,reports".to_owned())]
}

fn pretty(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    format!("{}\n", serde_json::to_string_pretty(&value).unwrap())
}
