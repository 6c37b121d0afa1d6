//! Opening listening sockets: one for each core and address, sharing a port by SO_REUSEPORT.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use jk_config::{ListenAddress, ListenerSpec};
use nix::sys::socket::setsockopt;
use nix::{libc, setsockopt_impl, sockopt_impl};
use socket2::{Domain, Protocol, Socket, Type};

/// Sockets that listen on one address.
pub(crate) enum Bound {
    /// One a core.
    Tcp(Vec<std::net::TcpListener>),
    Unix(std::os::unix::net::UnixListener, PathBuf),
}

/// Why a listener could not be opened, as a sentence for the operator.
#[derive(Debug)]
pub struct BindError {
    pub listener: String,
    pub address: ListenAddress,
    pub error: io::Error,
}

pub(crate) fn bind(spec: &ListenerSpec, cores: usize) -> Result<Bound, BindError> {
    let bound = match &spec.address {
        ListenAddress::Tcp(address) => bind_tcp(*address, spec.backlog, cores).map(Bound::Tcp),
        ListenAddress::Unix(path) => {
            bind_unix(path, spec.backlog).map(|listener| Bound::Unix(listener, path.clone()))
        }
    };
    bound.map_err(|error| BindError { listener: spec.name.clone(), address: spec.address.clone(), error })
}

impl Bound {
    /// The address that was really taken, when port 0 asked for any.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(sockets) => sockets.first().and_then(|socket| socket.local_addr().ok()),
            Self::Unix(..) => None,
        }
    }
}

fn bind_tcp(address: SocketAddr, backlog: u32, cores: usize) -> io::Result<Vec<std::net::TcpListener>> {
    // SO_REUSEPORT would let a second gateway of the same user share the port silently. A socket without it cannot, so it finds out.
    if address.port() != 0 {
        drop(open_tcp(address, false)?);
    }
    let mut address = address;
    let mut sockets = Vec::new();
    for _ in 0..cores.max(1) {
        let socket = open_tcp(address, true)?;
        // Connections come with their first bytes, as httpd's `AcceptFilter http data` has it: one wake-up instead of two, and who never says
        // anything is the kernel's for a second. Where that cannot be had, they come as they do elsewhere.
        let _best_effort = setsockopt(&socket, DeferAccept, &SILENCE);
        socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        let socket = std::net::TcpListener::from(socket);
        address = socket.local_addr()?;
        sockets.push(socket);
    }
    Ok(sockets)
}

sockopt_impl!(DeferAccept, SetOnly, libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, i32);

/// In seconds; a connection whose client is silent for so long is accepted all the same.
const SILENCE: i32 = 1;

fn open_tcp(address: SocketAddr, share: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of the last run in TIME_WAIT do not keep the port.
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(share)?;
    if address.is_ipv6() {
        // "[::]:80" and "0.0.0.0:80" can then be two listeners, whatever the system's default is.
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    // Linux hands this on to every accepted connection, which saves each a system call.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn bind_unix(path: &Path, backlog: u32) -> io::Result<std::os::unix::net::UnixListener> {
    // A socket file of a process that ended is in the way; one that somebody answers on is not ours to remove.
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket()) {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(io::Error::from(io::ErrorKind::AddrInUse));
        }
        std::fs::remove_file(path)?;
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.bind(&socket2::SockAddr::unix(path)?)?;
    socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
    Ok(socket.into())
}

#[allow(clippy::wildcard_enum_match_arm, reason = "io::ErrorKind is open-ended")]
impl std::fmt::Display for BindError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { listener, address, error } = self;
        match error.kind() {
            io::ErrorKind::AddrInUse => {
                write!(f, "listener \"{listener}\": another program already listens on {address}")
            }
            io::ErrorKind::PermissionDenied => write!(
                f,
                "listener \"{listener}\": not allowed to listen on {address}: a port below 1024 needs the capability CAP_NET_BIND_SERVICE"
            ),
            io::ErrorKind::AddrNotAvailable => {
                write!(f, "listener \"{listener}\": {address} is not an address of this machine")
            }
            _ => write!(f, "listener \"{listener}\": cannot listen on {address}: {error}"),
        }
    }
}

impl std::error::Error for BindError {}
