//! The gateways, each before the same back end, set up alike.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::process::Server;

/// A gateway that runs.
pub(crate) struct Front {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    /// From its start to the first connection that it took.
    pub(crate) start: Duration,
    server: Server,
}

impl Front {
    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }
}

/// A folder for configurations, and the back end.
pub(crate) struct Stage {
    pub(crate) work: PathBuf,
    programs: PathBuf,
    packet: usize,
    next_port: std::cell::Cell<u16>,
    _backend: Server,
}

const AJP: u16 = 21_009;
const HTTP: u16 = 21_080;

impl Stage {
    /// The back end answers with `size` bytes, in AJP packets of `packet`.
    pub(crate) fn open(programs: &Path, work: &Path, size: usize, packet: usize) -> io::Result<Self> {
        let mut command = Command::new(programs.join("jk-worker"));
        command.arg("--ajp").arg(format!("127.0.0.1:{AJP}")).arg("--http").arg(format!("127.0.0.1:{HTTP}"));
        command.arg("--size").arg(size.to_string()).arg("--packet").arg(packet.to_string());
        let backend = Server::start(&mut command, &work.join("backend.log"))?;
        wait(SocketAddr::from(([127, 0, 0, 1], HTTP)), &work.join("backend.log"))?;
        Ok(Self {
            work: work.to_owned(),
            programs: programs.to_owned(),
            packet,
            next_port: std::cell::Cell::new(21_100),
            _backend: backend,
        })
    }

    fn port(&self) -> u16 {
        let port = self.next_port.get();
        self.next_port.set(port + 1);
        port
    }

    fn start(&self, name: &str, port: u16, command: &mut Command, path: &str) -> io::Result<Front> {
        let log = self.work.join(format!("{port}.log"));
        let begin = Instant::now();
        let server = Server::start(command, &log)?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let start = wait(address, &log).map(|()| begin.elapsed())?;
        Ok(Front { name: name.to_owned(), url: format!("http://{address}{path}"), address, start, server })
    }

    /// jkgate with one worker in one group, everything mapped to it. `more` goes behind the usual settings.
    pub(crate) fn jkgate(&self) -> io::Result<Front> {
        self.jkgate_with("jkgate", &Settings::default(), "/bench")
    }

    pub(crate) fn jkgate_with(&self, name: &str, settings: &Settings, path: &str) -> io::Result<Front> {
        let port = self.port();
        let file = self.work.join(format!("{port}.toml"));
        let worker = format!(
            "address = \"127.0.0.1:{AJP}\"\nconnection_pool_size = 2000\nmax_packet_size = \"{}B\"\n",
            self.packet
        );
        let log = match settings.access_log {
            true => format!("\"{}\"", self.work.join(format!("{port}.access")).display()),
            false => "\"off\"".to_owned(),
        };
        let mut text = format!(
            "[listener.main]\naddress = \"127.0.0.1:{port}\"\nmax_connections = 30000\n[access_log]\ntarget = {log}\n\
             [admin]\naddress = \"off\"\n"
        );
        if let Some(threads) = settings.threads {
            text += &format!("[process]\nthreads = {threads}\n");
        }
        for group in 0..settings.groups {
            text += &format!("[lb.g{group}]\n");
        }
        for number in 0..settings.workers {
            text += &format!("[ajp13.w{number}]\n{worker}group = \"g{}\"\n", number % settings.groups);
        }
        text += "[uri]\n";
        for number in 0..settings.mappings {
            let pattern = match number % 3 {
                0 => format!("/app{number}/page"),
                1 => format!("/app{number}|/*"),
                _ => format!("/*.x{number}"),
            };
            text += &format!("\"{pattern}\" = \"g{}\"\n", number % settings.groups);
        }
        text += &format!("\"/*\" = \"g{}\"\n", settings.groups - 1);
        fs::write(&file, text)?;
        self.start(name, port, Command::new(self.programs.join("jkgate")).arg("-c").arg(&file), path)
    }

    pub(crate) fn nginx(&self) -> io::Result<Front> {
        let (port, work) = (self.port(), self.work.display());
        let file = self.work.join("nginx.conf");
        fs::write(
            &file,
            format!(
                "worker_processes 2; daemon off; pid {work}/nginx.pid; error_log {work}/nginx.log; worker_rlimit_nofile 20000;
events {{ worker_connections 18000; }}
http {{ access_log off; keepalive_requests 100000000; client_max_body_size 0; client_body_temp_path {work}; proxy_temp_path {work};
upstream b {{ server 127.0.0.1:{HTTP}; keepalive 500; keepalive_requests 100000000; }}
server {{ listen 127.0.0.1:{port} reuseport; location / {{ proxy_pass http://b; proxy_http_version 1.1; proxy_request_buffering off;
proxy_max_temp_file_size 0; proxy_set_header Connection \"\"; proxy_set_header Host $host; }} }} }}\n"
            ),
        )?;
        self.start("nginx", port, Command::new("nginx").arg("-c").arg(&file), "/bench")
    }

    pub(crate) fn haproxy(&self) -> io::Result<Front> {
        let port = self.port();
        let file = self.work.join("haproxy.cfg");
        fs::write(
            &file,
            format!(
                "global\n nbthread 2\n maxconn 9000\ndefaults\n mode http\n timeout client 60s\n timeout server 60s\n \
                 timeout connect 5s\n http-reuse always\nfrontend f\n bind 127.0.0.1:{port}\n default_backend b\nbackend b\n \
                 server s 127.0.0.1:{HTTP} pool-max-conn 500\n"
            ),
        )?;
        self.start("HAProxy", port, Command::new("haproxy").arg("-db").arg("-f").arg(&file), "/bench")
    }

    pub(crate) fn mod_jk(&self) -> io::Result<Front> {
        let workers = self.work.join("workers.properties");
        fs::write(
            &workers,
            format!(
                "worker.list=t1\nworker.t1.type=ajp13\nworker.t1.host=127.0.0.1\nworker.t1.port={AJP}\n\
                 worker.t1.connection_pool_size=200\nworker.t1.max_packet_size={}\n",
                self.packet
            ),
        )?;
        let work = self.work.display();
        self.apache(
            "mod_jk",
            &format!(
                "LoadModule jk_module {MODULES}/mod_jk.so\nJkWorkersFile {}\nJkShmFile {work}/jk.shm\nJkLogFile {work}/jk.log\n\
                 JkLogLevel error\nJkMount /* t1\n",
                workers.display()
            ),
        )
    }

    pub(crate) fn mod_proxy_ajp(&self) -> io::Result<Front> {
        self.apache(
            "mod_proxy_ajp",
            &format!(
                "LoadModule proxy_module {MODULES}/mod_proxy.so\nLoadModule proxy_ajp_module {MODULES}/mod_proxy_ajp.so\n\
                 ProxyPass / ajp://127.0.0.1:{AJP}/ max=200\nProxyIOBufferSize {}\n",
                self.packet
            ),
        )
    }

    fn apache(&self, name: &str, more: &str) -> io::Result<Front> {
        let port = self.port();
        let root = self.work.join(name);
        fs::create_dir_all(&root)?;
        let file = root.join("httpd.conf");
        let own = root.display();
        fs::write(
            &file,
            format!(
                "ServerRoot {own}\nServerName localhost\nListen 127.0.0.1:{port}\nPidFile {own}/pid\nErrorLog {own}/error.log\n\
                 LoadModule mpm_event_module {MODULES}/mod_mpm_event.so\nLoadModule authz_core_module {MODULES}/mod_authz_core.so\n\
                 MaxKeepAliveRequests 0\nThreadsPerChild 200\nServerLimit 2\nStartServers 2\nMaxRequestWorkers 400\n{more}"
            ),
        )?;
        self.start(name, port, Command::new("apache2").arg("-DFOREGROUND").arg("-f").arg(&file), "/bench")
    }

    /// jkgate and everybody it is compared with.
    pub(crate) fn everybody(&self) -> io::Result<Vec<Front>> {
        Ok(vec![self.jkgate()?, self.nginx()?, self.haproxy()?, self.mod_jk()?, self.mod_proxy_ajp()?])
    }
}

/// How large a configuration of jkgate is.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Besides the one that catches everything.
    pub(crate) mappings: usize,
    pub(crate) workers: usize,
    pub(crate) groups: usize,
    pub(crate) threads: Option<usize>,
    pub(crate) access_log: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { mappings: 0, workers: 1, groups: 1, threads: None, access_log: false }
    }
}

const MODULES: &str = "/usr/lib/apache2/modules";

fn wait(address: SocketAddr, log: &Path) -> io::Result<()> {
    let begin = Instant::now();
    while TcpStream::connect(address).is_err() {
        if begin.elapsed() > Duration::from_secs(30) {
            let said = fs::read_to_string(log).unwrap_or_default();
            return Err(io::Error::other(format!("nobody listens on {address}: {said}")));
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}
