//! Inserting into a table: into an empty slot, or after making one.

use crate::InsertError;
use crate::place::Class;
use crate::search::Search;
use crate::table::{Buckets, Table};

/// Adds one copy.
#[inline(always)]
pub(crate) fn insert(buckets: Buckets<'_>, class: Class) -> Result<(), InsertError> {
    if buckets.add(class) {
        Ok(())
    } else {
        // In numbers, not in structures, which would be spilled to the stack on the way here.
        insert_into_full(buckets.table(), class.fingerprint, class.buckets[0])
    }
}

#[cold]
fn insert_into_full(table: &Table, fingerprint: u64, bucket: u64) -> Result<(), InsertError> {
    let buckets = table.buckets();
    let class = Class::of(fingerprint, bucket, buckets.geometry().buckets());
    loop {
        if has_too_many(buckets, class) {
            return Err(InsertError::TooManyCopies);
        }
        make_room(buckets, class).map_err(|full| refusal(buckets, class, full))?;
        if buckets.add(class) {
            return Ok(());
        }
    }
}

/// What to tell one for whose item no room was found: another may have brought the last copy while the
/// search went on.
fn refusal(buckets: Buckets<'_>, class: Class, full: InsertError) -> InsertError {
    if has_too_many(buckets, class) { InsertError::TooManyCopies } else { full }
}

/// Whether both buckets of the class hold nothing but its copies.
fn has_too_many(buckets: Buckets<'_>, class: Class) -> bool {
    let geometry = buckets.geometry();
    let full_of_it =
        |&bucket: &u64| geometry.shape().is_full_of(buckets.peek(bucket), class.fingerprint);
    // A look first, since few see it; the stripe to be sure, as a copy on its way is seen twice.
    class.buckets.iter().all(full_of_it)
        && buckets.lock_stripe(class).count() == 2 * geometry.slots()
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
            let guard = buckets.lock_stripe(class);
            if guard.contains() {
                return Ok(false);
            }
            if buckets.add(class) {
                return Ok(true);
            }
        }
        // Not under the stripe, since each move takes that of the item it moves. The room that is made
        // can be taken by others before we come back for it.
        if let Err(full) = make_room(buckets, class) {
            return once_refusal(buckets, class, full);
        }
    }
}

/// What to tell one for whose item no room was found: another may have used the last room for the very same
/// item.
fn once_refusal(
    buckets: Buckets<'_>,
    class: Class,
    full: InsertError,
) -> Result<bool, InsertError> {
    if buckets.lock_stripe(class).contains() { Ok(false) } else { Err(full) }
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
        if steps.all(|step| buckets.lock_stripe(step.class()).relocate()) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::bucket::SHAPES;
    use crate::geometry::Geometry;

    fn words(table: &Table) -> Vec<u64> {
        (0..table.geometry().buckets()).map(|bucket| table.buckets().read(bucket)).collect()
    }

    /// The copies of each class, by its fingerprint and its lower bucket.
    fn classes(table: &Table) -> HashMap<(u64, u64), u32> {
        let geometry = table.geometry();
        let mut classes = HashMap::new();
        for (bucket, word) in (0..).zip(words(table)) {
            for fingerprint in geometry.shape().fingerprints_of(word) {
                let class = Class::of(fingerprint, bucket, geometry.buckets());
                *classes.entry((fingerprint, class.key())).or_default() += 1;
            }
        }
        classes
    }

    /// One insert, with nobody else writing: what is refused leaves every word as it was, and what is
    /// taken adds one copy of one class, whatever else had to move. The verdict on it.
    fn insert_is_exact(table: &Table, class: Class, once: bool) -> Result<bool, InsertError> {
        let (words_before, mut expected) = (words(table), classes(table));
        let copies = expected.entry((class.fingerprint, class.key())).or_default();
        let result = if once {
            insert_once(table.buckets(), class)
        } else {
            insert(table.buckets(), class).map(|()| true)
        };
        let most = 2 * table.geometry().slots();
        match result {
            Ok(new) => assert_eq!(new, !once || *copies == 0),
            Err(InsertError::TooManyCopies) => assert!(!once && *copies == most),
            Err(InsertError::Full) => assert!(*copies < most),
        }
        if result == Ok(true) {
            *copies += 1;
            expected.retain(|_, copies| *copies > 0);
            assert_eq!(classes(table), expected, "the copies of some class have changed");
        } else {
            assert_eq!(words(table), words_before, "a refused insert has changed a bucket");
        }
        result
    }

    fn table(buckets: u64, (slots, width): (u32, u32)) -> Table {
        Table::zeroed(Geometry::for_buckets(buckets, slots, width).unwrap()).unwrap()
    }

    /// Two racers find an item absent and go to make room; when the one comes back in vain, the other has
    /// brought it.
    #[test]
    fn who_finds_no_room_asks_again() {
        let table = table(2, (2, 32));
        let (buckets, x, y) = (table.buckets(), Class::of(2, 0, 2), Class::of(3, 0, 2));
        assert!(buckets.add(x));
        assert_eq!(once_refusal(buckets, x, InsertError::Full), Ok(false));
        assert_eq!(once_refusal(buckets, y, InsertError::Full), Err(InsertError::Full));
        (0..3).for_each(|_| assert!(buckets.add(x)));
        assert_eq!(refusal(buckets, x, InsertError::Full), InsertError::TooManyCopies);
        assert_eq!(refusal(buckets, y, InsertError::Full), InsertError::Full);
    }

    proptest! {
        /// Filters that are nearly full from the start: of some items a copy is removed before the next
        /// is inserted.
        #[test]
        fn inserts_are_exact_near_full(
            shape in 0..SHAPES.len(),
            half in 1..20_u64,
            hashes in prop::collection::vec(any::<u64>(), 1..400),
            again in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8), 0..100),
            once in any::<bool>(),
        ) {
            let shape = (SHAPES[shape].slots(), SHAPES[shape].width());
            let table = table(2 * half, shape);
            let class = |hash| Class::of_hash(hash, 2 * half, shape.1);
            for &hash in &hashes {
                let _ = insert_is_exact(&table, class(hash), once);
            }
            for (index, what) in again {
                let class = class(*index.get(&hashes));
                // The first is removed, if it is in; the others are inserted once more.
                if what == 0 {
                    table.buckets().lock_stripe(class).remove();
                } else {
                    let _ = insert_is_exact(&table, class, once);
                }
            }
        }
    }

    /// The property above is about something: items move, and both refusals come.
    #[test]
    fn items_are_moved_and_refused() {
        for shape in SHAPES {
            let table = table(40, (shape.slots(), shape.width()));
            let (mut moved, mut full) = (0, 0);
            for number in 0..600_u64 {
                let hash = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let class = Class::of_hash(hash ^ hash >> 29, 40, shape.width());
                let crowded = class.buckets.map(|bucket| shape.len(table.buckets().read(bucket)));
                match insert_is_exact(&table, class, false) {
                    Ok(_) => moved += u32::from(crowded == [shape.slots(); 2]),
                    Err(error) => full += u32::from(error == InsertError::Full),
                }
            }
            assert!(moved > 0 && full > 100, "{shape:?}: {moved} after moves, {full} refused");
            let class = Class::of_hash(1 << 40, 40, shape.width());
            while table.len() > 0 {
                table.buckets().lock_stripe(first_class(&table)).remove();
            }
            let copies = (0..).find(|_| insert_is_exact(&table, class, false).is_err());
            assert_eq!(copies, Some(2 * shape.slots()));
            let again = insert_is_exact(&table, class, false);
            assert_eq!(again, Err(InsertError::TooManyCopies));
        }
    }

    /// The class of some copy that is in.
    fn first_class(table: &Table) -> Class {
        let geometry = table.geometry();
        let (bucket, word) = (0..).zip(words(table)).find(|&(_, word)| word != 0).unwrap();
        let fingerprint = geometry.shape().fingerprints_of(word).next().unwrap();
        Class::of(fingerprint, bucket, geometry.buckets())
    }
}
