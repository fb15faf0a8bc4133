//! Many items at a time: hashed ahead, computed side by side, their memory asked for before it is needed.
//!
//! Three batches are under way at once. While one is answered, the memory of the next is asked for, item by
//! item, and the one after that has been hashed.

use core::mem::swap;
use core::ops::Deref;

use crate::array::Array;
use crate::probe::batch::{BATCH, Batch};

/// Tells each hash's number and answer, in order: by `one` if they are few, else batch after batch by `batch`,
/// which takes the items of a batch in order, so that the answers are the same.
#[inline]
pub(crate) fn many<A: Array, R: Deref<Target = A>>(
    mut array: R,
    hashes: impl IntoIterator<Item = u64>,
    one: impl Fn(&mut R, u64) -> bool,
    batch: impl Fn(&mut R, &Batch, usize, &Batch) -> u32,
    mut told: impl FnMut(usize, bool),
) {
    let mut hashes = hashes.into_iter().fuse();
    let mut hashed = [0; BATCH];
    let mut items_hashed = take(&mut hashed, &mut hashes);
    hashed[..items_hashed].iter().for_each(|&hash| array.prefetch(hash));
    if items_hashed < BATCH {
        // So few that setting up batches would take longer.
        for (number, &hash) in hashed[..items_hashed].iter().enumerate() {
            told(number, one(&mut array, hash));
        }
        return;
    }
    let mut room = [Batch::EMPTY, Batch::EMPTY];
    let [mut this, mut next] = room.each_mut();
    let (mut items, mut items_next, mut first) = (0, 0, 0);
    while items_hashed + items + items_next > 0 {
        let answers = batch(&mut array, this, items, next);
        (0..items).for_each(|item| told(first + item, answers >> item & 1 != 0));
        first += items;
        this.hashes = hashed;
        array.spread(this);
        swap(&mut this, &mut next);
        (items, items_next) = (items_next, items_hashed);
        items_hashed = take(&mut hashed, &mut hashes);
    }
}

/// Takes as many hashes as there is room for; how many that was.
#[inline]
fn take(room: &mut [u64; BATCH], hashes: impl Iterator<Item = u64>) -> usize {
    room.iter_mut().zip(hashes).map(|(to, hash)| *to = hash).count()
}
