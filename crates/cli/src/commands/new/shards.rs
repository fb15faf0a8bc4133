//! A filter as 64 shards, so that records are decided in input order.
//!
//! All copies of a record belong to one shard, which decides them in order. Different shards use
//! the filter at the same time.

use crate::dedup::{Fill, Filters, Shard};
use crate::error::Why;
use crate::filters::AnyFilter;
use crate::pipeline::{Entry, SHARDS};

/// Returns the shards of a filter.
pub(super) fn of(filter: &AnyFilter) -> Vec<Filters<'_>> {
    if let AnyFilter::Table(tables) = filter {
        return tables.filters();
    }
    (0..SHARDS).map(|_| Filters::of(Box::new(Part(filter)))).collect()
}

/// One shard of a filter of fixed size.
struct Part<'f>(&'f AnyFilter);

impl Shard for Part<'_> {
    fn decide(&mut self, batch: &mut [Entry], fresh: &mut [bool]) -> Result<(), (u32, Why)> {
        let mut refused = None;
        self.0.insert_new(batch.iter().map(|entry| entry.hash), |number, new| {
            let Entry { record, .. } = batch[number];
            match new {
                Ok(new) => fresh[record as usize] = new,
                Err(error) => refused = refused.or(Some((record, error))),
            }
        });
        refused.map_or(Ok(()), |(record, error)| Err((record, Why::Insert(error))))
    }

    fn fill(&self) -> Fill {
        Fill::default()
    }
}
