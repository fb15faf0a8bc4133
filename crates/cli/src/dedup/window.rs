//! A window over the input: a record is printed unless it is among the last records that were
//! printed.
//!
//! All records go through one rotating filter, chunk by chunk in input order, so the answers depend
//! on nothing but the input. (With a filter per shard, a shard would forget early or late, by what
//! it happens to see of the input.) One thread at a time decides; reading, hashing and printing go
//! on meanwhile.

use std::io::Write;
use std::time::Instant;

use tamis::BuildError;
use tamis::hash::Rapid;

use super::options::Options;
use super::summary::{Expected, Summary};
use crate::error::Error;
use crate::file_kind::FileKind;
use crate::filters::{self, AnyFilter, Copies};
use crate::geometry::{GENERATIONS, Geometry, generation, rate_of_generations};
use crate::input::Input;
use crate::pipeline::{self, Gate, Hasher, Printed, Watch};

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
    let (Some(sizes), AnyFilter::Rotating(window)) = (sizes, &filter) else {
        return Err(refused(BuildError::Unsized));
    };

    let decider = filters::discovery(&filter, Hasher::new(options.seed)?, Printed::Fresh, None);
    let gate = Gate::default();
    let done = pipeline::run(inputs, output, &options.records(), &decider, &gate, watch)?;
    let lost = lost(&sizes, items, done.tally.items());
    let expected = Expected { lost, extra: 0.0 };
    let used = (1, window.size_in_bytes());
    Ok(Summary::new(done, expected, used, options, start.elapsed()))
}

/// Returns how many records are expected to be lost, of this number of distinct ones: the sum of
/// the rates that the records meet.
fn lost(sizes: &Geometry, window: u64, distinct: u64) -> f64 {
    let Geometry::Rotating(sizes) = sizes else { return 0.0 };
    let full = generation(window);
    let rate_with = |items: u64| sizes.false_positive_rate_at(items as usize);
    // The sum over the records that go to one generation, while `before` full ones are live. The
    // rate of the generation itself is taken at a few of its fills.
    let of_generation = |items: u64, before: u64| {
        const FILLS: u32 = 16;
        let part = |at| items as f64 * (f64::from(at) + 0.5) / f64::from(FILLS);
        let own = (0..FILLS).map(|at| rate_with(part(at).round() as u64)).sum::<f64>();
        let others = rate_of_generations(rate_with(full), before as f64);
        items as f64 * rate_of_generations(own / f64::from(FILLS) + others, 1.0)
    };
    let (filled, most) = (distinct / full, u64::from(GENERATIONS) - 1);
    // Generations are added until the most are live, and then one is forgotten for each new one.
    let added: f64 = (0..filled.min(most)).map(|before| of_generation(full, before)).sum();
    let rest = of_generation(distinct % full, filled.min(most));
    added + filled.saturating_sub(most) as f64 * of_generation(full, most) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured with `dedup --window N --rate 1e-2` and a million distinct records.
    #[test]
    fn expected_losses_are_those_that_were_measured() {
        for (window, measured) in
            [(50_000, 8132.0), (200_000, 7365.0), (500_000, 6037.0), (1_000_000, 3653.0)]
        {
            let sizes = FileKind::Rotating.geometry(window, 1e-2).expect("valid sizes");
            let expected = lost(&sizes.expect("it has sizes"), window, 1_000_000);
            assert!((0.95..1.05).contains(&(expected / measured)), "{window}: {expected}");
        }
    }

    /// In a small window too, nearly all records meet six full generations and a part of one.
    #[test]
    fn a_small_window_counts_the_generation_that_fills() {
        for window in [6, 30, 100, 180, 1000] {
            let sizes = FileKind::Rotating.geometry(window, 1e-2).expect("valid sizes");
            let sizes = sizes.expect("it has sizes");
            let Geometry::Rotating(of_generation) = sizes else { unreachable!("it rotates") };
            let each = of_generation.false_positive_rate_at(generation(window) as usize);
            let parts = lost(&sizes, window, 1_000_000) / 1e6 / each;
            assert!((6.1..6.7).contains(&parts), "{window}: {parts}");
        }
    }
}
