//! Prints what several threads get done with one cuckoo filter: millions of operations a second.
//!
//! The arguments are numbers of threads (1 and 2 if there are none) and, from 1024 on, of slots (2^17 and
//! 2^23 if there are none). Numbers of threads take turns, run
//! after run; a figure is the median of the runs, a ratio that of the runs' ratios. It goes by the clock
//! on the wall, so what other programs do on the same cores counts as slowness.

use core::hint::black_box;
use core::ops::Range;
use std::time::Instant;

use tamis::hash::{DefaultHashBuilder, HashItem, split};
use tamis_benches::cuckoo::{self, Shared, SharedVisitor};
use tamis_benches::median;
use tamis_benches::together::{Span, elapsed, together};
use tamis_sync::{LINE_BYTES, Lines, Ordering, Word};

const RUNS: usize = 7;
/// Operations of a thread in a run.
const OPERATIONS: u64 = 2_000_000;
/// What the filters are filled to.
const LOAD: f64 = 0.9;
/// Items from here on are never inserted.
const ABSENT: u64 = 1 << 63;
/// The items that each thread inserts and removes begin at a multiple of this.
const OWN: u64 = 1 << 48;
/// Items that are inserted by one call.
const SOME: usize = 1024;
/// How many of its own a thread keeps in the filter.
const KEPT: u64 = 64;

/// What a thread does for [`OPERATIONS`], with a filter that holds the items below a number.
type Work<F> = fn(&Filled<F>, thread: u64);

/// A filter at [`LOAD`] with the items below `items`, and [`KEPT`] of each thread's own.
struct Filled<F> {
    filter: F,
    items: u64,
    threads: u64,
}

impl<F: Shared> Filled<F> {
    fn new(slots: u64, threads: u64) -> Self {
        let filter = F::new(slots);
        let items = items(&filter);
        insert(&filter, 0..items);
        for thread in 0..threads {
            insert(&filter, own(thread)..own(thread) + KEPT);
        }
        Self { filter, items, threads }
    }

    /// The items from a place on that is the thread's own, round and round.
    fn residents(&self, thread: u64) -> impl Iterator<Item = u64> {
        let start = self.items * thread / self.threads;
        (start..self.items).chain((0..self.items).cycle())
    }

    /// Inserts and removes items of the thread's own, in turn, forever.
    fn churn(&self, thread: u64) -> impl FnMut() {
        let mut next = own(thread) + KEPT;
        let mut inserts = true;
        move || {
            if inserts {
                assert!(self.filter.insert(next), "an insert is refused");
                next += 1;
            } else {
                let removed = self.filter.remove(next - KEPT - 1);
                assert!(removed || !F::SURE, "an item of its own is gone");
            }
            inserts = !inserts;
        }
    }
}

fn items<F: Shared>(filter: &F) -> u64 {
    (filter.slots() as f64 * LOAD) as u64
}

fn own(thread: u64) -> u64 {
    (thread + 1) * OWN
}

fn insert<F: Shared>(filter: &F, items: Range<u64>) {
    for item in items {
        assert!(filter.insert(item), "an insert is refused");
    }
}

fn hit<F: Shared>(filled: &Filled<F>, thread: u64) {
    for item in filled.residents(thread).take(OPERATIONS as usize) {
        assert!(filled.filter.contains(item), "an item is missed");
    }
}

fn miss<F: Shared>(filled: &Filled<F>, thread: u64) {
    let first = ABSENT + thread * OPERATIONS;
    let positives = (first..first + OPERATIONS)
        .map(|item| u64::from(filled.filter.contains(item)))
        .sum::<u64>();
    black_box(positives);
}

fn hot<F: Shared>(filled: &Filled<F>, _: u64) {
    for _ in 0..OPERATIONS {
        assert!(filled.filter.contains(black_box(0)), "an item is missed");
    }
}

fn mixed<F: Shared>(filled: &Filled<F>, thread: u64) {
    let mut residents = filled.residents(thread);
    let mut churn = filled.churn(thread);
    for _ in 0..OPERATIONS / 10 {
        for item in residents.by_ref().take(9) {
            assert!(filled.filter.contains(item), "an item is missed");
        }
        churn();
    }
}

/// The same in batches.
fn insert_many<F: Shared>(filter: &F, items: Range<u64>) {
    let mut some = Vec::with_capacity(SOME);
    for first in items.clone().step_by(SOME) {
        some.clear();
        some.extend(first..items.end.min(first + SOME as u64));
        assert!(filter.insert_many(&some), "an insert is refused");
    }
}

/// Millions a second, of so many operations, from when the first began until the last ended.
fn rate(operations: u64, spans: &[Span]) -> f64 {
    operations as f64 / elapsed(spans).as_secs_f64() / 1e6
}

/// Memory as large as a filter with 16 bits a slot: what its accesses cost at least.
struct Floor {
    lines: Lines,
    hasher: DefaultHashBuilder,
}

impl Floor {
    fn new(slots: u64) -> Self {
        let lines = Lines::zeroed(slots * 2 / LINE_BYTES as u64).expect("memory for the floor");
        Self { lines, hasher: DefaultHashBuilder::with_seed(1) }
    }

    fn word(&self, hash: u64) -> &Word {
        &self.lines[split::place(hash, self.lines.len() as u64) as usize].words[0]
    }

    /// Sets a bit in a random line: the least that an insert or a removal must do.
    fn write(&self, item: u64) {
        // ORDERING: Relaxed: the bits mean nothing.
        self.word(self.hasher.hash_item(&item)).fetch_or(1 << (item % 64), Ordering::Relaxed);
    }

    /// Reads two random lines: the least that a query must do.
    fn read(&self, item: u64) -> u64 {
        let hash = self.hasher.hash_item(&item);
        let words = [self.word(hash), self.word(hash.rotate_left(32))];
        // ORDERING: Relaxed: the bits mean nothing.
        words.map(|word| word.load(Ordering::Relaxed)).iter().sum()
    }

    fn read_all(&self, thread: u64) {
        let items = thread * OPERATIONS..(thread + 1) * OPERATIONS;
        black_box(items.map(|item| self.read(item)).fold(0, u64::wrapping_add));
    }

    fn writes(&self, threads: u64) -> f64 {
        let items = |thread| thread * OPERATIONS..(thread + 1) * OPERATIONS;
        let work = |thread| items(thread).for_each(|item| self.write(item));
        rate(threads * OPERATIONS, &together(threads, work))
    }

    fn reads(&self, threads: u64) -> f64 {
        rate(threads * OPERATIONS, &together(threads, |thread| self.read_all(thread)))
    }

    /// As [`beside_a_writer`] of so many millions of writes a second.
    fn beside_a_writer(&self, readers: u64, writes: f64) -> [f64; 3] {
        let read = |thread| self.read_all(thread);
        let pace = core::time::Duration::from_secs_f64(100.0 / (writes * 1e6));
        alone_and_beside(readers, &read, || {
            let (mut next, mut due) = (OWN, Instant::now());
            move || {
                if next % 100 == 0 {
                    while Instant::now() < due {
                        core::hint::spin_loop();
                    }
                    due += pace;
                }
                self.write(next);
                next += 1;
            }
        })
    }
}

/// The rate of filling, each thread with its own share of the items.
fn fill<F: Shared>(slots: u64, threads: u64, insert: fn(&F, Range<u64>)) -> f64 {
    // Small filters several times, as one is full in a moment.
    let rates = (0..OPERATIONS.div_ceil(slots)).map(|_| {
        let filter = F::new(slots);
        let items = items(&filter);
        let share = |thread| items * thread / threads..items * (thread + 1) / threads;
        rate(items, &together(threads, |thread| insert(&filter, share(thread))))
    });
    median(rates.collect())
}

/// The rates of readers alone, beside a writer, and that of the writer.
fn alone_and_beside<W: FnMut()>(
    readers: u64,
    read: &(impl Fn(u64) + Sync),
    writer: impl Fn() -> W + Sync,
) -> [f64; 3] {
    let operations = readers * OPERATIONS;
    let alone = rate(operations, &together(readers, read));
    let (done, written) = (Word::new(0), Word::new(0));
    let spans = together(readers + 1, |thread| {
        if thread < readers {
            read(thread);
            // ORDERING: Relaxed, here and below: numbers that publish nothing.
            done.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut write = writer();
        while done.load(Ordering::Relaxed) < readers {
            (0..100).for_each(|_| write());
            written.fetch_add(100, Ordering::Relaxed);
        }
    });
    let (writer, readers) = spans.split_last().expect("a writer");
    let written = written.load(Ordering::Relaxed);
    [alone, rate(operations, readers), rate(written, core::slice::from_ref(writer))]
}

/// Of a filter: the writer inserts and removes.
fn beside_a_writer<F: Shared>(slots: u64, readers: u64, read: Work<F>) -> [f64; 3] {
    let filled = Filled::<F>::new(slots, readers + 1);
    alone_and_beside(readers, &|thread| read(&filled, thread), || filled.churn(readers))
}

/// All measurements of every filter of this size.
struct Tables<'a> {
    slots: u64,
    threads: &'a [u64],
}

impl Tables<'_> {
    fn head(&self, name: &str) {
        println!("\n{name}, {} slots; millions of operations a second\n", self.slots);
        let threads: Vec<_> = self.threads.iter().map(u64::to_string).collect();
        println!("| threads | {} | ratio |", threads.join(" | "));
        println!("|---|{}", "--:|".repeat(threads.len() + 1));
    }

    /// A row of rates, and the last over the first.
    fn row(&self, name: &str, rate: impl Fn(u64) -> f64) {
        let run = || self.threads.iter().map(|&threads| rate(threads)).collect::<Vec<_>>();
        let runs: Vec<_> = (0..RUNS).map(|_| run()).collect();
        print!("| {name} |");
        for column in 0..self.threads.len() {
            print!(" {:.1} |", median(runs.iter().map(|run| run[column]).collect()));
        }
        let ratios = runs.iter().map(|run| run[run.len() - 1] / run[0]);
        println!(" {:.2} |", median(ratios.collect()));
    }

    fn work<F: Shared>(&self, name: &str, work: Work<F>) {
        self.row(name, |threads| {
            let filled = Filled::<F>::new(self.slots, threads);
            rate(threads * OPERATIONS, &together(threads, |thread| work(&filled, thread)))
        });
    }

    fn readers<F: Shared>(&self, name: &str, read: Work<F>) {
        for &threads in self.threads.iter().filter(|&&threads| threads > 1) {
            let readers = threads - 1;
            let writes = self.beside(&format!("{name}, {readers} readers"), || {
                beside_a_writer(self.slots, readers, read)
            });
            let floor = Floor::new(self.slots);
            let name = format!("two random lines, {readers} readers beside one line written");
            self.beside(&name, || floor.beside_a_writer(readers, writes));
        }
    }

    /// A row of readers alone and beside a writer; the writer's rate.
    fn beside(&self, name: &str, run: impl Fn() -> [f64; 3]) -> f64 {
        let runs: Vec<[f64; 3]> = (0..RUNS).map(|_| run()).collect();
        let over_runs = |value: &dyn Fn(&[f64; 3]) -> f64| median(runs.iter().map(value).collect());
        let [alone, beside, writer] = [0, 1, 2].map(|at| over_runs(&|run| run[at]));
        let percent = over_runs(&|run| 100.0 * run[1] / run[0]);
        println!("| {name} | {alone:.1} | {beside:.1} | {percent:.0} % | {writer:.1} |");
        writer
    }
}

impl SharedVisitor for Tables<'_> {
    fn visit<F: Shared>(&mut self) {
        self.head(F::NAME);
        self.row("insert, 0 to 90 %", |threads| fill::<F>(self.slots, threads, insert));
        self.row("insert_many", |threads| fill::<F>(self.slots, threads, insert_many));
        self.work::<F>("hit", hit);
        self.work::<F>("miss", miss);
        self.work::<F>("hit, all the same item", hot);
        if F::REMOVES {
            self.work::<F>("90 % hit, 10 % insert and remove", mixed);
            println!("\n| readers | alone | beside a writer | | the writer |");
            println!("|---|--:|--:|--:|--:|");
            self.readers::<F>("hit", hit);
            self.readers::<F>("miss", miss);
        }
    }
}

fn main() {
    let (mut slots, mut threads): (Vec<u64>, Vec<u64>) =
        tamis_benches::arguments(&[]).into_iter().partition(|&number| number >= 1024);
    if slots.is_empty() {
        slots = vec![1 << 17, 1 << 23];
    }
    if threads.is_empty() {
        threads = vec![1, 2];
    }
    for slots in slots {
        let mut tables = Tables { slots, threads: &threads };
        tables.head("The memory");
        let floor = Floor::new(slots);
        tables.row("a bit in a random line", |threads| floor.writes(threads));
        tables.row("two random lines read", |threads| floor.reads(threads));
        drop(floor);
        cuckoo::each_shared(&mut tables);
    }
}
