//! What the benches share: filters side by side, the course that they run, the limits of the memory.
//!
//! Items are the integers from 0 on: hashed, they fall on random lines.

#![forbid(unsafe_code)]

pub mod clock;
pub mod contender;
pub mod cores;
pub mod course;
pub mod cuckoo;
pub mod floor;
pub mod item;
pub mod measure;
pub mod record;
#[cfg(feature = "report")]
pub mod report;
pub mod together;

/// The hasher of every contender and of the floors, so that it makes no difference.
fn hasher() -> tamis::hash::DefaultHashBuilder {
    tamis::hash::DefaultHashBuilder::with_seed(1)
}

/// The middle one.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The numbers that a program is called with, or else those.
///
/// # Panics
///
/// If an argument is not a number.
#[must_use]
pub fn arguments(default: &[u64]) -> Vec<u64> {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|text| number(&text)).collect();
    if numbers.is_empty() { default.to_vec() } else { numbers }
}

/// A number, perhaps with `_` in it.
fn number(text: &str) -> u64 {
    text.replace('_', "").parse().expect("the arguments are numbers")
}
