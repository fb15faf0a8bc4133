//! Inserts: a copy is added to an empty slot, or other copies are relocated first to make one.

use crate::error::InsertError;
use crate::growth::layout::{Contents, UNFOLDED};
use crate::place::Class;
use crate::search::{Readable, Search};
use crate::table::{Buckets, Table};

impl Readable for Buckets<'_> {
    fn len(&self) -> u64 {
        self.table.geometry.buckets()
    }

    fn read(&self, bucket: u64, _fingerprint: u64) -> Contents<'_> {
        let shape = &self.shape;
        Contents { value: self.peek(bucket), shape, level: 0, low: 0, fold: UNFOLDED }
    }

    fn alternate(&self, fingerprint: u64, bucket: u64) -> u64 {
        self.table.geometry.alternate(fingerprint, bucket)
    }
}

/// Inserts one copy of the class.
#[inline(always)]
pub(crate) fn insert(buckets: Buckets<'_>, class: Class) -> Result<(), InsertError> {
    if buckets.add(class) {
        Ok(())
    } else {
        // Pass numbers, not structures: the compiler would spill those to the stack before the
        // call.
        insert_into_full(buckets.table, class.fingerprint, class.buckets[0])
    }
}

/// Inserts one copy of the class, after an attempt that found both buckets full.
#[cold]
fn insert_into_full(table: &Table, fingerprint: u64, bucket: u64) -> Result<(), InsertError> {
    let buckets = table.buckets();
    let class = buckets.table.geometry.class(fingerprint, bucket);
    loop {
        // No search can help if both buckets are full of this class: its copies have nowhere else
        // to go.
        if has_max_copies(buckets, class) {
            return Err(InsertError::TooManyCopies);
        }
        make_room(buckets, class).map_err(|full| error_for(buckets, class, full))?;
        // Another thread may have filled the slot; then start again.
        if buckets.add(class) {
            return Ok(());
        }
    }
}

/// Returns the error of an insert whose search found no path. A concurrent insert may have added
/// the last possible copy during the search.
fn error_for(buckets: Buckets<'_>, class: Class, full: InsertError) -> InsertError {
    if has_max_copies(buckets, class) { InsertError::TooManyCopies } else { full }
}

/// Returns whether all slots of both buckets hold copies of the class.
fn has_max_copies(buckets: Buckets<'_>, class: Class) -> bool {
    let geometry = buckets.table.geometry;
    let full_of_it =
        |&bucket: &u64| geometry.shape().is_full_of(buckets.peek(bucket), class.fingerprint);
    // Read without the lock first, because the condition rarely holds. Then count under the lock,
    // because a copy in relocation is in both buckets.
    class.buckets.iter().all(full_of_it)
        && buckets.lock_stripe(class).count() == 2 * geometry.slots()
}

/// Inserts a copy of the class unless it has one. Exactly one of any number of concurrent calls for
/// one class returns `Ok(true)`.
#[inline(always)]
pub(crate) fn insert_once(buckets: Buckets<'_>, class: Class) -> Result<bool, InsertError> {
    // An item that is present needs no lock.
    if buckets.contains(class) {
        return Ok(false);
    }
    loop {
        {
            // Every insert of the class checks and adds under this lock, so exactly one of them
            // finds no copy.
            let guard = buckets.lock_stripe(class);
            if guard.contains() {
                return Ok(false);
            }
            if buckets.add(class) {
                return Ok(true);
            }
        }
        // Without the lock, because each relocation locks the stripe of its own class, and a thread
        // holds one lock at most. Another thread may fill the slot before this one locks again.
        if let Err(full) = make_room(buckets, class) {
            return once_result_for(buckets, class, full);
        }
    }
}

/// Returns the result of a once insert whose search found no path. A concurrent insert may have
/// used the last empty slot for the same item.
fn once_result_for(
    buckets: Buckets<'_>,
    class: Class,
    full: InsertError,
) -> Result<bool, InsertError> {
    if buckets.lock_stripe(class).contains() { Ok(false) } else { Err(full) }
}

/// Relocates other copies until one of the class's buckets has an empty slot. Another thread may
/// fill that slot before the caller does.
///
/// Each relocation leaves the filter valid: every copy is in one of its own two buckets. So the
/// search may start again after any of them, when another thread has changed the path.
#[cold]
fn make_room(buckets: Buckets<'_>, class: Class) -> Result<(), InsertError> {
    let mut search = Search::new();
    loop {
        // Find the shortest path, without a lock.
        let Some(mut steps) = search.steps(class, &buckets) else { return Err(InsertError::Full) };
        // Execute it from its far end. `all` stops at the first step that is no longer possible;
        // then search again.
        if steps.all(|class| buckets.lock_stripe(class).relocate()) {
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
    use crate::bucket::{Shape, shapes};
    use crate::geometry::Geometry;

    fn words(table: &Table) -> Vec<u128> {
        (0..table.geometry.buckets()).map(|bucket| table.buckets().read(bucket)).collect()
    }

    /// Counts the copies of each class, by its fingerprint and its lower bucket.
    fn classes(table: &Table) -> HashMap<(u64, u64), u32> {
        let geometry = table.geometry;
        let mut classes = HashMap::new();
        for (bucket, word) in (0..).zip(words(table)) {
            for fingerprint in geometry.shape().fingerprints_of(word) {
                let class = Class::of(fingerprint, bucket, geometry.buckets());
                *classes.entry((fingerprint, class.key())).or_default() += 1;
            }
        }
        classes
    }

    /// Inserts without concurrent writers and returns the result. A failed insert must leave every
    /// word unchanged. A successful insert must add one copy of one class, whatever it relocates.
    fn insert_exactly(table: &Table, class: Class, once: bool) -> Result<bool, InsertError> {
        let (words_before, mut expected) = (words(table), classes(table));
        let copies = expected.entry((class.fingerprint, class.key())).or_default();
        let result = if once {
            insert_once(table.buckets(), class)
        } else {
            insert(table.buckets(), class).map(|()| true)
        };
        let most = 2 * table.geometry.slots();
        match result {
            Ok(new) => assert_eq!(new, !once || *copies == 0),
            Err(InsertError::TooManyCopies) => assert!(!once && *copies == most),
            Err(InsertError::Full) => assert!(*copies < most),
            Err(InsertError::Stalled) => panic!("a table of one size does not grow"),
        }
        if result == Ok(true) {
            *copies += 1;
            expected.retain(|_, copies| *copies > 0);
            assert_eq!(classes(table), expected, "an insert changed the copies of another class");
        } else {
            assert_eq!(words(table), words_before, "a failed insert changed a bucket");
        }
        result
    }

    fn table(buckets: u64, (slots, width): (u32, u32)) -> Table {
        Table::zeroed(Geometry::for_buckets(buckets, slots, width).unwrap()).unwrap()
    }

    /// Two threads find an item absent and search for room. When the search of one fails, the other
    /// has inserted the item.
    #[test]
    fn a_failed_search_checks_for_the_item_again() {
        let table = table(2, (2, 32));
        let (buckets, x, y) = (table.buckets(), Class::of(2, 0, 2), Class::of(3, 0, 2));
        assert!(buckets.add(x));
        assert_eq!(once_result_for(buckets, x, InsertError::Full), Ok(false));
        assert_eq!(once_result_for(buckets, y, InsertError::Full), Err(InsertError::Full));
        (0..3).for_each(|_| assert!(buckets.add(x)));
        assert_eq!(error_for(buckets, x, InsertError::Full), InsertError::TooManyCopies);
        assert_eq!(error_for(buckets, y, InsertError::Full), InsertError::Full);
    }

    proptest! {
        /// Fills the filter nearly, then removes copies of some items and inserts others.
        #[test]
        fn inserts_are_exact_near_full(
            shape in prop::sample::select(shapes().collect::<Vec<Shape>>()),
            half in 1..20_u64,
            hashes in prop::collection::vec(any::<u64>(), 1..400),
            again in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8), 0..100),
            once in any::<bool>(),
        ) {
            let shape = (shape.slots, shape.width);
            let table = table(2 * half, shape);
            let class = |hash| Class::of_hash(hash, 2 * half, shape.1);
            for &hash in &hashes {
                let _ = insert_exactly(&table, class(hash), once);
            }
            for (index, what) in again {
                let class = class(*index.get(&hashes));
                // Remove one copy in a quarter of the cases, insert one more otherwise.
                if what == 0 {
                    table.buckets().lock_stripe(class).remove();
                } else {
                    let _ = insert_exactly(&table, class, once);
                }
            }
        }
    }

    /// The property above is not vacuous: copies are relocated, and both errors occur.
    #[test]
    fn inserts_relocate_and_fail() {
        for shape in shapes() {
            let table = table(40, (shape.slots, shape.width));
            let (mut moved, mut full) = (0, 0);
            for number in 0..600_u64 {
                let hash = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let class = Class::of_hash(hash ^ hash >> 29, 40, shape.width);
                let crowded = class.buckets.map(|bucket| shape.len(table.buckets().read(bucket)));
                match insert_exactly(&table, class, false) {
                    Ok(_) => moved += u32::from(crowded == [shape.slots; 2]),
                    Err(error) => full += u32::from(error == InsertError::Full),
                }
            }
            assert!(moved > 0 && full > 100, "{shape:?}: {moved} inserts relocated, {full} failed");
            let class = Class::of_hash(1 << 40, 40, shape.width);
            while table.len() > 0 {
                table.buckets().lock_stripe(first_class(&table)).remove();
            }
            let copies = (0..).find(|_| insert_exactly(&table, class, false).is_err());
            assert_eq!(copies, Some(2 * shape.slots));
            let again = insert_exactly(&table, class, false);
            assert_eq!(again, Err(InsertError::TooManyCopies));
        }
    }

    /// Returns the class of some copy in the table.
    fn first_class(table: &Table) -> Class {
        let geometry = table.geometry;
        let (bucket, word) = (0..).zip(words(table)).find(|&(_, word)| word != 0).unwrap();
        let fingerprint = geometry.shape().fingerprints_of(word).next().unwrap();
        Class::of(fingerprint, bucket, geometry.buckets())
    }
}
