//! One measured figure: what the measuring programs write and the report reads, a line of JSON each.

use serde::{Deserialize, Serialize};

/// A figure, and all that it depends on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// Which axis was varied: `operation`, `half`, `alone`, `build`, `size`, `rate`, `memory`, `threads`, `item`, `distribution`, `readers`, `fill`, `bits`, `reproduction`.
    pub axis: String,
    /// Whose figure; "R" and "W" are the limits of the memory.
    pub contender: String,
    /// `insert`, `hit`, `miss`, `half` (50 % hits), `mixed` (90 % hits, 10 % inserts), `insert_many`, `hit_many`, `miss_many`; of the axes without a time, what `value` is.
    pub operation: String,
    /// Items that the filter was made for, and held.
    pub items: u64,
    /// The rate of false positives that was asked for.
    pub rate: f64,
    /// The rate that was measured, if one was.
    pub measured_rate: Option<f64>,
    /// Bits of memory an item.
    pub bits: f64,
    /// Threads at work.
    pub threads: u64,
    /// `u64` or `url`.
    pub item: String,
    /// `uniform`, `zipf` or `hot`.
    pub distribution: String,
    /// Nanoseconds an operation of one thread (the fastest of the runs), unless the axis is one without a time: then what `operation` says.
    pub value: f64,
    /// Lowest and highest run.
    pub spread: [f64; 2],
}

impl Record {
    /// What the figure depends on, without the figure.
    ///
    /// # Errors
    ///
    /// If a condition is no number.
    pub fn conditions(&self) -> serde_json::Result<String> {
        // Memory is what comes out, except where it is what was asked for.
        let bits = if self.axis == "memory" { self.bits } else { 0.0 };
        let figures =
            Self { measured_rate: None, bits, value: 0.0, spread: [0.0; 2], ..self.clone() };
        serde_json::to_string(&figures)
    }

    /// The better of two figures under the same conditions: the faster, if they are times, and else the later one.
    #[must_use]
    pub fn better(self, later: Self) -> Self {
        if ["fill", "bits", "reproduction"].contains(&self.axis.as_str()) {
            return later;
        }
        let spread = [self.spread[0].min(later.spread[0]), self.spread[1].max(later.spread[1])];
        let faster = if later.value < self.value { later } else { self };
        Self { spread, ..faster }
    }
}
