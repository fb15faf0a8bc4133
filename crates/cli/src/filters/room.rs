//! How many items a filter of fixed size takes before its rate is too far above the one that was
//! asked for.

use super::AnyFilter;
use crate::plan::most;

/// How many times the rate that was asked for a filter may have.
const FACTOR: f64 = 2.0;

/// The room of a filter of fixed size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The rate that was asked for.
    pub(crate) rate: f64,
    /// The most items with which the filter has at most twice this rate.
    pub(crate) items: u64,
}

impl AnyFilter {
    /// Returns the room of a filter that takes any number of items at the cost of its rate. The
    /// others grow, forget, or refuse items themselves. `rate` is the one that was asked for;
    /// without it, that at the capacity.
    pub(crate) fn room(&self, rate: Option<f64>) -> Option<Room> {
        let (geometry, capacity) = match self {
            Self::Bloom(filter) => (filter.geometry(), filter.capacity()),
            Self::Blocked(filter) => (filter.geometry(), filter.capacity()),
            Self::Once(filter) => (filter.geometry(), filter.capacity()),
            Self::Counting(filter) => (filter.geometry(), filter.capacity()),
            _ => return None,
        };
        let rate_at =
            |items| geometry.false_positive_rate_at(usize::try_from(items).unwrap_or(usize::MAX));
        let rate = rate.unwrap_or_else(|| rate_at(capacity as u64));
        Some(Room { rate, items: most(|items| rate_at(items) <= FACTOR * rate) })
    }

    /// Whether the filter refuses items when it is full.
    pub(crate) const fn refuses(&self) -> bool {
        matches!(self, Self::Cuckoo(_) | Self::OnceCuckoo(_))
    }
}

#[cfg(test)]
mod tests {
    use tamis::hash::Rapid;

    use super::*;
    use crate::file_kind::FileKind;
    use crate::filters::Copies;
    use crate::kind::Kind;

    #[test]
    fn the_room_is_the_last_number_of_items_below_twice_the_rate() {
        for kind in [Kind::Bloom, Kind::Blocked, Kind::Once].map(FileKind::Fixed) {
            for (capacity, rate) in [(1, 1e-3), (1000, 1e-6), (3_000_000, 0.01), (50_000, 0.4)] {
                let hasher = Rapid::with_seed(0).into();
                let filter = AnyFilter::build(kind, Copies::Once, capacity, rate, hasher);
                let filter = filter.expect("small");
                let geometry = kind.geometry(capacity, rate).expect("small").expect("planned");
                let Room { items, .. } = filter.room(Some(rate)).expect("of fixed size");
                assert!(items >= capacity, "{kind} {capacity} {rate}: {items}");
                assert!(geometry.false_positive_rate_at(items) <= 2.0 * rate);
                assert!(geometry.false_positive_rate_at(items + 1) > 2.0 * rate);
                // Without a rate, that at the capacity counts, which is not above the one asked
                // for.
                let of_design = filter.room(None).expect("of fixed size");
                assert!(of_design.rate <= rate && (capacity..=items).contains(&of_design.items));
            }
        }
    }

    #[test]
    fn a_rate_of_one_half_is_never_doubled() {
        let hasher = Rapid::with_seed(0).into();
        let blocked = FileKind::Fixed(Kind::Blocked);
        let filter = AnyFilter::build(blocked, Copies::Once, 100, 0.5, hasher).expect("small");
        assert_eq!(filter.room(Some(0.5)).expect("of fixed size").items, u64::MAX);
    }

    #[test]
    fn other_kinds_have_no_such_room() {
        for kind in [FileKind::Fixed(Kind::Cuckoo), FileKind::Rotating, FileKind::Scalable] {
            let hasher = Rapid::with_seed(0).into();
            let filter = AnyFilter::build(kind, Copies::Once, 100, 1e-3, hasher).expect("small");
            assert!(filter.room(None).is_none());
        }
    }
}
