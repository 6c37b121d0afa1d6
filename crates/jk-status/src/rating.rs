//! Good, degraded, bad: mod_jk's masks over activation and state.

use crate::view::{Activation, Member};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    Good,
    Degraded,
    Bad,
}

/// What counts as good and as bad; bad is looked at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masks {
    good: u32,
    bad: u32,
}

impl Masks {
    /// From the lists of the configuration; without one, mod_jk's defaults: active and not in error is good; stopped, or in error, is bad.
    #[must_use]
    pub fn new(good: Option<&str>, bad: Option<&str>) -> Self {
        Self { good: good.map_or(0x0000_000F, mask), bad: bad.map_or(0x00FF_1010, mask) }
    }

    #[must_use]
    pub fn rate(self, member: &Member) -> Rating {
        let bits = activation_mask(member.activation) & state_mask(member.state);
        if bits & self.bad != 0 {
            Rating::Bad
        } else if bits & self.good != 0 {
            Rating::Good
        } else {
            Rating::Degraded
        }
    }
}

/// Entries like `active`, `error`, `active.ok`, separated by commas or blanks; only first letters count.
fn mask(list: &str) -> u32 {
    let entries = list.split([',', ' ', '\t']).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| entry.split('.').map(letter_mask).fold(u32::MAX, |both, one| both & one))
        .fold(0, |all, one| all | one)
}

fn letter_mask(word: &str) -> u32 {
    match word.to_ascii_lowercase().chars().next() {
        Some('a') => 0x0000_00FF,
        Some('d') => 0x0000_FF00,
        Some('s') => 0x00FF_0000,
        Some('o') => 0x0001_0101,
        Some('i' | 'n') => 0x0002_0202,
        Some('b') => 0x0004_0404,
        Some('r') => 0x0008_0808,
        Some('e') => 0x0010_1010,
        _ => 0,
    }
}

fn activation_mask(activation: Activation) -> u32 {
    letter_mask(activation.word())
}

fn state_mask(state: &str) -> u32 {
    match state {
        "OK/IDLE" => 0x0002_0202,
        "OK" => 0x0001_0101,
        "OK/BUSY" => 0x0004_0404,
        "ERR" => 0x0010_1010,
        _ => 0x0008_0808,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_mod_jks() {
        let masks = Masks::new(None, None);
        let rate = |activation, state| masks.rate(&Member { activation, state, ..Member::default() });
        assert_eq!(rate(Activation::Active, "OK"), Rating::Good);
        assert_eq!(rate(Activation::Active, "ERR/FRC"), Rating::Good);
        assert_eq!(rate(Activation::Active, "ERR"), Rating::Bad);
        assert_eq!(rate(Activation::Disabled, "OK"), Rating::Degraded);
        assert_eq!(rate(Activation::Disabled, "ERR"), Rating::Bad);
        assert_eq!(rate(Activation::Stopped, "OK"), Rating::Bad);
        let own = Masks::new(Some("active.ok"), Some("error,recovering"));
        assert_eq!(own.rate(&Member { state: "OK/IDLE", ..Member::default() }), Rating::Degraded);
        assert_eq!(own.rate(&Member { state: "ERR/PRB", ..Member::default() }), Rating::Bad);
    }
}
