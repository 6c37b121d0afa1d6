//! What the tests share: a raw HTTP client, a generator of requests, and real servers in temporary folders.

#![expect(clippy::panic, reason = "a helper that cannot do its part fails the test that called it")]

pub mod hole;
pub mod http;
pub mod package;
pub mod request;
pub mod servers;
