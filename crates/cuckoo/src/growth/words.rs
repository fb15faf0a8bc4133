//! The memory of a table that grows: buckets of 64 or 128 bits, each one atomic.
//!
//! The caller gives the memory orderings, except those of guesses.

use tamis_sync::{AllocError, LINE_WORDS, Lines, Ordering, PairAccess, PairLines};

use crate::batch::Words as BatchWords;
use crate::growth::plan::Plan;

/// The buckets, from place 0.
#[derive(Debug)]
pub(crate) struct Words {
    /// The buckets, if they have 64 bits. Otherwise one line, which is not used.
    words: Lines,
    /// The buckets, if they have 128 bits.
    pairs: Option<PairLines>,
}

impl Words {
    /// Reserves the memory of the table after all doublings. The system makes a page present when
    /// it is first written.
    pub(crate) fn reserved(plan: &Plan) -> Result<Self, AllocError> {
        Self::of_lines(plan, Lines::reserved(lines(plan, plan.buckets << plan.doublings))?)
    }

    /// Makes buckets of these lines.
    pub(crate) fn of_lines(plan: &Plan, lines: Lines) -> Result<Self, AllocError> {
        if !plan.paired {
            return Ok(Self { words: lines, pairs: None });
        }
        // A plan has pairs only where the processor has them.
        let access = PairAccess::detect().ok_or(AllocError { bytes: 0 })?;
        Ok(Self { words: Lines::zeroed(1)?, pairs: Some(PairLines::new(lines, access)) })
    }

    #[inline(always)]
    fn pairs(&self) -> &PairLines {
        let Some(pairs) = &self.pairs else { unreachable!("the buckets have 64 bits") };
        pairs
    }

    /// Loads a bucket, in one atomic access. `paired` is whether buckets have 128 bits.
    #[inline(always)]
    pub(crate) fn load(&self, paired: bool, place: u64, order: Ordering) -> u128 {
        // ORDERING: the caller's, both.
        if paired {
            self.pairs().pair(place as usize).load(order)
        } else {
            u128::from(self.words.word(place as usize).load(order))
        }
    }

    /// Replaces the value of a bucket by the result of `change`, in one atomic step. `guess` is
    /// what the caller has loaded. Returns the value before; or, as an error, the value for which
    /// `change` returned `None`.
    #[inline(always)]
    pub(crate) fn try_update(
        &self,
        paired: bool,
        place: u64,
        guess: u128,
        order: Ordering,
        mut change: impl FnMut(u128) -> Option<u128>,
    ) -> Result<u128, u128> {
        // ORDERING: the caller's, both.
        if paired {
            self.pairs().pair(place as usize).try_update_from(guess, order, change)
        } else {
            let change = |bits| change(u128::from(bits)).map(|new| new as u64);
            let word = self.words.word(place as usize);
            word.try_update_from(guess as u64, order, change).map(u128::from).map_err(u128::from)
        }
    }

    /// Replaces the value of a bucket if it is `from`.
    pub(crate) fn exchange(
        &self,
        paired: bool,
        place: u64,
        [from, to]: [u128; 2],
        order: Ordering,
    ) -> bool {
        // ORDERING: the caller's.
        self.try_update(paired, place, from, order, |bits| (bits == from).then_some(to)).is_ok()
    }

    /// Prefetches the buckets at these places.
    #[inline(always)]
    pub(crate) fn prefetch_all<const N: usize>(&self, places: &[[u64; N]; 2]) {
        // One branch for all of them.
        for places in places {
            if let Some(pairs) = &self.pairs {
                places.iter().for_each(|&place| pairs.prefetch(place as usize));
            } else {
                places.iter().for_each(|&place| self.words.prefetch_word(place as usize));
            }
        }
    }

    /// Loads the buckets at these places, each in one atomic access, in halves.
    #[inline(always)]
    pub(crate) fn load_all<const N: usize>(
        &self,
        places: &[[u64; N]; 2],
        into: &mut BatchWords<N>,
        order: Ordering,
    ) {
        // One branch for all of them.
        for (which, places) in places.iter().enumerate() {
            let (first, second) = (&mut into.first[which], &mut into.second[which]);
            // ORDERING: the caller's, both.
            if let Some(pairs) = &self.pairs {
                for (item, &place) in places.iter().enumerate() {
                    let bits = pairs.pair(place as usize).load(order);
                    (first[item], second[item]) = (bits as u64, (bits >> 64) as u64);
                }
            } else {
                for (item, &place) in places.iter().enumerate() {
                    first[item] = self.words.word(place as usize).load(order);
                }
            }
        }
    }

    /// Prefetches a bucket.
    #[inline(always)]
    pub(crate) fn prefetch(&self, paired: bool, place: u64) {
        if paired {
            self.pairs().prefetch(place as usize);
        } else {
            self.words.prefetch_word(place as usize);
        }
    }

    /// Returns the lines.
    pub(crate) fn into_lines(self) -> Lines {
        match self.pairs {
            Some(pairs) => pairs.into_lines(),
            None => self.words,
        }
    }

    /// Sets the first `places` buckets. `&mut self` proves that no other thread accesses them.
    pub(crate) fn fill(&mut self, paired: bool, places: u64, bucket: u128) {
        let lines = self.pairs.as_mut().map_or(&mut self.words, PairLines::get_mut);
        let halves = [bucket as u64, if paired { (bucket >> 64) as u64 } else { bucket as u64 }];
        let count = places as usize * if paired { 2 } else { 1 };
        for (at, word) in lines.iter_mut().flat_map(|line| &mut line.words).take(count).enumerate()
        {
            word.update(|bits| *bits = halves[at % 2]);
        }
    }

    /// Sets a bucket. `&mut self` proves that no other thread accesses it.
    pub(crate) fn set(&mut self, paired: bool, place: u64, bucket: u128) {
        let lines = self.pairs.as_mut().map_or(&mut self.words, PairLines::get_mut);
        if paired {
            let first = 2 * place as usize;
            lines.word_mut(first).update(|bits| *bits = bucket as u64);
            lines.word_mut(first + 1).update(|bits| *bits = (bucket >> 64) as u64);
        } else {
            lines.word_mut(place as usize).update(|bits| *bits = bucket as u64);
        }
    }
}

/// Returns the number of lines of this number of buckets.
pub(crate) const fn lines(plan: &Plan, buckets: u64) -> u64 {
    let words = if plan.paired { 2 * buckets } else { buckets };
    words.div_ceil(LINE_WORDS as u64)
}
