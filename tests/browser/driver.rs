//! A browser, by the WebDriver protocol (W3C): Chromium through chromedriver.

use std::process::Command;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::http::Client;
use test_support::servers::{Server, free_port};

pub(crate) struct Browser {
    port: u16,
    session: String,
    _driver: Server,
    _folder: TempDir,
}

impl Browser {
    pub(crate) async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let port = free_port();
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={port}"));
        let mut driver = Server::start("chromedriver", &mut command, folder.path());
        driver.wait_for_output("started successfully", Duration::from_secs(30));
        let mut browser = Self { port, session: String::new(), _driver: driver, _folder: folder };
        let profile = browser._folder.path().join("profile");
        let options = json!({
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1",
                format!("--user-data-dir={}", profile.display()),
            ],
        });
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.ask("POST", "/session", &wanted).await;
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        browser
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut client = Client::connect(([127, 0, 0, 1], self.port).into()).await;
        let body = if method == "GET" { String::new() } else { body.to_string() };
        client
            .send(format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                self.port,
                body.len()
            ))
            .await;
        let response = client.response(method).await;
        let answer: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(response.status, 200, "{method} {path}: {answer}");
        answer["value"].clone()
    }

    async fn of_session(&self, method: &str, rest: &str, body: Value) -> Value {
        self.ask(method, &format!("/session/{}/{rest}", self.session), &body).await
    }

    pub(crate) async fn open(&self, url: &str) {
        self.of_session("POST", "url", json!({"url": url})).await;
    }

    /// What a script returns.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.of_session("POST", "execute/sync", json!({"script": script, "args": []})).await
    }

    /// What axe-core finds wrong with the page: the rule, what it asks for, and where.
    pub(crate) async fn violations(&self, axe: &str) -> Vec<String> {
        self.run(axe).await;
        let script = "const done = arguments[0]; axe.run().then(result => done(result.violations.map(rule => \
                      rule.id + ' (' + rule.help + '): ' + rule.nodes.map(node => node.html).join(' ; '))))";
        let found = self.of_session("POST", "execute/async", json!({"script": script, "args": []})).await;
        found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    /// Text of the first element that a CSS selector finds; empty if there is none.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let found = self
            .run(&format!(
                "const found = document.querySelector({}); return found ? found.textContent : '';",
                json!(selector)
            ))
            .await;
        found.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) async fn click(&self, selector: &str) {
        // The page itself scrolls softly; a click must not have to wait for that.
        self.run(&format!(
            "document.querySelector({}).scrollIntoView({{behavior: 'instant', block: 'center'}})",
            json!(selector)
        ))
        .await;
        let element = self.find(selector).await;
        self.of_session("POST", &format!("element/{element}/click"), json!({})).await;
    }

    /// Clicks on what leads to another page, and waits for that page.
    pub(crate) async fn follow(&self, selector: &str) {
        self.run("window.old = true").await;
        self.click(selector).await;
        self.until("another page is here", "return !window.old && document.readyState === 'complete'").await;
    }

    /// Types into a field that it empties first.
    pub(crate) async fn write(&self, selector: &str, text: &str) {
        let element = self.find(selector).await;
        self.of_session("POST", &format!("element/{element}/clear"), json!({})).await;
        self.of_session("POST", &format!("element/{element}/value"), json!({"text": text})).await;
    }

    async fn find(&self, selector: &str) -> String {
        let found =
            self.of_session("POST", "element", json!({"using": "css selector", "value": selector})).await;
        found.as_object().and_then(|element| element.values().next()).unwrap().as_str().unwrap().to_owned()
    }

    /// Presses and releases keys, one after the other, wherever the focus is.
    pub(crate) async fn press(&self, keys: &[char]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| {
                [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
            })
            .collect();
        self.of_session(
            "POST",
            "actions",
            json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}),
        )
        .await;
    }

    /// Of the page, whatever the window's frame takes.
    pub(crate) async fn resize(&self, width: u32, height: u32) {
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params":
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}});
        self.of_session("POST", "goog/cdp/execute", command).await;
    }

    pub(crate) async fn prefer_dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let command = json!({"cmd": "Emulation.setEmulatedMedia", "params":
            {"features": [{"name": "prefers-color-scheme", "value": value}]}});
        self.of_session("POST", "goog/cdp/execute", command).await;
    }

    /// PNG.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        let text = self.of_session("GET", "screenshot", Value::Null).await;
        BASE64_STANDARD.decode(text.as_str().unwrap()).unwrap()
    }

    /// What the console has said since the last call.
    pub(crate) async fn console(&self) -> Vec<String> {
        let lines = self.of_session("POST", "se/log", json!({"type": "browser"})).await;
        lines
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Waits until a script returns true.
    pub(crate) async fn until(&self, what: &str, script: &str) {
        let begin = Instant::now();
        while self.run(script).await != Value::Bool(true) {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "never came true: {what}; the page says {}",
                self.text("main").await
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Browser {
    /// The browser is the driver's child, and would stay without it.
    fn drop(&mut self) {
        use std::io::{Read as _, Write as _};
        if let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", self.port)) {
            let request = format!(
                "DELETE /session/{} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n",
                self.session, self.port
            );
            let _best_effort = stream.write_all(request.as_bytes()).and_then(|()| stream.read(&mut [0; 512]));
        }
    }
}

pub(crate) const TAB: char = '\u{E004}';
pub(crate) const ENTER: char = '\u{E007}';
