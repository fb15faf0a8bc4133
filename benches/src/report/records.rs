//! Reads the file of records, and finds the limits of the memory for each.

use core::error::Error;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::contenders::{is_floor, ordered, writes};
use crate::measure::AXES;
use crate::record::Record;

/// The axes of records that are measured along with another axis.
const ALONG: [&str; 2] = ["half", "cuckoo_readers"];

/// Returns whether the report has a section for the axis.
fn is_known(axis: &str) -> bool {
    ALONG.contains(&axis) || AXES.iter().any(|(name, _)| *name == axis)
}

/// What was read, and what was not.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: Vec<Record>,
    /// What the report omits, in words.
    pub(super) left_out: Vec<String>,
}

impl Records {
    pub(super) fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        let text = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        // A run that was killed may have left half a character.
        Ok(Self::parse(&String::from_utf8_lossy(&text)))
    }

    /// Parses a record per line; of figures that were measured again it takes the better. A killed
    /// run leaves a broken line, and the next run continues after it.
    pub(super) fn parse(text: &str) -> Self {
        let mut read = Self::default();
        let (mut unknown, mut known) = (BTreeMap::new(), BTreeMap::new());
        for (line, number) in text.lines().zip(1..) {
            match Record::parse(line) {
                Ok(record) if is_known(&record.axis) => {
                    let conditions = record.conditions().expect("as it was read");
                    let index = *known.entry(conditions).or_insert(read.records.len());
                    if let Some(earlier) = read.records.get_mut(index) {
                        *earlier = better(earlier.clone(), record);
                    } else {
                        read.records.push(record);
                    }
                }
                Ok(record) => *unknown.entry(record.axis).or_insert(0) += 1,
                Err(_) => {
                    read.left_out.push(format!("line {number}, which is broken: `{line:.60}`"));
                }
            }
        }
        let unknown = unknown.into_iter();
        read.left_out
            .extend(unknown.map(|(axis, count)| format!("{count} of the unknown axis `{axis}`")));
        read
    }

    pub(super) fn axis(&self, name: &str) -> Vec<&Record> {
        self.records.iter().filter(|record| record.axis == name).collect()
    }

    pub(super) fn axes(&self, names: &[&str]) -> Vec<&Record> {
        names.iter().flat_map(|name| self.axis(name)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the figure as a multiple of a limit of the memory, and which limit that is.
    pub(super) fn multiple(&self, record: &Record) -> Option<(f64, &'static str)> {
        // With exclusive access no operation needs to be atomic.
        let exclusive = record.axis == "exclusive" || record.contender.ends_with(", exclusive");
        let atomic = writes(&record.operation) && !exclusive;
        let name = if atomic { "W" } else { "R" };
        Some((record.value / self.floor(record, name)?.value, name))
    }

    /// Returns the limit of the memory of that name, R or W, at the point of the record.
    pub(super) fn floor(&self, record: &Record, name: &str) -> Option<&Record> {
        let floors = self.records.iter().filter(|other| {
            other.contender == name
                && (other.items, other.threads) == (record.items, record.threads)
                && (&other.item, &other.distribution) == (&record.item, &record.distribution)
                && other.rate == record.rate
        });
        // Those of the same axis were measured at the same time as the figure.
        floors.max_by_key(|other| other.axis == record.axis)
    }

    /// Returns the filters that were measured on one thread only; none if all were.
    pub(super) fn of_one_thread(&self) -> Vec<&str> {
        let timed = self.axes(&["operation", "size"]);
        let threads = ordered(&self.axis("threads"));
        let mut names = ordered(&timed);
        names.retain(|name| !threads.is_empty() && !threads.contains(name) && !is_floor(name));
        names
    }

    /// Returns how much the runs of a figure differ at most, as a share of the figure, for half of
    /// the records and for nearly all.
    pub(super) fn spread(&self) -> Option<(f64, f64)> {
        let shares = self.records.iter().filter(|record| record.value > 0.0);
        let mut shares: Vec<f64> =
            shares.map(|record| (record.spread[1] - record.spread[0]) / record.value).collect();
        shares.sort_by(f64::total_cmp);
        Some((*shares.get(shares.len() / 2)?, *shares.get(shares.len() * 95 / 100)?))
    }
}

/// Returns the better of two figures under the same conditions: the faster, if they are times, and
/// else the later one.
fn better(earlier: Record, later: Record) -> Record {
    if ["fill", "bits", "reproduction"].contains(&earlier.axis.as_str()) {
        return later;
    }
    let spread = [earlier.spread[0].min(later.spread[0]), earlier.spread[1].max(later.spread[1])];
    let faster = if later.value < earlier.value { later } else { earlier };
    Record { spread, ..faster }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{lines, record};

    #[test]
    fn a_broken_last_line_and_an_unknown_axis_are_left_out_and_reported() {
        let whole =
            lines(&[record("size", "once", "hit", 5.0), record("taste", "once", "hit", 5.0)]);
        let (cut, _) = whole.split_at(whole.len() / 4);
        let read = Records::parse(&format!("{whole}{cut}"));
        assert_eq!(read.axis("size").len(), 1);
        assert_eq!(read.left_out.len(), 2, "{:?}", read.left_out);
        assert!(read.left_out[0].starts_with("line 3, which is broken: `{"));
        assert_eq!(read.left_out[1], "1 of the unknown axis `taste`");
    }

    #[test]
    fn of_figures_measured_again_the_faster_counts_and_of_others_the_later() {
        let two = |axis| {
            let twice = [3.0, 2.0, 4.0].map(|value| record(axis, "once", "hit", value));
            let read = Records::parse(&lines(&twice));
            read.axis(axis).iter().map(|&record| (record.value, record.spread)).collect::<Vec<_>>()
        };
        assert_eq!(two("size"), [(2.0, [2.0, 4.0])]);
        assert_eq!(two("fill"), [(4.0, [4.0, 4.0])]);
    }

    #[test]
    fn a_multiple_is_of_the_floor_at_the_same_point() {
        let mut far = record("size", "R", "hit", 100.0);
        far.items *= 10;
        let floors = [record("size", "R", "hit", 2.0), far, record("size", "W", "insert", 8.0)];
        let read = Records::parse(&lines(&floors));
        assert_eq!(read.multiple(&record("size", "once", "hit", 5.0)), Some((2.5, "R")));
        assert_eq!(
            read.multiple(&record("size", "once", "insert_many_with", 4.0)),
            Some((0.5, "W"))
        );
        let mut url = record("size", "once", "hit", 5.0);
        "url".clone_into(&mut url.item);
        assert_eq!(read.multiple(&url), None);
    }
}
