//! What commands report of a filter, whatever its kind.

use tamis::{Figures, Filter, Frozen, Sampled};

use super::AnyFilter;
use crate::dedup::Tables;
use crate::file_kind::FileKind;
use crate::kind::Kind;

/// A filter as the commands report it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described {
    /// The name of the kind.
    pub(crate) name: &'static str,
    /// Whether the number of items is exact.
    pub(crate) counts: bool,
    /// The number of items that the filter was built for.
    pub(crate) capacity: u64,
    pub(crate) size_in_bytes: u64,
    pub(crate) figures: Figures,
}

impl Described {
    /// Describes a filter of the library.
    pub(super) fn of(name: &'static str, counts: bool, filter: &impl Filter) -> Self {
        Self {
            name,
            counts,
            capacity: filter.capacity() as u64,
            size_in_bytes: filter.size_in_bytes(),
            figures: filter.figures(),
        }
    }

    /// Describes a cuckoo filter that is not changed.
    pub(super) fn of_frozen<F: Filter>(name: &'static str, filter: &Frozen<F>) -> Self {
        Self {
            name,
            counts: true,
            capacity: filter.capacity() as u64,
            size_in_bytes: filter.size_in_bytes(),
            figures: filter.figures(),
        }
    }

    fn of_tables(tables: &Tables) -> Self {
        let (items, capacity) = (tables.items() as f64, tables.capacity());
        let figures = Figures::new(
            Sampled::exact(items),
            Sampled::exact(tables.load_factor()),
            // It grows.
            Sampled::exact(items / capacity as f64),
            Sampled::exact(tables.false_positive_rate()),
        );
        let size_in_bytes = tables.size_in_bytes();
        Self { name: "table", counts: true, capacity, size_in_bytes, figures }
    }

    /// The most items, if the filter grows to a bound.
    pub(crate) fn end_of_growth(&self) -> Option<u64> {
        (self.name == FileKind::GrowingCuckoo.name()).then_some(self.capacity)
    }

    /// The number of items, or an estimate.
    pub(crate) const fn items(&self) -> f64 {
        self.figures.items.value
    }
}

impl AnyFilter {
    /// Describes the filter. Reads all of it.
    pub(crate) fn described(&self) -> Described {
        match self {
            Self::Bloom(filter) => Described::of(Kind::Bloom.name(), false, filter),
            Self::Blocked(filter) => Described::of(Kind::Blocked.name(), false, filter),
            Self::Once(filter) => Described::of(Kind::Once.name(), false, filter),
            Self::Cuckoo(filter) => {
                let grows = filter.geometry().doublings() != 0;
                let kind =
                    if grows { FileKind::GrowingCuckoo } else { FileKind::Fixed(Kind::Cuckoo) };
                Described::of(kind.name(), true, filter)
            }
            // A growing one was saved by a program: no command builds one.
            Self::OnceCuckoo(filter) if filter.geometry().doublings() != 0 => {
                Described::of("once-scalable-cuckoo", true, filter)
            }
            Self::OnceCuckoo(filter) => Described::of("once-cuckoo", true, filter),
            Self::Counting(filter) => Described::of(FileKind::Counting.name(), false, filter),
            Self::Rotating(filter) => Described::of(FileKind::Rotating.name(), false, filter),
            Self::ScalableBloom(filter) => Described::of("scalable-bloom", false, filter),
            Self::Scalable(filter) => Described::of(FileKind::Scalable.name(), false, filter),
            Self::Table(tables) => Described::of_tables(tables),
        }
    }
}
