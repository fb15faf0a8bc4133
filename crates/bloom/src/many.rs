//! Many items at a time: hashed ahead, computed side by side, their memory asked for before it is needed.
//!
//! Three batches are under way at once. While one is answered, the memory of the next is asked for, item by
//! item, and the one after that has been hashed.

use core::mem::swap;
use core::ops::Deref;

use crate::array::Array;
use crate::probe::batch::{BATCH, Batch};

/// Answers batch after batch of hashes, and tells each hash's number and answer, in order.
///
/// The answers are those of one item after the other, since `answer` takes the items of a batch in order.
#[inline]
pub(crate) fn many<A: Array, R: Deref<Target = A>>(
    mut array: R,
    hashes: impl IntoIterator<Item = u64>,
    answer: impl Fn(&mut R, &Batch, usize, &Batch) -> u32,
    mut told: impl FnMut(usize, bool),
) {
    let mut hashes = hashes.into_iter();
    let mut room = [Batch::EMPTY, Batch::EMPTY];
    let [mut this, mut next] = room.each_mut();
    let (mut items, mut items_next) = (0, 0);
    let mut first = 0;
    loop {
        let mut hashed = [0; BATCH];
        let mut items_hashed = 0;
        for (to, hash) in hashed.iter_mut().zip(&mut hashes) {
            *to = hash;
            items_hashed += 1;
        }
        if items == 0 && items_next == 0 {
            if items_hashed == 0 {
                return;
            }
            // The first batch, beside which none is answered.
            hashed[..items_hashed].iter().for_each(|&hash| array.prefetch(hash));
        }
        let answers = answer(&mut array, this, items, next);
        (0..items).for_each(|item| told(first + item, answers >> item & 1 != 0));
        first += items;
        this.hashes = hashed;
        array.spread(this);
        swap(&mut this, &mut next);
        (items, items_next) = (items_next, items_hashed);
    }
}
