//! A window over the input: a record is printed unless it is among the last records that were
//! printed.
//!
//! All records go through one rotating filter, chunk by chunk in input order, so the answers depend
//! on nothing but the input. (With a filter per shard, a shard would forget early or late, by what
//! it happens to see of the input.) One thread at a time decides; reading, hashing and printing go
//! on meanwhile.

use std::io::Write;
use std::time::Instant;

use tamis::hash::Rapid;
use tamis::{BuildError, RotatingBloomFilter};

use super::options::Options;
use super::summary::{Expected, Summary};
use crate::error::Error;
use crate::file_kind::FileKind;
use crate::filters::{AnyFilter, Copies};
use crate::geometry::{GENERATIONS, Geometry, generation, rate_of_generations};
use crate::input::Input;
use crate::pipeline::{self, Batch, Decider, Gate, Hasher, Plan, Printed, Watch};

/// Decides records by a rotating filter, in input order. The caller does not change the filter
/// meanwhile.
pub(crate) fn by_window<S: Sync>(
    filter: &RotatingBloomFilter<[u8], S>,
    hasher: Hasher,
    printed: Printed,
) -> Decider<'_> {
    Decider::in_order(hasher, Plan::of(printed), move |chunk| {
        let Batch { entries, fresh, .. } = chunk.batch();
        filter.by_hash().insert_many_with(entries.iter().map(|entry| entry.hash), |number, new| {
            fresh[entries[number].record as usize] = new;
        });
    })
}

/// Prints the records that are not among the last `items` printed ones. As [`run`](super::run).
pub(super) fn run(
    inputs: Vec<Input<'_>>,
    output: &mut (dyn Write + Send),
    options: &Options,
    (items, rate): (u64, f64),
    watch: &mut dyn Watch,
) -> Result<Summary, Error> {
    let start = Instant::now();
    if options.repeated || options.capacity.is_some() {
        let text = "a window prints first records only, and its size is its capacity";
        return Err(Error::Usage(text.into()));
    }
    let kind = FileKind::Rotating;
    let refused = |source| Error::Filter { kind, capacity: Some(items), rate, source };
    let sizes = kind.geometry(items, rate).map_err(refused)?;
    // The filter sees only hashes: its own hasher is not used.
    let hasher = Rapid::with_seed(0).into();
    let filter = AnyFilter::build(kind, Copies::Once, items, rate, hasher)?;
    let (Some(sizes), AnyFilter::Rotating(filter)) = (sizes, filter) else {
        return Err(refused(BuildError::Unsized));
    };

    let decider = by_window(&filter, Hasher::new(options.seed)?, Printed::Fresh);
    let gate = Gate::default();
    let done = pipeline::run(inputs, output, &options.records(), &decider, &gate, watch)?;
    let lost = lost(&sizes, items, done.tally.items());
    let expected = Expected { lost, extra: 0.0 };
    let used = (1, filter.size_in_bytes());
    Ok(Summary::new(done, expected, used, options, start.elapsed()))
}

/// At most how many records are expected to be lost, of this number of distinct ones: the rate is
/// that at the end, when the most generations are full.
fn lost(sizes: &Geometry, window: u64, distinct: u64) -> f64 {
    let Geometry::Rotating(sizes) = sizes else { return 0.0 };
    let full = generation(window);
    let live = distinct.div_ceil(full).min(GENERATIONS.into());
    let each = sizes.false_positive_rate_at(full.min(distinct) as usize);
    distinct as f64 * rate_of_generations(each, live as f64)
}
