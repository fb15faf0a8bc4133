//! Two adjacent words as one 128-bit atomic, on processors whose 128-bit loads are atomic and write
//! nothing.
//!
//! On x86-64 a processor with AVX loads 16 aligned bytes in one atomic access (Intel SDM, volume
//! 3A, "Guaranteed Atomic Operations"; AMD64 manual, volume 2, "Access Atomicity"), and
//! `cmpxchg16b` writes them. Without AVX only `cmpxchg16b` could load them, and it takes the cache
//! line from all other readers. There, and on all other processors, [`PairAccess::detect`] returns
//! `None`, and this module has no fallback.
//!
//! The instructions are written in assembly. Rust has no stable atomic of 128 bits, and the
//! compiler does not inline the intrinsics of `core::arch` into a function that is compiled for all
//! processors. The processor is queried once: a [`PairAccess`] proves the answer.
//!
//! Accesses of different sizes that race are undefined behaviour in Rust. So [`PairLines`] gives
//! shared access to pairs only, never to their words.

use core::fmt;
use core::sync::atomic::Ordering;

use crate::line::{Line, prefetch};
use crate::lines::Lines;
use crate::word::Word;

#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2",
    feature = "std",
    not(any(tamis_loom, tamis_shuttle, miri))
))]
#[path = "pair/x86_64.rs"]
mod imp;
#[cfg(not(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2",
    feature = "std",
    not(any(tamis_loom, tamis_shuttle, miri))
)))]
#[path = "pair/none.rs"]
mod imp;

/// The number of pairs in a line.
const LINE_PAIRS: usize = size_of::<Line>() / size_of::<u128>();

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
    /// Returns the proof if the processor has these loads: x86-64 with AVX. Without feature `std`
    /// it cannot query the processor and returns `None`; under the model checkers it returns `None`
    /// too.
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

/// Two adjacent words of a line, accessed as one value of 128 bits. The first word holds the low 64
/// bits.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Lines, Ordering, PairAccess, PairLines};
///
/// if let Some(access) = PairAccess::detect() {
///     let mut lines = PairLines::new(Lines::zeroed(1)?, access);
///     let pair = lines.pair(3);
///     // ORDERING: Relaxed, there is one thread.
///     assert_eq!(pair.try_update(Ordering::Relaxed, |bits| Some(bits | 1 << 100)), Ok(0));
///     lines.get_mut().word_mut(7).update(|word| assert_eq!(*word, 1 << 36));
/// }
/// # Ok::<(), tamis_sync::AllocError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Pair<'l> {
    words: &'l [Word; 2],
    access: PairAccess,
}

impl Pair<'_> {
    /// Loads both words in one atomic access that writes nothing.
    ///
    /// # Panics
    ///
    /// If `order` is Release or AcqRel, as with all atomic loads.
    #[inline(always)]
    #[must_use]
    pub fn load(self, order: Ordering) -> u128 {
        // SAFETY: the words are valid for atomic accesses as long as the reference, and 16-byte
        // aligned: only `PairLines::pair` makes a pair, from words 2n and 2n + 1 of a line, which
        // is 64-byte aligned. Its lines are shared as pairs only, so no access of another size
        // races with this one.
        unsafe { self.access.0.load(self.words.as_ptr(), order) }
    }

    /// Returns the bits as a guess for [`try_update`](Self::try_update), or to decide whether to
    /// call it. A Relaxed load.
    #[inline(always)]
    #[must_use]
    pub fn peek(self) -> u128 {
        // ORDERING: Relaxed: a guess; the exchange in the update checks it.
        self.load(Ordering::Relaxed)
    }

    /// Replaces the bits by the result of `change` in one atomic step, as [`Word::try_update`]
    /// does.
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
        // A failed exchange returns the current bits, the next guess.
        let mut bits = self.peek();
        while let Some(new) = change(bits) {
            match self.compare_exchange(bits, new, order) {
                Ok(old) => return Ok(old),
                Err(now) => bits = now,
            }
        }
        Err(bits)
    }

    /// Replaces the bits by others, if they are `from`, as [`Word::exchange`] does.
    #[inline(always)]
    #[must_use]
    pub fn exchange(self, [from, to]: [u128; 2], order: Ordering) -> bool {
        self.compare_exchange(from, to, order).is_ok()
    }

    #[inline(always)]
    fn compare_exchange(self, from: u128, to: u128, order: Ordering) -> Result<u128, u128> {
        // SAFETY: as in `load`.
        unsafe { self.access.0.compare_exchange(self.words.as_ptr(), from, to, order) }
    }
}

/// Prints the bits.
impl fmt::Debug for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pair").field(&self.peek()).finish()
    }
}

/// [`Lines`] whose words are shared in pairs: pair `n` consists of words `2n` and `2n + 1`.
#[derive(Debug)]
pub struct PairLines {
    /// Debug prints the number of lines, and reads no word.
    lines: Lines,
    access: PairAccess,
}

impl PairLines {
    /// Shares the words of these lines in pairs.
    #[must_use]
    pub const fn new(lines: Lines, access: PairAccess) -> Self {
        Self { lines, access }
    }

    /// Returns a pair by its number.
    ///
    /// # Panics
    ///
    /// If `number` is out of bounds.
    #[inline(always)]
    #[must_use]
    pub fn pair(&self, number: usize) -> Pair<'_> {
        let lines = &*self.lines;
        // SAFETY: where a proof of access exists, a word has 8 bytes, and a line consists of
        // nothing but its eight words: the lines are `lines.len() * LINE_PAIRS` contiguous pairs.
        let pairs = unsafe {
            let count = lines.len() * LINE_PAIRS;
            core::slice::from_raw_parts(lines.as_ptr().cast::<[Word; 2]>(), count)
        };
        Pair { words: &pairs[number], access: self.access }
    }

    /// Prefetches the line of a pair, as [`Line::prefetch`] does. If `number` is out of bounds, it
    /// does nothing or prefetches an unrelated line.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Lines, PairAccess, PairLines};
    /// if let Some(access) = PairAccess::detect() {
    ///     PairLines::new(Lines::zeroed(3)?, access).prefetch(7);
    /// }
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    pub fn prefetch(&self, number: usize) {
        prefetch(self.lines.as_ptr().cast::<u128>().wrapping_add(number).cast());
    }

    /// Prefetches the line of a pair for a write that follows, as [`Line::prefetch_to_write`] does.
    ///
    /// # Panics
    ///
    /// If `number` is out of bounds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Lines, PairAccess, PairLines};
    /// if let Some(access) = PairAccess::detect() {
    ///     PairLines::new(Lines::zeroed(3)?, access).prefetch_to_write(7);
    /// }
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    pub fn prefetch_to_write(&self, number: usize) {
        self.lines[number / LINE_PAIRS].prefetch_to_write();
    }

    /// Returns the lines.
    #[must_use]
    pub fn into_lines(self) -> Lines {
        self.lines
    }

    /// Returns the lines, for exclusive access to their words.
    pub const fn get_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    /// Threads add to both halves at once while another loads. A lost update would change the sum,
    /// and a torn load would find halves that differ.
    #[test]
    fn updates_are_atomic_and_loads_are_not_torn() {
        /// The number of loads that find a new value: the reader and a writer ran at the same time.
        const CHANGES: u64 = 100_000;
        /// The number without which the test does not end, however long a busy machine takes: a
        /// tenth of a millisecond in which two threads run is enough.
        const LEAST: u64 = 1000;
        /// The number of loads after which it ends if it has found `LEAST` new values.
        const LOADS: u64 = 200_000_000;
        let Some(lines) = lines(1) else {
            assert!(!cfg!(target_arch = "x86_64") || !std::is_x86_feature_detected!("avx"));
            return;
        };
        let (pair, done) = (lines.pair(1), Word::new(0));
        let both = |number: u64| u128::from(number) << 64 | u128::from(number);
        let start = Barrier::new(3);
        let write = || {
            start.wait();
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
            let (mut last, mut changes, mut is_right) = (0, 0, true);
            // On one processor the threads take turns, and few loads find a new value.
            let processors = thread::available_parallelism().map_or(1, usize::from);
            let least = if processors == 1 { 0 } else { LEAST };
            let mut loads = 0;
            start.wait();
            while changes < least || changes < CHANGES && loads < LOADS {
                // ORDERING: Relaxed, likewise.
                let bits = pair.load(Ordering::Relaxed);
                let number = bits as u64;
                // Not an assertion: the writers must end first.
                is_right = bits == both(number) && number >= last;
                if !is_right {
                    break;
                }
                loads += 1;
                changes += u64::from(number > last);
                last = number;
            }
            // ORDERING: Relaxed, as above.
            done.store(1, Ordering::Relaxed);
            assert!(is_right, "a load was torn, or went back, after {changes} changes");
            writers.map(|writer| writer.join().unwrap()).iter().sum()
        });
        assert_eq!(pair.peek(), both(added));
        // The neighbours are unchanged.
        assert_eq!(lines.pair(0).peek() | lines.pair(2).peek(), 0);
    }

    /// Returns lines of zeros, if the processor shares them in pairs.
    fn lines(count: u64) -> Option<PairLines> {
        let access = PairAccess::detect()?;
        Some(PairLines::new(Lines::zeroed(count).unwrap(), access))
    }

    #[test]
    fn an_update_that_declines_writes_nothing() {
        let Some(lines) = lines(1) else { return };
        let pair = lines.pair(3);
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
        let Some(lines) = lines(2) else { panic!("out of bounds, not checked here") };
        let _ = lines.pair(8);
    }
}
