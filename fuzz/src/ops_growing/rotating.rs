//! The rotating filter: each live generation has a blocked filter as its model, and the times of
//! rotations are computed.

use std::collections::VecDeque;
use std::time::Duration;

use tamis::BlockedBloomFilter;
use tamis::RotatingBloomFilter;
use tamis::bloom::{Builder, RotatingBuilder};
use tamis::hash::Rapid;

use super::checked::{Checked, Sizes, check_figures};
use super::saved::saved_and_loaded;

type Filter = RotatingBloomFilter<u64, Rapid>;
type Blocked = BlockedBloomFilter<u64, Rapid>;

/// A rotating filter and its live generations, the current one last.
pub(super) struct Rotating {
    filter: Filter,
    live: VecDeque<Blocked>,
    /// The items that the current generation has counted.
    counted: u64,
    rotations: u64,
    clock: Option<Clock>,
    /// A copy may have counted fewer items.
    is_copy: bool,
}

/// A window in time, in nanoseconds.
#[derive(Clone, Copy)]
struct Clock {
    now: u64,
    length: u64,
    /// The end of the current generation.
    due: Option<u64>,
}

impl Rotating {
    fn has(&self, hash: u64) -> bool {
        self.live.iter().any(|generation| generation.by_hash().contains(hash))
    }

    fn empty(&self) -> Blocked {
        let builder = Builder::<Blocked>::new(Rapid::with_seed(1));
        builder.like(self.filter.geometry()).build().expect("a generation was allocated")
    }

    fn rotated(&mut self) {
        self.live.pop_front();
        self.live.push_back(self.empty());
        self.counted = 0;
        self.rotations += 1;
    }

    /// Applies an insert to the model, and checks its answer and whether it rotates.
    fn model(&mut self, hash: u64, refresh: bool, answer: bool, rotations: u64) {
        assert_eq!(answer, !self.has(hash), "`true` exactly if no live generation has the item");
        let current = self.live.back().expect("a generation");
        if answer || refresh && !current.by_hash().contains(hash) {
            current.by_hash().insert(hash);
            self.counted += 1;
            self.rotate_by_count(rotations);
        } else {
            assert_eq!(rotations, self.rotations, "nothing was written");
        }
    }

    /// Rotates the model if the filter did. Checks that it was time to.
    fn rotate_by_count(&mut self, rotations: u64) {
        // The least number covers the window. The stripes may hold items that are not yet counted.
        let full = self.filter.capacity().div_ceil(self.live.len() - 1) as u64;
        let most = self.filter.window().generation_capacity;
        if rotations == self.rotations {
            let is_late = self.clock.is_none() && !self.is_copy && self.counted > most;
            assert!(!is_late, "{} items in a generation of {full}", self.counted);
        } else {
            assert_eq!(rotations, self.rotations + 1);
            assert!(self.clock.is_none(), "the number of items does not matter");
            assert!(self.is_copy || self.counted >= full, "{} items of {full}", self.counted);
            self.rotated();
        }
    }

    fn insert_with(&mut self, hash: u64, refresh: bool) {
        let answer = if refresh {
            self.filter.insert_or_refresh_hash(hash)
        } else {
            self.filter.by_hash().insert(hash)
        };
        self.model(hash, refresh, answer, self.filter.rotations());
        assert!(self.filter.by_hash().contains(hash), "a false negative");
    }
}

impl Checked for Rotating {
    type Filter = Filter;

    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn new(sizes: Sizes) -> Option<Self> {
        let builder = RotatingBuilder::new(Rapid::with_seed(1));
        let generations = 2 + u32::from(sizes.number % 15);
        let builder = builder
            .capacity((sizes.capacity % 8192).into())
            .generations(generations)
            .false_positive_rate(sizes.rate());
        let span = sizes.limit.map(u64::from);
        let filter = match span {
            Some(span) => builder.span(Duration::from_nanos(span)),
            None => builder,
        };
        let filter = filter.build().expect("a small filter can be allocated");
        let clock = span.map(|span| Clock {
            now: 0,
            length: span.div_ceil(u64::from(generations - 1)).max(1),
            due: None,
        });
        let live = VecDeque::new();
        let mut this = Self { filter, live, counted: 0, rotations: 0, clock, is_copy: false };
        this.live = (0..generations).map(|_| this.empty()).collect();
        Some(this)
    }

    fn insert(&mut self, hash: u64) {
        self.insert_with(hash, false);
        assert!(!self.filter.by_hash().insert(hash), "new twice");
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        // A copy of its own would count other items: compare with the model alone, rotation by
        // rotation.
        for part in hashes.chunks(7) {
            let mut answers = Vec::new();
            let before = self.filter.clone();
            self.filter
                .by_hash()
                .insert_many_with(part.iter().copied(), |_, new| answers.push(new));
            let rotations = self.filter.rotations();
            if rotations == self.rotations {
                for (&hash, &answer) in part.iter().zip(&answers) {
                    self.model(hash, false, answer, rotations);
                }
            } else {
                // The batch rotated somewhere: repeat it one by one.
                self.filter = before;
                self.is_copy = true;
                part.iter().for_each(|&hash| self.insert(hash));
            }
            assert_eq!(answers.len(), part.len());
        }
    }

    fn insert_otherwise(&mut self, hash: u64) {
        self.insert_with(hash, true);
    }

    fn agree(&self, hash: u64) {
        assert_eq!(self.filter.by_hash().contains(hash), self.has(hash));
    }

    fn special(&mut self, number: u16) {
        for _ in 0..=number % 3 {
            self.rotated();
            assert_eq!(self.filter.rotate(), self.rotations);
        }
    }

    fn advance(&mut self, time: u64) {
        let Some(Clock { mut now, length, mut due }) = self.clock else {
            assert_eq!(self.filter.advance(Duration::from_nanos(time)), 0);
            return;
        };
        // Most times are near the present, some go back: each of them alone, so that no other clock
        // takes over.
        let mut time = if time.is_multiple_of(7) { time } else { now + time % (3 * length) };
        if due.is_some() && time < now {
            assert_eq!(self.filter.advance(Duration::from_nanos(time)), 0, "a late time rotates");
            time = now + 1;
        }
        let end = due.unwrap_or(time + length);
        let mut expected = 0;
        due = Some(end);
        if time >= end {
            let passed = (time - end) / length + 1;
            expected = passed.min(self.live.len() as u64);
            due = Some(end + passed * length);
        }
        now = now.max(time);
        self.clock = Some(Clock { now, length, due });
        assert_eq!(self.filter.advance(Duration::from_nanos(time)), expected);
        (0..expected).for_each(|_| self.rotated());
    }

    fn snapshot(&mut self, hash: u64) {
        let copy = self.filter.clone();
        let had = copy.by_hash().contains(hash);
        self.filter.by_hash().insert(hash);
        self.filter.rotate();
        assert_eq!(copy.by_hash().contains(hash), had, "an insert after the snapshot changed it");
        self.filter = copy;
        self.is_copy = true;
    }

    fn save_and_load(&mut self, hashes: &[u64]) {
        self.filter = saved_and_loaded(&self.filter, hashes.iter().copied());
        self.is_copy = true;
    }

    fn clear(&mut self) {
        self.filter.clear();
        (0..self.live.len()).for_each(|_| self.rotated());
        // The next time is the first one.
        self.clock = self.clock.map(|clock| Clock { now: 0, due: None, ..clock });
        assert_eq!(self.filter.figures().items.value, 0.0);
    }

    fn check(&self) {
        assert_eq!(self.filter.rotations(), self.rotations);
        assert_eq!(self.filter.clock_changes(), 0);
        assert_eq!(self.filter.window().generations as usize, self.live.len());
        assert_eq!(self.filter.window().span.is_some(), self.clock.is_some());
    }

    fn check_all(&self) {
        self.check();
        let items = self.filter.figures().items.value;
        check_figures(self.filter.false_positive_rate(), items, self.filter.saturation());
        let expected: f64 = self.live.iter().map(|slice| slice.figures().items.value).sum();
        // Both are infinite if a generation has all bits set.
        let agree = items == expected || (items - expected).abs() <= expected * 1e-9;
        assert!(agree, "{items}, not {expected}");
    }
}
