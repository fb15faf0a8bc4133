//! What a run has done, for people and for programs.

use core::fmt;
use core::time::Duration;

use serde_json::json;

use super::levels::Levels;
use super::sink::{Keyless, Tally};
use super::{Options, expected};
use crate::Kind;
use crate::units::{bytes, grouped};

/// More lines than these, expected to be missing or too many, are warned of.
const NOTICED: f64 = 0.01;

/// What a run has done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Records and bytes.
    pub tally: Tally,
    /// The first record without a key, if there was one.
    pub first_keyless: Option<Keyless>,
    /// Whether the second record of each key was printed, and not the first.
    pub repeated: bool,
    /// The number of records that are expected to be missing from the output, each taken by a filter for one
    /// that was printed.
    pub expected_lost: f64,
    /// The number of records that are expected to be in the output and should not be: where what is repeated is
    /// printed, a first occurrence taken for a second. Some of them do come again, so that only the place is wrong.
    pub expected_extra: f64,
    /// The kind of filter.
    pub kind: Kind,
    /// Slices of the longest chain.
    pub slices: usize,
    /// Memory of the filter, or of both.
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
    /// `fills`: the items that each slice of each shard has taken in, of what was seen and of what was printed.
    pub(super) fn new(
        tally: Tally,
        first_keyless: Option<Keyless>,
        levels: &Levels,
        fills: &[Vec<Vec<u64>>; 2],
        options: &Options,
        threads: usize,
        elapsed: Duration,
    ) -> Self {
        let size = |number| levels.get(number).map_or(0, |level| level.geometry.size_in_bytes());
        let [seen, again] = fills;
        let false_seen = expected::lost(levels, seen);
        let (expected_lost, expected_extra) = if options.repeated {
            (expected::lost(levels, again), false_seen)
        } else {
            (false_seen, 0.0)
        };
        Self {
            tally,
            first_keyless,
            repeated: options.repeated,
            expected_lost,
            expected_extra,
            kind: options.kind,
            slices: seen.iter().map(Vec::len).max().unwrap_or(0),
            filter_bytes: fills.iter().flatten().flat_map(|fill| (0..fill.len()).map(size)).sum(),
            rate: options.rate,
            capacity: options.capacity,
            threads,
            elapsed,
        }
    }

    /// What must not go unnoticed, a line for each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(first) = &self.first_keyless {
            let count = match self.tally.keyless {
                1 => "1 record without a key was".into(),
                count => format!("{} records without a key were", grouped(count)),
            };
            let fate = if self.repeated { "left out" } else { "printed" };
            warnings.push(format!("{count} {fate}; the first: {first}"));
        }
        for (number, fate) in [
            (self.expected_lost, "lost to false positives; lower --rate to lose fewer"),
            (self.expected_extra, "printed although not yet repeated; lower --rate to print fewer"),
        ] {
            if number > NOTICED {
                warnings.push(format!("{} expected to be {fate}", Lost(number)));
            }
        }
        warnings
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
            "repeated": self.repeated,
            "distinct": self.tally.items(),
            "first_keyless": self.first_keyless.as_ref().map(ToString::to_string),
            "warnings": self.warnings(),
            "expected_lost": self.expected_lost,
            "expected_extra": self.expected_extra,
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

/// One line for people, without a line end at the end; with `{:#}` two more, on the filter and the time.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { lines, printed, duplicates, keyless, .. } = self.tally;
        let lost = Lost(self.expected_lost);
        write!(f, "{} lines, ", grouped(lines))?;
        if self.repeated {
            write!(f, "{} distinct, {} repeated", grouped(self.tally.items()), grouped(printed))?;
        } else {
            write!(f, "{} printed, {} duplicates", grouped(printed), grouped(duplicates))?;
        }
        if keyless > 0 {
            write!(f, ", {} without a key", grouped(keyless))?;
        }
        write!(f, "; {lost} expected to be lost to false positives")?;
        if self.repeated {
            write!(f, ", {} to be printed although not yet repeated", Lost(self.expected_extra))?;
        }
        if f.alternate() { self.details(f) } else { Ok(()) }
    }
}

impl Summary {
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}{} filter", if self.repeated { "two of a " } else { "" }, self.kind)?;
        match self.slices {
            1 => write!(f, ", 1 slice")?,
            slices => write!(f, ", {slices} slices")?,
        }
        write!(f, ", {}", bytes(self.filter_bytes))?;
        let bits = self.filter_bytes as f64 * 8.0 / self.tally.items() as f64;
        // A filter that is nearly empty has no such figure worth reading.
        if bits < 1000.0 {
            write!(f, ", {bits:.1} bits an item")?;
        }
        write!(f, ", rate below {:e}", self.rate)?;
        let seconds = self.elapsed.as_secs_f64();
        let rate = (self.tally.lines as f64 / seconds.max(1e-9)) as u64;
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
