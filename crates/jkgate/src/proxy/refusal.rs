//! What the gateway answers by itself. The body tells a person what happened and nothing about the inside.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};

/// An answer without a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// One sentence for the person in front of the browser.
    pub(crate) sentence: &'static str,
    /// A fixed word for the access log and metrics.
    pub(crate) word: &'static str,
    pub(crate) retry_after: Option<Duration>,
    /// An operator's page in place of the built-in one.
    pub(crate) page: Option<std::sync::Arc<str>>,
    pub(crate) allow: Option<&'static str>,
    /// The connection cannot go on: what follows on it may be the rest of this request.
    pub(crate) close: bool,
}

impl Refusal {
    pub(crate) const fn new(status: StatusCode, word: &'static str, sentence: &'static str) -> Self {
        Self { status, sentence, word, retry_after: None, page: None, allow: None, close: false }
    }

    pub(crate) const NO_MAPPING: Self =
        Self::new(StatusCode::NOT_FOUND, "no_mapping", "There is nothing at this address.");
    pub(crate) const BAD_PATH: Self =
        Self::new(StatusCode::BAD_REQUEST, "bad_path", "The address of this request cannot be read safely.");
    pub(crate) const BAD_HOST: Self =
        Self::new(StatusCode::BAD_REQUEST, "bad_host", "The request does not say for which host it is.")
            .closing();
    pub(crate) const BAD_BODY: Self =
        Self::new(StatusCode::BAD_REQUEST, "bad_body", "The request's body does not fit its head.").closing();
    pub(crate) const METHOD: Self =
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", "This method is not allowed here.").allowing();
    pub(crate) const HEAD_TOO_LARGE: Self = Self::new(
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "head_too_large",
        "The request's address and headers are too long.",
    );
    pub(crate) const BAD_GATEWAY: Self =
        Self::new(StatusCode::BAD_GATEWAY, "bad_gateway", "The application did not answer properly.");
    pub(crate) const TIMEOUT: Self =
        Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout", "The application did not answer in time.");
    pub(crate) const UNAVAILABLE: Self = Self::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "unavailable",
        "The application is not available at the moment. Please try again soon.",
    );

    const fn allowing(mut self) -> Self {
        self.allow = Some("GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH");
        self
    }

    pub(crate) const fn closing(mut self) -> Self {
        self.close = true;
        self
    }

    pub(crate) fn response(&self, request_id: &str) -> Response<Bytes> {
        let body = match &self.page {
            Some(page) => Bytes::copy_from_slice(page.as_bytes()),
            None => page(self.status, self.sentence, request_id).into(),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// A page of the gateway's own, for a status.
pub(crate) fn page(status: StatusCode, sentence: &str, request_id: &str) -> String {
    let reason = status.canonical_reason().unwrap_or("Error");
    let code = status.as_u16();
    let id = if request_id.is_empty() {
        String::new()
    } else {
        format!("<p><small>Request {request_id}</small></p>\n")
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{code} {reason}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"></head>\n\
         <body>\n<h1>{code} {reason}</h1>\n<p>{sentence}</p>\n{id}</body>\n</html>\n"
    )
}
