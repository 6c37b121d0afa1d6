//! What is known of a client's connection.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use jk_config::ListenerSpec;

/// One connection's facts, made once and shared by its requests.
#[derive(Debug)]
pub(crate) struct ConnInfo {
    pub(crate) listener: Arc<ListenerSpec>,
    /// The socket's peer; loopback for a unix socket.
    pub(crate) peer: IpAddr,
    pub(crate) peer_text: String,
    /// 0 for a unix socket.
    pub(crate) peer_port: u16,
    pub(crate) local_text: String,
    /// The peer is one of the listener's trusted proxies.
    pub(crate) is_trusted: bool,
}

impl ConnInfo {
    pub(crate) fn new(listener: Arc<ListenerSpec>, peer: (IpAddr, u16), local: (IpAddr, u16)) -> Self {
        let (address, peer_port) = (peer.0.to_canonical(), peer.1);
        let is_trusted = listener.trusted_proxies.iter().any(|net| net.contains(&address));
        Self {
            is_trusted,
            peer: address,
            peer_text: address.to_string(),
            peer_port,
            local_text: local.0.to_canonical().to_string(),
            listener,
        }
    }

    /// A unix socket has no addresses; whoever can open it is on this machine.
    pub(crate) fn local(listener: Arc<ListenerSpec>) -> Self {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self::new(listener, (loopback, 0), (loopback, 0))
    }
}
