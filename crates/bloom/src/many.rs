//! Many items at a time: hashed ahead, computed side by side, their memory asked for before it is needed.
//!
//! Three batches are under way at once. While one is answered, the memory of the next is asked for, item by
//! item, and the one after that has been hashed.

use core::mem::swap;
use core::ops::Deref;

use crate::array::Array;
use crate::probe::batch::{BATCH, Batch};

/// Tells each hash's number and answer, in order: batch after batch by `batch`, which takes the items of a batch
/// in order, and what is left, less than a batch, by `one`, so that the answers are the same.
#[inline]
pub(crate) fn many<A: Array, R: Deref<Target = A>>(
    mut array: R,
    hashes: impl IntoIterator<Item = u64>,
    one: impl Fn(&mut R, u64) -> bool,
    batch: impl Fn(&mut R, &Batch, &Batch) -> u32,
    mut on_result: impl FnMut(usize, bool),
) {
    let mut hashes = hashes.into_iter().fuse();
    let mut hashed = [0; BATCH];
    let mut taken = take(&mut hashed, &mut hashes);
    let mut first = 0;
    let mut tell = |answers: u32| {
        (0..BATCH).for_each(|item| on_result(first + item, answers >> item & 1 != 0));
        first += BATCH;
    };
    let mut room = [Batch::EMPTY, Batch::EMPTY];
    let [mut this, mut next] = room.each_mut();
    let mut is_first = true;
    while taken == BATCH {
        swap(&mut this, &mut next);
        next.hashes = hashed;
        array.spread(next);
        taken = take(&mut hashed, &mut hashes);
        if is_first {
            next.hashes.iter().for_each(|&hash| array.prefetch(hash));
        } else {
            tell(batch(&mut array, this, next));
        }
        is_first = false;
    }
    if !is_first {
        // The last one; what is asked for once more is there already.
        tell(batch(&mut array, next, next));
    }
    let rest = &hashed[..taken];
    rest.iter().for_each(|&hash| array.prefetch(hash));
    for (number, &hash) in (first..).zip(rest) {
        on_result(number, one(&mut array, hash));
    }
}

/// Inserts the items one by one and passes on each result: for filters in which a batch would not be faster.
#[inline]
pub(crate) fn singly(
    hashes: impl IntoIterator<Item = u64>,
    one: impl Fn(u64) -> bool,
    mut on_result: impl FnMut(usize, bool),
) {
    for (number, hash) in hashes.into_iter().enumerate() {
        on_result(number, one(hash));
    }
}

/// Takes as many hashes as there is room for; how many that was.
#[inline]
fn take(room: &mut [u64; BATCH], hashes: impl Iterator<Item = u64>) -> usize {
    room.iter_mut().zip(hashes).map(|(to, hash)| *to = hash).count()
}
