//! The pages of `jkgate demo`: what the seed's examples showed, made by a worker that needs no Java.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use tokio::net::TcpListener;

use crate::codec::{Request, packets};
use crate::exchange::{Channel, Exchange};
use crate::log::Log;

/// Serves the demo as the worker `name` until the listener fails.
pub async fn serve(listener: TcpListener, name: &str) -> io::Result<()> {
    let pages = Arc::new(Pages { name: name.to_owned(), sessions: Mutex::default() });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(talk(stream, Arc::clone(&pages)));
    }
}

async fn talk(stream: tokio::net::TcpStream, pages: Arc<Pages>) {
    // The log is for tests; a fresh one a request keeps it from growing.
    let mut channel =
        Channel { number: 0, stream: Some(stream), input: BytesMut::new(), log: Arc::default() };
    while let Some(payload) = channel.packet().await {
        channel.log = Arc::new(Log::default());
        if payload.first() == Some(&10) {
            let Some(stream) = &mut channel.stream else { return };
            if tokio::io::AsyncWriteExt::write_all(stream, &packets::cpong()).await.is_err() {
                return;
            }
            continue;
        }
        let Ok(request) = Request::decode(&payload) else { return };
        let mut exchange = Exchange::new(request, channel);
        let body = exchange.body().await.len();
        let page = pages.page(&exchange.request, body);
        let length = page.html.len().to_string();
        let mut headers = vec![
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", length.as_str()),
            ("Cache-Control", "no-store"),
        ];
        if let Some(cookie) = &page.cookie {
            headers.push(("Set-Cookie", cookie));
        }
        exchange.answer(page.status, &headers, page.html.as_bytes()).await;
        channel = exchange.channel;
    }
}

struct Pages {
    name: String,
    /// Visits by session id.
    sessions: Mutex<HashMap<String, u64>>,
}

struct Page {
    status: u16,
    html: String,
    cookie: Option<String>,
}

impl Pages {
    fn page(&self, request: &Request, body: usize) -> Page {
        let shown = |title: &str, content: String| Page {
            status: 200,
            html: self.frame(title, &content),
            cookie: None,
        };
        let path = request.uri.split(';').next().unwrap_or_default();
        match path {
            "/servlets-examples" | "/servlets-examples/" | "/jsp-examples" | "/jsp-examples/" => {
                shown("Examples", INDEX.to_owned())
            }
            "/servlets-examples/servlet/HelloWorldExample" => shown(
                "Hello World!",
                "<p>If you can read this, the whole way works: browser, jkgate, AJP13, worker, and back.</p>"
                    .to_owned(),
            ),
            "/servlets-examples/servlet/RequestInfoExample" | "/jsp-examples/snp/snoop.jsp" => {
                shown("Request Information", request_info(request, body))
            }
            "/servlets-examples/servlet/SessionExample" => self.session(request),
            _ => Page {
                status: 404,
                html: self.frame(
                    "Not here",
                    "<p>The demo has no such page. <a href=\"/servlets-examples/\">Examples</a></p>",
                ),
                cookie: None,
            },
        }
    }

    /// Counts a session's visits; its id ends with this worker's route, as Tomcat's do.
    fn session(&self, request: &Request) -> Page {
        let given = request.header("cookie").and_then(|cookies| {
            cookies.split(';').find_map(|pair| pair.trim().strip_prefix("JSESSIONID=").map(str::to_owned))
        });
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = given.filter(|id| sessions.contains_key(id));
        let (id, cookie) = match known {
            Some(id) => (id, None),
            None => {
                // A demo that is left running must not grow.
                if sessions.len() >= MAX_SESSIONS {
                    sessions.clear();
                }
                let id = format!("{:016X}.{}", fresh_id(), self.name);
                let cookie = format!("JSESSIONID={id}; Path=/; HttpOnly");
                (id, Some(cookie))
            }
        };
        let visits = sessions.entry(id.clone()).or_insert(0);
        *visits += 1;
        let content = format!(
            "<p class=\"big\">{visits}</p><p>visits in the session <code>{}</code>.</p>\
             <p>The part behind the dot is the route: it brings you back to <b>{}</b> as long as it is there. \
             <a href=\"\">Once more</a>, or drop the cookie and see another worker.</p>",
            escape(&id),
            escape(&self.name)
        );
        Page { status: 200, html: self.frame("Session", &content), cookie }
    }

    fn frame(&self, title: &str, content: &str) -> String {
        let (title, name) = (escape(title), escape(&self.name));
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head>\
             <body><header>served by worker <b>{name}</b></header><main><h1>{title}</h1>{content}</main></body></html>\n"
        )
    }
}

fn request_info(request: &Request, body: usize) -> String {
    let mut rows = String::new();
    let mut row = |name: &str, value: &str| {
        let _infallible =
            write!(rows, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(value));
    };
    row("Method", &request.method);
    row("Request URI", &request.uri);
    row("Query", request.query.as_deref().unwrap_or(""));
    row("Protocol", &request.protocol);
    row("Client", &request.remote_addr);
    row("Server", &format!("{}:{}", request.server_name, request.server_port));
    row("Secure", if request.is_ssl { "yes" } else { "no" });
    row("Route", request.route.as_deref().unwrap_or(""));
    row("Body", &format!("{body} bytes"));
    for header in &request.headers {
        row(&header.name, &header.value);
    }
    for (name, value) in &request.attributes {
        row(name, value);
    }
    format!("<table><caption>What AJP13 told the worker</caption>{rows}</table>")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Hard enough to guess for a page that counts to ten.
fn fresh_id() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

const MAX_SESSIONS: usize = 1000;

const INDEX: &str = "<ul>\
<li><a href=\"/servlets-examples/servlet/HelloWorldExample\">Hello World</a></li>\
<li><a href=\"/servlets-examples/servlet/RequestInfoExample?x=1\">Request information</a></li>\
<li><a href=\"/servlets-examples/servlet/SessionExample\">Session counter: reload it and watch the worker</a></li>\
<li><a href=\"/jkstatus/\">The status page</a></li></ul>";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1d2733;background:#f6f7f9}\
header{background:#24435f;color:#fff;padding:.6em 1.2em}main{max-width:46em;margin:2em auto;padding:0 1.2em}\
h1{font-weight:600}table{border-collapse:collapse;width:100%}caption{text-align:left;padding:.4em 0;font-weight:600}\
th,td{text-align:left;padding:.3em .6em;border-bottom:1px solid #ccd3da;vertical-align:top;overflow-wrap:anywhere}\
.big{font-size:4em;margin:0}a{color:#0b5cad}\
@media(prefers-color-scheme:dark){body{color:#e4e8ec;background:#14191f}th,td{border-color:#37424d}a{color:#7db8f0}}";
