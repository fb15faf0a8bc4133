//! The shared words of the rotating filter: with `time.rs`, the only one of its files that names a
//! memory ordering.
//!
//! The rules and the proof are in [`protocol.md`](crate::rotating::protocol); the numbers in
//! `ORDERING` comments are its claims. The words of a line's place lie by word, not by generation:
//! the same word of all generations is together.
//!
//! ```text
//! word of (place, index, slot) = (place · 8 + index) · slots + slot
//! ```
//!
//! So an item with one word touches `slots` adjacent words, in one cache line for 7 generations.
//!
//! MEASURED (ns per hit and per miss, 7 generations, a window of 10 million items at 1 %): in
//! batches 14.0 and 12.2, and one by one 121 and 114; compared with 17.5 and 15.7, and 134 and 135,
//! with the generations' lines of a place side by side, and 21.3 and 19.0, and 151 and 132, with an
//! array per generation (Zen 5). The price is that a clearing writes to all lines of the array.

use tamis_sync::{
    AllocError, CachePadded, LINE_BYTES, LINE_WORDS, Lines, Ordering, StripeGuard, Stripes, Word,
};

use super::clock::Clock;
use super::plan::{MAX_SLOTS, Plan, State};

/// The lock bit of upkeep; the other bits count the units that are done.
pub(super) const LOCK: u64 = 1 << 63;

/// The word of a stripe's data: the items that are not yet added to the shared counter, in the
/// lower bits, and above them the rotations before they were inserted.
pub(super) const UNCOUNTED: usize = 1;
pub(super) const UNCOUNTED_BITS: u32 = 16;

/// The generations of a filter: their bits, and the state that says which of them live.
pub(crate) struct Ring {
    pub(super) lines: Lines,
    places: u64,
    pub(super) plan: Plan,
    pub(super) stripes: Stripes,
    pub(super) now: CachePadded<Now>,
    pub(super) upkeep: CachePadded<Upkeep>,
    /// New items, by slot.
    pub(super) counts: CachePadded<[Word; MAX_SLOTS]>,
    /// The number of rotations at which the filter was copied or loaded, if its generation was full
    /// of items then: the next new item rotates it. Stripes count anew in each life of a filter, so
    /// one that is saved after every few inserts might complete no portion.
    overdue: u64,
}

/// The words that every operation reads, and that few write.
pub(super) struct Now {
    /// The state.
    pub(super) state: Word,
    /// The time below which `advance` has something to do, and the time from which it has, in
    /// nanoseconds.
    pub(super) floor: Word,
    pub(super) wake: Word,
}

/// The words of upkeep.
pub(super) struct Upkeep {
    /// The lock, and the units that are done: visits of stripes, then places cleared.
    done: Word,
    /// The time from which `advance` waits for upkeep, in nanoseconds.
    pub(super) wait: Word,
    /// The words of the [`Clock`].
    pub(super) clock: [Word; Clock::WORDS],
}

/// The stripe of a writer, and its choice.
pub(super) struct Held<'r> {
    stripe: StripeGuard<'r>,
    pub(super) state: State,
}

/// The numbers that, with the bits, are the contents of a filter.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) state: State,
    /// Items counted in the current generation.
    pub(crate) counted: u64,
    /// The end of the current generation, in nanoseconds; 0 before the first `advance`.
    pub(crate) due: u64,
}

impl Ring {
    /// Allocates empty generations of `places` lines each.
    pub(crate) fn zeroed(plan: Plan, places: u64) -> Result<Self, AllocError> {
        let lines = Lines::zeroed(Self::lines_of(&plan, places))?;
        let numbers = Numbers { state: State::after(0, plan.slots()), counted: 0, due: 0 };
        Self::of_lines(plan, places, lines, numbers, true)
    }

    /// Takes lines of this size; `clean` if the spare has no bits.
    pub(crate) fn of_lines(
        plan: Plan,
        places: u64,
        lines: Lines,
        numbers: Numbers,
        clean: bool,
    ) -> Result<Self, AllocError> {
        let Numbers { state, counted, due } = numbers;
        let stripes = Stripes::zeroed(plan.stripes)?;
        let done = if clean { stripes.len() as u64 + places } else { 0 };
        // A window by items does nothing at any time.
        let wake = if plan.length.is_some() { 0 } else { u64::MAX };
        let clock = plan.length.map_or_else(Clock::default, |length| Clock::of_due(due, length));
        let count = |slot| Word::new(if slot == state.current() { counted } else { 0 });
        let is_overdue = plan.length.is_none() && counted >= plan.items;
        Ok(Self {
            overdue: if is_overdue { state.rotations() } else { State::ROTATIONS },
            lines,
            places,
            plan,
            stripes,
            now: CachePadded::new(Now {
                state: Word::new(state.word()),
                floor: Word::new(0),
                wake: Word::new(wake),
            }),
            upkeep: CachePadded::new(Upkeep {
                done: Word::new(done),
                wait: Word::new(0),
                clock: clock.words().map(Word::new),
            }),
            counts: CachePadded::new(core::array::from_fn(count)),
        })
    }

    /// Returns the number of lines of the array; on overflow a number that cannot be allocated.
    pub(crate) fn lines_of(plan: &Plan, places: u64) -> u64 {
        places.saturating_mul(plan.slots() as u64)
    }

    /// Returns the bytes of the array and the stripes; on overflow a number that cannot be
    /// allocated.
    pub(crate) fn bytes_of(plan: &Plan, places: u64) -> u64 {
        Self::lines_of(plan, places).saturating_add(plan.stripes).saturating_mul(LINE_BYTES as u64)
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn places(&self) -> u64 {
        self.places
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        Self::bytes_of(&self.plan, self.places)
    }

    #[inline(always)]
    pub(crate) fn slots(&self) -> usize {
        self.plan.slots()
    }

    #[inline(always)]
    pub(crate) fn state(&self) -> State {
        // ORDERING: Acquire pairs with the Release in `rotated`: the zeros that prepared the live
        // slots are visible (4).
        State::of_word(self.now.state.load(Ordering::Acquire))
    }

    /// Returns the slots, as bits, that have all bits of the pattern. `slots` is
    /// [`slots`](Self::slots), as a constant if it can be one.
    #[inline(always)]
    pub(crate) fn holders(
        &self,
        slots: usize,
        place: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
    ) -> u32 {
        let mut holders = u32::MAX;
        for (index, mask) in pattern {
            let first = self.first(slots, place, index);
            let has = |word: &Word, slot: usize| {
                // ORDERING: Relaxed: the state was loaded before, and coherence does the rest (3).
                u32::from(word.load(Ordering::Relaxed) & mask == mask) << slot
            };
            holders &= if slots == LINE_WORDS {
                // One line, so one check of its number.
                let words = &self.lines[first / LINE_WORDS].words;
                (0..LINE_WORDS).fold(0, |having, slot| having | has(&words[slot], slot))
            } else {
                (0..slots).fold(0, |having, slot| having | has(self.lines.word(first + slot), slot))
            };
        }
        holders
    }

    /// Returns the number of the first of the words of all slots.
    #[inline(always)]
    fn first(&self, slots: usize, place: u64, index: usize) -> usize {
        (place as usize * LINE_WORDS + index) * slots
    }

    /// Requests the words of all slots.
    #[inline(always)]
    pub(crate) fn prefetch(&self, slots: usize, place: u64, index: usize, to_write: bool) {
        let first = self.first(slots, place, index);
        let last = first + slots - 1;
        self.prefetch_line(first / LINE_WORDS, to_write);
        if slots != LINE_WORDS {
            self.prefetch_line((first + LINE_WORDS).min(last) / LINE_WORDS, to_write);
            if slots > LINE_WORDS {
                self.prefetch_line(last / LINE_WORDS, to_write);
            }
        }
    }

    #[inline(always)]
    fn prefetch_line(&self, line: usize, to_write: bool) {
        if to_write {
            self.lines[line].prefetch_to_write();
        } else {
            self.lines.prefetch_word(line * LINE_WORDS);
        }
    }

    /// Requests the stripe of a hash.
    #[inline(always)]
    pub(crate) fn prefetch_stripe(&self, hash: u64) {
        self.stripes.prefetch(self.stripes.index(hash));
    }

    /// Inserts an item of which a query found no live copy, or, to refresh it, none in the current
    /// generation. Returns whether no live generation had the item.
    #[inline(always)]
    pub(crate) fn claim(
        &self,
        slots: usize,
        hash: u64,
        place: u64,
        pattern: impl Iterator<Item = (usize, u64)> + Clone,
        refresh: bool,
    ) -> bool {
        // 1. Choose the generation, under the stripe.
        let held = self.hold(hash);
        // 2. Another insert of the item may have been faster.
        let holders = self.holders(slots, place, pattern.clone()) & held.state.live(slots);
        let current = held.state.current();
        if holders != 0 && !(refresh && holders >> current & 1 == 0) {
            return false;
        }
        // 3. Write and count it. Only then the stripe is free.
        self.write(slots, place, pattern, current);
        let (state, total) = (held.state, self.count(&held));
        drop(held);
        // 4. Each portion that was counted pays for a portion of upkeep.
        if let Some(total) = total {
            self.tend(state, total);
        }
        holders == 0
    }

    /// Locks the stripe of a hash, and then loads the state: the choice.
    #[inline(always)]
    pub(super) fn hold(&self, hash: u64) -> Held<'_> {
        // ORDERING: Acquire and Release order the writers and the grace periods of a stripe (1, 2,
        // 5).
        let index = self.stripes.index(hash);
        let stripe = self.stripes.lock(index, Ordering::Acquire, Ordering::Release);
        Held { stripe, state: self.state() }
    }

    /// Sets the bits of the pattern in a slot.
    #[inline(always)]
    pub(super) fn write(
        &self,
        slots: usize,
        place: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
        slot: usize,
    ) {
        for (index, mask) in pattern {
            // ORDERING: Relaxed: the stripe orders it before a clearing (2) and before the next
            // insert of the item (5).
            self.lines
                .word(self.first(slots, place, index) + slot)
                .fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Counts a new item. Returns the count of the generation if this item completes a portion, or
    /// if a rotation is overdue.
    #[inline(always)]
    pub(super) fn count(&self, held: &Held<'_>) -> Option<u64> {
        let word = held.stripe.word(UNCOUNTED);
        // ORDERING: Relaxed: the stripe orders the accesses of its holders.
        let count = uncounted(word.load(Ordering::Relaxed), held.state) + 1;
        let is_portion = count >= self.plan.portion || held.state.rotations() == self.overdue;
        let left = if is_portion { 0 } else { count };
        // ORDERING: Release pairs with the Acquire in `numbers`: a thread that sees the count sees
        // the items.
        word.store(held.state.rotations() << UNCOUNTED_BITS | left, Ordering::Release);
        if !is_portion {
            return None;
        }
        // ORDERING: Release, likewise. Who sees the addition sees that the stripe has been emptied.
        let counted = &self.counts[held.state.current()];
        Some(counted.fetch_add(count, Ordering::Release) + count)
    }

    /// Does the upkeep that is due when the generation of `state` has `total` new items.
    #[inline(never)]
    fn tend(&self, state: State, total: u64) {
        if self.plan.length.is_none() && total >= self.plan.items {
            // Full: rotate, or wait for the thread that does.
            let done = self.lock_upkeep();
            if self.locked_state() == state {
                self.rotated(state, done);
                return self.unlock_upkeep(0);
            }
            return self.unlock_upkeep(done);
        }
        let due = self.plan.due_after(total, self.units());
        if let Some(done) = self.try_upkeep(due) {
            // A count of an earlier generation says nothing about this one.
            let due = if self.locked_state() == state { due } else { 0 };
            self.unlock_upkeep(self.prepare(done, due));
        }
    }

    /// The units of upkeep of a rotation: all stripes to visit, and all places to clear.
    pub(super) fn units(&self) -> u64 {
        self.stripes.len() as u64 + self.places
    }

    /// Returns the units of upkeep that are done, and all.
    #[cfg(all(test, not(tamis_loom)))]
    pub(crate) fn units_done(&self) -> (u64, u64) {
        (self.upkeep.done.peek() & !LOCK, self.units())
    }

    /// Waits for upkeep, and returns the units that are done.
    pub(super) fn lock_upkeep(&self) -> u64 {
        // ORDERING: Acquire pairs with the Release in `unlock_upkeep`: what other threads cleared
        // is clear (2).
        self.upkeep.done.lock(LOCK, Ordering::Acquire)
    }

    /// Takes upkeep if it is free and less than `due` units are done, and returns the units that
    /// are done.
    pub(super) fn try_upkeep(&self, due: u64) -> Option<u64> {
        let wanted = |done| (done < due).then_some(done | LOCK);
        wanted(self.upkeep.done.peek())?;
        // ORDERING: Acquire, as in `lock_upkeep`. The lock bit makes the number larger than any due
        // one.
        self.upkeep.done.try_update(Ordering::Acquire, wanted).ok()
    }

    pub(super) fn unlock_upkeep(&self, done: u64) {
        // ORDERING: Release pairs with the Acquire of the next thread that takes upkeep.
        self.upkeep.done.unlock(done, Ordering::Release);
    }

    /// Returns the state, for the thread that has upkeep.
    pub(super) fn locked_state(&self) -> State {
        State::of_word(self.now.state.load_locked())
    }

    /// Returns the clock, for the thread that has upkeep.
    pub(super) fn locked_clock(&self) -> Clock {
        Clock::of_words(core::array::from_fn(|word| self.upkeep.clock[word].load_locked()))
    }

    /// Does units of upkeep, from `done` to `due`, and returns what is done. For the thread that
    /// has upkeep.
    pub(super) fn prepare(&self, done: u64, due: u64) -> u64 {
        let (stripes, slots) = (self.stripes.len() as u64, self.slots());
        let spare = self.locked_state().spare(slots);
        // The grace period: whoever holds a stripe later has a choice of this state or a later one.
        for stripe in done.min(stripes)..due.min(stripes) {
            // ORDERING: Acquire orders the writers before it before the zeros, and Release the
            // state before the choices of writers after it (1, 2).
            drop(self.stripes.lock(stripe as usize, Ordering::Acquire, Ordering::Release));
        }
        // The clearing.
        let first = done.max(stripes) - stripes;
        for place in first..due.max(stripes) - stripes {
            for index in 0..LINE_WORDS {
                let word = self.lines.word(self.first(slots, place, index) + spare);
                // No line becomes dirty that has nothing to clear.
                if word.peek() != 0 {
                    // ORDERING: Release pairs with the Acquire loads in `copy`, which then loads a
                    // state of after the clearing began. Queries need no order here (3).
                    word.store(0, Ordering::Release);
                }
            }
        }
        done.max(due)
    }

    /// Does the upkeep that is left and rotates. For the thread that has upkeep.
    pub(super) fn rotated(&self, state: State, done: u64) -> State {
        self.prepare(done, self.units());
        let next = state.next(self.slots());
        // ORDERING: Relaxed: no writer has the slot as its choice (2), and the Release below
        // publishes it.
        self.counts[next.current()].store(0, Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire in `state`: a thread that sees the state sees
        // the slot clear (2, 4).
        self.now.state.store(next.word(), Ordering::Release);
        next
    }

    /// As [`rotate`](Self::rotate), with the first units of upkeep left out, for mutants only.
    #[cfg(all(test, tamis_loom))]
    pub(super) fn rotate_from(&self, unit: u64) {
        self.lock_upkeep();
        self.rotated(self.locked_state(), unit);
        self.unlock_upkeep(0);
    }

    /// Rotates, and returns the number of rotations so far.
    pub(crate) fn rotate(&self) -> u64 {
        let done = self.lock_upkeep();
        let state = self.rotated(self.locked_state(), done);
        self.unlock_upkeep(0);
        state.rotations()
    }

    /// Reads the words of a slot at a place.
    pub(crate) fn read(&self, place: u64, slot: usize) -> [u64; LINE_WORDS] {
        let slots = self.slots();
        core::array::from_fn(|index| {
            // ORDERING: Relaxed, as in `holders`.
            self.lines.word(self.first(slots, place, index) + slot).load(Ordering::Relaxed)
        })
    }

    /// Reads a line of the array, with the words of the spare as they are.
    pub(crate) fn read_line(&self, line: u64) -> [u64; LINE_WORDS] {
        // ORDERING: Relaxed, as in `holders`.
        core::array::from_fn(|index| self.lines[line as usize].words[index].load(Ordering::Relaxed))
    }

    pub(crate) fn numbers(&self) -> Numbers {
        // Under upkeep: in the middle of an `advance` the end of the generation is not that of the
        // state.
        let done = self.lock_upkeep();
        let (state, due) = (self.locked_state(), self.locked_clock().due);
        self.unlock_upkeep(done);
        // ORDERING: Acquire, both, pairs with the Release in `count`: the items that are counted
        // are visible, and none is counted twice, since the counter is loaded first.
        let counted = self.counts[state.current()].load(Ordering::Acquire);
        let words = self.stripes.words(UNCOUNTED);
        let left = words.map(|word| uncounted(word.load(Ordering::Acquire), state)).sum::<u64>();
        let counted = counted + left;
        Numbers { state, counted, due }
    }

    /// Copies the generations while other threads work. The copy has every item that was inserted
    /// before and is in the window at the end of the copy.
    pub(crate) fn copy(&self) -> Result<Self, AllocError> {
        let (mut lines, before) = self.copy_live()?;
        let numbers = self.numbers();
        let passed = numbers.state.rotations() - before.state.rotations();
        self.drop_forgotten(&mut lines, before.state, passed);
        let counted = if passed == 0 { before.counted } else { 0 };
        Self::of_lines(self.plan, self.places, lines, Numbers { counted, ..numbers }, true)
    }

    /// Copies the generations that live now.
    pub(super) fn copy_live(&self) -> Result<(Lines, Numbers), AllocError> {
        let slots = self.slots();
        let mut lines = Lines::zeroed(Self::lines_of(&self.plan, self.places))?;
        let before = self.numbers();
        let live = before.state.live(slots);
        for number in 0..lines.len() * LINE_WORDS {
            if live >> (number % slots) & 1 != 0 {
                // ORDERING: Acquire pairs with the Release in `prepare`: if this loads a zero of a
                // clearing, or what was written over it, a state that is loaded later is one in
                // which the generation is forgotten.
                let bits = self.lines.word(number).load(Ordering::Acquire);
                lines.word_mut(number).update(|word| *word = bits);
            }
        }
        Ok((lines, before))
    }

    /// Clears the generations that were forgotten since a copy: their slots may be cleared in part,
    /// or written anew. The generations that have begun since stay empty.
    pub(super) fn drop_forgotten(&self, lines: &mut Lines, before: State, passed: u64) {
        if passed == 0 {
            return;
        }
        let slots = self.slots();
        let kept = (slots as u64 - 1).saturating_sub(passed) as usize;
        let kept = (0..kept).fold(0, |kept, age| kept | 1_u32 << before.slot_of_age(age, slots));
        for number in 0..lines.len() * LINE_WORDS {
            if kept >> (number % slots) & 1 == 0 {
                lines.word_mut(number).update(|word| *word = 0);
            }
        }
    }
}

/// Returns the items that a stripe has not added to the counter of this state. A count of an
/// earlier state is void.
#[inline(always)]
pub(super) const fn uncounted(word: u64, state: State) -> u64 {
    if word >> UNCOUNTED_BITS == state.rotations() << UNCOUNTED_BITS >> UNCOUNTED_BITS {
        word & ((1 << UNCOUNTED_BITS) - 1)
    } else {
        0
    }
}
