//! Ways in which a member can be broken, and a pair of members of which the first is.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use jk_worker::{Exchange, Pings, Worker, packets};
use test_support::hole::Hole;

/// How the first of the two members is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Refuses,
    SwallowsConnects,
    NoCpong,
    WrongCpong,
    Hangs,
    ClosesBeforeReply,
    EndsItsSide,
    ResetsBeforeReply,
    Garbage,
    EndWithoutHead,
    ClosesInReply,
    ResetsInReply,
    EndsShort,
    Trickles,
    /// Both members refuse.
    AllRefuse,
}

impl Fault {
    pub const ALL: [Self; 15] = [
        Self::Refuses,
        Self::SwallowsConnects,
        Self::NoCpong,
        Self::WrongCpong,
        Self::Hangs,
        Self::ClosesBeforeReply,
        Self::EndsItsSide,
        Self::ResetsBeforeReply,
        Self::Garbage,
        Self::EndWithoutHead,
        Self::ClosesInReply,
        Self::ResetsInReply,
        Self::EndsShort,
        Self::Trickles,
        Self::AllRefuse,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Refuses => "refuses connects",
            Self::SwallowsConnects => "swallows connects",
            Self::NoCpong => "answers no CPing",
            Self::WrongCpong => "answers a CPing with something else",
            Self::Hangs => "takes requests and says nothing",
            Self::ClosesBeforeReply => "closes after the request",
            Self::EndsItsSide => "ends its side after the request, and stays",
            Self::ResetsBeforeReply => "resets after the request",
            Self::Garbage => "replies with garbage",
            Self::EndWithoutHead => "ends a reply that has no head",
            Self::ClosesInReply => "closes inside the reply",
            Self::ResetsInReply => "resets inside the reply",
            Self::EndsShort => "ends the reply before its announced length",
            Self::Trickles => "replies byte by byte",
            Self::AllRefuse => "all members refuse connects",
        }
    }
}

/// The two members behind one front.
pub struct Pair {
    broken: Worker,
    good: Worker,
    is_broken: Arc<AtomicBool>,
    hole: Option<Hole>,
}

impl Pair {
    pub async fn start(fault: Fault) -> Self {
        let is_broken = Arc::new(AtomicBool::new(true));
        let switch = Arc::clone(&is_broken);
        let broken = Worker::start(move |mut exchange| {
            let fault = switch.load(SeqCst).then_some(fault);
            async move {
                exchange.body().await;
                let half =
                    [packets::headers(200, &[("Content-Length", "6")]), packets::chunk(b"bro")].concat();
                match fault {
                    Some(Fault::Hangs) => exchange.hang().await,
                    Some(Fault::ClosesBeforeReply) => exchange.close(),
                    Some(Fault::EndsItsSide) => {
                        exchange.finish().await;
                        exchange.hang().await;
                    }
                    Some(Fault::ResetsBeforeReply) => exchange.reset(),
                    Some(Fault::Garbage) => exchange.send(b"HTTP/1.1 400 Bad Request\r\n\r\n").await,
                    Some(Fault::EndWithoutHead) => exchange.send(&packets::end(true)).await,
                    Some(Fault::ClosesInReply) => {
                        exchange.send(&half).await;
                        exchange.close();
                    }
                    Some(Fault::ResetsInReply) => {
                        exchange.send(&half).await;
                        exchange.reset();
                    }
                    Some(Fault::EndsShort) => {
                        exchange.send(&[half, packets::end(true)].concat()).await;
                    }
                    Some(Fault::Trickles) => trickle(&mut exchange).await,
                    _ => exchange.answer(200, &[("Content-Length", "6")], b"broken").await,
                }
                exchange
            }
        })
        .await;
        let good = Worker::start(|mut exchange| async move {
            exchange.body().await;
            exchange.answer(200, &[("Content-Length", "4")], b"good").await;
            exchange
        })
        .await;
        let hole = (fault == Fault::SwallowsConnects).then(Hole::dig);
        let pair = Self { broken, good, is_broken, hole };
        pair.hurt(fault);
        pair
    }

    /// The member is broken from now on.
    pub fn hurt(&self, fault: Fault) {
        self.is_broken.store(true, SeqCst);
        if fault == Fault::NoCpong {
            self.broken.set_pings(Pings::Ignored);
        } else if fault == Fault::WrongCpong {
            self.broken.set_pings(Pings::Garbled);
        }
        if matches!(fault, Fault::Refuses | Fault::AllRefuse) {
            self.broken.stop();
        }
        if fault == Fault::AllRefuse {
            self.good.stop();
        }
    }

    pub fn addresses(&self) -> [SocketAddr; 2] {
        [self.hole.as_ref().map_or(self.broken.address(), Hole::address), self.good.address()]
    }

    /// The broken member is whole again.
    pub async fn heal(&self, fault: Fault) {
        self.is_broken.store(false, SeqCst);
        self.broken.set_pings(Pings::Answered);
        if matches!(fault, Fault::Refuses | Fault::AllRefuse) {
            self.broken.start_again().await;
        }
        if fault == Fault::AllRefuse {
            self.good.start_again().await;
        }
    }

    /// Channels that are open at this moment.
    pub fn n_channels(&self) -> usize {
        self.broken.log().n_open() + self.good.log().n_open()
    }

    /// How many requests were executed more than once. Each has a number of its own in its path.
    pub fn executed_twice(&self, method: &str) -> usize {
        let mut seen = BTreeMap::new();
        for request in [&self.broken, &self.good].into_iter().flat_map(|worker| worker.log().requests()) {
            if request.method == method {
                *seen.entry(request.uri.clone()).or_insert(0) += 1;
            }
        }
        seen.values().filter(|times| **times > 1).count()
    }
}

/// The whole reply, a byte at a time: slow, never silent.
async fn trickle(exchange: &mut Exchange) {
    let head = packets::headers(200, &[("Content-Length", "6")]);
    for byte in [head, packets::chunk(b"broken"), packets::end(true)].concat() {
        exchange.send(&[byte]).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
