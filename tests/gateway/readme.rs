//! The terminal session of the README, as it stands there. `UPDATE_EXPECT=1` writes what the commands say.

use std::fs;
use std::path::Path;
use std::process::Command;

use test_support::http::Client;
use test_support::servers::{Jkgate, root};

const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

#[tokio::test]
async fn the_session_of_the_readme_is_what_happens() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["workers.properties", "uriworkermap.properties"] {
        fs::copy(root().join("examples/from-mod_jk").join(name), folder.path().join(name)).unwrap();
    }
    let path = root().join("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("```console\n").unwrap();
    let (session, after) = rest.split_once("```").unwrap();
    let commands: Vec<&str> = session.lines().filter(|line| line.starts_with("$ ")).collect();
    let (serve, others) = commands.split_last().unwrap();
    let mut fresh = String::new();
    for command in others {
        fresh += &format!("{command}\n{}", said(folder.path(), command));
    }
    // On a port of its own, and answering for what it maps.
    assert_eq!(*serve, "$ jkgate serve -c workers.toml");
    fresh += &format!("{serve}\n");
    let toml = fs::read_to_string(folder.path().join("workers.toml")).unwrap();
    assert!(toml.contains("0.0.0.0:8080"), "{toml}");
    let gateway = Jkgate::start(
        PROGRAM,
        &format!("{}\n[admin]\naddress = \"off\"\n", toml.replace("0.0.0.0:8080", "127.0.0.1:@PORT@")),
    );
    for (path, status) in [("/jkstatus", 200), ("/shop/static/logo.png", 404)] {
        assert_eq!(Client::connect(gateway.address()).await.get(path).await.status, status, "{path}");
    }
    expect_test::expect_file![&path].assert_eq(&format!("{before}```console\n{fresh}```{after}"));
}

/// What a terminal would show.
fn said(folder: &Path, command: &str) -> String {
    let script = command.trim_start_matches("$ ").replacen("jkgate", "\"$JKGATE\"", 1);
    let output = Command::new("sh")
        .args(["-c", &format!("{script} 2>&1")])
        .current_dir(folder)
        .env("JKGATE", PROGRAM)
        .env_remove("JKGATE_CONFIG")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command}: {text}");
    text
}

/// Whoever may not read the files that it came from shall not read it here.
#[test]
fn an_import_with_a_secret_is_not_for_everybody() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let workers = folder.path().join("workers.properties");
    for (secret, name, mode) in
        [("worker.w.secret=geheim\n", "with.toml", 0o640), ("", "without.toml", 0o644)]
    {
        fs::write(&workers, format!("worker.list=w\nworker.w.host=192.0.2.1\n{secret}")).unwrap();
        let file = folder.path().join(name);
        // Made under the usual mask, whatever the tests' own is.
        let script = "umask 022; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, PROGRAM, "import"]).arg(&workers).arg("-o").arg(&file);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode, "{name}");
        assert_eq!(errors.contains("only its owner and its group may read it"), mode == 0o640, "{errors}");
        assert!(!errors.contains("geheim"), "{errors}");
    }
}
