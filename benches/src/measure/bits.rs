//! The memory that each contender takes for a rate.

use std::io;

use crate::contender::{self, Size};
use crate::item::Distribution;
use crate::measure::survey::Survey;
use crate::record::Record;

/// Just below 95 % of a power of two, so that filters that round up to one are not charged for it.
const ITEMS: u64 = 950_000;

/// About three per decade, as cuckoo filters have a few shapes only.
const RATES: [f64; 16] = [
    1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6,
];

/// Measures every contender at every rate.
pub(super) fn bits(survey: &mut Survey) -> io::Result<()> {
    for rate in RATES {
        for contender in contender::all::<u64>() {
            let blank = Record::blank("bits", contender.name, "bits per item", ITEMS);
            let record = Record { rate, ..blank };
            if contender.exact || rate < contender.lowest || survey.journal.has(&record) {
                continue;
            }
            if let Some(course) = (contender.course)(ITEMS, Size::Rate(rate), Distribution::Uniform)
            {
                let bits = course.bits();
                survey.journal.append(&Record { bits, ..record }.of_runs(bits, &[bits]))?;
            }
        }
    }
    Ok(())
}
