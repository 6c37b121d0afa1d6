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
    /// Where the client connected to; one text for all connections of a listener with one address.
    pub(crate) local_text: Arc<str>,
    /// The peer is one of the listener's trusted proxies.
    pub(crate) is_trusted: bool,
}

impl ConnInfo {
    pub(crate) fn new(listener: Arc<ListenerSpec>, peer: (IpAddr, u16), local_text: Arc<str>) -> Self {
        let (address, peer_port) = (peer.0.to_canonical(), peer.1);
        let is_trusted = listener.trusted_proxies.iter().any(|net| net.contains(&address));
        Self { is_trusted, peer: address, peer_text: text(address), peer_port, local_text, listener }
    }

    /// A unix socket has no addresses; whoever can open it is on this machine.
    pub(crate) fn local(listener: Arc<ListenerSpec>) -> Self {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self::new(listener, (loopback, 0), text(loopback).into())
    }
}

/// An address as everybody writes it. The standard library's way pads and aligns, which costs each new connection a microsecond.
pub(super) fn text(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let mut text = String::with_capacity("255.255.255.255".len());
            let mut digits = itoa::Buffer::new();
            for (place, octet) in address.octets().into_iter().enumerate() {
                if place > 0 {
                    text.push('.');
                }
                text.push_str(digits.format(octet));
            }
            text
        }
        IpAddr::V6(address) => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_the_standard_library_writes_them() {
        for known in ["0.0.0.0", "127.0.0.1", "10.200.3.99", "255.255.255.255", "::1", "2001:db8::a:0:1"] {
            let address: IpAddr = known.parse().unwrap();
            assert_eq!(text(address), known);
        }
        assert_eq!(text("::ffff:192.0.2.7".parse().unwrap()), "192.0.2.7");
    }
}
