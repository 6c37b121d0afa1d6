//! The program itself, as an operator starts it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::port::free_port;
use super::process::{Server, answers};

/// The real program.
pub struct Jkgate {
    pub port: u16,
    pub server: Server,
    pub config: PathBuf,
    folder: TempDir,
}

impl Jkgate {
    /// `@PORT@`, `@ADMIN@` and `@DIR@` in the configuration become a free port, the address of the admin socket, and the
    /// folder that the configuration lies in.
    ///
    /// # Panics
    ///
    /// When it does not get ready.
    #[must_use]
    pub fn start(program: &str, config: &str) -> Self {
        let folder = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        let port = free_port();
        let file = folder.path().join("workers.toml");
        let admin = format!("unix:{}", folder.path().join("admin.sock").display());
        let text = config.replace("@PORT@", &port.to_string()).replace("@ADMIN@", &admin);
        let text = text.replace("@DIR@", &folder.path().to_string_lossy());
        fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(program);
        command.arg("serve").arg("-c").arg(&file).env_remove("JKGATE_CONFIG").env_remove("JKGATE_LOG");
        let mut server = Server::start("jkgate", &mut command, folder.path());
        server.wait_until(Duration::from_secs(20), || answers(port));
        // The admin channel opens behind the listeners, and the program says so when everything is open.
        if !config.contains("[log]") {
            server.wait_for_output("jkgate serves", Duration::from_secs(20));
        }
        Self { port, server, config: file, folder }
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Where its configuration and its admin socket lie.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Another command of the program, with this one's configuration: exit code, output, errors.
    ///
    /// # Panics
    ///
    /// When it cannot be run.
    #[must_use]
    pub fn run(&self, program: &str, words: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(program);
        command.args(words).arg("-c").arg(&self.config).env_remove("JKGATE_CONFIG");
        let output = command.output().unwrap_or_else(|error| panic!("{error}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}
