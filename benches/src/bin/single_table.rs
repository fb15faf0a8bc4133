//! Prints a table of the single operations: nanoseconds, and multiples of what the memory allows.
//!
//! The arguments are capacities. Contenders take turns, pass after pass, so that a change in what
//! else the machine does meets all of them; a cell is the median of the passes.

use tamis::BlockedBloomFilter;
use tamis_benches::contender::{self, BEST, Contender, RATE, Visitor};
use tamis_benches::course::{Course, Operation};
use tamis_benches::floor::Floor;
use tamis_benches::item::Distribution;
use tamis_benches::median;

const PASSES: usize = 7;
/// Operations in a cell of a pass, at least: enough that the clock's own time does not count.
const LEAST: u64 = 4_000_000;

/// What is timed.
const OPERATIONS: [Operation; 3] = [Operation::Insert, Operation::Hit, Operation::Miss];

/// What one pass found for one contender.
struct Row {
    name: &'static str,
    shared: bool,
    nanos: [f64; OPERATIONS.len()],
}

/// One turn of every contender.
struct Pass {
    capacity: u64,
    rows: Vec<Row>,
}

impl Visitor<u64> for Pass {
    fn visit<C: Contender<u64> + 'static>(&mut self) {
        // The others are slower, and are in the report.
        if !BEST.contains(&C::NAME.trim_end_matches(", alone")) {
            return;
        }
        let capacity = self.capacity;
        let make = move || C::new(capacity, RATE);
        let Some(mut course) = Course::new(capacity, RATE, Distribution::Uniform, make) else {
            return;
        };
        let count = count(capacity);
        let nanos = OPERATIONS
            .map(|operation| course.run(operation, count).as_nanos() as f64 / count as f64);
        self.rows.push(Row { name: C::NAME, shared: C::SHARED, nanos });
    }
}

fn main() {
    for capacity in tamis_benches::arguments(&[100_000, 10_000_000]) {
        table(capacity);
    }
}

/// Measures the contenders at this capacity and prints what came out.
fn table(capacity: u64) {
    let builder = BlockedBloomFilter::<u64>::builder().capacity(capacity as usize);
    let geometry = builder.false_positive_rate(RATE).geometry().expect("a capacity above 0");
    let bytes = geometry.size_in_bytes();
    let (mut reads, mut writes, mut passes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PASSES {
        let mut floor = Floor::new(bytes);
        let count = count(capacity);
        reads.push(floor.read(count).as_nanos() as f64 / count as f64);
        writes.push(floor.write(count).as_nanos() as f64 / count as f64);
        drop(floor);
        let mut pass = Pass { capacity, rows: Vec::new() };
        contender::each(&mut pass);
        contender::each_alone(&mut pass);
        passes.push(pass.rows);
    }
    let (read, write) = (median(reads), median(writes));
    let mib = bytes as f64 / f64::from(1 << 20);
    println!("\n{capacity} items, {mib:.2} MiB: R = {read:.2} ns, W = {write:.2} ns\n");
    let names = OPERATIONS.map(Operation::name);
    println!("| | {} |\n|---|{}", names.join(" | "), "--:|".repeat(names.len()));
    for (index, Row { name, shared, .. }) in passes[0].iter().enumerate() {
        print!("| {name} |");
        for (column, operation) in OPERATIONS.into_iter().enumerate() {
            let nanos = median(passes.iter().map(|rows| rows[index].nanos[column]).collect());
            let writes = operation.inserts() && *shared;
            let (floor, unit) = if writes { (write, 'W') } else { (read, 'R') };
            print!(" {nanos:.2} = {:.2} {unit} |", nanos / floor);
        }
        println!();
    }
}

fn count(capacity: u64) -> u64 {
    capacity.max(LEAST)
}
