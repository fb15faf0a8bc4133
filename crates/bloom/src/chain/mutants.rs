//! What the loom and the shuttle models of growth have in common: messages, and inserts with a
//! planted bug.

use super::claim::{self, View};
use super::slices::Slices;
use crate::bits::{Free, Locked};

pub(super) const MISSED: &str = "an inserted item was missed";
pub(super) const NONE_NEW: &str = "no insert returned that the item is new";
pub(super) const NOT_ONE: &str = "not exactly one insert returned that the item is new";

pub(super) type Insert<W> = fn(&Slices<W>, u64) -> bool;

/// Inserts into the next slice as soon as it is set, before it is published.
pub(super) fn early(slices: &Slices<Free>, hash: u64) -> bool {
    let seen = (0..).take_while(|&index| slices.get(index).is_some()).count();
    !slices.contains_in(seen, hash)
        && claim::insert_absent(slices, View { seen, ..View::of(slices) }, hash)
}

/// Inserts without visits to the lines of older slices.
pub(super) fn without_visits(slices: &Slices<Locked>, hash: u64) -> bool {
    let view = View { closed: slices.len(), ..View::of(slices) };
    !slices.contains_in(view.seen, hash) && claim::insert_absent(slices, view, hash)
}
