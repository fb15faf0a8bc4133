//! One measured figure: what the measuring program writes and the report reads, a line of JSON
//! each.

use serde::{Deserialize, Serialize};

/// A figure, and all that it depends on.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Record {
    /// Which axis was varied: one of [`AXES`](crate::measure::AXES), `half` or `cuckoo_readers`.
    pub(crate) axis: String,
    /// Whose figure; "R" and "W" are the limits of the memory.
    pub(crate) contender: String,
    /// The name of an [`Operation`](crate::operation::Operation), or what the axis measures
    /// instead.
    pub(crate) operation: String,
    /// The number of items that the filter was made for, and held.
    pub(crate) items: u64,
    /// The requested rate of false positives.
    pub(crate) rate: f64,
    /// The measured rate, if one was measured.
    pub(crate) measured_rate: Option<f64>,
    /// How many inserts of a fill were not reported as new, if any were made: refused, or taken for
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<f64>,
    /// Bits of memory per item.
    pub(crate) bits: f64,
    /// Threads at work.
    pub(crate) threads: u64,
    /// `u64` or `url`.
    pub(crate) item: String,
    /// `uniform`, `zipf` or `hot`.
    pub(crate) distribution: String,
    /// Nanoseconds per operation of one thread (the fastest of the runs), unless the axis measures
    /// no time: then what `operation` names.
    pub(crate) value: f64,
    /// Lowest and highest run.
    pub(crate) spread: [f64; 2],
}

impl Record {
    /// Returns a record without figures: one thread, integers, uniformly distributed.
    pub(crate) fn blank(axis: &str, contender: &str, operation: &str, items: u64) -> Self {
        Self {
            axis: axis.to_owned(),
            contender: contender.to_owned(),
            operation: operation.to_owned(),
            items,
            threads: 1,
            item: "u64".to_owned(),
            distribution: "uniform".to_owned(),
            ..Self::default()
        }
    }

    /// Returns the record with this value and the spread of the runs.
    pub(crate) fn of_runs(self, value: f64, runs: &[f64]) -> Self {
        let low = runs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { value, spread: [low, high], ..self }
    }

    /// Parses a line of a file. Names of older files become today's.
    pub(crate) fn parse(line: &str) -> serde_json::Result<Self> {
        const RENAMED: [(&str, &str); 4] = [
            (" an item", " per item"),
            (" a bucket", " per bucket"),
            ("beside a writer", "during writes"),
            (", alone", ", exclusive"),
        ];
        let mut record: Self = serde_json::from_str(line)?;
        for (old, new) in RENAMED {
            record.operation = record.operation.replace(old, new);
            record.contender = record.contender.replace(old, new);
        }
        if record.axis == "alone" {
            "exclusive".clone_into(&mut record.axis);
        }
        Ok(record)
    }

    /// Returns what the figure depends on, without the figure.
    pub(crate) fn conditions(&self) -> serde_json::Result<String> {
        // Memory is a result, except where it was requested.
        let bits = if self.axis == "memory" { self.bits } else { 0.0 };
        let (measured_rate, refused) = (None, None);
        let figures =
            Self { measured_rate, refused, bits, value: 0.0, spread: [0.0; 2], ..self.clone() };
        serde_json::to_string(&figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_older_files_become_those_of_today() {
        let now = Record::blank("exclusive", "once, exclusive", "hit during writes", 7);
        let line = serde_json::to_string(&now).expect("numbers");
        let older = line.replace("exclusive", "alone").replace("during writes", "beside a writer");
        assert_eq!(
            [line, older].map(|line| Record::parse(&line).expect("a record")),
            [now.clone(), now]
        );
    }
}
