//! Prints a table of the cuckoo filters on one thread: nanoseconds an operation, multiples of what the
//! memory allows, and what each pays for it in bits and in false positives.
//!
//! The arguments are slots. Powers of two, as the peers know no other sizes. Filters take turns, pass
//! after pass; a cell is the median of the passes.

use tamis_benches::cuckoo::course::Course;
use tamis_benches::cuckoo::{self, Cuckoo, Visitor};
use tamis_benches::floor::Floor;
use tamis_benches::median;

const PASSES: usize = 5;
/// Operations in a cell of a pass, at least: enough that the clock's own time does not count.
const LEAST: u64 = 2_000_000;

/// What is timed; full is 95 % for most shapes.
const COLUMNS: [&str; 5] = ["insert, 0 to full", "insert, last 5 %", "hit", "miss", "remove"];

/// What one pass found for one filter.
struct Row {
    name: &'static str,
    shared: bool,
    removes: bool,
    full: f64,
    bits: f64,
    items: u64,
    rate: f64,
    refused: u64,
    nanos: [f64; COLUMNS.len()],
}

/// One turn of every filter.
struct Pass {
    slots: u64,
    rows: Vec<Row>,
}

impl Visitor for Pass {
    fn visit<C: Cuckoo>(&mut self) {
        let mut nanos = [0.0; COLUMNS.len()];
        let (mut asked, mut wrong, mut refused) = (0, 0, 0);
        let rounds = LEAST.div_ceil(self.slots);
        let (mut bits, mut items) = (0.0, 0);
        for round in 0..rounds {
            let mut course = Course::<C>::new(self.slots);
            let (nearly, full) = (course.items_at(C::FULL - 0.05), course.items_at(C::FULL));
            let before = course.insert_to(nearly);
            let near = course.insert_to(full);
            let hit = course.hit(full);
            let (miss, positives) = course.miss(round * full, full);
            bits = course.filter().bytes() as f64 * 8.0 / full as f64;
            // Of one that cannot, the cell stays empty.
            let remove = if C::REMOVES { course.remove(full) } else { hit };
            let counts = [full, full - nearly, full, full, full];
            let times = [before + near, near, hit, miss, remove];
            for (at, (time, count)) in times.into_iter().zip(counts).enumerate() {
                nanos[at] += time.as_nanos() as f64 / (count * rounds) as f64;
            }
            (asked, wrong) = (asked + full, wrong + positives);
            refused += course.refused();
            items = full;
        }
        self.rows.push(Row {
            name: C::NAME,
            shared: C::SHARED,
            removes: C::REMOVES,
            full: C::FULL,
            bits,
            items,
            rate: wrong as f64 / asked as f64,
            refused,
            nanos,
        });
    }
}

fn main() {
    for slots in tamis_benches::arguments(&[1 << 17, 1 << 23]) {
        table(slots);
    }
}

/// Measures the filters at this size and prints what came out.
fn table(slots: u64) {
    // As large as a filter with 16 bits a slot.
    let bytes = slots * 2;
    let (mut reads, mut writes, mut passes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PASSES {
        let mut floor = Floor::new(bytes);
        let count = slots.max(LEAST);
        reads.push(floor.read(count).as_nanos() as f64 / count as f64);
        writes.push(floor.write(count).as_nanos() as f64 / count as f64);
        drop(floor);
        let mut pass = Pass { slots, rows: Vec::new() };
        cuckoo::each(&mut pass);
        passes.push(pass.rows);
    }
    let (read, write) = (median(reads), median(writes));
    let mib = bytes as f64 / f64::from(1 << 20);
    println!("\n{slots} slots, {mib:.2} MiB at 16 bits: R = {read:.2} ns, W = {write:.2} ns\n");
    println!("| | items | load | bits/item | rate | refused | {} |", COLUMNS.join(" | "));
    println!("|---|{}", "--:|".repeat(5 + COLUMNS.len()));
    for (index, row) in passes[0].iter().enumerate() {
        let over_passes = |value: &dyn Fn(&Row) -> f64| {
            median(passes.iter().map(|rows| value(&rows[index])).collect())
        };
        let Row { name, shared, removes, full, bits, items, .. } = *row;
        let (rate, refused) =
            (over_passes(&|row| row.rate), over_passes(&|row| row.refused as f64));
        print!("| {name} | {items} | {full} | {bits:.2} | {rate:.1e} | {refused} |");
        for column in 0..COLUMNS.len() {
            if column == 4 && !removes {
                print!(" |");
                continue;
            }
            let nanos = over_passes(&|row| row.nanos[column]);
            let writes = shared && ![2, 3].contains(&column);
            let (floor, unit) = if writes { (write, 'W') } else { (read, 'R') };
            print!(" {nanos:.1} = {:.1} {unit} |", nanos / floor);
        }
        println!();
    }
}
