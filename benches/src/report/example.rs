//! Records for the tests of the report.

use crate::record::Record;

/// A record at the base point.
pub(super) fn record(axis: &str, contender: &str, operation: &str, value: f64) -> Record {
    Record {
        axis: axis.to_owned(),
        contender: contender.to_owned(),
        operation: operation.to_owned(),
        items: 100_000,
        rate: 0.01,
        measured_rate: None,
        bits: 10.0,
        threads: 1,
        item: "u64".to_owned(),
        distribution: "uniform".to_owned(),
        value,
        spread: [value, value],
    }
}

/// The records as they stand in a file.
pub(super) fn lines(records: &[Record]) -> String {
    records.iter().map(|record| serde_json::to_string(record).expect("a record") + "\n").collect()
}
