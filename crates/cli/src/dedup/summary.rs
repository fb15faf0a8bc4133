//! The summary of a run: text for people, JSON for programs, and warnings.

use core::fmt;
use core::time::Duration;

use serde_json::json;

use super::options::{Filter, Options};
use crate::pipeline::{Done, Notes, Tally};
use crate::units::{bytes, counted, grouped};

/// A warning is given if more lines than this are expected to be missing, or to be printed wrongly.
const NOTICED: f64 = 0.01;

/// What a run has done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The counts of records and bytes.
    pub tally: Tally,
    /// What was noticed in the input.
    pub notes: Notes,
    /// Whether the second record of each key was printed instead of the first.
    pub repeated: bool,
    /// The number of records expected to be missing from the output, because a filter took them for
    /// others that were printed.
    pub expected_lost: f64,
    /// The number of records expected to be in the output that should not be. These are first
    /// occurrences taken for second ones when repeated records are printed. Some of them do come
    /// again later; then only the place is wrong.
    pub expected_extra: f64,
    /// What the keys were kept in.
    pub filter: Filter,
    /// The number of slices of the longest chain; 1 for a table or a window.
    pub slices: usize,
    /// The memory of the filter, or of both filters.
    pub filter_bytes: u64,
    /// The capacity asked for.
    pub capacity: Option<u64>,
    /// The number of worker threads that ran.
    pub threads: usize,
    /// The time from start to end.
    pub elapsed: Duration,
}

/// How many errors are expected of a run.
pub(super) struct Expected {
    /// Records that are missing from the output.
    pub(super) lost: f64,
    /// Records in the output that should not be.
    pub(super) extra: f64,
}

impl Summary {
    /// Sums up a run that used this number of slices, and of bytes.
    pub(super) fn new(
        done: Done,
        expected: Expected,
        (slices, filter_bytes): (usize, u64),
        options: &Options,
        elapsed: Duration,
    ) -> Self {
        let Done { tally, notes, threads } = done;
        Self {
            tally,
            notes,
            repeated: options.repeated,
            expected_lost: expected.lost,
            expected_extra: expected.extra,
            filter: options.filter,
            slices,
            filter_bytes,
            capacity: options.capacity,
            threads,
            elapsed,
        }
    }

    /// The warnings, one line each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let fate = if self.repeated { "left out" } else { "printed" };
        let mut warnings = self.notes.warnings(&self.tally, fate);
        let remedy = self.remedy();
        for (number, fate) in [
            (self.expected_lost, "lost to false positives"),
            (self.expected_extra, "printed although not yet repeated"),
        ] {
            if number > NOTICED {
                warnings.push(format!("{} expected to be {fate}; {remedy}", Lost(number)));
            }
        }
        warnings
    }

    /// What to do for fewer errors.
    fn remedy(&self) -> &'static str {
        match self.filter {
            Filter::Chain { .. } => "lower --rate, or omit it and --kind, for fewer",
            Filter::Window { .. } => "lower --rate for fewer",
            Filter::Table if self.capacity.is_some_and(|items| items >= self.tally.items()) => {
                "no option makes them fewer"
            }
            Filter::Table => "give the number of distinct records as --capacity for fewer",
        }
    }

    /// The summary as one JSON object on one line. The names of its fields are stable.
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
            "first_keyless": self.notes.keyless.as_ref().map(ToString::to_string),
            "malformed": self.notes.malformed,
            "warnings": self.warnings(),
            "expected_lost": self.expected_lost,
            "expected_extra": self.expected_extra,
            "kind": self.filter.name(),
            "slices": self.slices,
            "filter_bytes": self.filter_bytes,
            "rate": self.filter.rate(),
            "capacity": self.capacity,
            "window": self.filter.window(),
            "threads": self.threads,
            "seconds": self.elapsed.as_secs_f64(),
        })
        .to_string()
    }
}

/// One line for people, without a line end; with `{:#}` two more, on the filter and on the time.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { lines, printed, duplicates, keyless, .. } = self.tally;
        let lost = Lost(self.expected_lost);
        write!(f, "{}, ", counted(lines, "line"))?;
        if self.repeated {
            write!(f, "{} distinct, {} repeated", grouped(self.tally.items()), grouped(printed))?;
        } else {
            write!(f, "{} printed, {}", grouped(printed), counted(duplicates, "duplicate"))?;
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
    /// Writes a line on the filter and one on the time.
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, plural) = if self.repeated { ("two ", "s") } else { ("", "") };
        match self.filter {
            Filter::Table => write!(f, "\n{number}table{plural} of fingerprints")?,
            Filter::Window { items, rate } => {
                let items = counted(items, "record");
                write!(f, "\nwindow of the last {items} printed, rate {rate:e}")?;
            }
            Filter::Chain { kind, rate } => {
                let slices = counted(self.slices as u64, "slice");
                write!(f, "\n{number}{kind} filter{plural} of rate {rate:e}, {slices}")?;
            }
        }
        write!(f, ", {}", bytes(self.filter_bytes))?;
        let bits = self.filter_bytes as f64 * 8.0 / self.tally.items() as f64;
        // For a nearly empty filter, or one that forgets, this figure says nothing.
        if bits < 1000.0 && self.filter.window().is_none() {
            write!(f, ", {bits:.1} bits per item")?;
        }
        if self.expected_lost > 0.0 {
            write!(f, ", {:.1e} lines expected to be lost", self.expected_lost)?;
        }
        let seconds = self.elapsed.as_secs_f64();
        let rate = (self.tally.lines as f64 / seconds.max(1e-9)) as u64;
        let threads = counted(self.threads as u64, "thread");
        write!(f, "\n{seconds:.2} s, {} lines/s, {threads}", grouped(rate))
    }
}

/// An expected number of lines, as a person reads it: two digits, or none if it is below the
/// threshold of a warning.
struct Lost(f64);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(lost) = *self;
        if lost <= NOTICED {
            return write!(f, "none");
        }
        // The power of ten of the second digit.
        let second = lost.log10().floor() as i32 - 1;
        if second < 0 {
            write!(f, "{lost:.*} lines", second.unsigned_abs() as usize)
        } else {
            let unit = 10.0_f64.powi(second);
            write!(f, "{} lines", grouped(((lost / unit).round() * unit) as u64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lost;

    #[test]
    fn expected_losses_are_printed_with_two_digits() {
        for (lost, text) in [
            (0.0, "none"),
            (0.0099, "none"),
            (0.0101, "0.010 lines"),
            (0.0449, "0.045 lines"),
            (0.314, "0.31 lines"),
            (0.999, "1.00 lines"),
            (5.04, "5.0 lines"),
            (12.4, "12 lines"),
            (1_234_567.0, "1,200,000 lines"),
        ] {
            assert_eq!(Lost(lost).to_string(), text);
        }
    }
}
