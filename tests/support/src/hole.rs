//! An address where nobody answers.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// An address that takes no connection and refuses none: a listener whose queue is full.
pub struct Hole {
    address: SocketAddr,
    _sockets: Vec<Socket>,
}

impl Hole {
    /// # Panics
    ///
    /// When the system gives no sockets.
    #[must_use]
    pub fn dig() -> Self {
        Self::try_dig().unwrap_or_else(|error| panic!("no socket: {error}"))
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn try_dig() -> io::Result<Self> {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
        listener.listen(0)?;
        let address = listener.local_addr()?.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let mut sockets = vec![listener];
        // As many as are taken in at once, and one that is not.
        loop {
            let client = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            let taken = client.connect_timeout(&address.into(), Duration::from_millis(300)).is_ok();
            sockets.push(client);
            if !taken {
                return Ok(Self { address, _sockets: sockets });
            }
        }
    }
}
