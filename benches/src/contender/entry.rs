//! A filter of the list, without its type: what it can do, and how it is made.

use crate::contender::filter::Filter;
use crate::course::Course;
use crate::item::{Distribution, Item};
use crate::operation::Operation;
use crate::shared::SharedSubject;

/// How large a filter is for its items.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// As large as this rate of false positives takes.
    Rate(f64),
    /// This number of bits per item.
    Bits(f64),
}

/// Makes a shared filter for a number of items and a rate.
type MakeShared<K> = fn(u64, f64) -> Option<Box<dyn SharedSubject<K>>>;

/// A filter in the list, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Contender<K: Item> {
    /// [`Filter::NAME`].
    pub name: &'static str,
    many: bool,
    /// [`Filter::EXACT`].
    pub exact: bool,
    /// [`Filter::LOWEST`].
    pub lowest: f64,
    /// [`Filter::REMOVES`].
    pub removes: bool,
    /// Makes a filter of this size for a number of items, and a course for it; none if there is no such filter.
    pub course: fn(u64, Size, Distribution) -> Option<Course<K>>,
    /// Makes a filter for several threads; none if threads cannot share the filter.
    pub shared: Option<MakeShared<K>>,
}

impl<K: Item> Contender<K> {
    /// Returns whether the filter performs this operation, and not by a loop instead of a batch.
    #[must_use]
    pub fn can(&self, operation: Operation) -> bool {
        (self.many || !operation.is_many()) && (self.removes || operation != Operation::Remove)
    }

    pub(super) fn of<C: Filter<K>>() -> Self {
        let course = |items, size, distribution| match size {
            Size::Rate(rate) => Course::new(items, rate, distribution, move || C::new(items, rate)),
            Size::Bits(bits) => {
                // Eight times the rate of the best classic filter: no layout is as bad.
                let rate = 8.0 * (-bits * core::f64::consts::LN_2.powi(2)).exp();
                Course::new(items, rate, distribution, move || C::with_bits(items, bits))
            }
        };
        Self {
            name: C::NAME,
            many: C::MANY,
            exact: C::EXACT,
            lowest: C::LOWEST,
            removes: C::REMOVES,
            course,
            shared: None,
        }
    }

    pub(super) fn of_shared<F: Filter<K> + Sync>() -> Self {
        let shared: MakeShared<K> = |items, rate| {
            let mut filter = F::new(items, rate)?;
            filter.clear();
            Some(Box::new(filter))
        };
        Self { shared: Some(shared), ..Self::of::<F>() }
    }
}
