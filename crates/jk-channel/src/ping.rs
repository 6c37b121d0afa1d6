//! CPing and CPong: whether anybody at the other end reads AJP at all.
//!
//! A CPong does not prove that the secret is right: Tomcat answers it without one.

use std::time::Duration;

use jk_ajp::Reply;
use jk_config::{ChannelSettings, WorkerAddress};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::channel::{Channel, READ_SIZE};
use crate::connect::connect;
use crate::failure::{Cause, Failure, Stage};

/// Opens a channel of its own, pings it and closes it; returns how long connecting and the answer took.
///
/// Err: [`Stage::Connect`] or [`Stage::Ping`].
pub async fn ping(
    address: &WorkerAddress,
    settings: &ChannelSettings,
    wait: Duration,
) -> Result<(Duration, Duration), Failure> {
    let mut settings = settings.clone();
    settings.connect_ping = None;
    let begin = tokio::time::Instant::now();
    let mut channel = connect(address, &settings).await?;
    let connected = begin.elapsed();
    ping_channel(&mut channel, wait).await?;
    Ok((connected, begin.elapsed().saturating_sub(connected)))
}

pub(crate) async fn ping_channel(channel: &mut Channel, wait: Duration) -> Result<(), Failure> {
    match tokio::time::timeout(wait, exchange(channel)).await {
        Ok(done) => done,
        Err(_) => Err(Failure::new(Stage::Ping, Cause::Timeout)),
    }
}

async fn exchange(channel: &mut Channel) -> Result<(), Failure> {
    let failed = |error| Failure::io(Stage::Ping, error);
    let malformed = |what: String| Failure::new(Stage::Ping, Cause::Malformed(what));
    channel.output.clear();
    jk_ajp::write_cping(&mut channel.output);
    channel.socket.write_all_buf(&mut channel.output).await.map_err(failed)?;
    loop {
        match channel.packets.next(&mut channel.input) {
            Ok(Some(payload)) => {
                let answer = Reply::parse(payload).map_err(|error| malformed(error.to_string()))?;
                if !matches!(answer, Reply::CPong) {
                    return Err(malformed("a CPing was answered with another packet".to_owned()));
                }
                if !channel.input.is_empty() {
                    return Err(malformed("bytes follow a CPong".to_owned()));
                }
                return Ok(());
            }
            Ok(None) => {}
            Err(error) => return Err(malformed(error.to_string())),
        }
        channel.input.reserve(READ_SIZE);
        if channel.socket.read_buf(&mut channel.input).await.map_err(failed)? == 0 {
            return Err(Failure::new(Stage::Ping, Cause::Closed));
        }
    }
}
