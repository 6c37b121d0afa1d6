//! What was seen of a member, and the words for it.
//!
//! ```text
//!             served                     recover_time over            chosen
//!   Idle ⇄ Ok ◄──────── Busy    Error ───────────────────► Recover ──────────► Probe ──served──► Ok
//!    └──────────────failure──────► ▲                                             │ failed: Error, clock restarted
//!                                  │ all members in error                        │ client left: Recover again
//!                                  └────────► Forced ──served──► Ok              ▼
//! ```

/// A member's run-time state (mod_jk: `JK_LB_STATE_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Health {
    /// Usable, and not used since the last maintenance.
    #[default]
    Idle,
    Ok,
    /// Was in error; the next request may try it.
    Recover,
    /// In error like all others, and tried all the same.
    Forced,
    /// Full.
    Busy,
    Error,
    /// One request is trying it.
    Probe,
}

impl Health {
    /// mod_jk's word.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Idle => "OK/IDLE",
            Self::Ok => "OK",
            Self::Recover => "ERR/REC",
            Self::Forced => "ERR/FRC",
            Self::Busy => "OK/BUSY",
            Self::Error => "ERR",
            Self::Probe => "ERR/PRB",
        }
    }

    /// A new request may go there.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Idle | Self::Ok | Self::Recover | Self::Forced)
    }
}

/// How an attempt ended, as the member is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Served,
    /// The client's fault: it left, or its body was wrong.
    ClientAborted,
    /// A status that the operator counts as failure; soft: without consequence for the member.
    FailOnStatus {
        soft: bool,
    },
    ReplyTimeout,
    /// No channel free, or `busy_limit` reached.
    Busy,
    /// Nobody answers the connect: proof that the member is away.
    ConnectFailed,
    /// Nobody answers a CPing: proof, too.
    PingFailed,
    /// The exchange broke off. Evidence only: a connect and a CPing decide ([`crate::Balancer::confirm`]).
    Broken,
    /// What came was not AJP13.
    Protocol,
    /// The channel had died before the request; nothing is said about the member.
    Stale,
}

impl Outcome {
    /// A fixed word for the status page, logs and metrics.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::ClientAborted => "client aborted",
            Self::FailOnStatus { .. } => "fail_on_status",
            Self::ReplyTimeout => "reply timeout",
            Self::Busy => "busy",
            Self::ConnectFailed => "connect failed",
            Self::PingFailed => "no CPong",
            Self::Broken => "exchange broke off",
            Self::Protocol => "protocol error",
            Self::Stale => "stale channel",
        }
    }
}
