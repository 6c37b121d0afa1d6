//! Ports that a server can be told to listen on.

use std::net::TcpListener;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A port of loopback that nobody uses at this moment, and that this process is not given twice.
///
/// It lies below the range from which the system takes the ports of outgoing connections: a server that takes seconds to
/// start would otherwise find its port taken by a client now and then.
///
/// # Panics
///
/// When there is none.
#[must_use]
pub fn free_port() -> u16 {
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let Ok(port) = u16::try_from(FIRST + step) else { continue };
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port of {FIRST} to {} is free", FIRST + COUNT - 1)
}

const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// Test binaries that run side by side begin at different places.
static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    AtomicU32::new(std::process::id().wrapping_mul(2_654_435_761).wrapping_add(now) % COUNT)
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_port_is_given_once_and_is_none_of_an_outgoing_connection() {
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        let lowest: u16 = range.split_whitespace().next().unwrap().parse().unwrap();
        let ports: BTreeSet<u16> = (0..100).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 100);
        assert!(ports.iter().all(|port| *port < lowest), "{ports:?} {lowest}");
    }

    #[test]
    fn a_port_that_is_taken_is_passed_over() {
        let taken: Vec<TcpListener> =
            (0..3).map(|_| TcpListener::bind(("127.0.0.1", free_port())).unwrap()).collect();
        let port = free_port();
        assert!(taken.iter().all(|listener| listener.local_addr().unwrap().port() != port));
    }
}
