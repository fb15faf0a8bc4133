//! Two adjacent words as one 128-bit atomic, on processors whose 128-bit loads are atomic and write nothing.
//!
//! On x86-64 a processor with AVX loads 16 aligned bytes in one atomic access (Intel SDM, volume 3A, "Guaranteed Atomic
//! Operations"; AMD64 manual, volume 2, "Access Atomicity"), and `cmpxchg16b` writes them. Without AVX only
//! `cmpxchg16b` could load them, and it takes the cache line from all other readers. There, and on all other
//! processors, [`PairAccess::detect`] returns `None`, and this module has no fallback.
//!
//! The instructions are written in assembly because Rust has no 128-bit atomic and std detects the processor in every
//! call of its own. Here the processor is queried once: a [`PairAccess`] proves the answer.
//!
//! A pair that several threads access at the same time must be accessed only as a pair: accesses of different sizes
//! that race are undefined behaviour in Rust.

use core::sync::atomic::Ordering;

use crate::{Line, Lines, Word};

#[cfg(all(target_arch = "x86_64", feature = "std", not(any(tamis_loom, tamis_shuttle, miri))))]
#[path = "pair/x86_64.rs"]
mod imp;
/// No 128-bit atomics: the proof that the processor has them cannot be made, so nothing can be called.
#[cfg(not(all(
    target_arch = "x86_64",
    feature = "std",
    not(any(tamis_loom, tamis_shuttle, miri))
)))]
#[path = "pair/none.rs"]
mod imp;

/// A proof that this processor has 128-bit atomic loads that do not write.
///
/// # Examples
///
/// ```
/// use tamis_sync::PairAccess;
///
/// match PairAccess::detect() {
///     Some(_) => println!("buckets of 128 bits"),
///     None => println!("buckets of 64 bits only"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairAccess(imp::Proof);

impl PairAccess {
    /// Returns the proof if the processor has these loads: x86-64 with AVX. Without feature `std` it cannot query the
    /// processor and returns `None`; under the model checkers it returns `None` too.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::PairAccess;
    /// assert_eq!(PairAccess::detect(), PairAccess::detect());
    /// ```
    #[inline]
    #[must_use]
    pub fn detect() -> Option<Self> {
        imp::Proof::detect().map(Self)
    }
}

/// Two adjacent words of a line, accessed as one value of 128 bits. The first word holds the low 64 bits.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Lines, Ordering, PairAccess};
///
/// let lines = Lines::zeroed(1)?;
/// if let Some(access) = PairAccess::detect() {
///     let pair = lines.pair(3, access);
///     // ORDERING: Relaxed, there is one thread.
///     assert_eq!(pair.try_update(Ordering::Relaxed, |bits| Some(bits | 1 << 100)), Ok(0));
///     // ORDERING: Relaxed, there is one thread.
///     assert_eq!(lines[0].words[7].load(Ordering::Relaxed), 1 << 36);
/// }
/// # Ok::<(), tamis_sync::AllocError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pair<'l> {
    words: &'l [Word; 2],
    access: PairAccess,
}

impl Pair<'_> {
    /// Loads both words in one atomic access that writes nothing.
    ///
    /// # Examples
    ///
    /// See [`Pair`].
    #[inline(always)]
    #[must_use]
    pub fn load(self, order: Ordering) -> u128 {
        // SAFETY: the words are valid for atomic accesses as long as the reference, and 16-byte aligned: only
        // `Lines::pair` makes a pair, from words 2n and 2n + 1 of a line, which is 64-byte aligned.
        unsafe { self.access.0.load(self.words.as_ptr(), order) }
    }

    /// Returns the bits as a guess for [`try_update`](Self::try_update), or to decide whether to call it. A Relaxed
    /// load.
    ///
    /// # Examples
    ///
    /// See [`Pair`].
    #[inline(always)]
    #[must_use]
    pub fn peek(self) -> u128 {
        // ORDERING: Relaxed: a guess; the exchange in the update checks it.
        self.load(Ordering::Relaxed)
    }

    /// Replaces the bits by the result of `change` in one atomic step, as [`Word::try_update`] does.
    ///
    /// # Examples
    ///
    /// See [`Pair`].
    ///
    /// # Errors
    ///
    /// The bits for which `change` returned `None`.
    #[inline(always)]
    pub fn try_update(
        self,
        order: Ordering,
        mut change: impl FnMut(u128) -> Option<u128>,
    ) -> Result<u128, u128> {
        // Start from a guess. A failed exchange returns the current bits, the next guess.
        let mut bits = self.peek();
        while let Some(new) = change(bits) {
            // SAFETY: as in `load`.
            let now =
                unsafe { self.access.0.compare_exchange(self.words.as_ptr(), bits, new, order) };
            match now {
                Ok(old) => return Ok(old),
                Err(now) => bits = now,
            }
        }
        Err(bits)
    }
}

impl Lines {
    /// Returns a pair of words by its number: pair `n` consists of words `2n` and `2n + 1` of all lines.
    ///
    /// # Panics
    ///
    /// If `number` is out of bounds.
    ///
    /// # Examples
    ///
    /// See [`Pair`].
    #[inline(always)]
    #[must_use]
    pub fn pair(&self, number: usize, access: PairAccess) -> Pair<'_> {
        const PAIRS: usize = size_of::<Line>() / 16;
        let lines = &**self;
        // SAFETY: where a proof of access exists, a word has 8 bytes, and a line consists of nothing but its eight
        // words: the lines are `lines.len() * PAIRS` contiguous pairs.
        let pairs = unsafe {
            core::slice::from_raw_parts(lines.as_ptr().cast::<[Word; 2]>(), lines.len() * PAIRS)
        };
        Pair { words: &pairs[number], access }
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use std::thread;

    use super::*;

    /// Threads add to both halves at once while another loads. A lost update would change the sum, and a torn load would
    /// find halves that differ.
    #[test]
    fn updates_are_atomic_and_loads_are_not_torn() {
        /// The number of loads that must find a new value: so often the writers ran concurrently.
        const CHANGES: u64 = 100_000;
        let Some(access) = PairAccess::detect() else {
            assert!(!cfg!(target_arch = "x86_64") || !std::is_x86_feature_detected!("avx"));
            return;
        };
        let (lines, done) = (Lines::zeroed(1).unwrap(), Word::new(0));
        let pair = lines.pair(1, access);
        let both = |number: u64| u128::from(number) << 64 | u128::from(number);
        let write = || {
            let mut added = 0;
            // ORDERING: Relaxed: it only ends the loop.
            while done.load(Ordering::Relaxed) == 0 {
                // ORDERING: Relaxed: only this pair is shared.
                pair.try_update(Ordering::Relaxed, |bits| Some(bits + both(1))).unwrap();
                added += 1;
            }
            added
        };
        let added = thread::scope(|scope| {
            let writers = [scope.spawn(write), scope.spawn(write)];
            let (mut last, mut changes) = (0, 0);
            while changes < CHANGES {
                // ORDERING: Relaxed, likewise.
                let bits = pair.load(Ordering::Relaxed);
                let number = bits as u64;
                // Not an assertion: the writers must end first.
                if bits != both(number) || number < last {
                    break;
                }
                changes += u64::from(number > last);
                last = number;
            }
            // ORDERING: Relaxed, as above.
            done.store(1, Ordering::Relaxed);
            assert_eq!(changes, CHANGES, "a load was torn, or went back");
            writers.map(|writer| writer.join().unwrap()).iter().sum()
        });
        assert_eq!(pair.peek(), both(added));
        // The neighbours are unchanged.
        assert_eq!(lines.pair(0, access).peek() | lines.pair(2, access).peek(), 0);
    }

    #[test]
    fn an_update_that_declines_writes_nothing() {
        let Some(access) = PairAccess::detect() else { return };
        let lines = Lines::zeroed(1).unwrap();
        let pair = lines.pair(3, access);
        for bits in [1, 1 << 64, u128::MAX, 0xDEAD << 60] {
            let old = pair.peek();
            // ORDERING: Relaxed, there is one thread.
            assert_eq!(pair.try_update(Ordering::Relaxed, |_| Some(bits)), Ok(old));
            // ORDERING: likewise.
            assert_eq!(pair.try_update(Ordering::Relaxed, |_| None), Err(bits));
            assert_eq!(pair.peek(), bits);
        }
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn pairs_are_checked() {
        let Some(access) = PairAccess::detect() else { panic!("out of bounds, not checked here") };
        let _ = Lines::zeroed(2).unwrap().pair(8, access);
    }
}
