//! Inserting into a table: into an empty slot, or after making one.

use crate::InsertError;
use crate::place::Class;
use crate::search::Search;
use crate::table::Buckets;

/// Adds one copy.
#[inline(always)]
pub(crate) fn insert(buckets: Buckets<'_>, class: Class) -> Result<(), InsertError> {
    if buckets.add(class) { Ok(()) } else { insert_into_full(buckets, class) }
}

#[cold]
fn insert_into_full(buckets: Buckets<'_>, class: Class) -> Result<(), InsertError> {
    let geometry = buckets.geometry();
    let full_of_it =
        |&bucket: &u64| geometry.shape().is_full_of(buckets.peek(bucket), class.fingerprint);
    // A look first, since few see it; the stripe to be sure, as a copy on its way is seen twice.
    if class.buckets.iter().all(full_of_it) && buckets.hold(class).count() == 2 * geometry.slots() {
        return Err(InsertError::TooManyCopies);
    }
    loop {
        make_room(buckets, class)?;
        if buckets.add(class) {
            return Ok(());
        }
    }
}

/// Adds a copy unless there is one; whether there was none. Of racing calls for one class exactly one is
/// told so.
#[inline(always)]
pub(crate) fn insert_once(buckets: Buckets<'_>, class: Class) -> Result<bool, InsertError> {
    // An item that is in already needs no lock.
    if buckets.contains(class) {
        return Ok(false);
    }
    loop {
        {
            // All who would add a copy of the class do so under this stripe, so that of any number of
            // them exactly one finds none.
            let held = buckets.hold(class);
            if held.any() {
                return Ok(false);
            }
            if buckets.add(class) {
                return Ok(true);
            }
        }
        // Not under the stripe, since each move takes that of the item it moves. The room that is made
        // can be taken by others before we come back for it.
        make_room(buckets, class)?;
    }
}

/// Moves items so that one of the class's buckets has an empty slot, unless one has by now. Others may fill
/// it before the caller does.
///
/// Each move leaves a legal filter: the items are the same, in their own two buckets. So it does not matter
/// that others may use up a slot on the way, after which the rest of the steps is pointless and the search
/// begins anew.
#[cold]
fn make_room(buckets: Buckets<'_>, class: Class) -> Result<(), InsertError> {
    let geometry = buckets.geometry();
    let mut search = Search::new(geometry.shape(), geometry.buckets());
    loop {
        let steps = search.steps(class.buckets, |bucket| buckets.peek(bucket));
        let Some(mut steps) = steps else { return Err(InsertError::Full) };
        if steps.all(|step| buckets.hold(step.class()).shift()) {
            return Ok(());
        }
    }
}
