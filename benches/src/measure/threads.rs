//! What several threads do with one filter, in wall time.

use core::ops::Range;
use core::time::Duration;

use tamis_sync::{Ordering, Word};

use super::plan::Plan;
use super::setup::{Setup, cores, thread_counts};
use super::single::named;
use crate::contender::Contender;
use crate::course::Judge;
use crate::operation::Operation;
use crate::record::{Record, Runs};
use crate::subject::{Answers, Subject};
use crate::together::{elapsed, together};

/// What all threads do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    /// Insert new items, from empty to full.
    Insert,
    /// Query present items.
    Hit,
    /// Query the same item.
    OneItem,
}

const WORKS: [(Work, &str); 3] = [
    (Work::Insert, "insert"),
    (Work::Hit, "contains, hit"),
    (Work::OneItem, "contains, all the same item"),
];

/// The number of queries of a reader before it checks whether the writer has ended.
const GLANCE: u64 = 256;

/// The items that a churning writer inserts and removes begin here, and it keeps this number of
/// them in the filter.
const OWN: u64 = 1 << 48;
const KEPT: u64 = 64;

/// Measures more and more threads, and readers with and without one writer.
pub(super) fn measure(plans: &[Plan], setup: &Setup) -> Vec<Record> {
    let mut runs = Runs::default();
    for plan in plans {
        let mut contenders = named(plan.contenders);
        contenders.retain(|contender| contender.shared.is_some());
        for items in setup.sizes(plan.items) {
            for _ in 0..setup.passes(items) {
                for contender in &contenders {
                    for &rate in plan.rates {
                        let judge = Judge::new(contender.traits, rate);
                        let team = Team { contender, items, rate, judge, least: setup.least() };
                        team.measure(&mut runs);
                    }
                }
            }
        }
    }
    runs.fastest()
}

/// Threads with a filter.
struct Team<'a> {
    contender: &'a Contender,
    items: u64,
    rate: f64,
    judge: Judge,
    /// The least number of operations in a run, of each thread if they only query.
    least: u64,
}

impl Team<'_> {
    /// Measures one run of everything; nothing if there is no such filter.
    fn measure(&self, runs: &mut Runs) {
        let traits = self.contender.traits;
        for (work, name) in WORKS {
            for threads in thread_counts() {
                let Some(nanos) = self.nanos(work, threads) else { return };
                runs.add(self.record(name, threads), nanos);
            }
        }
        // Without copies, the removal of an item may take another that must be found.
        let both = if traits.removes && traits.copies { &[false, true][..] } else { &[false] };
        for &churns in both {
            let writing = if churns { "inserts and removes" } else { "inserts" };
            let name = format!("contains, hit, while one thread {writing}");
            let Some([during, alone]) = self.readers(churns) else { return };
            runs.add(self.record(&name, readers()), during);
            runs.add(self.record(&format!("{name}: without it"), readers()), alone);
        }
    }

    fn record(&self, operation: &str, threads: u64) -> Record {
        let name = self.contender.traits.name;
        Record { threads, ..Record::new(name, operation, self.items, self.rate) }
    }

    /// Returns a filter with the items below `held`, which all cores insert.
    fn filled(&self, held: u64) -> Option<Box<dyn Subject + Sync>> {
        let filter = (self.contender.shared?)(self.items, self.rate)?;
        let cores = cores();
        together(cores, |core| self.insert(&*filter, share(0..held, core, cores)));
        Some(filter)
    }

    /// Inserts new items.
    fn insert(&self, filter: &dyn Subject, items: Range<u64>) {
        let count = items.end - items.start;
        let new = filter.insert_all(items);
        self.judge.check(Operation::Insert, count, Answers { found: 0, new });
    }

    /// Queries present items below `held`, from the `first`th on.
    fn hit(&self, filter: &dyn Subject, held: u64, first: u64, count: u64) {
        let found = filter.query(0..held, first, count);
        self.judge.check(Operation::Hit, count, Answers { found, new: 0 });
    }

    /// Does the `thread`th part of the work of `threads` threads.
    fn work(&self, filter: &dyn Subject, work: Work, thread: u64, threads: u64) {
        let Self { items, least, .. } = *self;
        match work {
            Work::Insert => self.insert(filter, share(0..items, thread, threads)),
            Work::Hit => self.hit(filter, items, items * thread / threads, least),
            Work::OneItem => self.hit(filter, 1, 0, least),
        }
    }

    /// Returns the time of an operation of one thread; none if there is no such filter.
    fn nanos(&self, work: Work, threads: u64) -> Option<f64> {
        let held = if work == Work::Insert { 0 } else { self.items };
        let (mut time, mut done) = (Duration::ZERO, 0);
        while done < self.least {
            let filter = self.filled(held)?;
            let spans = together(threads, |thread| self.work(&*filter, work, thread, threads));
            time += elapsed(&spans);
            done += match work {
                Work::Insert => self.items,
                _ => threads * self.least,
            };
        }
        Some(time.as_nanos() as f64 * threads as f64 / done as f64)
    }

    /// Measures one run of readers while one thread inserts from half full to full, or inserts and
    /// removes in turn (`churns`), and of the same number of queries without it.
    /// Returns the nanoseconds of a query of both; none if there is no such filter.
    fn readers(&self, churns: bool) -> Option<[f64; 2]> {
        let readers = readers();
        let held = if churns { self.items / 10 * 9 } else { self.items / 2 };
        let filter = &*self.filled(held)?;
        if churns {
            self.insert(filter, OWN..OWN + KEPT);
        }
        let read = |reader: u64, first: u64, count: u64| {
            self.hit(filter, held, held * reader / readers + first, count);
        };
        let (done, asked) = (Word::new(0), Word::new(0));
        let spans = together(readers + 1, |thread| {
            // ORDERING: Relaxed, all here: numbers that publish nothing.
            if thread == readers {
                if churns {
                    filter.churn(OWN + KEPT..OWN + KEPT + self.least / 20, KEPT);
                } else {
                    self.insert(filter, held..self.items);
                }
                done.store(1, Ordering::Relaxed);
                return;
            }
            for first in (0..).step_by(GLANCE as usize) {
                if done.load(Ordering::Relaxed) != 0 {
                    break;
                }
                read(thread, first, GLANCE);
                asked.fetch_add(GLANCE, Ordering::Relaxed);
            }
        });
        let (_, during) = spans.split_last()?;
        // The same number of queries once more, of the same filter.
        let asked = asked.load(Ordering::Relaxed).max(1);
        let without = together(readers, |reader| read(reader, 0, asked.div_ceil(readers)));
        let nanos = |time: Duration| time.as_nanos() as f64 * readers as f64 / asked as f64;
        Some([nanos(elapsed(during)), nanos(elapsed(&without))])
    }
}

/// Returns the `nth` of `count` equal parts of a range.
fn share(range: Range<u64>, nth: u64, count: u64) -> Range<u64> {
    let length = range.end - range.start;
    range.start + length * nth / count..range.start + length * (nth + 1) / count
}

/// Returns the number of readers next to one writer.
fn readers() -> u64 {
    (cores() - 1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::plan::THREADS;

    /// The judge panics at a false negative, or at too many false positives.
    #[test]
    fn shared_filters_answer_rightly() {
        let mut runs = Runs::default();
        for contender in &named(THREADS[0].contenders) {
            let judge = Judge::new(contender.traits, 0.01);
            Team { contender, items: 20_000, rate: 0.01, judge, least: 10_000 }.measure(&mut runs);
        }
        let records = runs.fastest();
        let of = |name: &str| records.iter().filter(|record| record.contender == name).count();
        let shared = WORKS.len() * thread_counts().len();
        // Bloom filters cannot remove.
        assert_eq!([of("BlockedBloomFilter"), of("CuckooFilter")], [shared + 2, shared + 4]);
    }
}
