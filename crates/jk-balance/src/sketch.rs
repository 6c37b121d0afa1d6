//! How many different sessions a member has seen lately: an estimate in four kilobytes a member, made only for members that
//! see sessions.

use std::time::{Duration, Instant};

/// Two windows: the one that fills and the one before it.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    windows: Option<Box<[Window; 2]>>,
    turned: Option<Instant>,
    last: Option<Instant>,
}

#[derive(Debug)]
struct Window {
    bits: [u64; WORDS],
}

impl Sessions {
    pub(crate) fn note(&mut self, hash: u64, now: Instant) {
        self.turn(now);
        self.last = Some(now);
        let windows = self.windows.get_or_insert_with(|| Box::new([Window::EMPTY, Window::EMPTY]));
        let [new, _] = &mut **windows;
        new.set(hash);
    }

    /// Sessions seen in this window and the one before: the last [`WINDOW`] to twice that.
    pub(crate) fn estimate(&mut self, now: Instant) -> u64 {
        self.turn(now);
        let Some(windows) = &self.windows else { return 0 };
        let [new, old] = &**windows;
        let zeros: u32 = new.bits.iter().zip(&old.bits).map(|(a, b)| (a | b).count_zeros()).sum();
        let size = f64::from(u32::try_from(WORDS).unwrap_or(1) * 64);
        // Linear counting (Whang et al., 1990).
        let estimate = size * (size / f64::from(zeros.max(1))).ln();
        // A few thousand at most; the cast only drops the fraction.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rounded = estimate.round() as u64;
        rounded
    }

    pub(crate) fn last_seen(&self) -> Option<Instant> {
        self.last
    }

    fn turn(&mut self, now: Instant) {
        let turned = *self.turned.get_or_insert(now);
        let age = now.saturating_duration_since(turned);
        if age < WINDOW {
            return;
        }
        self.turned = Some(now);
        if age >= WINDOW * 2 {
            self.windows = None;
        } else if let Some(windows) = &mut self.windows {
            let [new, old] = &mut **windows;
            *old = std::mem::replace(new, Window::EMPTY);
        }
    }
}

impl Window {
    const EMPTY: Self = Self { bits: [0; WORDS] };

    fn set(&mut self, hash: u64) {
        let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let at = usize::try_from(mixed).unwrap_or(0) % (WORDS * 64);
        if let Some(word) = self.bits.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }
}

/// Sessions that were seen within this time count as living.
pub(crate) const WINDOW: Duration = Duration::from_secs(300);

const WORDS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_different_sessions_and_forgets_old_ones() {
        let begin = Instant::now();
        let mut sessions = Sessions::default();
        assert_eq!(sessions.estimate(begin), 0);
        for hash in 0..1000u64 {
            sessions.note(hash.wrapping_mul(0x1234_5678_9ABC_DEF1), begin);
            sessions.note(hash.wrapping_mul(0x1234_5678_9ABC_DEF1), begin);
        }
        let seen = sessions.estimate(begin);
        assert!((950..1050).contains(&seen), "{seen}");
        assert!(sessions.estimate(begin + WINDOW) > 900);
        assert_eq!(sessions.estimate(begin + WINDOW * 2 + Duration::from_secs(1)), 0);
        sessions.note(7, begin + WINDOW * 3);
        assert_eq!(sessions.estimate(begin + WINDOW * 3), 1);
    }
}
