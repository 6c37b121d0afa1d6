//! Names: identities of workers and groups, and routes.

use std::fmt;
use std::sync::Arc;

/// Longest name, as in mod_jk (`JK_SHM_STR_SIZ`): it travels in fixed fields there and in session ids everywhere.
pub const MAX_NAME: usize = 63;

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// `None` when the text is empty, longer than [`MAX_NAME`] bytes, or has a byte outside the printable ASCII range,
            /// a blank, a quote, a semicolon, a comma, `<`, `>`, `&` or a slash.
            #[must_use]
            pub fn new(text: &str) -> Option<Self> {
                is_name(text).then(|| Self(Arc::from(text)))
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name_type!(
    /// Identity of a worker (`[ajp13.NAME]`).
    WorkerName
);
name_type!(
    /// Identity of a group (`[lb.NAME]`).
    GroupName
);
name_type!(
    /// Tomcat's `jvmRoute`: the part of a session id after its first dot.
    Route
);

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_NAME
        && text.bytes().all(|b| b.is_ascii_graphic() && !b"\"';,<>&/".contains(&b))
}
