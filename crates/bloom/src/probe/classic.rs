//! Positions over the whole array: each probe may fall on any bit.
//!
//! The probes are the states of a multiplicative generator that starts at the item's hash; how far on in the
//! array a bit lies is what share of 2^64 its state is. (A table of the powers of the step, so that states need not
//! wait for each other, was measured: queries in L2 rose from 11.2 to 14.5 ns. Double hashing, `h1 + i·h2`, errs in
//! small filters: Dillinger and Manolios 2004.)

use tamis_hash::split;

/// Probes at most: optimal for a rate of 2^-64, below which no hash goes.
pub(crate) const MAX_PROBES: u32 = 64;

/// The bits that an item with this hash means, by their shares of 2^64.
#[inline]
pub(crate) const fn probes(hash: u64, probes: u32) -> Probes {
    Probes { state: hash, left: probes }
}

/// From [`probes`]. (A type of its own, for its `next` to be inlined always: see
/// [`Pattern`](super::line::Pattern).)
#[derive(Clone, Debug)]
pub(crate) struct Probes {
    state: u64,
    left: u32,
}

impl Probes {
    /// The next so many, if there are as many.
    #[inline(always)]
    pub(crate) fn next_chunk<const COUNT: usize>(&mut self) -> Option<[u64; COUNT]> {
        self.left = self.left.checked_sub(COUNT as u32)?;
        Some(core::array::from_fn(|_| {
            let share = self.state;
            self.state = split::next_pattern(share);
            share
        }))
    }
}

impl Iterator for Probes {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.next_chunk().map(|[share]| share)
    }

    /// A counted loop, which the compiler unrolls.
    #[inline(always)]
    fn fold<B, F: FnMut(B, u64) -> B>(self, start: B, mut with: F) -> B {
        let (mut state, mut folded) = (self.state, start);
        for _ in 0..self.left {
            folded = with(folded, state);
            state = split::next_pattern(state);
        }
        folded
    }
}
