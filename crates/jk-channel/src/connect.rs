//! Opening a channel.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use jk_ajp::PacketSize;
use jk_config::{ChannelSettings, WorkerAddress};
use tokio::net::{TcpStream, UnixStream, lookup_host};

use crate::channel::Channel;
use crate::failure::{Cause, Failure, Stage};
use crate::ping::ping_channel;
use crate::socket::Socket;

/// Connects within `socket_connect_timeout` (name look-up included) and pings if the settings ask for it.
pub(crate) async fn connect(address: &WorkerAddress, settings: &ChannelSettings) -> Result<Channel, Failure> {
    let opened =
        tokio::time::timeout(settings.socket_connect_timeout, open(address, settings.keepalive)).await;
    let socket = opened.map_err(|_| Failure::new(Stage::Connect, Cause::Timeout))??;
    let size = PacketSize::new(settings.max_packet_size).ok_or_else(|| {
        Failure::new(Stage::Connect, Cause::Malformed("packet size out of range".to_owned()))
    })?;
    let mut channel = Channel::new(socket, size, Instant::now());
    if let Some(wait) = settings.connect_ping {
        ping_channel(&mut channel, wait).await?;
    }
    Ok(channel)
}

async fn open(address: &WorkerAddress, keepalive: bool) -> Result<Socket, Failure> {
    let failed = |error| Failure::io(Stage::Connect, error);
    match address {
        WorkerAddress::Unix(path) => UnixStream::connect(path).await.map(Socket::Unix).map_err(failed),
        WorkerAddress::Tcp { host, port } => {
            let stream = open_tcp(host, *port).await?;
            // AJP is request and answer: a packet held back by Nagle's algorithm would wait for an ACK that Tomcat delays.
            stream.set_nodelay(true).map_err(failed)?;
            if keepalive {
                let idle = socket2::TcpKeepalive::new()
                    .with_time(KEEPALIVE_IDLE)
                    .with_interval(KEEPALIVE_INTERVAL)
                    .with_retries(KEEPALIVE_PROBES);
                socket2::SockRef::from(&stream).set_tcp_keepalive(&idle).map_err(failed)?;
            }
            Ok(Socket::Tcp(stream))
        }
    }
}

async fn open_tcp(host: &str, port: u16) -> Result<TcpStream, Failure> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return TcpStream::connect(SocketAddr::new(ip, port))
            .await
            .map_err(|error| Failure::io(Stage::Connect, error));
    }
    let unresolved = |error| Failure::new(Stage::Connect, Cause::Unresolved(error));
    let addresses = lookup_host((host, port)).await.map_err(unresolved)?;
    // "localhost" may be ::1 first while Tomcat listens on 127.0.0.1 only: every address gets its chance.
    let mut last = None;
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(Failure::io(Stage::Connect, error)),
        }
    }
    Err(last.unwrap_or_else(|| unresolved(io::Error::from(io::ErrorKind::NotFound))))
}

/// A firewall between gateway and Tomcat commonly forgets a silent connection after minutes, the kernel's default is two hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_PROBES: u32 = 5;
