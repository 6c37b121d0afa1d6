//! Tomcat 10 with the project's web applications, one AJP connector for each thing that a connector can want.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::port::free_port;
use super::process::{Server, answers};
use super::root;

/// Tomcat 10 with the project's web applications.
pub struct Tomcat {
    server: Option<Server>,
    base: TempDir,
    pub route: String,
    pub http: u16,
    /// Wants nothing; every other setting is Tomcat's default.
    pub ajp: u16,
    /// Wants the secret [`SECRET`].
    pub ajp_secret: u16,
    /// Packets of 64 KiB.
    pub ajp_large: u16,
    /// Takes any request attribute.
    pub ajp_open: u16,
    /// Takes `%2F` and `%5C` in a path, and leaves them as they are.
    pub ajp_slash: u16,
    /// Closes a connection that was idle for 300 ms.
    pub ajp_idle: u16,
}

/// The secret of [`Tomcat::ajp_secret`].
pub const SECRET: &str = "s3cret";

impl Tomcat {
    /// Starts one and waits until every port of it answers.
    ///
    /// # Panics
    ///
    /// When Tomcat or a JDK is missing, or it does not start.
    #[must_use]
    pub fn start(route: &str) -> Self {
        let base = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        for name in ["conf", "logs", "temp", "work", "webapps"] {
            fs::create_dir(base.path().join(name)).unwrap_or_else(|error| panic!("{error}"));
        }
        let mut tomcat = Self {
            server: None,
            base,
            route: route.to_owned(),
            http: free_port(),
            ajp: free_port(),
            ajp_secret: free_port(),
            ajp_large: free_port(),
            ajp_open: free_port(),
            ajp_slash: free_port(),
            ajp_idle: free_port(),
        };
        let conf = tomcat.base.path().join("conf");
        fs::write(conf.join("server.xml"), tomcat.server_xml()).unwrap_or_else(|error| panic!("{error}"));
        fs::copy("/usr/share/tomcat10/etc/web.xml", conf.join("web.xml")).unwrap_or_else(|error| {
            panic!("tomcat10 is not installed ({error}); tests/install.sh installs it")
        });
        deploy(&tomcat.base.path().join("webapps"));
        tomcat.start_again();
        tomcat
    }

    /// Starts it again on the same ports, with the same applications.
    pub fn start_again(&mut self) {
        let mut command = Command::new("/usr/share/tomcat10/bin/catalina.sh");
        command
            .arg("run")
            .env("CATALINA_HOME", "/usr/share/tomcat10")
            .env("CATALINA_BASE", self.base.path())
            .env("CATALINA_PID", self.base.path().join("pid"))
            .env("JAVA_OPTS", JAVA_OPTS);
        // catalina.sh becomes the Java process by exec, so killing the child kills Tomcat.
        let mut server = Server::start("tomcat", &mut command, self.base.path());
        let (http, ports) = (self.http, self.ajp_ports());
        let ready = || answers(http) && ports.iter().all(|port| pings(*port));
        server.wait_until(Duration::from_secs(120), ready);
        self.server = Some(server);
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Ends it as an operator does, by SIGTERM.
    ///
    /// # Panics
    ///
    /// When it does not end within half a minute.
    pub fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.signal("TERM");
            server.wait(Duration::from_secs(30));
        }
    }

    /// The ids that the echo application's `/tally` has noted, over all its starts.
    #[must_use]
    pub fn tally(&self) -> Vec<String> {
        let noted = fs::read_to_string(self.base.path().join("logs/tally")).unwrap_or_default();
        noted.lines().map(str::to_owned).collect()
    }

    /// What it printed, over all its starts.
    #[must_use]
    pub fn output(&self) -> String {
        fs::read_to_string(self.base.path().join("output.log")).unwrap_or_default()
    }

    fn ajp_ports(&self) -> [u16; 6] {
        [self.ajp, self.ajp_secret, self.ajp_large, self.ajp_open, self.ajp_slash, self.ajp_idle]
    }

    fn server_xml(&self) -> String {
        let settings = [
            "secretRequired=\"false\" maxThreads=\"50\"".to_owned(),
            format!("secret=\"{SECRET}\""),
            "secretRequired=\"false\" packetSize=\"65536\"".to_owned(),
            "secretRequired=\"false\" allowedRequestAttributesPattern=\".*\"".to_owned(),
            "secretRequired=\"false\" encodedSolidusHandling=\"passthrough\" encodedReverseSolidusHandling=\"passthrough\""
                .to_owned(),
            "secretRequired=\"false\" keepAliveTimeout=\"300\" connectionTimeout=\"20000\"".to_owned(),
        ];
        let connectors: String = self
            .ajp_ports()
            .iter()
            .zip(settings)
            .map(|(port, settings)| {
                format!(
                    "<Connector protocol=\"AJP/1.3\" address=\"127.0.0.1\" port=\"{port}\" {settings}/>\n"
                )
            })
            .collect();
        format!(
            "<Server port=\"-1\"><Service name=\"Catalina\">\n<Connector port=\"{}\" address=\"127.0.0.1\"/>\n{connectors}\
             <Engine name=\"Catalina\" defaultHost=\"localhost\" jvmRoute=\"{}\">\n\
             <Host name=\"localhost\" appBase=\"webapps\" unpackWARs=\"true\" autoDeploy=\"false\" startStopThreads=\"0\"/>\n\
             </Engine></Service></Server>\n",
            self.http, self.route
        )
    }
}

/// A CPing, as the oldest way to know that Tomcat is up.
#[must_use]
pub fn pings(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))) else { return false };
    let _best_effort = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let mut answer = [0; 5];
    stream.write_all(&[0x12, 0x34, 0, 1, 10]).is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && answer == [0x41, 0x42, 0, 1, 9]
}

/// The diagnostic application, the two of the seed's paths, and Debian's examples.
fn deploy(webapps: &Path) {
    let data = root().join("tests/data");
    copy(&echo_application(&data.join("echo-app")), &webapps.join("echo"));
    for name in ["servlets-examples", "jsp-examples"] {
        copy(&data.join("seed-apps").join(name), &webapps.join(name));
    }
    let examples = Path::new("/usr/share/tomcat10-examples/examples");
    assert!(examples.is_dir(), "tomcat10-examples is not installed; tests/install.sh installs it");
    copy(examples, &webapps.join("examples"));
}

/// The built application. It is kept beside the test binaries, under a name that changes with its sources.
fn echo_application(sources: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    hash(sources, &mut hasher);
    let program = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
    let kept = program.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let built = kept.join(format!("echo-app-{:016x}", hasher.finish()));
    if built.is_dir() {
        return built;
    }
    // Several test binaries may build at once; each moves a whole one into place, and the first wins.
    let own = TempDir::new_in(kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
    let output = Command::new("sh").arg(sources.join("build.sh")).arg(own.path().join("echo")).output();
    let output = output.unwrap_or_else(|error| panic!("cannot build the echo application: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cannot build the echo application: {errors}");
    let moved = fs::rename(own.path().join("echo"), &built);
    assert!(moved.is_ok() || built.is_dir(), "cannot keep the echo application: {moved:?}");
    built
}

fn hash(folder: &Path, into: &mut DefaultHasher) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        path.file_name().hash(into);
        if path.is_dir() {
            hash(&path, into);
        } else {
            fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).hash(into);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "cannot copy {}", from.display());
}

/// Small, and quick to start rather than quick to run.
const JAVA_OPTS: &str =
    "-Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Djava.security.egd=file:/dev/urandom";
