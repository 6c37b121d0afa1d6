//! What the tests share: a raw HTTP client, and real servers in temporary folders.

pub mod http;
pub mod servers;
