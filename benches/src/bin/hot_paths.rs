//! Runs one hot path a given number of times, and nothing else that depends on the number. The
//! difference between the instructions of two runs is the cost of the path.
//!
//! `hot_paths` without arguments prints the names of the paths; `hot_paths NAME NUMBER` runs one.
//! See `cargo xtask bench --gate`.

use core::hint::black_box;

use tamis::hash::DefaultHashBuilder;
use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};

/// Items present at the start: the filters fit the first cache, and addresses do not matter to a
/// count.
const ITEMS: u64 = 10_000;

/// Items from here on are absent.
const ABSENT: u64 = 1 << 40;

/// What a path does with its number of items.
type Path = fn(number: u64);

macro_rules! bloom {
    ($name:ident) => {{
        let builder = $name::<u64>::builder().capacity(100_000).false_positive_rate(0.01);
        let filter = builder.hasher(DefaultHashBuilder::with_seed(1)).build().expect("memory");
        each(0..ITEMS, |item| filter.insert(item));
        filter
    }};
}

macro_rules! cuckoo {
    ($name:ident) => {{
        // So large that no item is relocated: that would be another path.
        let builder = $name::<u64>::builder().capacity(400_000).false_positive_rate(0.001);
        let filter = builder.hasher(DefaultHashBuilder::with_seed(1)).build().expect("memory");
        each(0..ITEMS, |item| filter.insert(item));
        filter
    }};
}

macro_rules! growing {
    ($name:ident) => {{
        let builder = $name::<u64>::builder().capacity(100_000).max_capacity(10_000_000);
        let builder = builder.false_positive_rate(1e-4).hasher(DefaultHashBuilder::with_seed(1));
        let filter = builder.build().expect("memory");
        each(0..ITEMS, |item| filter.insert(item));
        filter
    }};
}

/// Returns present items, cyclically.
fn known(number: u64) -> impl Iterator<Item = u64> {
    (0..number).map(|item| item % ITEMS)
}

/// Returns absent items.
fn absent(number: u64) -> impl Iterator<Item = u64> {
    (0..number).map(|item| ABSENT + item)
}

/// Calls a function with each item.
fn each<R>(items: impl Iterator<Item = u64>, mut with: impl FnMut(&u64) -> R) {
    items.for_each(|item| ignore(with(&item)));
}

/// Makes the compiler compute an unused answer.
fn ignore<R>(answer: R) {
    black_box(answer);
}

/// Returns items in an array, which has its full length in every run.
fn array(items: impl Iterator<Item = u64>) -> Vec<u64> {
    items.collect()
}

macro_rules! paths {
    ($($name:literal => |$number:ident| $run:expr;)*) => {
        const PATHS: &[(&str, Path)] = &[$(($name, |$number| $run)),*];
    };
}

/// The longest run; every run allocates arrays of this length.
const MAX: u64 = 40_000;

paths! {
    "classic insert" => |number| { let filter = bloom!(BloomFilter); each(absent(number), |item| filter.insert(item)); };
    "classic hit" => |number| { let filter = bloom!(BloomFilter); each(known(number), |item| filter.contains(item)); };
    "classic miss" => |number| { let filter = bloom!(BloomFilter); each(absent(number), |item| filter.contains(item)); };
    "blocked insert" => |number| { let filter = bloom!(BlockedBloomFilter); each(absent(number), |item| filter.insert(item)); };
    "blocked hit" => |number| { let filter = bloom!(BlockedBloomFilter); each(known(number), |item| filter.contains(item)); };
    "blocked miss" => |number| { let filter = bloom!(BlockedBloomFilter); each(absent(number), |item| filter.contains(item)); };
    "blocked insert_many_with" => |number| {
        let (filter, items) = (bloom!(BlockedBloomFilter), array(absent(MAX)));
        filter.insert_many_with(&items[..number as usize], |_, new| ignore(new));
    };
    "blocked contains_many_with" => |number| {
        let (filter, items) = (bloom!(BlockedBloomFilter), array(known(MAX)));
        filter.contains_many_with(&items[..number as usize], |_, hit| ignore(hit));
    };
    "once insert" => |number| { let filter = bloom!(OnceBloomFilter); each(absent(number), |item| filter.insert(item)); };
    "once insert known" => |number| { let filter = bloom!(OnceBloomFilter); each(known(number), |item| filter.insert(item)); };
    "once hit" => |number| { let filter = bloom!(OnceBloomFilter); each(known(number), |item| filter.contains(item)); };
    "once insert_many_with" => |number| {
        let (filter, items) = (bloom!(OnceBloomFilter), array(absent(MAX)));
        filter.insert_many_with(&items[..number as usize], |_, new| ignore(new));
    };
    "cuckoo insert" => |number| { let filter = cuckoo!(CuckooFilter); each(absent(number), |item| filter.insert(item)); };
    "cuckoo hit" => |number| { let filter = cuckoo!(CuckooFilter); each(known(number), |item| filter.contains(item)); };
    "cuckoo miss" => |number| { let filter = cuckoo!(CuckooFilter); each(absent(number), |item| filter.contains(item)); };
    "cuckoo insert and remove" => |number| {
        let filter = cuckoo!(CuckooFilter);
        each(absent(number), |item| (filter.insert(item), filter.remove(item)));
    };
    "cuckoo insert_many_with" => |number| {
        let (filter, items) = (cuckoo!(CuckooFilter), array(absent(MAX)));
        filter.insert_many_with(&items[..number as usize], |_, result| ignore(result));
    };
    "cuckoo contains_many_with" => |number| {
        let (filter, items) = (cuckoo!(CuckooFilter), array(known(MAX)));
        filter.contains_many_with(&items[..number as usize], |_, hit| ignore(hit));
    };
    "once cuckoo insert" => |number| { let filter = cuckoo!(OnceCuckooFilter); each(absent(number), |item| filter.insert(item)); };
    "growing cuckoo hit" => |number| { let filter = growing!(CuckooFilter); each(known(number), |item| filter.contains(item)); };
    "growing cuckoo miss" => |number| { let filter = growing!(CuckooFilter); each(absent(number), |item| filter.contains(item)); };
    "growing cuckoo insert and remove" => |number| {
        let filter = growing!(CuckooFilter);
        each(absent(number), |item| (filter.insert(item), filter.remove(item)));
    };
    "growing once cuckoo insert" => |number| { let filter = growing!(OnceCuckooFilter); each(absent(number), |item| filter.insert(item)); };
    "growing once cuckoo insert known" => |number| { let filter = growing!(OnceCuckooFilter); each(known(number), |item| filter.insert(item)); };
    "growing cuckoo contains_many_with" => |number| {
        let (filter, items) = (growing!(CuckooFilter), array(known(MAX)));
        filter.contains_many_with(&items[..number as usize], |_, hit| ignore(hit));
    };
    "growing once cuckoo insert_many_with known" => |number| {
        let (filter, items) = (growing!(OnceCuckooFilter), array(known(MAX)));
        filter.insert_many_with(&items[..number as usize], |_, result| ignore(result));
    };
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        PATHS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let number = arguments.next().and_then(|number| number.parse().ok());
    let number = number.filter(|&number| number <= MAX).expect("a number up to 40000");
    let path = PATHS.iter().find(|(known, _)| *known == name).expect("the name of a path");
    (path.1)(number);
}
