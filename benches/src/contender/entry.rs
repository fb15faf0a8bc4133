//! A filter of the list, without its type: what it can do, and how it is made.

use crate::filter::{Filter, Traits};
use crate::operation::Operation;
use crate::subject::Subject;

/// Makes a filter that threads share.
type Share = fn(u64, f64) -> Option<Box<dyn Subject + Sync>>;

/// A filter in the list, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// What it can do.
    pub traits: Traits,
    /// Makes an empty filter for a number of items at a rate, if there is such a filter.
    pub make: fn(u64, f64) -> Option<Box<dyn Subject>>,
    /// The same for several threads; none if threads cannot share the filter.
    pub shared: Option<Share>,
}

impl Contender {
    /// Returns whether the filter performs this operation, and not by a loop instead of a batch.
    #[must_use]
    pub fn can(&self, operation: Operation) -> bool {
        let Traits { many, removes, .. } = self.traits;
        (many || !operation.is_many()) && (removes || operation != Operation::Remove)
    }

    pub(crate) fn of<F: Filter>() -> Self {
        let make = |items, rate| Some(Box::new(made::<F>(items, rate)?) as Box<dyn Subject>);
        Self { traits: F::TRAITS, make, shared: None }
    }

    pub(super) fn of_shared<F: Filter + Sync>() -> Self {
        let make = |items, rate| Some(Box::new(made::<F>(items, rate)?) as Box<dyn Subject + Sync>);
        Self { shared: Some(make), ..Self::of::<F>() }
    }
}

/// Makes a filter, and touches its memory.
fn made<F: Filter>(items: u64, rate: f64) -> Option<F> {
    let mut filter = F::new(items, rate)?;
    filter.clear();
    Some(filter)
}
