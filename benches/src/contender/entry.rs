//! A filter of the list, without its type: what it can do, and how it is made.

use crate::contender::filter::{Filter, Traits};
use crate::item::Item;
use crate::operation::Operation;
use crate::subject::{SharedSubject, Subject};

/// How large a filter is for its items.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// As large as this rate of false positives takes.
    Rate(f64),
    /// This number of bits per item.
    Bits(f64),
}

/// Makes a filter of this size for a number of items, if there is such a filter.
type Make<F> = fn(u64, Size) -> Option<Box<F>>;

/// A filter in the list, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Contender<K> {
    /// What it can do.
    pub traits: Traits,
    /// Makes an empty filter.
    pub make: Make<dyn Subject<K>>,
    /// The same for several threads; none if threads cannot share the filter.
    pub shared: Option<Make<dyn SharedSubject<K>>>,
}

impl<K: Item> Contender<K> {
    /// Returns whether the filter performs this operation, and not by a loop instead of a batch.
    #[must_use]
    pub fn can(&self, operation: Operation) -> bool {
        let Traits { many, removes, .. } = self.traits;
        (many || !operation.is_many()) && (removes || operation != Operation::Remove)
    }

    pub(crate) fn of<F: Filter<K>>() -> Self {
        let make: Make<dyn Subject<K>> = |items, size| Some(Box::new(made::<K, F>(items, size)?));
        Self { traits: F::TRAITS, make, shared: None }
    }

    pub(super) fn of_shared<F: Filter<K> + Sync>() -> Self {
        let shared: Make<dyn SharedSubject<K>> =
            |items, size| Some(Box::new(made::<K, F>(items, size)?));
        Self { shared: Some(shared), ..Self::of::<F>() }
    }
}

fn made<K: Item, F: Filter<K>>(items: u64, size: Size) -> Option<F> {
    let mut filter = match size {
        Size::Rate(rate) => F::new(items, rate)?,
        Size::Bits(bits) => F::with_bits(items, bits)?,
    };
    filter.clear();
    Some(filter)
}
