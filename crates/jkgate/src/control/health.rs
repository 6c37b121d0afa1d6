//! Balancer maintenance and active health checks, on a clock of their own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use http_body_util::{BodyExt, Empty};
use jk_channel::{BodyLength, Cause, Failure, Limits, RequestBody};
use jk_config::{ChannelSettings, HealthCheck, HealthCheckKind, WorkerName};
use tracing::{info, warn};

use super::plan::{Plan, Worker};
use crate::gateway::Gateway;

/// Runs until the gateway ends.
pub(crate) async fn check_members(gateway: Arc<Gateway>) {
    let mut due: HashMap<WorkerName, Instant> = HashMap::new();
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let plan = gateway.plan();
        maintain(&plan);
        let now = Instant::now();
        due.retain(|name, _| plan.workers.contains_key(name));
        for worker in plan.workers.values() {
            let Some(check) = &worker.spec.health_check else { continue };
            let next = due.entry(worker.spec.name.clone()).or_insert(now);
            if *next <= now {
                *next = now + spread(check.interval);
                tokio::spawn(run_check(Arc::clone(&plan), Arc::clone(worker), check.clone()));
            }
        }
    }
}

fn maintain(plan: &Plan) {
    for group in plan.groups.values() {
        for transition in group.balancer.maintain(Instant::now()) {
            let worker = group.members.get(transition.member).map_or("?", |worker| &worker.name);
            info!(group = %group.name, worker, from = transition.from.text(), to = transition.to.text(), "Member changed state.");
        }
    }
}

/// Up to a tenth earlier or later, so that many gateways do not check in step.
fn spread(interval: Duration) -> Duration {
    let nanos =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().subsec_nanos();
    let part = f64::from(nanos % 1000) / 1000.0 * 0.2 + 0.9;
    interval.mul_f64(part)
}

async fn run_check(plan: Arc<Plan>, worker: Arc<Worker>, check: HealthCheck) {
    let result = match &check.kind {
        HealthCheckKind::CPing => {
            let ping = jk_channel::ping(&worker.spec.address, &worker.spec.channel, check.timeout).await;
            ping.map(drop).map_err(|failure| failure.to_string())
        }
        HealthCheckKind::Request { path, status } => {
            match tokio::time::timeout(check.timeout, request(&worker, path)).await {
                Ok(Ok(None)) => return,
                Ok(Ok(Some(found))) if status.contains(&found) => Ok(()),
                Ok(Ok(Some(found))) => Err(format!("GET {path} answered {found}")),
                Ok(Err(why)) => Err(why),
                Err(_) => Err(format!("GET {path} was not answered in time")),
            }
        }
    };
    if let Err(why) = &result {
        worker.trouble.note(format!("health check: {why}"));
        if worker.trouble.may_log() {
            warn!(worker = %worker.name, error = why, "Health check failed.");
        }
    }
    for group in plan.groups.values() {
        for (index, member) in group.members.iter().enumerate() {
            if Arc::ptr_eq(&member.pool, &worker.pool) {
                group.balancer.health_report(index, result.is_ok(), (check.rise, check.fall), Instant::now());
            }
        }
    }
}

/// A GET on a channel of the worker's own pool; the status it answers with. `None`: all its channels are at work, which says nothing
/// against it.
async fn request(worker: &Worker, path: &str) -> Result<Option<u16>, String> {
    let host = "localhost";
    let line = jk_ajp::RequestLine {
        method: "GET",
        method_by_name: worker.spec.method_by_name,
        protocol: "HTTP/1.1",
        uri: path.as_bytes(),
        remote_addr: "127.0.0.1",
        remote_host: None,
        server_name: host,
        server_port: 80,
        is_ssl: false,
    };
    let mut head = BytesMut::new();
    let mut writer = jk_ajp::HeadWriter::new(&mut head, worker.size, &line);
    writer.header("host", host.as_bytes());
    writer.header("user-agent", b"jkgate health check");
    writer.header("content-length", b"0");
    let mut attributes = writer.attributes();
    if let Some(secret) = &worker.spec.secret {
        attributes.secret(secret.expose());
    }
    attributes.finish().map_err(|error| error.to_string())?;
    let at_once = ChannelSettings { acquire_queue: 0, ..worker.spec.channel.clone() };
    let lease = match worker.pool.acquire(&at_once, Instant::now()).await {
        Ok(lease) => lease,
        Err(Failure { cause: Cause::PoolFull, .. }) => return Ok(None),
        Err(failure) => return Err(failure.to_string()),
    };
    let body =
        RequestBody::new(Empty::new().map_err(|never| match never {}).boxed_unsync(), BodyLength::None);
    let body: RequestBody<http_body_util::combinators::UnsyncBoxBody<bytes::Bytes, std::io::Error>> = body;
    let limits = Limits {
        reply_timeout: worker.spec.channel.reply_timeout,
        send_timeout: worker.spec.channel.send_timeout,
        now: Instant::now(),
        hold_head: false,
    };
    let started =
        jk_channel::forward(lease, &mut head, body, limits).await.map_err(|lost| lost.failure.to_string())?;
    let status = started.head.status;
    started.ignore_rest();
    Ok(Some(status))
}
