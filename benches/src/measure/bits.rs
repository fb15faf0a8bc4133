//! The memory that each contender takes for a rate.

use std::io;

use crate::contender::{self, Contender, Visitor};
use crate::measure::{Survey, blank, of_runs};
use crate::record::Record;

/// Close below 95 % of a power of two, so that those which round up to one are not charged for it.
const ITEMS: u64 = 950_000;

/// Three in a decade, about: the shapes of cuckoo filters go by steps.
pub(super) const RATES: [f64; 16] = [
    1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6,
];

/// What the contenders take at one rate.
struct Taken<'a> {
    survey: &'a Survey,
    rate: f64,
    records: Vec<Record>,
}

impl Visitor<u64> for Taken<'_> {
    fn visit<C: Contender<u64> + 'static>(&mut self) {
        let record = Record { rate: self.rate, ..blank("bits", C::NAME, "bits an item", ITEMS) };
        if C::EXACT || self.rate < C::LOWEST || self.survey.journal.has(&record) {
            return;
        }
        if let Some(filter) = C::new(ITEMS, self.rate) {
            let bits = filter.bytes() as f64 * 8.0 / ITEMS as f64;
            self.records.push(of_runs(Record { bits, ..record }, bits, &[bits]));
        }
    }
}

/// Every contender at every rate.
pub(super) fn bits(survey: &mut Survey) -> io::Result<()> {
    for rate in RATES {
        let mut taken = Taken { survey, rate, records: Vec::new() };
        contender::each(&mut taken);
        for record in taken.records {
            survey.journal.append(&record)?;
        }
    }
    Ok(())
}
