//! The published figures of the fastest filters in C and C++, and ours.

use super::figure::{count, figure};
use super::page::Page;
use super::records::Records;
use super::table::Table;

/// The fastest filter known for some work: its nanoseconds as published, also as a multiple of the
/// time to read a random line; and which of ours does that work.
struct Anchor {
    work: &'static str,
    theirs: &'static str,
    nanos: &'static str,
    multiple: &'static str,
    contender: &'static str,
    operation: &'static str,
    items: u64,
}

const SMALL: u64 = 100_000;
const MIDDLE: u64 = 10_000_000;
const LARGE: u64 = 1_000_000_000;

macro_rules! anchors {
    ($($work:literal, $theirs:literal, $nanos:literal, $multiple:literal: $contender:literal $operation:literal $items:ident;)*) => {
        const ANCHORS: &[Anchor] = &[$(Anchor {
            work: $work, theirs: $theirs, nanos: $nanos, multiple: $multiple,
            contender: $contender, operation: $operation, items: $items,
        }),*];
    };
}

// Each on a Sapphire Rapids with two cores, in thread time, on pages of 2 MiB, with its own hash of
// a 64-bit item.
anchors! {
    "query, any rate", "Lang et al., one 32-bit word, 16 items at a time, 21 bits", "1.16", "0.78": "blocked" "hit_many" SMALL;
    "query, one by one", "split block of 256 bits (Impala)", "2.08", "1.5": "blocked" "hit" SMALL;
    "query, ten or twelve bits per item", "RocksDB FastLocalBloom", "3.1 to 3.4", "2.1 to 2.3": "blocked" "hit" SMALL;
    "insert, one thread", "split block of 256 bits", "2.0", "1.3": "blocked, exclusive" "insert_many_with" SMALL;
    "insert, shared", "RocksDB DynamicBloom, 3 words", "21.3", "12.5": "blocked" "insert" SMALL;
    "insert, shared, one word", "Lang et al., one word, compare-exchange, 13.4 bits", "8.3 to 8.6", "4.9": "blocked" "insert_many_with" SMALL;
    "query", "split block of 256 bits, 32 ahead", "3.36", "1.1": "blocked" "hit_many" MIDDLE;
    "insert, one thread", "Boost fast_multiblock32, in bulk", "3.57", "1.0": "blocked, exclusive" "insert_many_with" MIDDLE;
    "insert, shared", "RocksDB DynamicBloom, 32 ahead", "23.2", "7.3": "blocked" "insert_many_with" MIDDLE;
    "query", "Boost fast_multiblock32, in bulk, 1 GiB", "11.6", "1.01": "blocked" "hit_many" LARGE;
    "insert, shared", "RocksDB DynamicBloom, 32 ahead, 477 MiB", "29.9", "2.6": "blocked" "insert_many_with" LARGE;
    "cuckoo query", "Fan et al., 16 bits, one thread", "3.14", "2.1": "cuckoo" "hit_many" SMALL;
    "cuckoo query", "Fan et al., 16 bits, one thread", "9.4 to 17", "2 to 4": "cuckoo" "hit_many" MIDDLE;
    "cuckoo query", "Vacuum filter, 12 bits, 128 at a time, one thread", "20.2", "2.0": "cuckoo" "hit_many" LARGE;
    "cuckoo insert, whole fill", "Fan et al. and others, one thread", "32 to 37", "20": "cuckoo" "insert" SMALL;
    "cuckoo insert, whole fill", "Fan et al. and others, one thread", "58 to 67", "14 to 33": "cuckoo" "insert" MIDDLE;
    "cuckoo insert, whole fill", "Vacuum filter, in batches, one thread", "85", "8": "cuckoo" "insert" LARGE;
}

/// Adds the section, if there are records for it.
pub(super) fn add(page: &mut Page, records: &Records) {
    let table = table(records);
    if table.rows.is_empty() {
        return;
    }
    page.section(
        "Filters in C and C++",
        "The fastest known on a Sapphire Rapids with two cores, and ours on this machine. Machines differ, so compare \
         the multiples of the time to read one random line there and here (R). All but DynamicBloom and \
         the compare-exchange of Lang et al. are for one thread, or for readers without writers.",
    );
    page.table(None, &table);
}

fn table(records: &Records) -> Table {
    let mut table = Table::new(["items", "theirs", "ns", "× a line", "ours", "ns", "× R"]);
    let timed = records.axes(&["operation", "exclusive", "size"]);
    let cells = |anchor: &Anchor| {
        let ours = timed.iter().find(|record| {
            (&*record.contender, &*record.operation, record.items)
                == (anchor.contender, anchor.operation, anchor.items)
        })?;
        let multiple = ours.value / records.floor(ours, "R")?.value;
        Some([
            count(anchor.items),
            anchor.theirs.to_owned(),
            anchor.nanos.to_owned(),
            anchor.multiple.to_owned(),
            format!("{}, `{}`", anchor.contender, anchor.operation),
            figure(ours.value),
            figure(multiple),
        ])
    };
    for (anchor, cells) in ANCHORS.iter().filter_map(|anchor| Some((anchor, cells(anchor)?))) {
        table.add(anchor.work.to_owned(), cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{lines, record};

    #[test]
    fn ours_are_shown_as_multiples_of_a_read() {
        let read = Records::parse(&lines(&[
            record("operation", "R", "hit", 2.0),
            record("operation", "W", "insert", 8.0),
            record("operation", "blocked", "insert", 9.0),
        ]));
        let table = table(&read);
        let [(work, cells)] = &table.rows[..] else { panic!("{table:?}") };
        assert_eq!(work, "insert, shared");
        let shown: Vec<&str> = cells.iter().map(|cell| &*cell.shown).collect();
        let theirs = ["100,000", "RocksDB DynamicBloom, 3 words", "21.3", "12.5"];
        assert_eq!(shown, [&theirs[..], &["blocked, `insert`", "9.00", "4.50"]].concat());
        assert!(super::table(&Records::default()).rows.is_empty());
    }
}
