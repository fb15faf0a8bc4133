//! The axes of several threads on one filter, by the clock on the wall.
//!
//! At 1,000,000 items and above: a smaller filter is full before all threads have begun.

use core::ops::Range;
use core::time::Duration;
use std::io;

use tamis_sync::{Ordering, Word};

use crate::contender::{self, BEST, RATE, Shared, SharedVisitor};
use crate::course::{Operation, highest_rate, least_new};
use crate::measure::{Row, Scale, Survey, blank, cores, thread_counts};
use crate::together::{elapsed, together};

/// Beside this many queries one item is inserted.
const QUERIES: u64 = 9;
/// How many items a reader asks for before it looks whether the writer has ended.
const GLANCE: usize = 256;

/// A filter that threads share, with the items below a number.
struct Filled<F> {
    filter: F,
    items: u64,
}

impl<F: Shared<u64>> Filled<F> {
    /// A filter for so many items, of which it holds some.
    fn new(capacity: u64, items: u64) -> Option<Self> {
        let mut filter = F::new(capacity, RATE)?;
        filter.clear();
        insert(&filter, 0..items);
        Some(Self { filter, items })
    }

    /// The items from the thread's own place on, round and round.
    fn residents(&self, thread: u64, threads: u64) -> impl Iterator<Item = u64> {
        let start = self.items * thread / threads;
        (start..self.items).chain((0..self.items).cycle())
    }

    fn hit(&self, item: u64) {
        assert!(self.filter.contains(&item), "{} misses an item", F::NAME);
    }
}

/// Inserts new items.
fn insert<F: Shared<u64>>(filter: &F, items: Range<u64>) {
    let count = items.end - items.start;
    let new = items.map(|item| u64::from(filter.insert(&item))).sum::<u64>();
    let least = least_new(count, highest_rate::<u64, F>(RATE));
    assert!(new >= least, "{} takes {} of {count} new items for old", F::NAME, count - new);
}

/// The thread's part of the items.
fn share(items: Range<u64>, thread: u64, threads: u64) -> Range<u64> {
    let count = items.end - items.start;
    items.start + count * thread / threads..items.start + count * (thread + 1) / threads
}

/// The time, and the operations of all threads, of so many operations at least; none if there is no
/// such filter.
fn run<F: Shared<u64>>(
    operation: Operation,
    items: u64,
    threads: u64,
    least: u64,
) -> Option<(Duration, u64)> {
    let (mut time, mut done) = (Duration::ZERO, 0);
    while done < least {
        done += match operation {
            Operation::Insert => {
                let filled = Filled::<F>::new(items, 0)?;
                let part = |thread| share(0..items, thread, threads);
                time += elapsed(&together(threads, |thread| insert(&filled.filter, part(thread))));
                items
            }
            Operation::Mixed => {
                let inserted = items / (QUERIES + 1);
                let filled = Filled::<F>::new(items, items - inserted)?;
                let spans = together(threads, |thread| {
                    let mut residents = filled.residents(thread, threads);
                    for item in share(filled.items..items, thread, threads) {
                        residents.by_ref().take(QUERIES as usize).for_each(|item| filled.hit(item));
                        filled.filter.insert(&item);
                    }
                });
                time += elapsed(&spans);
                inserted * (QUERIES + 1)
            }
            _ => {
                let filled = Filled::<F>::new(items, items)?;
                let spans = together(threads, |thread| {
                    let residents = filled.residents(thread, threads);
                    residents.take(least as usize).for_each(|item| filled.hit(item));
                });
                time += elapsed(&spans);
                threads * least
            }
        };
    }
    Some((time, done))
}

/// One turn of every contender.
struct Pass<'a> {
    survey: &'a Survey,
    items: u64,
    threads: &'a [u64],
    who: &'a [&'a str],
    rows: &'a mut Vec<Row>,
}

impl SharedVisitor<u64> for Pass<'_> {
    fn visit<F: Shared<u64> + 'static>(&mut self) {
        if !self.who.is_empty() && !self.who.contains(&F::NAME) {
            return;
        }
        for operation in [Operation::Insert, Operation::Hit, Operation::Mixed] {
            for &threads in self.threads {
                let mut record = blank("threads", F::NAME, operation.name(), self.items);
                (record.rate, record.threads) = (RATE, threads);
                if self.survey.journal.has(&record) {
                    continue;
                }
                let least = self.survey.scale.least;
                let Some((time, done)) = run::<F>(operation, self.items, threads, least) else {
                    return;
                };
                let nanos = time.as_nanos() as f64 * threads as f64 / done as f64;
                Row::of(self.rows, &record).runs.push(nanos);
            }
        }
    }
}

/// The sizes, and who takes part: all at the first, which is all that is measured in a hurry.
fn sizes(scale: Scale) -> &'static [(u64, &'static [&'static str])] {
    let all: &[(u64, &[&str])] = &[(1_000_000, &[]), (10_000_000, &BEST)];
    &all[..if scale.quick { 1 } else { all.len() }]
}

/// More and more threads.
pub(super) fn threads(survey: &mut Survey) -> io::Result<()> {
    let threads = thread_counts();
    for &(items, who) in sizes(survey.scale) {
        let mut rows = Vec::new();
        for _ in 0..survey.scale.runs {
            let mut pass = Pass { survey, items, threads: &threads, who, rows: &mut rows };
            contender::each_shared(&mut pass);
        }
        for row in rows {
            survey.journal.append(&row.fastest())?;
        }
    }
    Ok(())
}

/// One turn of every contender with readers.
struct Readers<'a> {
    survey: &'a Survey,
    items: u64,
    readers: u64,
    who: &'a [&'a str],
    rows: &'a mut Vec<Row>,
}

impl Readers<'_> {
    /// Nanoseconds a query beside a writer, and alone.
    fn run<F: Shared<u64>>(&self) -> Option<[f64; 2]> {
        let (readers, half) = (self.readers, self.items / 2);
        let filled = Filled::<F>::new(self.items, half)?;
        let (done, asked) = (Word::new(0), Word::new(0));
        let spans = together(readers + 1, |thread| {
            // ORDERING: Relaxed, all here: numbers that publish nothing.
            if thread == readers {
                insert(&filled.filter, half..self.items);
                done.store(1, Ordering::Relaxed);
                return;
            }
            let mut residents = filled.residents(thread, readers);
            while done.load(Ordering::Relaxed) == 0 {
                residents.by_ref().take(GLANCE).for_each(|item| filled.hit(item));
                asked.fetch_add(GLANCE as u64, Ordering::Relaxed);
            }
        });
        let beside = elapsed(&spans[..readers as usize]);
        // As many once more, of the same filter.
        let asked = asked.load(Ordering::Relaxed).max(1);
        let spans = together(readers, |thread| {
            let residents = filled.residents(thread, readers);
            residents.take(asked.div_ceil(readers) as usize).for_each(|item| filled.hit(item));
        });
        let nanos = |time: Duration| time.as_nanos() as f64 * readers as f64 / asked as f64;
        Some([nanos(beside), nanos(elapsed(&spans))])
    }
}

impl SharedVisitor<u64> for Readers<'_> {
    fn visit<F: Shared<u64> + 'static>(&mut self) {
        if !self.who.is_empty() && !self.who.contains(&F::NAME) {
            return;
        }
        let records = ["hit beside a writer", "hit"].map(|operation| {
            let mut record = blank("readers", F::NAME, operation, self.items);
            (record.rate, record.threads) = (RATE, self.readers);
            record
        });
        if records.iter().all(|record| self.survey.journal.has(record)) {
            return;
        }
        let Some(nanos) = self.run::<F>() else { return };
        for (record, nanos) in records.iter().zip(nanos) {
            if !self.survey.journal.has(record) {
                Row::of(self.rows, record).runs.push(nanos);
            }
        }
    }
}

/// Readers alone, and beside one writer, who inserts from half full to full as fast as it can.
pub(super) fn readers(survey: &mut Survey) -> io::Result<()> {
    let readers = (cores() - 1).max(1);
    for &(items, who) in sizes(survey.scale) {
        let mut rows = Vec::new();
        for _ in 0..survey.scale.runs {
            let mut pass = Readers { survey, items, readers, who, rows: &mut rows };
            contender::each_shared(&mut pass);
        }
        for row in rows {
            survey.journal.append(&row.fastest())?;
        }
    }
    Ok(())
}
