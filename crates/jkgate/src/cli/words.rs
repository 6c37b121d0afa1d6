//! What can be said on the command line, and the help for it.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::config::Form;

/// The gateway in front of Apache Tomcat: maps URI patterns to load-balancer groups of AJP13 workers.
#[derive(Debug, Parser)]
#[command(
    name = "jkgate",
    version,
    after_help = "Without a command, jkgate serves.\n\
                  Try it without a Tomcat:   jkgate demo\n\
                  Come from mod_jk:          jkgate import workers.properties uriworkermap.properties > workers.toml"
)]
pub(super) struct Words {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// Check the configuration and exit; the same as `check`.
    #[arg(short = 't', long = "test")]
    pub(super) test: bool,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Args)]
pub(super) struct ConfigFile {
    /// The configuration file [default: /etc/jkgate/workers.toml]
    #[arg(short = 'c', long = "config", value_name = "FILE", env = "JKGATE_CONFIG", global = true)]
    file: Option<PathBuf>,
}

impl ConfigFile {
    pub(super) fn file(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| PathBuf::from("/etc/jkgate/workers.toml"))
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve requests (the default).
    Serve,
    /// Check the configuration and say everything that is wrong with it.
    Check {
        #[arg(long, value_enum, default_value_t = Form::Text)]
        format: Form,
    },
    /// Try it out: two small workers and the gateway, without a Tomcat.
    Demo {
        /// Where the gateway listens [default: 127.0.0.1:8080]
        #[arg(long, value_name = "ADDR")]
        listen: Option<String>,
    },
    /// Make a workers.toml from files of mod_jk, mod_jk2, httpd or Tomcat.
    Import {
        /// workers2.properties, workers.properties, uriworkermap.properties, httpd.conf, server.xml
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Write to this file instead of standard output.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Show which mapping, group and member would serve a URL, and why.
    Explain {
        /// A URL, or a method and a URL.
        #[arg(required = true, num_args = 1..=2, value_name = "[METHOD] URL")]
        words: Vec<String>,
        /// A header of the request, such as a cookie; may be repeated.
        #[arg(long = "header", value_name = "'NAME: VALUE'")]
        headers: Vec<String>,
    },
    /// Ask an AJP port whether it is alive: connect, CPing, CPong; and what its Tomcat takes.
    Ping(Ping),
    /// Send one request to an AJP port and show the answer; curl for AJP.
    Get(Get),
    /// Show live state of groups and members.
    Status(Status),
    /// Change a member or group of the running gateway.
    Set(Set),
    /// Let the running gateway read its configuration again.
    Reload,
    /// Effective values, or a JSON Schema for editors.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Completions for a shell, on standard output.
    Completions { shell: clap_complete::Shell },
    /// The manual page, on standard output.
    Man,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Every value in force and where it came from: a line of a file, or the default. Secrets are left out.
    Dump,
    /// A JSON Schema of workers.toml.
    Schema,
}

#[derive(Debug, clap::Args)]
pub(super) struct Ping {
    /// HOST:PORT or unix:PATH
    pub(super) address: String,
    /// Also send a request with the secret in this file, and say whether Tomcat takes it.
    #[arg(long, value_name = "FILE")]
    pub(super) secret_file: Option<PathBuf>,
    /// Also send a packet of this size, and say whether Tomcat takes it: 8KiB to 64KiB.
    #[arg(long, value_name = "SIZE", value_parser = packet_size)]
    pub(super) packet_size: Option<jk_ajp::PacketSize>,
    /// How many times.
    #[arg(short = 'n', long, default_value_t = 3)]
    pub(super) count: u32,
}

fn packet_size(text: &str) -> Result<jk_ajp::PacketSize, String> {
    let bytes = jk_config::parse_size(text)?;
    jk_ajp::PacketSize::new(bytes).ok_or_else(|| "expected 8KiB to 64KiB".to_owned())
}

#[derive(Debug, Args)]
pub(super) struct Get {
    /// ajp://HOST:PORT/path?query
    pub(super) url: String,
    /// Request method.
    #[arg(short = 'X', long, default_value = "GET")]
    pub(super) method: String,
    /// A header, 'Name: value'; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "'NAME: VALUE'")]
    pub(super) headers: Vec<String>,
    /// Body, or @FILE.
    #[arg(short, long, value_name = "TEXT")]
    pub(super) data: Option<String>,
    /// The file that holds the connector's secret.
    #[arg(long, value_name = "FILE")]
    pub(super) secret_file: Option<PathBuf>,
    /// Show every packet, on standard error.
    #[arg(short, long)]
    pub(super) verbose: bool,
}

#[derive(Debug, Args)]
pub(super) struct Status {
    /// A status page to ask instead of the admin channel, such as http://127.0.0.1:8080/jkstatus
    pub(super) url: Option<String>,
    /// Draw again every two seconds.
    #[arg(long)]
    pub(super) watch: bool,
    #[arg(long, value_enum, default_value_t = StatusForm::Text)]
    pub(super) format: StatusForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StatusForm {
    Text,
    Json,
    /// One line and the exit codes of a Nagios check.
    Nagios,
}

#[derive(Debug, Args)]
pub(super) struct Set {
    /// GROUP/MEMBER, or GROUP for a setting of the group itself.
    pub(super) target: String,
    /// For example activation=disabled or lbfactor=2.
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub(super) changes: Vec<String>,
    /// Also write it into the configuration file.
    #[arg(long)]
    pub(super) persist: bool,
    /// Wait until no request and no session seen lately is left on the member.
    #[arg(long)]
    pub(super) wait: bool,
}

pub(super) fn completions(shell: clap_complete::Shell) -> String {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Words::command(), "jkgate", &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

pub(super) fn man() -> String {
    let mut out = Vec::new();
    let _into_memory = clap_mangen::Man::new(Words::command()).render(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}
