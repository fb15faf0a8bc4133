//! What a run has done, for people and for programs.

use core::fmt;
use core::time::Duration;

use serde_json::json;

use super::levels::Levels;
use super::sink::Tally;
use super::{Options, expected};
use crate::Kind;
use crate::units::{bytes, grouped};

/// What a run has done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Records and bytes.
    pub tally: Tally,
    /// The number of first occurrences that are expected to be missing from the output, taken for
    /// duplicates by the filter.
    pub expected_lost: f64,
    /// The kind of filter.
    pub kind: Kind,
    /// Slices of the longest chain.
    pub slices: usize,
    /// Memory of the filter.
    pub filter_bytes: u64,
    /// The rate asked for.
    pub rate: f64,
    /// The capacity asked for.
    pub capacity: Option<u64>,
    /// Worker threads that there were.
    pub threads: usize,
    /// Time from start to end.
    pub elapsed: Duration,
}

impl Summary {
    /// `fills`: the items that each slice of each shard has taken in.
    pub(super) fn new(
        tally: Tally,
        levels: &Levels,
        fills: &[Vec<u64>],
        options: &Options,
        threads: usize,
        elapsed: Duration,
    ) -> Self {
        let size = |number| levels.get(number).map_or(0, |level| level.geometry.size_in_bytes());
        Self {
            tally,
            expected_lost: expected::lost(levels, fills),
            kind: options.kind,
            slices: fills.iter().map(Vec::len).max().unwrap_or(0),
            filter_bytes: fills.iter().flat_map(|fill| (0..fill.len()).map(size)).sum(),
            rate: options.rate,
            capacity: options.capacity,
            threads,
            elapsed,
        }
    }

    /// One JSON object on one line. The names of its fields stay.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Tally { lines, printed, duplicates, keyless, bytes_in, bytes_out } = self.tally;
        json!({
            "lines": lines,
            "printed": printed,
            "duplicates": duplicates,
            "keyless": keyless,
            "bytes_in": bytes_in,
            "bytes_out": bytes_out,
            "expected_lost": self.expected_lost,
            "kind": self.kind.name(),
            "slices": self.slices,
            "filter_bytes": self.filter_bytes,
            "rate": self.rate,
            "capacity": self.capacity,
            "threads": self.threads,
            "seconds": self.elapsed.as_secs_f64(),
        })
        .to_string()
    }
}

/// A few lines for people, without a line end at the end.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { lines, printed, duplicates, keyless, .. } = self.tally;
        write!(
            f,
            "{} lines, {} printed, {} duplicates",
            grouped(lines),
            grouped(printed),
            grouped(duplicates)
        )?;
        if keyless > 0 {
            write!(f, ", {} without a key passed through", grouped(keyless))?;
        }
        let items = self.tally.items();
        write!(f, "\n{} filter, ", self.kind)?;
        match self.slices {
            1 => write!(f, "1 slice")?,
            slices => write!(f, "{slices} slices")?,
        }
        write!(f, ", {}", bytes(self.filter_bytes))?;
        let bits = self.filter_bytes as f64 * 8.0 / items as f64;
        // A filter that is nearly empty has no such figure worth reading.
        if bits < 1000.0 {
            write!(f, ", {bits:.1} bits an item")?;
        }
        write!(f, ", rate below {:e}", self.rate)?;
        write!(f, "\n{} expected to be lost to false positives", Lost(self.expected_lost))?;
        let seconds = self.elapsed.as_secs_f64();
        let rate = (lines as f64 / seconds.max(1e-9)) as u64;
        write!(f, "\n{seconds:.2} s, {} lines/s, {} threads", grouped(rate), self.threads)
    }
}

/// An expected number of lines.
struct Lost(f64);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => write!(f, "0 lines"),
            lost if lost < 0.001 => write!(f, "{lost:.1e} lines"),
            lost if lost < 10.0 => write!(f, "{lost:.3} lines"),
            lost => write!(f, "{} lines", grouped(lost.round() as u64)),
        }
    }
}
