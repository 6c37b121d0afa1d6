//! Configurations as people write them: the habits of public files, in words of our own, and the files that Debian's package brings.
//! The original under Apache and mod_jk, its import under jkgate: the same worker serves each request, or none does.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;

use test_support::http::Client;
use test_support::servers::{Apache, ApacheOptions, Mpm};

use crate::imports::{imported, named};

/// `@A@`, `@B@` and `@C@` are the workers' ports.
struct Habit {
    about: &'static str,
    workers: String,
    conf: String,
    map: &'static str,
}

impl Habit {
    fn new(about: &'static str, workers: &str, conf: &str, map: &'static str) -> Self {
        Self { about, workers: workers.to_owned(), conf: conf.to_owned(), map }
    }
}

const PAIR: &str = "worker.list=balancer,stat\nworker.one.type=ajp13\nworker.one.host=localhost\nworker.one.port=@A@\n\
                    worker.two.type=ajp13\nworker.two.host=127.0.0.1\nworker.two.port=@B@\nworker.balancer.type=lb\n\
                    worker.balancer.balance_workers=one,two\nworker.stat.type=status";

fn habits() -> Vec<Habit> {
    vec![
        Habit::new(
            "a name of a host that is empty, a blank behind a number, everything to one group",
            "worker.list=lb,status\nworker.n1.port=@A@\nworker.n1.host=\nworker.n1.type=ajp13\nworker.n1.ping_mode=A\n\
             worker.n1.lbfactor=1 \n\nworker.lb.type=lb\nworker.lb.balance_workers=n1\nworker.lb.sticky_session=1\nworker.status.type=status\n",
            "",
            "/*=lb\n/jkstatus/*=status\n",
        ),
        Habit::new(
            "a first line that lost its comment sign, the old names of the Java machine, workers in the list that are no group's",
            "and this is what we need to\n# reach Tomcat\nworkers.tomcat_home=/opt/tomcat\nworkers.java_home=\"C:/java6\"\nps=/\n\
             worker.list=one, two\nworker.one.port=@A@\nworker.one.host=localhost\nworker.one.type=ajp13\nworker.one.lbfactor=1\n\
             worker.two.port=@B@\nworker.two.host=localhost\nworker.two.type=ajp13\nworker.two.socket_timeout=60\n\
             worker.inprocess.type=jni\nworker.inprocess.class_path=$(workers.tomcat_home)$(ps)lib\nworker.inprocess.stdout=$(workers.tomcat_home)$(ps)logs\n\
             worker.lb.type=lb\nworker.lb.balanced_workers=ajp13\n",
            "JkMount /app one\nJkMount /app/* one\nJkMount /shop* two\nJkMount /*.jsp one\n",
            "",
        ),
        Habit::new(
            "a group that was never said to be one, and rules to what is not there",
            "worker.list=w1, w2,w3\nworker.w1.type=ajp13\nworker.w1.host=localhost\nworker.w1.port=@A@\nworker.w2.type=ajp13\n\
             worker.w2.host=localhost\nworker.w2.port=@B@\nworker.w3.port=@C@\nworker.w3.balance_workers=w1,w2\n",
            "JkMount /app/* w3\nJkMount /shop/* w9\nJkMount /* w1\nJkMount /jk-manager jk-manager\nJkUnMount /static/* w8\n",
            "",
        ),
        Habit::new(
            "static files kept back by ending and by folder",
            PAIR,
            "JkMount /jk/status stat\nJkUnMount /*.php balancer\nJkUnMount /app/img/* balancer\n",
            "/*=balancer\napp/*=stat\n!-/shop=balancer\n!/*.html=balancer\n!/static/*=*\n",
        ),
        Habit::new(
            "a misspelt worker, weights of a hundred, a redirect to nobody, members in the list, lines that are set in",
            "  worker.list=one, two, LoadBalancer\n  worker.one.port=@A@\n\tworker.one.host=127.0.0.1\nworker.one.type=ajp13\nworker.one.lbfactor=100\n\
             worker.two.port=@B@\nworker.two.host=127.0.0.1\nworker.two.type=ajp13\nworker.twoo.lbfactor=100\nworker.two.redirect=three\n\
             worker.LoadBalancer.type=lb\nworker.LoadBalancer.balance_workers=one, two\nworker.LoadBalancer.sticky_session=1\n",
            "jkmount /* LoadBalancer\nJKMOUNT /app/direct one\n",
            "",
        ),
        Habit::new(
            "several lists, a template that has everything, members one to a line",
            "worker.list=jk-status\nworker.jk-status.type=status\nworker.jk-status.read_only=true\nworker.list=balancer\n\
             worker.balancer.type=lb\nworker.balancer.error_escalation_time=0\nworker.balancer.max_reply_timeouts=10\n\
             worker.balancer.balance_workers=one\nworker.one.reference=worker.template\nworker.one.host=localhost\nworker.one.port=@A@\n\
             worker.one.activation=A\nworker.balancer.balance_workers=two\nworker.two.reference=worker.template\nworker.two.port=@B@\n\
             worker.two.host=localhost\nworker.two.activation=D\nworker.template.type=ajp13\nworker.template.socket_connect_timeout=5000\n\
             worker.template.socket_keepalive=true\nworker.template.ping_mode=A\nworker.template.ping_timeout=10000\n\
             worker.template.connection_pool_minsize=0\nworker.template.connection_pool_timeout=600\nworker.template.reply_timeout=300000\n\
             worker.template.recovery_options=3\n",
            "<Location /jkstatus>\n  JkMount jk-status\n</Location>\nJkMount /app|/* balancer\n",
            "",
        ),
        Habit::new(
            "sessions by whoever is least busy, a status page with a mount of its own",
            "worker.list=fusion,status\nworker.fusion.type=lb\nworker.maintain=60\nworker.fusion.balance_workers=one,two\n\
             worker.fusion.sticky_session=false\nworker.fusion.method=R\nworker.fusion.retries=10\nworker.fusion.retry_interval=200\n\
             worker.one.type=ajp13\nworker.one.host=127.0.0.1\nworker.one.port=@A@\nworker.one.connection_pool_size=500\nworker.one.route=one\n\
             worker.two.type=ajp13\nworker.two.host=127.0.0.1\nworker.two.port=@B@\nworker.two.route=two\nworker.status.type=status\n\
             worker.status.read_only=false\nworker.status.mount=/jk/status\n",
            "JkMount /*.cfm fusion\nJkMount /*.do fusion\nJkMount /app/* fusion\n",
            "",
        ),
        debian(),
    ]
}

/// What the package installs, as far as a test can use it: the port and the places of logs are its own.
fn debian() -> Habit {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let workers = read("/etc/libapache2-mod-jk/workers.properties").replace("8009", "@A@");
    let own = ["JkWorkersFile", "JkLogFile", "JkLogLevel", "JkShmFile", "JkWatchdogInterval"];
    let text = read("/etc/apache2/mods-available/jk.conf");
    let kept = text.lines().filter(|line| !own.iter().any(|word| line.trim_start().starts_with(word)));
    let module = "LoadModule authz_host_module /usr/lib/apache2/modules/mod_authz_host.so\n".to_owned();
    let conf = kept.fold(module, |text, line| text + line + "\n");
    assert!(workers.contains("@A@") && conf.contains("JkMount"));
    Habit { about: "Debian's own", workers, conf: conf + "JkMount /app/* ajp13_worker\n", map: "" }
}

const PATHS: &[&str] = &[
    "/",
    "/app",
    "/app/",
    "/app/x",
    "/app/direct",
    "/app/img/x.gif",
    "/app/index.jsp",
    "/application",
    "/shop",
    "/shop/x",
    "/shopping",
    "/index.jsp",
    "/x/y.jsp",
    "/x.html",
    "/app/x.html",
    "/x.php",
    "/static/x.css",
    "/x.do",
    "/x.cfm",
    "/jk-manager",
    "/jk-status",
    "/jk-status/x",
    "/jkstatus",
    "/jkstatus/",
    "/jk/status",
    "/other",
];

#[tokio::test]
async fn what_people_write_serves_what_it_served() {
    let workers = [named('a').await, named('b').await, named('c').await];
    let with_ports = |text: &str| {
        let names = ["@A@", "@B@", "@C@"].iter().zip(&workers);
        names.fold(text.to_owned(), |text, (name, worker)| {
            text.replace(name, &worker.address().port().to_string())
        })
    };
    let mut wrong = String::new();
    for habit in habits() {
        let mut conf = with_ports(&habit.conf);
        let mut files = Vec::new();
        if !habit.map.is_empty() {
            conf += "JkMountFile @DIR@/uriworkermap.properties\n";
            files.push(("uriworkermap.properties".to_owned(), habit.map.to_owned()));
        }
        let workers = &with_ports(&habit.workers);
        let apache = Apache::start(&ApacheOptions { workers, files: &files, conf: &conf, mpm: Mpm::Worker });
        let gateway = imported(&apache);
        let mut served = 0;
        for cookie in ["", "Cookie: JSESSIONID=1.one\r\n", "Cookie: JSESSIONID=1.two\r\n"] {
            for path in PATHS {
                let theirs = who(apache.address(), path, cookie).await;
                let ours = who(gateway.address(), path, cookie).await;
                served += usize::from(theirs.len() == 1);
                if theirs != ours {
                    writeln!(wrong, "{}: {path} {cookie:?}: mod_jk {theirs}, jkgate {ours}", habit.about)
                        .unwrap();
                }
            }
        }
        assert!(served > 0, "{}", habit.about);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The worker's letter, the status page, or nobody.
async fn who(address: SocketAddr, path: &str, cookie: &str) -> String {
    let mut client = Client::connect(address).await;
    client
        .send(format!("GET {path} HTTP/1.1\r\nHost: a.example.test\r\n{cookie}Connection: close\r\n\r\n"))
        .await;
    let response = client.response("GET").await;
    match response.text() {
        _ if response.status != 200 => "nobody".to_owned(),
        text if text.len() == 1 => text,
        _ => "status".to_owned(),
    }
}
