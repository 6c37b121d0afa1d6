//! From failure to consequence: what it says about the member, whether another attempt is allowed, and what the client is told.
//!
//! One table, used by the request path and printed to `docs/failures.md` by a test.

use jk_balance::Outcome;
use jk_channel::{Cause, Failure, Stage};

use super::refusal::Refusal;

/// What may be done about a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// What the balancer is told.
    pub(crate) outcome: Outcome,
    pub(crate) retry: Retry,
    pub(crate) answer: Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    No,
    /// Another member, whatever the method: this one has seen nothing of the request.
    Elsewhere,
    /// The same member on a new channel: the old one was dead before anything was sent.
    SameMember,
}

/// What the client is told if it ends here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Unavailable,
    BadGateway,
    Timeout,
    /// 400 and the connection is closed: the client's own body broke off.
    BadBody,
    /// Part of a reply is out already: the connection is cut, so that nobody takes it for complete.
    Cut,
}

/// What is known of the request when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "the columns of the table, each read by name")]
pub(crate) struct Circumstances {
    /// GET, HEAD, OPTIONS: asking twice asks for nothing twice.
    pub(crate) is_safe: bool,
    /// The whole body is still here.
    pub(crate) is_replayable: bool,
    /// The operator forbids a second attempt once the head is out (`retry = false`, `recovery_options` 1).
    pub(crate) may_resend: bool,
    /// No byte was written to the worker.
    pub(crate) nothing_sent: bool,
    /// The channel had carried a request before.
    pub(crate) reused: bool,
}

impl Circumstances {
    /// A reply is under way to the client.
    pub(crate) const STREAMING: Self =
        Self { is_safe: false, is_replayable: false, may_resend: false, nothing_sent: false, reused: false };
}

pub(crate) fn verdict(failure: &Failure, at: Circumstances) -> Verdict {
    use Cause as C;
    use Stage as S;
    let elsewhere = if at.is_replayable { Retry::Elsewhere } else { Retry::No };
    let resend = if at.is_safe && at.is_replayable && at.may_resend { Retry::Elsewhere } else { Retry::No };
    let (outcome, retry, answer) = match (failure.stage, &failure.cause) {
        (_, C::Client(_)) => (Outcome::ClientAborted, Retry::No, Answered::BadBody),
        (S::Acquire, _) => (Outcome::Busy, elsewhere, Answered::Unavailable),
        (S::Connect, _) => (Outcome::ConnectFailed, elsewhere, Answered::Unavailable),
        (S::Ping, _) => (Outcome::PingFailed, elsewhere, Answered::Unavailable),
        (S::Stream, C::Timeout) => (Outcome::ReplyTimeout, Retry::No, Answered::Cut),
        (S::Stream, C::Malformed(_)) => (Outcome::Protocol, Retry::No, Answered::Cut),
        (S::Stream, _) => (Outcome::Broken, Retry::No, Answered::Cut),
        // The worker closed an idle channel in the very moment in which it was taken.
        (S::SendHead | S::AwaitHead, C::Closed | C::Reset | C::Io(_)) if at.reused && at.nothing_sent => {
            (Outcome::Stale, Retry::SameMember, Answered::BadGateway)
        }
        (S::SendHead | S::AwaitHead, C::Closed | C::Reset) if at.reused && resend != Retry::No => {
            (Outcome::Stale, Retry::SameMember, Answered::BadGateway)
        }
        (S::SendHead | S::AwaitHead, C::Timeout) => (Outcome::ReplyTimeout, resend, Answered::Timeout),
        (S::SendHead | S::AwaitHead, C::Malformed(_)) => (Outcome::Protocol, resend, Answered::BadGateway),
        (S::SendHead | S::AwaitHead, _) => (Outcome::Broken, resend, Answered::BadGateway),
    };
    Verdict { outcome, retry, answer }
}

impl Answered {
    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Self::Unavailable => Refusal::UNAVAILABLE,
            Self::BadGateway | Self::Cut => Refusal::BAD_GATEWAY,
            Self::Timeout => Refusal::TIMEOUT,
            Self::BadBody => Refusal::BAD_BODY,
        }
    }
}
