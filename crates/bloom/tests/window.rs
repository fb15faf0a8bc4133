//! Follows every insert of a rotating filter, and its rate in bursts: what the page calls certain
//! is never missed, the others within exact bounds of the rate, and `saturation` exceeds 1 before
//! the rate exceeds the request.
//!
//! The keys and the hasher are fixed, so a run does not depend on chance. Bounds of counts are
//! binomial, and a random filter is outside with a probability of 1e-11.

use std::collections::VecDeque;
use std::time::Duration;

use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_bloom::{RotatingBloomFilter, RotatingBuilder};
use tamis_hash::Rapid;

use crate::common::sample;

type Filter = RotatingBloomFilter<u64, Rapid>;

const ALPHA: f64 = 1e-11;

fn builder(capacity: u64, generations: u32, rate: f64) -> RotatingBuilder<u64, Rapid> {
    let builder = RotatingBuilder::new(Rapid::with_seed(11)).capacity(capacity as usize);
    builder.generations(generations).false_positive_rate(rate)
}

/// The most events that `of` trials may have, each with at most this chance.
fn most(chance: f64, of: u64) -> u64 {
    if of == 0 { 0 } else { Binomial::new(chance, of).unwrap().inverse_cdf(1.0 - ALPHA) }
}

/// The least number of events that `of` trials may have, each with at least this chance.
fn least(chance: f64, of: u64) -> u64 {
    Binomial::new(chance, of).unwrap().inverse_cdf(ALPHA)
}

/// How a stream calls the filter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Calls {
    Insert,
    Refresh,
    /// Both in turn, with repeats.
    Mixed,
}

/// A window, as the test counts it: in possible stores, or in time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Items,
    Time,
}

/// What a run has found at the ends of the windows of all inserts.
#[derive(Debug, Default)]
struct Found {
    /// Inserts that the page calls certain, and those of them that were missed.
    certain: u64,
    certain_missed: u64,
    /// First inserts of an item, those that returned `false`, and those of them that were missed
    /// later.
    firsts: u64,
    lost: u64,
    lost_missed: u64,
}

/// Inserts a stream, and asks for each insert at the last moment at which it is in the window.
fn follow(capacity: u64, generations: u32, rate: f64, by: By, calls: Calls) -> Found {
    const TICK: Duration = Duration::from_nanos(1_234_567);
    let span = TICK * capacity as u32;
    let builder = builder(capacity, generations, rate);
    let builder = if by == By::Time { builder.span(span) } else { builder };
    let filter = builder.build().unwrap();
    let mut found = Found::default();
    // The moment of an insert: the stores that may have been before, or the ticks.
    let (mut now, mut next) = (0_u64, 0_u64);
    let mut window: VecDeque<(u64, u64, bool)> = VecDeque::new();
    let last = match by {
        // The item itself is one of those that the window covers.
        By::Items => capacity - 1,
        By::Time => capacity,
    };
    for number in 0..sample(6, 150) * capacity {
        if by == By::Time {
            now = number;
            filter.advance(Duration::from_secs(1 << 30) + TICK * now as u32);
        }
        while let Some(&(item, at, certain)) = window.front() {
            if now - at < last {
                break;
            }
            assert_eq!(now - at, last, "the insert was asked too late");
            let missed = u64::from(!filter.contains(&item));
            let count = if certain { &mut found.certain_missed } else { &mut found.lost_missed };
            *count += missed;
            window.pop_front();
        }
        // In a mixed stream one of four repeats an item of the last half of a window, at a distance
        // that varies.
        let repeats = calls == Calls::Mixed && number % 4 == 3 && next > capacity;
        let item = if repeats { next - 1 - number * number % (capacity / 2) } else { next };
        next += u64::from(!repeats);
        let refresh = calls == Calls::Refresh || calls == Calls::Mixed && number % 3 == 0;
        let new = if refresh { filter.insert_or_refresh(&item) } else { filter.insert(&item) };
        found.firsts += u64::from(!repeats);
        found.lost += u64::from(!repeats && !new);
        if new || refresh {
            // It was stored, or may have been.
            found.certain += 1;
            now += u64::from(by == By::Items);
            window.push_back((item, now, true));
        } else if !repeats {
            window.push_back((item, now, false));
        }
    }
    found
}

/// All streams at three rates with three numbers of generations.
#[test]
fn every_insert_is_found_for_the_window_or_within_the_rate() {
    let capacity = sample(6000, 60_000);
    for rate in [1e-2, 1e-3, 1e-4] {
        for generations in [2, 7, 16] {
            for by in [By::Items, By::Time] {
                for calls in [Calls::Insert, Calls::Refresh, Calls::Mixed] {
                    let what = format!("{calls:?} by {by:?} at {rate}, {generations} generations");
                    let found = follow(capacity, generations, rate, by, calls);
                    println!("{what}: {found:?}");
                    assert!(found.certain > 3 * capacity, "{what}");
                    assert_eq!(found.certain_missed, 0, "{what}: a certain insert was missed");
                    assert!(found.lost <= most(rate, found.firsts), "{what}: {found:?}");
                    assert!(found.lost_missed <= found.lost, "{what}: {found:?}");
                    if calls == Calls::Insert && rate > 1e-3 {
                        // The test does see them.
                        assert!(found.lost_missed > 0, "{what}: {found:?}");
                    }
                }
            }
        }
    }
}

/// A false positive is not stored and not counted. At high rates a window that stored too little
/// would never rotate, and would call every item known.
#[test]
fn a_window_moves_at_every_rate() {
    let capacity = 3000;
    for rate in [0.3, 0.5, 0.9, 0.9999] {
        for (generations, words) in [(2, None), (2, Some(8)), (7, None), (16, Some(1))] {
            let builder = builder(capacity, generations, rate);
            let filter =
                words.map_or(builder.clone(), |words| builder.words(words)).build().unwrap();
            // After ten windows, ten more.
            (0..10 * capacity).for_each(|item| _ = filter.insert(&item));
            let new = (10 * capacity..20 * capacity).filter(|item| filter.insert(item)).count();
            let what = format!("{rate}, {generations} generations, {words:?} words: {new} new");
            assert!(new as u64 >= least(1.0 - 0.3, 10 * capacity), "{what}");
            let absent = (1 << 40..(1 << 40) + 10 * capacity).filter(|item| filter.contains(item));
            assert!(absent.count() as u64 <= most(0.3, 10 * capacity), "{what}");
        }
    }
}

/// Bursts into one generation, and the capacity spread over all: the reported rate is the measured
/// one, and as long as `saturation` is at most 1, it is within the request.
#[test]
fn a_burst_that_breaks_the_rate_shows_in_the_saturation() {
    const RATE: f64 = 1e-6;
    let lookups = sample(1_000_000, 100_000_000);
    let capacity = 100_000;
    let span = Duration::from_secs(60);
    let mut within = 0;
    for generations in [2, 7, 16] {
        let share = 1.0 / f64::from(generations - 1);
        // The capacity, in the generations of the span, and in those that may be alive together.
        let spread = vec![share; generations as usize - 1];
        let full = vec![share; generations as usize];
        let bursts = [0.5 * share, 0.98 * share, 0.25, 0.5, 1.0, 2.0].map(|burst| vec![burst]);
        for parts in bursts.into_iter().chain([spread, full, vec![0.9 * share, 0.5, 0.1 * share]]) {
            let filter = builder(capacity, generations, RATE).span(span).build().unwrap();
            let mut next = 0;
            for (number, part) in parts.iter().enumerate() {
                filter.advance(span / (generations - 1) * number as u32);
                let until = next + (capacity as f64 * part) as u64;
                filter.insert_many_with(next..until, |_, _| ());
                next = until;
            }
            let mut found = 0;
            filter
                .contains_many_with(1 << 40..(1 << 40) + lookups, |_, hit| found += u64::from(hit));
            let (rate, saturation) = (filter.false_positive_rate(), filter.saturation());
            let live = parts.iter().rev().take(generations as usize).copied();
            let fullest = live.fold(0.0, f64::max) / share;
            let what = format!("{generations} generations, {parts:?}");
            println!("{what}: saturation {saturation}, rate {rate:e}, {found} of {lookups} found");
            assert!((least(rate, lookups)..=most(rate, lookups)).contains(&found), "{what}");
            assert!((saturation / fullest - 1.0).abs() < 0.03, "{what}: {saturation} of {fullest}");
            if saturation <= 1.0 {
                within += 1;
                assert!(rate <= RATE, "{what}: {rate:e}");
                assert!(found <= most(RATE, lookups), "{what}: {found}");
            }
        }
    }
    assert!(within >= 9, "{within} of the streams were within the capacity");
}

/// A window of a minute, one call per second, of which some have a wrong time.
struct Minute {
    filter: Filter,
    /// The true time, in seconds.
    now: u64,
}

impl Minute {
    const START: u64 = 1_800_000_000;

    fn new() -> Self {
        let filter = builder(100_000, 7, 1e-9).span(Duration::from_secs(60)).build().unwrap();
        filter.advance(Duration::from_secs(Self::START));
        Self { filter, now: Self::START }
    }

    /// Goes on for some seconds, with the readings of each that the clocks give.
    fn pass(&mut self, seconds: u64, readings: impl Fn(u64) -> Vec<u64>) {
        for _ in 0..seconds {
            self.now += 1;
            for reading in readings(self.now) {
                self.filter.advance(Duration::from_secs(reading));
            }
        }
    }

    /// Inserts an item, and returns for how many seconds it is found.
    fn life(&mut self, readings: impl Fn(u64) -> Vec<u64>) -> u64 {
        let begin = self.now;
        let item = begin;
        assert!(self.filter.insert(&item));
        while self.filter.contains(&item) {
            assert!(self.now - begin < 10_000, "an item stays for ever");
            self.pass(1, &readings);
        }
        self.now - begin
    }
}

/// The year 2100, in seconds.
const FAR: u64 = 4_102_444_800;

/// The life of an item of a minute, with the true clock and after one wrong time: never below a
/// minute but for a jump ahead, and never above a minute, two generations and four calls more than
/// the true clock gives. (`clock.rs` has the tests of all other wrong times.)
#[test]
fn a_wrong_time_shortens_or_lengthens_no_life_by_more_than_stated() {
    // The true clock.
    let mut minute = Minute::new();
    minute.pass(1000, |now| vec![now]);
    let life = minute.life(|now| vec![now]);
    assert!((61..=71).contains(&life), "{life}");

    // Once in the year 2100: everything is forgotten, once, and then the true clock runs.
    let mut minute = Minute::new();
    minute.pass(100, |now| vec![now]);
    assert!(minute.filter.insert(&1));
    assert_eq!(minute.filter.advance(Duration::from_secs(FAR)), 7, "everything is forgotten");
    let life = minute.life(|now| vec![now]);
    assert!((61..=71 + 20 + 4).contains(&life), "{life}");
    let life = minute.life(|now| vec![now]);
    assert!((61..=71).contains(&life) && minute.filter.clock_changes() == 1, "{life}");
}

/// `clear` and `forget_time` take the next time as the first; without them a saved filter, too,
/// follows a new clock.
#[test]
fn a_forgotten_time_begins_anew() {
    let later = Duration::from_secs(FAR);
    let soon = Duration::from_secs(5);
    let forget: [fn(&Filter); 2] = [Filter::clear, Filter::forget_time];
    for (number, forget) in forget.into_iter().enumerate() {
        let mut minute = Minute::new();
        minute.pass(20, |now| vec![now - 3600]);
        assert_eq!(minute.filter.clock_changes(), 1);
        assert_eq!(minute.filter.advance(later), 0, "it is above the clock that was left");
        assert!(minute.filter.insert(&1));
        forget(&minute.filter);
        assert_eq!(minute.filter.contains(&1), number == 1);
        minute.filter.insert(&2);
        // The new clock runs at once.
        let ended =
            (0..=14).map(|step| minute.filter.advance(soon + Duration::from_secs(5) * step));
        assert_eq!(ended.sum::<u64>(), 7);
        assert!(!minute.filter.contains(&1) && !minute.filter.contains(&2));
        assert_eq!(minute.filter.clock_changes(), 1, "the number is not forgotten");
    }
}
