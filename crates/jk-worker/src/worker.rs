//! A worker on a port of its own that does what a script says.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::codec::{Request, packets};
use crate::exchange::{Channel, Exchange};
use crate::log::{Event, Gone, Log};

type Script = Arc<dyn Fn(Exchange) -> Pin<Box<dyn Future<Output = Exchange> + Send>> + Send + Sync>;

/// Ends with its owner.
pub struct Worker {
    address: SocketAddr,
    log: Arc<Log>,
    script: Script,
    pings: Arc<Mutex<Pings>>,
    tasks: Arc<Mutex<Vec<AbortHandle>>>,
    channels: Arc<AtomicUsize>,
}

/// What becomes of a CPING.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pings {
    Answered,
    /// No CPONG comes.
    Ignored,
    /// Something else comes.
    Garbled,
    /// The channel is closed.
    Closed,
}

impl Worker {
    /// Listens on a free port of 127.0.0.1. The script gets every request and returns the exchange when it is done with it.
    ///
    /// # Panics
    ///
    /// When there is no port to be had.
    pub async fn start<F, Fut>(script: F) -> Self
    where
        F: Fn(Exchange) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Exchange> + Send + 'static,
    {
        let listener =
            TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let worker = Self {
            address,
            log: Arc::default(),
            script: Arc::new(move |exchange| Box::pin(script(exchange))),
            pings: Arc::new(Mutex::new(Pings::Answered)),
            tasks: Arc::default(),
            channels: Arc::default(),
        };
        worker.listen(listener);
        worker
    }

    /// Reads every body and answers 200 with the route it was told and the body's length.
    pub async fn polite() -> Self {
        Self::start(|mut exchange| async move {
            let body = exchange.body().await;
            let route = exchange.request.route.clone().unwrap_or_default();
            let text = format!("{} {} {route} {}", exchange.request.method, exchange.request.uri, body.len());
            exchange.answer(200, &[("Content-Type", "text/plain")], text.as_bytes()).await;
            exchange
        })
        .await
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    pub fn set_pings(&self, pings: Pings) {
        *self.pings.lock().unwrap_or_else(PoisonError::into_inner) = pings;
    }

    /// Stops listening and closes all channels, as a Tomcat that ends.
    pub fn stop(&self) {
        for task in self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
    }

    /// Listens again on the same port.
    ///
    /// # Panics
    ///
    /// When somebody else took the port.
    pub async fn start_again(&self) {
        let mut last = None;
        // The old listener's task is being dropped at this moment.
        for _ in 0..1000 {
            match TcpListener::bind(self.address).await {
                Ok(listener) => return self.listen(listener),
                Err(error) => last = Some(error),
            }
            tokio::task::yield_now().await;
        }
        panic!("cannot listen again: {last:?}");
    }

    fn listen(&self, listener: TcpListener) {
        let (log, script, pings) = (Arc::clone(&self.log), Arc::clone(&self.script), Arc::clone(&self.pings));
        let (tasks, channels) = (Arc::clone(&self.tasks), Arc::clone(&self.channels));
        let accept = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Tomcat does the same; without it the last small packet of an answer would wait for an acknowledgement.
                let _unsupported_is_harmless = stream.set_nodelay(true);
                let number = channels.fetch_add(1, SeqCst) + 1;
                log.add(Event::Connected { channel: number });
                let channel =
                    Channel { number, stream: Some(stream), input: BytesMut::new(), log: Arc::clone(&log) };
                let talk = tokio::spawn(talk(channel, Arc::clone(&script), Arc::clone(&pings)));
                tasks.lock().unwrap_or_else(PoisonError::into_inner).push(talk.abort_handle());
            }
        });
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(accept.abort_handle());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn talk(mut channel: Channel, script: Script, pings: Arc<Mutex<Pings>>) {
    while let Some(payload) = channel.packet().await {
        match payload.first() {
            Some(10) if payload.len() == 1 => {
                channel.log.add(Event::Pinged { channel: channel.number });
                let pings = *pings.lock().unwrap_or_else(PoisonError::into_inner);
                answer_ping(&mut channel, pings).await;
            }
            Some(2) => match Request::decode(&payload) {
                Ok(request) => {
                    let seen = Box::new(request.clone());
                    channel.log.add(Event::Requested { channel: channel.number, request: seen });
                    let exchange = script(Exchange::new(request, channel)).await;
                    channel = exchange.channel;
                }
                Err(why) => channel.malformed(&why.to_string()),
            },
            _ => channel.malformed("a packet that is no message"),
        }
    }
}

async fn answer_ping(channel: &mut Channel, pings: Pings) {
    let Some(stream) = &mut channel.stream else { return };
    match pings {
        Pings::Answered => send(stream, &packets::cpong()).await,
        Pings::Garbled => send(stream, &packets::end(true)).await,
        Pings::Ignored => {}
        Pings::Closed => channel.gone(Gone::ByWorker),
    }
}

async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _seen_at_the_next_read = stream.write_all(bytes).await;
}
