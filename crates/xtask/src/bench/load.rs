//! The load generator.

use std::io;
use std::path::Path;
use std::process::Command;

use super::front::Front;
use super::process::cpu;

/// What clients do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) seconds: u64,
    /// Each request on a connection of its own.
    pub(crate) close: bool,
    /// Bytes that each request sends; 0: a GET.
    pub(crate) upload: usize,
}

/// What came of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// µs of the gateway's CPU for a request.
    pub(crate) micros: f64,
    pub(crate) per_second: f64,
    /// Milliseconds: half, 99 %, 99.9 % and all of the requests were answered in this time.
    pub(crate) latencies: [f64; 4],
}

const REPORT: &str = r#"
done = function(summary, latency)
    local bad = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
    io.write(string.format("RESULT %d %f %f %f %f %f %d\n", summary.requests, summary.requests / summary.duration * 1e6,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3, bad))
end
"#;

/// One round of `wrk` before one gateway.
pub(crate) fn measure(front: &Front, load: Load, work: &Path) -> io::Result<Sample> {
    let script = work.join("load.lua");
    let upload = match load.upload {
        0 => String::new(),
        bytes => format!("wrk.method = \"POST\"\nwrk.body = string.rep(\"x\", {bytes})\n"),
    };
    std::fs::write(&script, format!("{upload}{REPORT}"))?;
    let mut wrk = Command::new("wrk");
    wrk.arg("-t1").arg(format!("-c{}", load.connections)).arg(format!("-d{}s", load.seconds));
    wrk.arg("--timeout").arg("30s").arg("-s").arg(&script);
    if load.close {
        wrk.args(["-H", "Connection: close"]);
    }
    let before = cpu(front.pid());
    let output = wrk.arg(&front.url).output()?;
    let used = cpu(front.pid()).saturating_sub(before);
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .lines()
        .find_map(|line| line.strip_prefix("RESULT "))
        .map(|line| line.split(' ').filter_map(|number| number.parse().ok()).collect())
        .unwrap_or_default();
    let [requests, per_second, p50, p99, p999, max, bad] = *numbers.as_slice() else {
        return Err(io::Error::other(format!("wrk before {}: {text}", front.name)));
    };
    if bad > 0.0 {
        eprintln!("{}: {bad} of {requests} requests failed", front.name);
    }
    Ok(Sample {
        micros: used.as_secs_f64() * 1e6 / requests.max(1.0),
        per_second,
        latencies: [p50, p99, p999, max],
    })
}
