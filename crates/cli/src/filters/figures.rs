//! What commands report of a filter, whatever its kind.

use tamis::hash::AnyStable;
use tamis::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter, OnceBloomFilter,
    OnceCuckooFilter, OnceScalableBloomFilter, RotatingBloomFilter, ScalableBloomFilter,
    ScalableCuckooFilter,
};

use crate::dedup::Tables;
use crate::{FileKind, Kind};

/// The figures of a filter.
pub(crate) trait Figures {
    /// The name of the kind.
    fn name(&self) -> &'static str;

    /// Whether the number of items is exact.
    fn counts(&self) -> bool;

    /// The number of items that the filter was built for.
    fn capacity(&self) -> u64;

    /// The number of items, or an estimate.
    fn items(&self) -> f64;

    /// The share of the bits that are set, or of the slots that are occupied, of a filter that is one array.
    fn fill(&self) -> Option<f64>;

    fn saturation(&self) -> f64;

    fn false_positive_rate(&self) -> f64;

    fn size_in_bytes(&self) -> u64;
}

/// Implements the trait by the functions of the types, which have nearly the same names.
macro_rules! figures {
    ($($filter:ty: $name:expr, $counts:expr, $items:ident $(, $fill:ident)?;)*) => {$(
        impl Figures for $filter {
            fn name(&self) -> &'static str {
                $name
            }

            fn counts(&self) -> bool {
                $counts
            }

            fn capacity(&self) -> u64 {
                self.capacity() as u64
            }

            fn items(&self) -> f64 {
                self.$items()
            }

            fn fill(&self) -> Option<f64> {
                [$(self.$fill())?].first().copied()
            }

            fn saturation(&self) -> f64 {
                self.saturation()
            }

            fn false_positive_rate(&self) -> f64 {
                self.false_positive_rate()
            }

            fn size_in_bytes(&self) -> u64 {
                self.size_in_bytes()
            }
        }
    )*};
}

figures! {
    BloomFilter<[u8], AnyStable>: Kind::Bloom.name(), false, len_estimate, fill;
    BlockedBloomFilter<[u8], AnyStable>: Kind::Blocked.name(), false, len_estimate, fill;
    OnceBloomFilter<[u8], AnyStable>: Kind::Once.name(), false, len_estimate, fill;
    CuckooFilter<[u8], AnyStable>: Kind::Cuckoo.name(), true, len_estimate, load_factor;
    OnceCuckooFilter<[u8], AnyStable>: "once-cuckoo", true, len_estimate, load_factor;
    CountingBloomFilter<[u8], AnyStable>: FileKind::Counting.name(), false, len_estimate, fill;
    RotatingBloomFilter<[u8], AnyStable>: FileKind::Rotating.name(), false, len_estimate;
    ScalableBloomFilter<[u8], AnyStable>: "scalable-bloom", false, len_estimate;
    OnceScalableBloomFilter<[u8], AnyStable>: FileKind::Scalable.name(), false, len_estimate;
    ScalableCuckooFilter<[u8], AnyStable>: FileKind::ScalableCuckoo.name(), true, len_estimate;
}

impl Figures for Tables {
    fn name(&self) -> &'static str {
        "table"
    }

    fn counts(&self) -> bool {
        true
    }

    fn capacity(&self) -> u64 {
        self.capacity()
    }

    fn items(&self) -> f64 {
        self.items() as f64
    }

    fn fill(&self) -> Option<f64> {
        Some(self.load_factor())
    }

    fn saturation(&self) -> f64 {
        // It grows.
        self.items() as f64 / self.capacity() as f64
    }

    fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate()
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }
}
