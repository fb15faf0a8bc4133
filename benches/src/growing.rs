//! What filters cost that grow, count or rotate, beside filters of a fixed size: time, memory, rate
//! and latency.
//!
//! All figures of a table are measured in one process, filters in turn, so that a disturbance of
//! the machine affects all of them. A ratio is the median of the ratios of the rounds.

mod cost;
mod latency;
mod rate;

use std::time::Instant;

pub(crate) use self::cost::median;
pub use self::cost::{Costs, Row};
pub use self::latency::Latency;
pub(crate) use self::latency::{CLOCK, FROM, quantile};
pub(crate) use self::rate::{MADE_FOR, REQUEST};
pub use self::rate::{Row as RateRow, Stage};
use crate::contender::{self, Contender, named};
use crate::operation::Operation::{self, Hit, HitMany, Insert, InsertMany, Miss, MissMany, Remove};

/// The items that a filter is made for, divided into those that it gets.
pub(crate) const GROWTH: u64 = 100;

/// What all tables and the chart show.
#[derive(Debug)]
pub struct Figures {
    /// The published growth test.
    pub stages: Vec<Stage>,
    /// Single inserts while filters grow.
    pub latency: Vec<Latency>,
    /// Filters that grow to a hundred times their size, and filters of the right size.
    pub growing: Costs,
    /// Filters that remove.
    pub counting: Vec<Costs>,
    /// Filters of a window.
    pub rotating: Costs,
}

/// Measures all; with `quick` on a tenth of the items. The latency is that of `inserts` inserts.
#[must_use]
pub fn measure(quick: bool, inserts: u64) -> Figures {
    let (large, rounds) = if quick { (1_000_000, 3) } else { (10_000_000, 3) };
    let all = contender::all();
    let fixed = |names: &[&str]| -> Vec<(Contender<u64>, u64)> {
        named(&all, names).into_iter().map(|contender| (contender, 1)).collect()
    };
    let start = Instant::now();
    let note = |what: &str| eprintln!("{:.0} s: {what}", start.elapsed().as_secs_f64());
    note("growth");
    let stages = rate::stages(if quick { 1_000_000 } else { 10_000_000 });
    note("latency");
    // A round of the most inserts takes a minute.
    let latency = latency::all(inserts, if inserts > 10_000_000 { 1 } else { 3 });
    note("cost of growth");
    let reads: &[Operation] = &[Hit, Miss, HitMany, MissMany];
    let common = [&[Insert, InsertMany], reads].concat();
    let grown = contender::growing().into_iter().map(|contender| (contender, GROWTH));
    let growing = [fixed(&["blocked", "once", "cuckoo"]), grown.collect()].concat();
    let growing = Costs::measure(&growing, large, rounds, &common);
    note("cost of counts");
    let all_but_insert_many = [&[Insert], reads, &[Remove]].concat();
    let counting: Vec<_> =
        contender::counting().into_iter().map(|contender| (contender, 1)).collect();
    let counting =
        [100_000, 1_000_000].map(|items| Costs::measure(&counting, items, 3, &all_but_insert_many));
    note("cost of a window");
    let rotating = contender::rotating().into_iter().map(|contender| (contender, 1)).collect();
    let rotating = [fixed(&["once"]), rotating].concat();
    let rotating = Costs::measure(&rotating, 1_000_000, rounds, &common);
    Figures { stages, latency, growing, counting: counting.into(), rotating }
}
