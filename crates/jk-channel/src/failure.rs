//! What can go wrong with a worker, said so that the caller can decide about health, retry and answer from it alone.

use std::fmt;
use std::io;

/// A failed exchange: how far it had come and what happened.
#[derive(Debug)]
pub struct Failure {
    pub stage: Stage,
    pub cause: Cause,
}

/// How far an exchange had come. Up to and including `Ping` the worker has seen nothing of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Waiting for a channel of a full pool.
    Acquire,
    Connect,
    Ping,
    /// The request head is being written; part of it may have arrived.
    SendHead,
    /// The head is out, no reply head has come.
    AwaitHead,
    /// The reply head was handed on.
    Stream,
}

#[derive(Debug)]
pub enum Cause {
    /// No channel became free in time, or too many were waiting already.
    PoolFull,
    /// The name of the worker's host has no address.
    Unresolved(io::Error),
    Refused(io::Error),
    Io(io::Error),
    /// The worker closed the channel (FIN).
    Closed,
    /// The worker reset the channel.
    Reset,
    Timeout,
    /// What came is not AJP13, or not what may come there.
    Malformed(String),
    /// The reply ended before the announced length was reached.
    Truncated {
        missing: u64,
    },
    /// The client's body broke off or was refused: nobody's fault but the client's.
    Client(String),
}

impl Failure {
    pub(crate) fn new(stage: Stage, cause: Cause) -> Self {
        Self { stage, cause }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "io::ErrorKind is open-ended")]
    pub(crate) fn io(stage: Stage, error: io::Error) -> Self {
        let cause = match error.kind() {
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Cause::Refused(error),
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => {
                Cause::Reset
            }
            io::ErrorKind::TimedOut => Cause::Timeout,
            _ => Cause::Io(error),
        };
        Self { stage, cause }
    }

    /// True when it was the client who broke off.
    #[must_use]
    pub fn is_clients(&self) -> bool {
        matches!(self.cause, Cause::Client(_))
    }
}

impl Stage {
    /// A fixed word for log fields and metric labels.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Connect => "connect",
            Self::Ping => "ping",
            Self::SendHead => "send",
            Self::AwaitHead => "await",
            Self::Stream => "stream",
        }
    }
}

impl Cause {
    /// A fixed word for log fields and metric labels.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::PoolFull => "pool_full",
            Self::Unresolved(_) => "unresolved",
            Self::Refused(_) => "refused",
            Self::Io(_) => "io",
            Self::Closed => "closed",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::Malformed(_) => "malformed",
            Self::Truncated { .. } => "truncated",
            Self::Client(_) => "client",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doing = match self.stage {
            Stage::Acquire => "waiting for a free channel",
            Stage::Connect => "connecting",
            Stage::Ping => "waiting for the answer to a CPing",
            Stage::SendHead => "sending the request",
            Stage::AwaitHead => "waiting for the reply",
            Stage::Stream => "carrying the reply",
        };
        write!(f, "{doing}: {}", self.cause)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoolFull => f.write_str("the worker's pool is full (connection_pool_size)"),
            Self::Unresolved(error) => write!(f, "the host name has no address ({error})"),
            Self::Refused(error) => write!(f, "nobody listens there ({error})"),
            Self::Io(error) => error.fmt(f),
            Self::Closed => f.write_str("the worker closed the channel"),
            Self::Reset => f.write_str("the worker reset the channel"),
            Self::Timeout => f.write_str("no answer in time"),
            Self::Malformed(what) => write!(f, "the worker broke the AJP13 protocol: {what}"),
            Self::Truncated { missing } => {
                write!(f, "the reply ended {missing} bytes before its Content-Length")
            }
            Self::Client(what) => write!(f, "the client broke off: {what}"),
        }
    }
}

impl std::error::Error for Failure {}
