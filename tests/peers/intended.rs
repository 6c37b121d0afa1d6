//! Which differences are meant.

use crate::compare::Difference;
use crate::scenarios::Scenario;

/// The id of a row of `docs/differences.md`; `None`: not meant.
pub(crate) fn id(_scenario: &Scenario, _difference: &Difference) -> Option<&'static str> {
    None
}
