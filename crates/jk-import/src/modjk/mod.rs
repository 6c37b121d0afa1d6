//! mod_jk's files: workers.properties and uriworkermap.properties. httpd's `Jk…` directives lead here, too.

mod ajp;
mod keys;
mod lb;
mod properties;
mod rules;
mod status;
mod templates;
mod workers;

pub(crate) use ajp::statuses_of;
pub(crate) use properties::Properties;
pub(crate) use rules::{Rank, Rules, read_map};
pub(crate) use workers::{Targets, import};

use crate::text;

pub(crate) const RULES: text::Rules =
    text::Rules { not_utf8: None, control: None, was: "mod_jk took the bytes as they were" };
