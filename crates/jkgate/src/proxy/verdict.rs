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
    let resend = resend(at);
    let (outcome, retry, answer) = match (failure.stage, &failure.cause) {
        (S::Stream, C::Client(_)) => (Outcome::ClientAborted, Retry::No, Answered::Cut),
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

/// A reply whose status the operator counts as a failure (`fail_on_status`); `soft`: of this request only.
pub(crate) fn status_verdict(soft: bool, at: Circumstances) -> Verdict {
    Verdict { outcome: Outcome::FailOnStatus { soft }, retry: resend(at), answer: Answered::Unavailable }
}

/// The worker may have acted on the request: asking again must ask for nothing twice.
fn resend(at: Circumstances) -> Retry {
    if at.is_safe && at.is_replayable && at.may_resend { Retry::Elsewhere } else { Retry::No }
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io;
    use std::path::Path;

    use expect_test::expect_file;

    use super::*;

    fn causes() -> Vec<(&'static str, Cause)> {
        let io = |kind| io::Error::from(kind);
        vec![
            ("pool full", Cause::PoolFull),
            ("refused or not there", Cause::Refused(io(io::ErrorKind::ConnectionRefused))),
            ("name without an address", Cause::Unresolved(io(io::ErrorKind::NotFound))),
            ("closed by the worker", Cause::Closed),
            ("reset by the worker", Cause::Reset),
            ("no answer in time", Cause::Timeout),
            ("not AJP13", Cause::Malformed(String::new())),
            ("shorter than announced", Cause::Truncated { missing: 1 }),
            ("the client broke off", Cause::Client(String::new())),
        ]
    }

    /// Which causes can come at a stage.
    fn may_come(stage: Stage, cause: &Cause) -> bool {
        match stage {
            Stage::Acquire => matches!(cause, Cause::PoolFull),
            Stage::Connect => matches!(cause, Cause::Refused(_) | Cause::Unresolved(_) | Cause::Timeout),
            Stage::Ping => {
                matches!(cause, Cause::Closed | Cause::Reset | Cause::Timeout | Cause::Malformed(_))
            }
            Stage::SendHead | Stage::AwaitHead => {
                matches!(
                    cause,
                    Cause::Closed | Cause::Reset | Cause::Timeout | Cause::Malformed(_) | Cause::Client(_)
                )
            }
            Stage::Stream => !matches!(cause, Cause::PoolFull | Cause::Refused(_) | Cause::Unresolved(_)),
        }
    }

    fn stage(stage: Stage) -> &'static str {
        match stage {
            Stage::Acquire => "waiting for a channel",
            Stage::Connect => "connecting",
            Stage::Ping => "CPing",
            Stage::SendHead => "sending the head",
            Stage::AwaitHead => "waiting for the reply's head",
            Stage::Stream => "carrying the reply",
        }
    }

    fn retry(retry: Retry) -> &'static str {
        match retry {
            Retry::No => "no",
            Retry::Elsewhere => "another member",
            Retry::SameMember => "same member, new channel",
        }
    }

    fn answer(answer: Answered) -> &'static str {
        match answer {
            Answered::Unavailable => "503, or what `unavailable` says",
            Answered::BadGateway => "502",
            Answered::Timeout => "504",
            Answered::BadBody => "400, connection closed",
            Answered::Cut => "the connection is cut",
        }
    }

    fn table() -> String {
        let mut out = String::from(
            "# What happens when something fails\n\nMade from the gateway's own table. \"Safe\" requests are GET, HEAD and OPTIONS whose body, if any, is still here; \"fresh\" channels have not carried a\n\
             request yet. `retry = false`, `retries = 1` or an empty retry budget turn \"another member\" into \"no\". A member that was only suspected (broke off, protocol error, reply timeout) is\n\
             asked by a connect and a CPing of the gateway's own; only if that fails, it is in error.\n\n\
             | while | what | request | channel | the member is told | tried again | the client gets, if it ends here |\n|---|---|---|---|---|---|---|\n",
        );
        for at in
            [Stage::Acquire, Stage::Connect, Stage::Ping, Stage::SendHead, Stage::AwaitHead, Stage::Stream]
        {
            for (what, cause) in causes() {
                if !may_come(at, &cause) {
                    continue;
                }
                let failure = Failure { stage: at, cause };
                let mut rows: Vec<(String, String, String)> = Vec::new();
                for is_safe in [true, false] {
                    for reused in [false, true] {
                        let nothing_sent = at <= Stage::Ping;
                        let circumstances = Circumstances {
                            is_safe,
                            is_replayable: true,
                            may_resend: true,
                            nothing_sent,
                            reused,
                        };
                        let verdict = verdict(&failure, circumstances);
                        let told = format!(
                            "{} | {} | {}",
                            verdict.outcome.word(),
                            retry(verdict.retry),
                            answer(verdict.answer)
                        );
                        let safe = if is_safe { "safe" } else { "other" };
                        let channel = if reused { "reused" } else { "fresh" };
                        rows.push((safe.to_owned(), channel.to_owned(), told));
                    }
                }
                let all_same = rows.iter().all(|row| row.2 == rows[0].2);
                let by_safety = rows[0].2 == rows[1].2 && rows[2].2 == rows[3].2;
                let kept: Vec<(String, String, String)> = if all_same {
                    vec![("any".to_owned(), "any".to_owned(), rows[0].2.clone())]
                } else if by_safety {
                    vec![
                        ("safe".to_owned(), "any".to_owned(), rows[0].2.clone()),
                        ("other".to_owned(), "any".to_owned(), rows[2].2.clone()),
                    ]
                } else {
                    rows
                };
                for (safe, channel, told) in kept {
                    let _infallible =
                        writeln!(out, "| {} | {what} | {safe} | {channel} | {told} |", stage(at));
                }
            }
        }
        out + &status_rows()
    }

    fn status_rows() -> String {
        let mut out = String::new();
        for is_safe in [true, false] {
            let at = Circumstances {
                is_safe,
                is_replayable: true,
                may_resend: true,
                nothing_sent: false,
                reused: true,
            };
            let verdict = status_verdict(false, at);
            let _infallible = writeln!(
                out,
                "| the reply's head is here | a status in `fail_on_status` | {} | any | {} | {} | {} |",
                if is_safe { "safe, without a body" } else { "other" },
                verdict.outcome.word(),
                retry(verdict.retry),
                answer(verdict.answer)
            );
        }
        out
    }

    #[test]
    fn the_document_is_the_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/failures.md");
        expect_file![path].assert_eq(&table());
    }

    #[test]
    fn nothing_is_sent_twice_that_must_not_be() {
        for at in [Stage::SendHead, Stage::AwaitHead, Stage::Stream] {
            for (what, cause) in causes() {
                let failure = Failure { stage: at, cause };
                for (reused, is_replayable, may_resend) in
                    [(true, true, true), (false, true, true), (true, false, true), (true, true, false)]
                {
                    let unsafe_request = Circumstances {
                        is_safe: false,
                        is_replayable,
                        may_resend,
                        nothing_sent: false,
                        reused,
                    };
                    assert_eq!(verdict(&failure, unsafe_request).retry, Retry::No, "{at:?} {what}");
                }
                if at == Stage::Stream {
                    let safe = Circumstances {
                        is_safe: true,
                        is_replayable: true,
                        may_resend: true,
                        nothing_sent: false,
                        reused: true,
                    };
                    assert_eq!(verdict(&failure, safe).retry, Retry::No, "{what}");
                }
            }
        }
    }
}
