//! Placeholder until its first type lands.
