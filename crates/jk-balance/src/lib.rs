//! Who serves a request: URI map, sessions, choice of member, health. Opens no socket, reads no clock.
//!
//! Everything here is a function of settings, remembered state and the `now` that the caller gives.

mod attempt;
mod balancer;
mod budget;
mod counters;
mod group;
mod health;
mod histogram;
mod host;
mod maintain;
mod map;
mod pick;
mod session;
mod sketch;
mod uri;
mod view;

pub use attempt::Attempt;
pub use balancer::{Ask, Balancer, How, NoMember, Picked, Tried};
pub use counters::{Traffic, WorkerCounters};
pub use group::GroupState;
pub use health::{Health, Outcome};
pub use histogram::{Latency, N_BUCKETS, bucket_bound};
pub use host::{Found, Hosts, Table};
pub use maintain::Transition;
pub use map::{Explanation, Rule, RuleKind, UriMap, wildcard_match};
pub use session::{route, session_ids};
pub use uri::{BadPath, Normal, Scratch, check_unparsed, escaped, normalise};
pub use view::{GroupView, MemberView};
