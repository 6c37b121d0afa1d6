//! The examples of the documents and of the examples folder are what the importer makes. `UPDATE_EXPECT=1` writes them anew.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use jk_import::InputFile;

use crate::site::{Site, file, lines, try_import};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder(name: &str, files: &[&str]) -> Site {
    let read = |name_of_file: &&str| {
        file(name_of_file, std::fs::read(root().join("examples").join(name).join(name_of_file)).unwrap())
    };
    let files: Vec<InputFile> = files.iter().map(read).collect();
    Site::of(try_import(&files, &[]).unwrap())
}

#[test]
fn the_example_from_mod_jk2() {
    let site = folder("from-jk2-import", &["workers2.properties"]);
    expect_file![root().join("examples/from-jk2-import/workers.toml")].assert_eq(&site.imported.toml);
    assert_eq!(site.members("lb"), ["tomcat1 tomcat1 2 0", "tomcat2 tomcat2 1 0"]);
    for (host, path, target) in [
        ("any.test", "/servlets-examples", "lb"),
        ("any.test", "/jkstatus/", "status"),
        ("manual.example.test", "/docs/x", "lb"),
        ("docs.example.test", "/servlets-examples/x", "-"),
    ] {
        assert_eq!(site.serves_at(host, 80, path), target, "{host}{path}");
    }
}

#[test]
fn the_example_from_mod_jk() {
    let site = folder("from-mod_jk", &["workers.properties", "uriworkermap.properties"]);
    expect_file![root().join("examples/from-mod_jk/workers.toml")].assert_eq(&site.imported.toml);
    assert_eq!(site.members("shop"), ["shop1 shop1 2 0", "shop2 shop2 1 0"]);
    for (path, target) in [
        ("/shop", "shop"),
        ("/shop/x", "shop"),
        ("/shop/static/x", "-"),
        ("/report/x", "shop"),
        ("/jkstatus", "status"),
    ] {
        assert_eq!(site.serves(path), target, "{path}");
    }
}

/// A fenced block: its first line without the fence, and what is in it.
enum Part<'t> {
    Text(&'t str),
    Block(&'t str, &'t str),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("```") {
        let (block, tail) = after.split_once("```").unwrap();
        let (info, inside) = block.split_once('\n').unwrap();
        parts.extend([Part::Text(before), Part::Block(info, inside)]);
        rest = tail;
    }
    parts.push(Part::Text(rest));
    parts
}

/// Blocks with a file's name are what is given; the `toml` or `text` block behind them is what comes of it.
#[test]
fn every_example_of_the_document_is_run() {
    let path = root().join("docs/migrating.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut fresh = String::new();
    let mut files: Vec<InputFile> = Vec::new();
    let mut n_run = 0;
    for part in parts(&text) {
        let (info, inside) = match part {
            Part::Text(text) => {
                fresh.push_str(text);
                continue;
            }
            Part::Block(info, inside) => (info, inside),
        };
        if let Some((_, name)) = info.split_once(' ') {
            files.push(file(name, inside));
        }
        let result = match info {
            "toml" | "text" => {
                n_run += 1;
                match try_import(&std::mem::take(&mut files), &[]) {
                    Ok(imported) => {
                        assert_eq!(info, "toml", "accepted:\n{}", imported.toml);
                        Site::of(imported.clone());
                        imported.toml
                    }
                    Err(problems) => {
                        assert_eq!(info, "text", "refused:\n{}", lines(&problems).join("\n"));
                        lines(&problems).join("\n") + "\n"
                    }
                }
            }
            _ => inside.to_owned(),
        };
        fresh.push_str(&format!("```{info}\n{result}```"));
    }
    assert!(files.is_empty() && n_run >= 4, "{n_run} examples");
    expect_file![path].assert_eq(&fresh);
}
