//! The client's body on its way to a worker.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body;

/// What the request head announces about its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLength {
    None,
    /// At least 1; a Content-Length of 0 is `None`.
    Known(u64),
    Unknown,
}

/// A body that can be handed from one attempt to the next while nothing beyond its first packet was sent.
pub struct RequestBody<B> {
    source: Option<B>,
    length: BodyLength,
    /// Taken back from a failed attempt; sent before anything else.
    again: Bytes,
    /// Taken from the client, not sent yet.
    ahead: Bytes,
    /// The first packet's data, kept while nothing more was sent.
    first: Bytes,
    sent: u64,
}

impl<B> RequestBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    #[must_use]
    pub fn new(source: B, length: BodyLength) -> Self {
        let source = (length != BodyLength::None).then_some(source);
        Self { source, length, ..Self::none() }
    }

    /// A request without a body.
    #[must_use]
    pub fn none() -> Self {
        Self {
            source: None,
            length: BodyLength::None,
            again: Bytes::new(),
            ahead: Bytes::new(),
            first: Bytes::new(),
            sent: 0,
        }
    }

    #[must_use]
    pub fn length(&self) -> BodyLength {
        self.length
    }

    /// True while the whole body can still be sent to another worker.
    #[must_use]
    pub fn is_replayable(&self) -> bool {
        self.sent == u64::try_from(self.first.len()).unwrap_or(u64::MAX)
    }

    /// True when the worker has the whole body.
    pub(crate) fn is_complete(&self) -> bool {
        match self.length {
            BodyLength::None => true,
            BodyLength::Known(length) => self.sent == length,
            BodyLength::Unknown => self.source.is_none() && self.again.is_empty() && self.ahead.is_empty(),
        }
    }

    /// Makes the body whole again for another attempt; only while [`RequestBody::is_replayable`].
    pub(crate) fn rewind(&mut self) {
        debug_assert!(self.is_replayable());
        if !self.first.is_empty() {
            self.again = std::mem::take(&mut self.first);
        }
        self.sent = 0;
    }

    /// Up to what `fit` allows of the bytes that are there; `None`: the end. Waits for the client only when nothing is there.
    pub(crate) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
        fit: impl FnOnce(usize) -> usize,
    ) -> Poll<Result<Option<Bytes>, String>> {
        if self.again.is_empty() && self.ahead.is_empty() && !ready!(self.poll_more(cx))? {
            return Poll::Ready(Ok(None));
        }
        let from = if self.again.is_empty() { &mut self.ahead } else { &mut self.again };
        let len = fit(from.len()).min(from.len());
        let piece = from.split_to(len);
        if self.sent == 0 {
            self.first = piece.clone();
        }
        self.sent += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        Poll::Ready(Ok(Some(piece)))
    }

    /// Fills `ahead`; false at the end of the body.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, String>> {
        while let Some(source) = &mut self.source {
            match ready!(Pin::new(source).poll_frame(cx)) {
                // Trailers cannot travel over AJP; empty frames mean nothing.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => {
                        let more = u64::try_from(data.len()).unwrap_or(u64::MAX);
                        if matches!(self.length, BodyLength::Known(length) if self.sent.saturating_add(more) > length)
                        {
                            return Poll::Ready(Err("its body is longer than its Content-Length".to_owned()));
                        }
                        self.ahead = data;
                        return Poll::Ready(Ok(true));
                    }
                    Ok(_) | Err(_) => {}
                },
                Some(Err(error)) => return Poll::Ready(Err(error.to_string())),
                None => self.source = None,
            }
        }
        match self.length {
            // An HTTP/1 parser reports this itself; another source of requests might not.
            BodyLength::Known(length) if self.sent < length => {
                Poll::Ready(Err("its body is shorter than its Content-Length".to_owned()))
            }
            BodyLength::Known(_) | BodyLength::Unknown | BodyLength::None => Poll::Ready(Ok(false)),
        }
    }
}
