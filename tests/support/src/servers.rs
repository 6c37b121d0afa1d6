//! Real servers as children of a test, each in a temporary folder. They end with their owner.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A port that nobody uses at this moment.
///
/// # Panics
///
/// When there is none.
#[must_use]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("no port: {error}"));
    listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}")).port()
}

/// The project's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A child process that is killed with its owner.
pub struct Server {
    child: Child,
    folder: TempDir,
    name: &'static str,
}

impl Server {
    fn start(name: &'static str, command: &mut Command, folder: TempDir) -> Self {
        let log = fs::File::create(folder.path().join("output.log")).unwrap_or_else(|error| panic!("{error}"));
        let errors = log.try_clone().unwrap_or_else(|error| panic!("{error}"));
        let child = command.stdin(Stdio::null()).stdout(log).stderr(errors).spawn();
        let child = child.unwrap_or_else(|error| panic!("cannot start {name}: {error}; tests/install.sh installs what is missing"));
        Self { child, folder, name }
    }

    /// Everything it printed so far.
    #[must_use]
    pub fn output(&self) -> String {
        fs::read_to_string(self.folder.path().join("output.log")).unwrap_or_default()
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name: `TERM`, `HUP`, `KILL`.
    pub fn signal(&self, name: &str) {
        let _gone_is_fine = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
    }

    /// Waits for its end; the exit code.
    ///
    /// # Panics
    ///
    /// When it does not end in time.
    pub fn wait(&mut self, limit: Duration) -> Option<i32> {
        let begin = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.code();
            }
            assert!(begin.elapsed() < limit, "{} does not end: {}", self.name, self.output());
            std::thread::park_timeout(LOOK);
        }
    }

    /// Waits until `ready`, failing early when the process ends.
    fn wait_until(&mut self, limit: Duration, ready: impl Fn() -> bool) {
        let begin = Instant::now();
        while !ready() {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("{} ended with {status}: {}", self.name, self.output());
            }
            assert!(begin.elapsed() < limit, "{} does not get ready: {}", self.name, self.output());
            std::thread::park_timeout(LOOK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone_is_fine = self.child.kill();
        let _gone_is_fine = self.child.wait();
    }
}

fn answers(port: u16) -> bool {
    TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).is_ok()
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

/// Tomcat 10 with the project's web applications.
pub struct Tomcat {
    server: Option<Server>,
    base: PathBuf,
    _folder: TempDir,
    pub route: String,
    pub http: u16,
    pub ajp: u16,
    /// Wants the secret [`SECRET`].
    pub ajp_secret: u16,
    /// Packets of 64 KiB.
    pub ajp_large: u16,
    /// Takes any request attribute.
    pub ajp_open: u16,
}

/// The secret of [`Tomcat::ajp_secret`].
pub const SECRET: &str = "s3cret";

impl Tomcat {
    /// # Panics
    ///
    /// When Tomcat or a JDK is missing, or it does not start.
    #[must_use]
    pub fn start(route: &str) -> Self {
        let folder = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        let base = folder.path().to_owned();
        for name in ["conf", "logs", "temp", "work", "webapps"] {
            fs::create_dir(base.join(name)).unwrap_or_else(|error| panic!("{error}"));
        }
        let [http, ajp, ajp_secret, ajp_large, ajp_open] = [(); 5].map(|()| free_port());
        let server = format!(
            r#"<Server port="-1"><Service name="Catalina">
<Connector port="{http}" address="127.0.0.1"/>
<Connector protocol="AJP/1.3" address="127.0.0.1" port="{ajp}" secretRequired="false" maxThreads="50"/>
<Connector protocol="AJP/1.3" address="127.0.0.1" port="{ajp_secret}" secret="{SECRET}" maxThreads="10"/>
<Connector protocol="AJP/1.3" address="127.0.0.1" port="{ajp_large}" secretRequired="false" packetSize="65536" maxThreads="10"/>
<Connector protocol="AJP/1.3" address="127.0.0.1" port="{ajp_open}" secretRequired="false" allowedRequestAttributesPattern=".*" maxThreads="10"/>
<Engine name="Catalina" defaultHost="localhost" jvmRoute="{route}">
<Host name="localhost" appBase="webapps" unpackWARs="true" autoDeploy="false" startStopThreads="0"/></Engine></Service></Server>"#
        );
        fs::write(base.join("conf/server.xml"), server).unwrap_or_else(|error| panic!("{error}"));
        fs::copy("/etc/tomcat10/web.xml", base.join("conf/web.xml"))
            .unwrap_or_else(|error| panic!("tomcat10 is not installed ({error}); tests/install.sh installs it"));
        deploy(&base.join("webapps"));
        let mut tomcat = Self {
            server: None,
            base,
            _folder: folder,
            route: route.to_owned(),
            http,
            ajp,
            ajp_secret,
            ajp_large,
            ajp_open,
        };
        tomcat.start_again();
        tomcat
    }

    /// Starts it again on the same ports, with the same applications.
    pub fn start_again(&mut self) {
        let log = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new("/usr/share/tomcat10/bin/catalina.sh");
        command
            .arg("run")
            .env("CATALINA_HOME", "/usr/share/tomcat10")
            .env("CATALINA_BASE", &self.base)
            .env("CATALINA_PID", self.base.join("pid"))
            .env("JAVA_OPTS", "-Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Djava.security.egd=file:/dev/urandom");
        // catalina.sh becomes the Java process by exec, so killing the child kills Tomcat.
        let mut server = Server::start("tomcat", &mut command, log);
        let (http, ports) = (self.http, [self.ajp, self.ajp_secret, self.ajp_large, self.ajp_open]);
        server.wait_until(Duration::from_secs(120), || answers(http) && ports.iter().all(|port| pings(*port)));
        self.server = Some(server);
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.server = None;
    }

    #[must_use]
    pub fn output(&self) -> String {
        self.server.as_ref().map(Server::output).unwrap_or_default()
    }
}

/// The diagnostic application, the two of the seed's paths, and Debian's examples.
fn deploy(webapps: &Path) {
    let data = root().join("tests/data");
    let built = Command::new("sh").arg(data.join("echo-app/build.sh")).arg(webapps.join("echo")).output();
    let built = built.unwrap_or_else(|error| panic!("cannot build the echo application: {error}"));
    assert!(built.status.success(), "cannot build the echo application: {}", String::from_utf8_lossy(&built.stderr));
    for name in ["servlets-examples", "jsp-examples"] {
        copy(&data.join("seed-apps").join(name), &webapps.join(name));
    }
    let examples = Path::new("/usr/share/tomcat10-examples/examples");
    assert!(examples.is_dir(), "tomcat10-examples is not installed; tests/install.sh installs it");
    copy(examples, &webapps.join("examples"));
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "cannot copy {}", from.display());
}

/// Apache httpd with mod_jk.
pub struct Apache {
    pub port: u16,
    server: Server,
}

impl Apache {
    /// `extra` goes into the server's configuration: JkMount lines and the like.
    ///
    /// # Panics
    ///
    /// When Apache or mod_jk is missing, or refuses the configuration.
    #[must_use]
    pub fn start(workers: &str, extra: &str) -> Self {
        let folder = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        let base = folder.path().to_owned();
        let port = free_port();
        fs::write(base.join("workers.properties"), workers).unwrap_or_else(|error| panic!("{error}"));
        fs::create_dir(base.join("htdocs")).unwrap_or_else(|error| panic!("{error}"));
        let shown = base.display();
        let conf = format!(
            "ServerRoot {shown}\nDefaultRuntimeDir {shown}\nPidFile {shown}/pid\nServerName localhost\nListen 127.0.0.1:{port}\n\
             LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\n\
             LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\n\
             LoadModule jk_module /usr/lib/apache2/modules/mod_jk.so\n\
             StartServers 1\nServerLimit 1\nThreadLimit 64\nThreadsPerChild 64\nMaxRequestWorkers 64\nMinSpareThreads 1\nMaxSpareThreads 64\n\
             ErrorLog {shown}/error.log\nDocumentRoot {shown}/htdocs\nLimitRequestFields 200\nTimeout 20\nServerTokens Prod\n\
             JkWorkersFile {shown}/workers.properties\nJkShmFile {shown}/jk.shm\nJkLogFile {shown}/jk.log\nJkLogLevel warn\n{extra}\n"
        );
        let file = base.join("httpd.conf");
        fs::write(&file, conf).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new("/usr/sbin/apache2");
        command.arg("-f").arg(&file).arg("-DFOREGROUND");
        let mut server = Server::start("apache2", &mut command, folder);
        server.wait_until(Duration::from_secs(30), || answers(port));
        Self { port, server }
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    #[must_use]
    pub fn output(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.server.folder().join(name)).unwrap_or_default();
        format!("{}{}{}", self.server.output(), read("error.log"), read("jk.log"))
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        // Its children end with it only if it is asked.
        self.server.signal("TERM");
        let _killed_otherwise = self.server.child.wait();
    }
}

/// The real program.
pub struct Jkgate {
    pub port: u16,
    pub server: Server,
    pub config: PathBuf,
}

impl Jkgate {
    /// `@PORT@` and `@ADMIN@` in the configuration become a free port and the admin socket.
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
        fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(program);
        command.arg("serve").arg("-c").arg(&file).env_remove("JKGATE_CONFIG").env_remove("JKGATE_LOG");
        let mut server = Server::start("jkgate", &mut command, folder);
        server.wait_until(Duration::from_secs(20), || answers(port));
        Self { port, server, config: file }
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Another command of the program, with this one's configuration.
    ///
    /// # Panics
    ///
    /// When it cannot be run.
    #[must_use]
    pub fn run(&self, program: &str, words: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(program).args(words).arg("-c").arg(&self.config).env_remove("JKGATE_CONFIG").output();
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(20);
