//! The rotating filter against its promises: windows by items and by time, races across rotations,
//! copies.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::vec::Vec;

use proptest::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF, Poisson};
use tamis_hash::{HashItem, Rapid};

use super::RotatingBloomFilter;
use super::builder::RotatingBuilder;
use crate::raw;

type Filter = RotatingBloomFilter<u64, Rapid>;

/// Returns `long` under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler, else
/// `quick`.
const fn sample(quick: u64, long: u64) -> u64 {
    if option_env!("TAMIS_LONG").is_some() { long } else { quick }
}

fn builder() -> RotatingBuilder<u64, Rapid> {
    RotatingBuilder::new(Rapid::with_seed(5))
}

#[test]
fn the_size_is_known_before_the_filter_is_built() {
    for capacity in [0, 1, 1000, 30_000, 1_000_000] {
        for generations in [2, 3, 7, 16] {
            let builder = builder().capacity(capacity).generations(generations);
            let size = builder.size_in_bytes().unwrap();
            let lines = raw::rotating_lines(builder.geometry().unwrap(), generations);
            assert!(size > 64 * lines, "the locks are missing");
            assert_eq!(size, builder.build().unwrap().size_in_bytes());
        }
    }
    assert!(builder().capacity(usize::MAX).false_positive_rate(1e-9).size_in_bytes().is_err());
}

/// The most events that a count of `of` trials has, but for a probability of 1e-13: the streams are
/// random.
fn most(chance: f64, of: u64) -> u64 {
    Binomial::new(chance, of).unwrap().inverse_cdf(1.0 - 1e-13)
}

/// Old items that were found although they should be forgotten, and the sum of the rates at which
/// that may happen.
#[derive(Default)]
struct Forgotten {
    asked: u64,
    found: u64,
    expected: f64,
}

impl Forgotten {
    fn ask(&mut self, filter: &Filter, items: impl Iterator<Item = u64>) {
        let rate = filter.false_positive_rate();
        for item in items {
            self.asked += 1;
            self.found += u64::from(filter.contains(&item));
            self.expected += rate;
        }
    }

    /// The count is at most that of false positives: by the binomial distribution of the mean rate,
    /// which is at least as wide. It may be less: an item is inserted only if no older generation
    /// covers it, so items of later generations cover it less often than random ones do. In an
    /// overfilled filter that shows.
    fn check(&self) {
        if self.asked > 0 {
            let most = most((self.expected / self.asked as f64).min(1.0), self.asked);
            assert!(self.found <= most, "{} old items found, {most} at most expected", self.found);
        }
    }
}

/// One step of a stream: time that passes, in thousandths of the span, and items that arrive.
fn steps() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let time = prop_oneof![4 => 0..20_u64, 4 => 20..200_u64, 1 => 200..3000_u64];
    let items = prop_oneof![2 => Just(0), 4 => 1..20_u64, 4 => 20..300_u64, 1 => 300..1500_u64];
    prop::collection::vec((time, items), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sample(60, 2000) as u32))]

    /// A window by time, with random clocks and rates of arrival: what is in the window is found,
    /// what is older than the window and one generation is not, but for false positives. Times from
    /// other threads may come late.
    #[test]
    fn a_window_by_time_holds_what_it_promises(
        steps in steps(), generations in 2..=16_u32, span in 1..1_u64 << 40, epoch in 0..1_u64 << 60,
    ) {
        let filter = builder().capacity(1500).generations(generations);
        let filter = filter.span(Duration::from_nanos(span)).build().unwrap();
        let generation = span.div_ceil(u64::from(generations - 1));
        let (mut now, mut next) = (epoch, 0_u64);
        let mut inserted: VecDeque<(u64, u64)> = VecDeque::new();
        let mut forgotten = Forgotten::default();
        for (passed, items) in steps {
            filter.advance(Duration::from_nanos(now.saturating_sub(passed)));
            now += u64::try_from(u128::from(passed) * u128::from(span) / 1000).unwrap();
            filter.advance(Duration::from_nanos(now));
            for item in next..next + items {
                if filter.insert(&item) {
                    inserted.push_back((item, now));
                }
            }
            next += items;
            let old = inserted.iter().take_while(|(_, time)| now - time >= u64::from(generations) * generation).count();
            forgotten.ask(&filter, inserted.drain(..old).map(|(item, _)| item));
            let young = inserted.iter().filter(|(_, time)| now - time <= span);
            for (item, time) in young {
                prop_assert!(filter.contains(item), "missed an item that is {} of {span} old", now - time);
            }
        }
        forgotten.check();
    }

    /// The same for a window by items.
    #[test]
    fn a_window_by_items_holds_what_it_promises(
        steps in steps(), generations in 2..=16_u32, capacity in 1..3000_usize,
    ) {
        let filter = builder().capacity(capacity).generations(generations).build().unwrap();
        let most = u64::from(generations) * filter.window().generation_capacity;
        let (mut new, mut next) = (0_u64, 0_u64);
        let mut inserted: VecDeque<(u64, u64)> = VecDeque::new();
        let mut forgotten = Forgotten::default();
        for (_, items) in steps {
            for item in next..next + items {
                if filter.insert(&item) {
                    new += 1;
                    inserted.push_back((item, new));
                }
            }
            next += items;
            let old = inserted.iter().take_while(|(_, number)| new - number >= most).count();
            forgotten.ask(&filter, inserted.drain(..old).map(|(item, _)| item));
            let young = inserted.iter().filter(|(_, number)| new - number < capacity as u64);
            for (item, number) in young {
                prop_assert!(filter.contains(item), "missed an item {} items ago", new - number);
            }
        }
        forgotten.check();
    }

    /// Batches give what single operations give, for all numbers of generations and words. A copy
    /// made by the words behaves as the original.
    #[test]
    fn batches_and_copies_equal_single_operations(
        items in prop::collection::vec(0..4000_u64, 0..1500), generations in 2..=16_u32, log_words in 0..4_u32,
    ) {
        let build = || builder().capacity(700).generations(generations).words(1 << log_words).build().unwrap();
        let (single, batched) = (build(), build());
        for part in items.chunks(333) {
            let one_by_one: Vec<bool> = part.iter().map(|item| single.insert(item)).collect();
            prop_assert_eq!(batched.insert_many(part), one_by_one);
            prop_assert_eq!(batched.rotations(), single.rotations());
        }
        let hits: Vec<bool> = (0..4000).map(|item| single.contains(&item)).collect();
        prop_assert_eq!(&batched.contains_many(0..4000), &hits);
        prop_assert_eq!(&single.clone().contains_many(0..4000), &hits);
        let loaded = rebuilt(&single);
        prop_assert_eq!(&loaded.contains_many(0..4000), &hits);
        // It goes on as the original, up to the items that stripes count together.
        prop_assert_eq!(raw::rotation(&loaded), raw::rotation(&single));
        for item in 4000..6000 {
            loaded.insert(&item);
            single.insert(&item);
        }
        prop_assert!(loaded.rotations().abs_diff(single.rotations()) <= 1);
    }
}

/// Makes a filter of the numbers and words of another one.
fn rebuilt(filter: &Filter) -> Filter {
    let rotation = raw::rotation(filter);
    let count = raw::rotating_lines(filter.geometry(), rotation.generations);
    let mut lines = raw::Lines::zeroed(count).unwrap();
    for (line, number) in lines.iter_mut().zip(0..) {
        let words = raw::read_rotating_line(filter, number);
        line.words.iter_mut().zip(words).for_each(|(to, word)| to.update(|to| *to = word));
    }
    let hasher = Rapid::with_seed(5);
    raw::rotating_from_lines(filter.geometry(), rotation, hasher, lines).unwrap()
}

/// A span is what the filter works with, before it is saved and after.
#[test]
fn a_span_is_at_least_a_nanosecond_and_at_most_584_years() {
    for (given, expected) in [
        (Duration::ZERO, Duration::from_nanos(1)),
        (Duration::from_nanos(1_000_000_007), Duration::from_nanos(1_000_000_007)),
        (Duration::MAX, Duration::from_nanos(u64::MAX)),
    ] {
        let filter = builder().capacity(10).span(given).build().unwrap();
        assert_eq!(filter.window().span, Some(expected));
        assert_eq!(rebuilt(&filter).window().span, Some(expected));
    }
}

/// A filter that is copied or loaded after every few inserts rotates when its generation is full,
/// although no stripe completes a portion in such a life.
#[test]
fn a_filter_of_short_lives_rotates() {
    for (capacity, life) in [(1000, 1), (1000, 2), (1000, 7), (50_000, 300)] {
        let builder = builder().capacity(capacity).false_positive_rate(1e-12);
        let (mut filter, items) = (builder.build().unwrap(), 4 * capacity as u64);
        for item in 0..items {
            filter.insert(&item);
            if item % life == 0 {
                filter = if item % 2 == 0 { filter.clone() } else { rebuilt(&filter) };
                assert!(filter.saturation() < 1.05 + life as f64 / capacity as f64);
            }
        }
        // A sixth of the window per generation.
        assert!(filter.rotations() >= 22, "{capacity}, {life}: {}", filter.rotations());
        assert!((items - capacity as u64..items).all(|item| filter.contains(&item)));
    }
}

#[test]
fn wrong_numbers_are_refused() {
    let filter = builder().capacity(100).build().unwrap();
    let load = |rotation, lines| {
        let lines = raw::Lines::zeroed(lines).unwrap();
        raw::rotating_from_lines::<u64, _>(filter.geometry(), rotation, Rapid::with_seed(5), lines)
    };
    let rotation = raw::rotation(&filter);
    let lines = raw::rotating_lines(filter.geometry(), 7);
    assert!(load(rotation, lines).is_ok());
    assert!(matches!(load(rotation, lines + 1), Err(raw::LinesError::Count { .. })));
    for wrong in [
        raw::Rotation { generations: 1, ..rotation },
        raw::Rotation { generations: 17, ..rotation },
        raw::Rotation { rotations: u64::MAX, ..rotation },
        // The number would soon start again from 0.
        raw::Rotation { rotations: (1 << 56) - 1, ..rotation },
    ] {
        assert!(matches!(load(wrong, lines), Err(raw::LinesError::Numbers)));
    }
    let odd = raw::Rotation { counted: u64::MAX, due: Some(Duration::MAX), ..rotation };
    assert!(load(odd, lines).unwrap().insert(&1));
}

/// The end of a generation belongs to the next one; a time that jumps forgets all; a time that
/// falls changes nothing.
#[test]
fn time_rotates_at_the_ends_of_generations() {
    let at = Duration::from_secs;
    let filter = builder().capacity(1000).generations(4).span(at(30)).build().unwrap();
    assert_eq!(filter.advance(at(1000)), 0, "the first time begins the first generation");
    filter.insert(&1);
    assert_eq!(filter.advance(Duration::from_nanos(1_009_999_999_999)), 0);
    filter.insert(&2);
    assert_eq!(filter.advance(at(1010)), 1);
    filter.insert(&3);
    assert_eq!((filter.advance(at(5)), filter.advance(at(1010))), (0, 0));
    assert_eq!(filter.advance(at(1039)), 2, "two generations have ended since");
    assert!([1, 2, 3].iter().all(|item| filter.contains(item)));
    assert_eq!(filter.advance(at(1040)), 1);
    assert_eq!([1, 2, 3].map(|item| filter.contains(&item)), [false, false, true]);
    assert_eq!(filter.advance(at(5003)), 4, "no more rotations than forget everything");
    assert!(!filter.contains(&3));
    assert_eq!((filter.advance(at(5009)), filter.advance(at(5010))), (0, 1), "the grid stays");
    assert_eq!(filter.advance(Duration::MAX), 4);
    assert_eq!(filter.advance(Duration::MAX), 0);
}

/// Inserts, or the time, have cleared the spare when half of a generation is over, so that a
/// rotation only stores.
#[test]
fn the_spare_is_clear_when_a_generation_is_half_full() {
    let units = |filter: &Filter| filter.array.ring.units_done();
    let filter = builder().capacity(60_000).generations(4).build().unwrap();
    let mut item = 0;
    for _ in 0..6 {
        let rotations = filter.rotations();
        while filter.rotations() == rotations {
            filter.insert(&item);
            item += 1;
        }
        assert_eq!(units(&filter).0, 0);
        for _ in 0..11_000 {
            filter.insert(&item);
            item += 1;
        }
        let (done, all) = units(&filter);
        assert_eq!(done, all, "of the upkeep is done at half");
    }
    let filter =
        builder().capacity(60_000).generations(4).span(Duration::from_secs(30)).build().unwrap();
    let tick = Duration::from_millis(100);
    for number in 0..=156 {
        filter.advance(number * tick);
    }
    let (done, all) = units(&filter);
    assert_eq!((done, filter.rotations()), (all, 1));
}

/// No generation rotates before it has its number of new items, also if its slot and the stripes
/// have counted others.
#[test]
fn a_generation_in_a_used_slot_counts_from_zero() {
    let filter = builder().capacity(3000).generations(3).false_positive_rate(1e-6).build().unwrap();
    let mut items = 0..;
    for rotations in 1..=12 {
        let until = items.by_ref().take_while(|item| {
            let new = filter.insert(item);
            assert!(new, "a false positive in {item} items");
            filter.rotations() < rotations
        });
        // The last one, which rotates, is not taken.
        let new = until.count() + 1;
        assert!(new >= 1500, "generation {rotations} ended after {new} items");
    }
}

/// Eight threads each see every event, or three of them do; exactly one is the first, but for false
/// positives.
fn firsts(
    events: u64,
    round: u64,
    filter: &Filter,
    sees: impl Fn(u64, u64) -> bool + Sync,
) -> Vec<u8> {
    const THREADS: u64 = 8;
    let barrier = Barrier::new(THREADS as usize);
    let won: Vec<Vec<u64>> = thread::scope(|scope| {
        let racer = |thread: u64| {
            let (barrier, sees) = (&barrier, &sees);
            move || {
                let mut won = Vec::new();
                for event in 0..events {
                    // All threads keep together, so that an event is seen three times within the
                    // window.
                    if event % round == 0 {
                        barrier.wait();
                    }
                    if sees(thread, event) && filter.insert(&event) {
                        won.push(event);
                    }
                }
                won
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(racer(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut firsts = std::vec![0_u8; events as usize];
    won.iter().flatten().for_each(|&event| firsts[event as usize] += 1);
    firsts
}

/// Returns the mean rate at which new items are false positives, from an empty filter on.
fn mean_rate(filter: &Filter, events: u64) -> f64 {
    const STEPS: u64 = 16;
    let (geometry, live) = (filter.geometry(), u64::from(filter.window().generations));
    let size = filter.array.ring.plan().items;
    let rate_at = |items: u64| geometry.false_positive_rate_at(items as usize);
    // The oldest generations are full; the current one is on its way.
    let full: Vec<f64> =
        (0..live).map(|count| 1.0 - (1.0 - rate_at(size)).powi(count as i32)).collect();
    let partial = (0..STEPS).map(|step| rate_at(size * (2 * step + 1) / (2 * STEPS)));
    let partial = partial.sum::<f64>() / STEPS as f64;
    let with = |full: f64| 1.0 - (1.0 - full) * (1.0 - partial);
    let generations = events / size;
    let first: f64 = full.iter().map(|&full| with(full)).sum();
    (first + (generations - live) as f64 * with(*full.last().unwrap())) / generations as f64
}

/// The real code across hundreds of rotations (thousands in the long form); the models find an
/// insert without its stripe.
#[test]
fn eight_threads_see_each_event_three_times_and_one_is_first() {
    const EVENTS: u64 = sample(300_000, 10_000_000);
    const ROUND: u64 = 3000;
    // A round has half of the window, and several rotations.
    let filter = builder().capacity(2 * ROUND as usize).false_positive_rate(1e-3).build().unwrap();
    let firsts = firsts(EVENTS, ROUND, &filter, |thread, event| {
        [0, 3, 5].iter().any(|of| (event + of) % 8 == thread)
    });
    assert!(filter.rotations() > EVENTS / ROUND);
    assert!(firsts.iter().all(|&count| count <= 1), "an event was first twice");
    let lost = firsts.iter().filter(|&&count| count == 0).count() as u64;
    let expected = mean_rate(&filter, EVENTS) * EVENTS as f64;
    let most = Poisson::new(expected).unwrap().inverse_cdf(1.0 - 1e-11);
    // An event that is a false positive for one thread may be new for the next, after a rotation:
    // fewer are lost.
    let least = Poisson::new(0.8 * expected).unwrap().inverse_cdf(1e-11);
    assert!((least..=most).contains(&lost), "{lost} lost, {least} to {most} expected");
}

/// A query and then an insert give several threads the same event. The insert alone, or after a
/// query, does not.
#[test]
fn a_query_before_the_insert_makes_no_second_first() {
    const EVENTS: u64 = 100_000;
    let filter =
        builder().capacity(2 * EVENTS as usize).false_positive_rate(1e-12).build().unwrap();
    let firsts = firsts(EVENTS, 1000, &filter, |_, event| !filter.contains(&event));
    let sum: u64 = firsts.iter().map(|&count| u64::from(count)).sum();
    assert_eq!(sum, EVENTS, "firsts of 100,000 events");
    assert!(firsts.iter().all(|&count| count == 1));
}

/// Rotations are forced while eight threads insert: at most as many per round as leave the winners
/// in the window.
#[test]
fn forced_rotations_leave_one_first() {
    const ROUND: u64 = 500;
    const GENERATIONS: u64 = 4;
    let events = ROUND * sample(60, 2000);
    let filter = builder().capacity(4 * ROUND as usize).generations(GENERATIONS as u32);
    let filter = filter.false_positive_rate(1e-12).build().unwrap();
    let forced = Mutex::new(0);
    let firsts = firsts(events, ROUND, &filter, |thread, event| {
        // One of the threads rotates twice in each round. With the rotation by count that is at
        // most three, or a winner would leave the window while others race.
        if thread == 3 && event % ROUND == ROUND / 3 || thread == 6 && event % ROUND == ROUND / 2 {
            filter.rotate();
            *forced.lock().unwrap() += 1;
        }
        true
    });
    assert_eq!(forced.into_inner().unwrap(), 2 * events / ROUND);
    assert!(firsts.iter().all(|&count| count == 1), "not exactly one first");
}

/// A copy has every item that was inserted before, unless it left the window meanwhile, while
/// another thread rotates.
#[test]
fn a_copy_has_what_is_in_the_window() {
    let filter =
        builder().capacity(3000).generations(3).false_positive_rate(1e-12).build().unwrap();
    let (stop, stopped) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| {
            let stopped = stopped;
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                filter.rotate();
                thread::yield_now();
            }
        });
        let mut kept = 0;
        for first in (0..sample(300, 20_000)).map(|round| round * 100) {
            let before = filter.rotations();
            let items = first..first + 100;
            // An item may be a false positive: then the filter contains it, too.
            for item in items.clone() {
                filter.insert(&item);
            }
            let copy = filter.clone();
            // The choices of the items are `before` or later.
            if copy.rotations() < before + 3 {
                kept += 1;
                assert!(items.clone().all(|item| copy.contains(&item)), "the copy misses an item");
            }
            // What another thread rotates stays outside the copy.
            copy.clear();
            assert!(copy.rotations() >= 3 && items.clone().all(|item| !copy.contains(&item)));
        }
        drop(stop);
        assert!(kept > 0, "no copy ended within the window");
    });
}

/// The items of one window, refreshed for ever, stay; without refreshing they leave.
#[test]
fn only_a_refresh_makes_an_item_younger() {
    let hasher = Rapid::with_seed(5);
    let filter = builder().capacity(1000).generations(3).false_positive_rate(1e-9).build().unwrap();
    let (kept, left) = (hasher.hash_item(&1_u64), hasher.hash_item(&2_u64));
    assert!(filter.insert_or_refresh_hash(kept) && filter.by_hash().insert(left));
    for _ in 0..20 {
        filter.rotate();
        assert!(!filter.insert_or_refresh_hash(kept), "a refresh is not new");
    }
    assert!(filter.by_hash().contains(kept) && !filter.by_hash().contains(left));
    filter.insert_or_refresh_many_with([3_u64, 3], |number, new| assert_eq!(new, number == 0));
}
