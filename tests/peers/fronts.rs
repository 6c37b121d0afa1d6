//! The two servers in front of one Tomcat, set up alike. A request chooses its settings by the host that it names.

use test_support::servers::{Apache, ApacheOptions, Jkgate, SECRET, Tomcat};

const PROGRAM: &str = env!("CARGO_BIN_EXE_jkgate");

/// One way to be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    /// A group with one member, every setting as it is by default. What any other host gets.
    Group,
    /// A worker without a group.
    Direct,
    /// A group whose only member is disabled.
    Disabled,
    /// A CPing before everything.
    Ping,
    Secret,
    WrongSecret,
    NoSecret,
    /// Packets of 64 KiB.
    Large,
    /// A short `reply_timeout`.
    Reply,
    /// The path goes on as the client wrote it.
    Unparsed,
    /// The path goes on decoded and escaped again.
    Escaped,
    /// Only `/echo` is mapped.
    OnlyEcho,
}

impl Front {
    const ALL: [Self; 12] = [
        Self::Group,
        Self::Direct,
        Self::Disabled,
        Self::Ping,
        Self::Secret,
        Self::WrongSecret,
        Self::NoSecret,
        Self::Large,
        Self::Reply,
        Self::Unparsed,
        Self::Escaped,
        Self::OnlyEcho,
    ];

    /// The name of its virtual host.
    pub(crate) fn host(self) -> &'static str {
        match self {
            Self::Group => "group.example.test",
            Self::Direct => "direct.example.test",
            Self::Disabled => "disabled.example.test",
            Self::Ping => "ping.example.test",
            Self::Secret => "secret.example.test",
            Self::WrongSecret => "wrong.example.test",
            Self::NoSecret => "none.example.test",
            Self::Large => "large.example.test",
            Self::Reply => "reply.example.test",
            Self::Unparsed => "unparsed.example.test",
            Self::Escaped => "escaped.example.test",
            Self::OnlyEcho => "only.example.test",
        }
    }

    /// The worker that serves it, on both sides.
    fn worker(self) -> &'static str {
        match self {
            Self::Group | Self::OnlyEcho => "lb",
            Self::Direct => "direct",
            Self::Disabled => "lbdis",
            Self::Ping => "ping",
            Self::Secret => "secret",
            Self::WrongSecret => "wrong",
            Self::NoSecret => "none",
            Self::Large => "large",
            Self::Reply => "reply",
            Self::Unparsed | Self::Escaped => "slash",
        }
    }

    fn patterns(self) -> &'static [&'static str] {
        if self == Self::OnlyEcho {
            return &["/echo|/*"];
        }
        &["/echo|/*", "/examples|/*", "/servlets-examples|/*", "/jsp-examples|/*"]
    }
}

/// Apache httpd with mod_jk.
pub(crate) fn apache(tomcat: &Tomcat) -> Apache {
    let mut workers = "worker.list=lb,lbdis,direct,ping,secret,wrong,none,large,reply,slash\n\
        worker.lb.type=lb\nworker.lb.balance_workers=t1\nworker.lbdis.type=lb\nworker.lbdis.balance_workers=t1d\n"
        .to_owned();
    for (name, port, extra) in [
        ("t1", tomcat.ajp, ""),
        ("t1d", tomcat.ajp, "worker.t1d.route=t1\nworker.t1d.activation=disabled\n"),
        ("direct", tomcat.ajp, ""),
        ("ping", tomcat.ajp, "worker.ping.ping_mode=A\nworker.ping.ping_timeout=2000\n"),
        ("secret", tomcat.ajp_secret, "worker.secret.secret=@SECRET@\n"),
        ("wrong", tomcat.ajp_secret, "worker.wrong.secret=wrong\n"),
        ("none", tomcat.ajp_secret, ""),
        ("large", tomcat.ajp_large, "worker.large.max_packet_size=65536\n"),
        ("reply", tomcat.ajp, "worker.reply.reply_timeout=700\n"),
        ("slash", tomcat.ajp_slash, ""),
    ] {
        workers.push_str(&format!(
            "worker.{name}.type=ajp13\nworker.{name}.host=127.0.0.1\nworker.{name}.port={port}\n{extra}"
        ));
    }
    let hosts: String = Front::ALL.iter().map(|front| virtual_host(*front)).collect();
    let conf = format!("KeepAliveTimeout 1\n{hosts}");
    let workers = workers.replace("@SECRET@", SECRET);
    Apache::start(&ApacheOptions { workers: &workers, conf: &conf, ..ApacheOptions::default() })
}

fn virtual_host(front: Front) -> String {
    let more = if front == Front::Unparsed {
        "AllowEncodedSlashes NoDecode\nJkOptions +ForwardURICompatUnparsed\n"
    } else if front == Front::Escaped {
        "AllowEncodedSlashes NoDecode\nJkOptions +ForwardURIEscaped\n"
    } else {
        ""
    };
    let mounts: String =
        front.patterns().iter().map(|pattern| format!("JkMount {pattern} {}\n", front.worker())).collect();
    format!("<VirtualHost *:@PORT@>\nServerName {}\n{mounts}{more}</VirtualHost>\n", front.host())
}

/// The program.
pub(crate) fn jkgate(tomcat: &Tomcat) -> Jkgate {
    let mut config = "[listener.main]\naddress = \"127.0.0.1:@PORT@\"\n[admin]\naddress = \"off\"\n[access_log]\ntarget = \"off\"\n\
        [lb.lb]\n[lb.lbdis]\n"
        .to_owned();
    for (name, port, extra) in [
        ("t1", tomcat.ajp, "group = \"lb\""),
        ("t1d", tomcat.ajp, "group = \"lbdis\"\nroute = \"t1\"\nactivation = \"disabled\""),
        ("direct", tomcat.ajp, ""),
        ("ping", tomcat.ajp, "ping_mode = [\"connect\", \"prepost\", \"interval\"]\nprepost_idle = \"0s\""),
        ("secret", tomcat.ajp_secret, "secret = \"@SECRET@\""),
        ("wrong", tomcat.ajp_secret, "secret = \"wrong\""),
        ("none", tomcat.ajp_secret, ""),
        ("large", tomcat.ajp_large, "max_packet_size = \"64KiB\""),
        ("reply", tomcat.ajp, "reply_timeout = \"700ms\""),
        ("slash", tomcat.ajp_slash, ""),
    ] {
        config.push_str(&format!("[ajp13.{name}]\naddress = \"127.0.0.1:{port}\"\n{extra}\n"));
    }
    config.push_str("[uri]\n");
    config.push_str(&rules(Front::Group));
    for front in Front::ALL {
        config.push_str(&format!("[host.\"{}\"]\ninherit = false\n", front.host()));
        config.push_str(&format!("[host.\"{}\".uri]\n{}", front.host(), rules(front)));
    }
    Jkgate::start(PROGRAM, &config.replace("@SECRET@", SECRET))
}

fn rules(front: Front) -> String {
    let options = if front == Front::Unparsed {
        ", encoded_slash = \"forward\", forward_uri = \"unparsed\""
    } else if front == Front::Escaped {
        ", encoded_slash = \"forward\", forward_uri = \"escaped\""
    } else {
        ""
    };
    let rule = |pattern: &&str| format!("\"{pattern}\" = {{ group = \"{}\"{options} }}\n", front.worker());
    front.patterns().iter().map(rule).collect()
}
