//! Apache httpd with mod_jk: the peer that jkgate is measured by.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::port::free_port;
use super::process::{Server, answers};

/// Apache httpd with mod_jk. One process, so that one pool of channels serves all requests.
pub struct Apache {
    pub port: u16,
    server: Server,
    folder: TempDir,
}

/// What differs from test to test. `@PORT@` and `@DIR@` in each text become the port and the server's folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApacheOptions<'a> {
    /// `workers.properties`.
    pub workers: &'a str,
    /// Further files in the server's folder, by name: what JkMountFile reads.
    pub files: &'a [(String, String)],
    /// Further lines of `httpd.conf`: JkMount, virtual hosts.
    pub conf: &'a str,
    pub mpm: Mpm,
}

/// How httpd divides its work among threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mpm {
    #[default]
    Event,
    Worker,
}

impl Apache {
    /// # Panics
    ///
    /// When Apache or mod_jk is missing, or refuses the configuration.
    #[must_use]
    pub fn start(options: &ApacheOptions<'_>) -> Self {
        let folder = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        let port = free_port();
        let own = |text: &str| {
            text.replace("@PORT@", &port.to_string()).replace("@DIR@", &folder.path().to_string_lossy())
        };
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), own(text)).unwrap_or_else(|error| panic!("{name}: {error}"));
        };
        fs::create_dir(folder.path().join("htdocs")).unwrap_or_else(|error| panic!("{error}"));
        write("workers.properties", options.workers);
        for (name, text) in options.files {
            write(name, text);
        }
        let mpm = match options.mpm {
            Mpm::Event => "event",
            Mpm::Worker => "worker",
        };
        write("httpd.conf", &format!("{}{}\n", CONF.replace("@MPM@", mpm), options.conf));
        let mut command = Command::new("/usr/sbin/apache2");
        command.arg("-f").arg(folder.path().join("httpd.conf")).arg("-DFOREGROUND");
        let mut server = Server::start("apache2", &mut command, folder.path());
        server.wait_until(Duration::from_secs(30), || answers(port));
        Self { port, server, folder }
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Its `httpd.conf`; everything else that belongs to it is named there.
    #[must_use]
    pub fn conf(&self) -> PathBuf {
        self.folder.path().join("httpd.conf")
    }

    /// What it printed and logged, mod_jk's log at the end.
    #[must_use]
    pub fn output(&self) -> String {
        let read = |name: &str| read(&self.folder.path().join(name));
        format!("{}{}{}", self.server.output(), read("error.log"), read("jk.log"))
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        // Its children end with it only if it is asked.
        self.server.signal("TERM");
        self.server.wait(Duration::from_secs(30));
    }
}

fn read(file: &Path) -> String {
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

const CONF: &str = "\
ServerRoot @DIR@
DefaultRuntimeDir @DIR@
PidFile @DIR@/pid
ServerName localhost
Listen 127.0.0.1:@PORT@
LoadModule mpm_@MPM@_module /usr/lib/apache2/modules/mod_mpm_@MPM@.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule jk_module /usr/lib/apache2/modules/mod_jk.so
StartServers 1
ServerLimit 1
ThreadLimit 64
ThreadsPerChild 64
MaxRequestWorkers 64
MinSpareThreads 1
MaxSpareThreads 64
ErrorLog @DIR@/error.log
DocumentRoot @DIR@/htdocs
LimitRequestFields 200
Timeout 20
ServerTokens Prod
JkWorkersFile @DIR@/workers.properties
JkShmFile @DIR@/jk.shm
JkLogFile @DIR@/jk.log
JkLogLevel warn
";
