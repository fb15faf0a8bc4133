//! What several threads do with one filter, or with memory, in wall time.

use core::ops::Range;
use core::time::Duration;

use tamis_sync::{Ordering, Word};

use crate::contender::{Contender, Size};
use crate::course::{ABSENT, Judge};
use crate::floor::Floor;
use crate::item::Distribution;
use crate::measure::survey::{Rows, Survey, cores, thread_counts};
use crate::operation::Operation::{self, Hit, Insert, InsertMany, Miss, Mixed, Remove};
use crate::record::Record;
use crate::subject::{Answers, SharedSubject};
use crate::together::{elapsed, together};

/// Before each insert, or removal, this number of queries is made.
const QUERIES: u64 = 9;

/// The number of queries of a reader before it checks whether the writer has ended.
const GLANCE: u64 = 256;

/// The items that each thread inserts and removes begin at a multiple of this.
const OWN: u64 = 1 << 48;

/// How many of its own items a thread keeps in the filter.
const KEPT: u64 = 64;

/// What a thread does: insert, query, a mix of both from nine tenths full to full, or, for
/// [`Remove`], a mix of queries with inserts and removals in turn; and how often it queries each
/// item.
pub(super) type Work = (Operation, Distribution);

type Boxed = Box<dyn SharedSubject<u64>>;

/// A filter for threads, or memory instead of one, at one point of an axis.
pub(super) struct Team {
    pub(super) name: &'static str,
    pub(super) removes: bool,
    make: Box<dyn Fn() -> Option<Boxed> + Sync>,
    /// Checks the answers; none of the memory.
    judge: Option<Judge>,
    axis: &'static str,
    items: u64,
    rate: f64,
    /// The least number of operations in a run, of each thread if they only query.
    least: u64,
}

impl Team {
    /// Returns the team of a contender; none if threads cannot share it.
    pub(super) fn of(
        contender: &Contender<u64>,
        axis: &'static str,
        items: u64,
        rate: f64,
        survey: &Survey,
    ) -> Option<Self> {
        let make = contender.shared?;
        Some(Self {
            name: contender.traits.name,
            removes: contender.traits.removes,
            make: Box::new(move || make(items, Size::Rate(rate))),
            judge: Some(Judge::new(contender.traits, rate)),
            axis,
            items,
            rate,
            least: survey.scale.least,
        })
    }

    /// Returns a team with memory instead of a filter, where a write takes at least this time.
    pub(super) fn memory(&self, pace: Duration) -> Self {
        let Self { axis, items, rate, least, .. } = *self;
        // As large as 16 bits per slot, 95 % of which are filled.
        let make = move || Some(Box::new(Floor::new(items * 40 / 19).paced(pace)) as Boxed);
        let make = Box::new(make);
        Self { name: "memory", removes: true, make, judge: None, axis, items, rate, least }
    }

    fn record(&self, operation: &str, threads: u64) -> Record {
        let blank = Record::blank(self.axis, self.name, operation, self.items);
        Record { rate: self.rate, threads, ..blank }
    }

    /// Returns the number of items in the filter before the work.
    fn held(&self, operation: Operation) -> u64 {
        match operation {
            Insert | InsertMany => 0,
            Mixed | Remove => self.items - self.items / (QUERIES + 1),
            _ => self.items,
        }
    }

    /// Returns a filter with the items below `held`, and with those that `threads` threads keep.
    fn filled(&self, held: u64, threads: u64) -> Option<Boxed> {
        let filter = (self.make)()?;
        self.insert(&*filter, 0..held, false);
        for own in (1..=threads).map(|thread| thread * OWN) {
            self.insert(&*filter, own..own + KEPT, false);
        }
        Some(filter)
    }

    fn check(&self, operation: Operation, asked: u64, answers: Answers) {
        if let Some(judge) = self.judge {
            judge.check(operation, asked, answers);
        }
    }

    /// Inserts new items.
    fn insert(&self, filter: &dyn SharedSubject<u64>, items: Range<u64>, many: bool) {
        let count = items.end - items.start;
        let new = filter.insert_all(items, many);
        self.check(Insert, count, Answers { found: 0, new });
    }

    /// Checks the answers to queries of present items.
    fn check_hits(&self, asked: u64, found: u64) {
        self.check(Hit, asked, Answers { found, new: 0 });
    }

    /// Queries present items below this, from the `first`th on.
    fn hit(&self, filter: &dyn SharedSubject<u64>, items: u64, first: u64, count: u64) {
        self.check_hits(count, filter.query(0..items, first, count));
    }

    /// Queries absent items.
    fn miss(&self, filter: &dyn SharedSubject<u64>, first: u64, count: u64) {
        let found = filter.query(ABSENT..u64::MAX, first, count);
        self.check(Miss, count, Answers { found, new: 0 });
    }

    /// Does the `thread`th part of the work of `threads` threads.
    fn work(&self, filter: &dyn SharedSubject<u64>, work: Work, thread: u64, threads: u64) {
        let (operation, distribution) = work;
        let held = self.held(operation);
        let share = |from: u64, to: u64| {
            from + (to - from) * thread / threads..from + (to - from) * (thread + 1) / threads
        };
        let place = self.items * thread / threads;
        match operation {
            Mixed => {
                let new = share(held, self.items);
                let queries = QUERIES * (new.end - new.start);
                self.check_hits(queries, filter.mix(QUERIES, 0..held, place, new, None));
            }
            Remove => {
                let found = filter.mix(QUERIES, 0..held, place, self.own(thread), Some(KEPT));
                self.check_hits(2 * QUERIES * self.turns(), found);
            }
            Miss => self.miss(filter, thread * self.least, self.least),
            Hit if distribution == Distribution::Hot => self.hit(filter, 1, 0, self.least),
            Hit => self.hit(filter, held, place, self.least),
            _ => self.insert(filter, share(0, self.items), operation.is_many()),
        }
    }

    /// Returns how often a thread inserts and removes.
    fn turns(&self) -> u64 {
        self.least / (QUERIES + 1) / 2
    }

    /// Returns the items that the thread inserts, and removes after [`KEPT`] others.
    fn own(&self, thread: u64) -> Range<u64> {
        let first = (thread + 1) * OWN + KEPT;
        first..first + self.turns()
    }

    /// Returns the time of an operation of one thread; none if there is no such filter.
    fn nanos(&self, work: Work, threads: u64) -> Option<f64> {
        let held = self.held(work.0);
        let (mut time, mut done) = (Duration::ZERO, 0);
        while done < self.least {
            let keepers = if work.0 == Remove { threads } else { 0 };
            let filter = self.filled(held, keepers)?;
            time +=
                elapsed(&together(threads, |thread| self.work(&*filter, work, thread, threads)));
            done += match work.0 {
                Insert | InsertMany => self.items,
                Mixed => (self.items - held) * (QUERIES + 1),
                Remove => threads * self.turns() * 2 * (QUERIES + 1),
                _ => threads * self.least,
            };
        }
        Some(time.as_nanos() as f64 * threads as f64 / done as f64)
    }

    /// Measures one run of each of the works, with more and more threads.
    pub(super) fn works(&self, survey: &Survey, works: &[Work], rows: &mut Rows) {
        for &work in works.iter().filter(|work| self.removes || work.0 != Remove) {
            let name = if work.0 == Remove { "mixed with removals" } else { work.0.name() };
            for threads in thread_counts() {
                let distribution = work.1.name().to_owned();
                let record = Record { distribution, ..self.record(name, threads) };
                if survey.journal.has(&record) {
                    continue;
                }
                let Some(nanos) = self.nanos(work, threads) else { return };
                rows.add(record, [nanos]);
            }
        }
    }

    /// Returns the records of [`readers`](Self::readers), without figures.
    pub(super) fn reader_records(&self, hits: bool, churns: bool) -> Vec<Record> {
        let query = if hits { "hit" } else { "miss" };
        let mut names = vec![format!("{query} during writes"), query.to_owned()];
        names.extend(churns.then(|| format!("write during {query}")));
        names.iter().map(|name| self.record(name, readers())).collect()
    }

    /// Measures one run of readers while one thread writes, and of the same number of queries
    /// without it: hits, or misses. Returns the time of a write of the churning writer; none if
    /// there is no such filter.
    ///
    /// The writer inserts from half full to full, or inserts and removes in turn, as fast as it
    /// can.
    pub(super) fn readers(&self, hits: bool, churns: bool, rows: &mut Rows) -> Option<f64> {
        let readers = readers();
        let half = self.items / 2;
        let held = if churns { self.held(Remove) } else { half };
        let filter = &*self.filled(held, if churns { readers + 1 } else { 0 })?;
        let read = |reader: u64, first: u64, count: u64| {
            if hits {
                self.hit(filter, held, held * reader / readers + first, count);
            } else {
                self.miss(filter, (reader << 32) + first, count);
            }
        };
        let (done, asked) = (Word::new(0), Word::new(0));
        let spans = together(readers + 1, |thread| {
            // ORDERING: Relaxed, all here: numbers that publish nothing.
            if thread == readers {
                if churns {
                    filter.mix(0, 0..1, 0, self.own(readers), Some(KEPT));
                } else {
                    self.insert(filter, half..self.items, false);
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
        let (writer, during) = spans.split_last()?;
        // The same number of queries once more, of the same filter.
        let asked = asked.load(Ordering::Relaxed).max(1);
        let without = together(readers, |reader| read(reader, 0, asked.div_ceil(readers)));
        let nanos = |time: Duration| time.as_nanos() as f64 * readers as f64 / asked as f64;
        let writing = elapsed(core::slice::from_ref(writer)).as_nanos() as f64;
        let writing = writing / (2 * self.turns()) as f64;
        let values = [nanos(elapsed(during)), nanos(elapsed(&without)), writing];
        for (record, value) in self.reader_records(hits, churns).into_iter().zip(values) {
            rows.add(record, [value]);
        }
        Some(writing)
    }
}

/// Returns the number of readers next to one writer.
fn readers() -> u64 {
    (cores() - 1).max(1)
}
