//! Records for the tests of the report.

use crate::record::Record;

/// Returns a record at the point at which other things are varied.
pub(super) fn record(axis: &str, contender: &str, operation: &str, value: f64) -> Record {
    let spread = [value, value];
    let blank = Record::blank(axis, contender, operation, 100_000);
    Record { rate: 0.01, bits: 10.0, value, spread, ..blank }
}

/// Returns the records as lines of a file.
pub(super) fn lines(records: &[Record]) -> String {
    records.iter().map(|record| serde_json::to_string(record).expect("a record") + "\n").collect()
}
