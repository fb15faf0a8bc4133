//! The two kinds of insert, as types: at least one of the racing inserts of an item returns `true`,
//! or exactly one.
//!
//! An insert first takes a [`View`] of the slices, and queries all that it has seen, without a
//! lock. Only if it finds the item in none of them, it claims the item. In a batch the query of an
//! item may come before the inserts of other items of the batch before; the proofs allow any time
//! between the query and the claim, as long as the view came first.
//!
//! # At least one (`Free`)
//!
//! A claim writes the item into slice `seen - 1`, after the insert has found it in none of the
//! `seen` slices. It wins if it changes a bit. So an insert that changes a bit returns `true`. Let
//! x be in no slice, and let no other item set its last missing bit in a slice. Then an insert of x
//! that returns `false` has found all bits of x in one slice, and the last of them was set by an
//! insert of x: that one has returned `true`, or will. ∎ Racing inserts may write into different
//! slices, if a slice is published in between; the proof does not use that they are the same.
//!
//! # Exactly one (`Locked`)
//!
//! Each line of a slice has a lock. To **visit** a line means to lock it and to free it. A slice is
//! **closed** when each of its lines has been visited by a thread that had seen a newer slice.
//!
//! 1. A view is the number of closed slices, and then the number of published slices, `seen`.
//! 2. A claim visits the item's line in each slice below `seen - 1` that is not closed in the view,
//!    and looks for the item in all `seen` slices again. If it finds the item, it does not win. If
//!    all those slices are closed, the query after the view suffices.
//! 3. Then it locks the item's line in slice `seen - 1`, and loads the number of slices again. If
//!    it is not `seen`, the claim writes nothing, and the insert begins again. Otherwise the claim
//!    writes the bits. It wins if one was missing.
//! 4. While there are slices to visit, each claim also visits some lines of the oldest one that is
//!    not closed: a portion that no other claim has. The thread that finishes the last portion
//!    closes the slice.
//!
//! **Proof.** Let two claims of x win: A in slice `i`, and B in slice `j ≥ i`.
//!
//! If `i = j`, both hold the lock of one line, one after the other. The later one finds all bits
//! set, because a bit is never cleared. It does not win.
//!
//! If `i < j`, the line of x in slice `i` is visited before B's last query: by B, after it had
//! loaded `j + 1` or more published slices, or by a thread that closed the slice, after it had
//! loaded `i + 2` or more. Such a visit V happens before that query: by B itself, or by the Release
//! and Acquire of the number of closed slices. A holds the same lock before V or after V.
//!
//! * A before V: the bits that A wrote happen before V, and so before B's query, which finds x. B
//!   does not win.
//! * A after V: V's load of the number of slices happens before V, and V before the load that A
//!   makes under the lock. So A loads at least `i + 2`, by coherence, but wins only if it loads
//!   `i + 1`.
//!
//! Both contradict the assumption. If no claim wins, each insert found x in a slice without an
//! insert of x that wrote it: x was a false positive. ∎ When slices are published plays no role.
//!
//! An insert that begins again has seen one more slice. Items are counted and slices are prepared
//! when no lock is held. A thread that stops between its visits delays the end of the visits, and
//! no insert: until then inserts visit one line per open slice. A thread that stops with the lock
//! of a line delays the inserts and visits of that line.

use super::slices::Slices;
use crate::array::Array;
use crate::bits::{Free, Locked, Writer};

/// What an insert knows of the slices before it looks for its item.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The number of slices.
    pub(crate) seen: usize,
    /// The number of oldest slices that were closed.
    pub(super) closed: usize,
}

impl View {
    /// The view of a new filter.
    pub(crate) const ONE: Self = Self { seen: 1, closed: 0 };

    #[inline]
    pub(crate) fn of<W: Writer>(slices: &Slices<W>) -> Self {
        let closed = slices.closed();
        Self { seen: slices.len(), closed }
    }
}

/// How an insert claims an item that it has not found.
pub trait Claim: Writer {
    /// Writes an item that was not found in the `seen` oldest slices of the view, after the view
    /// was taken.
    fn claim(slices: &Slices<Self>, view: View, hash: u64) -> Claimed;
}

/// What a claim has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// This call claims the item: it has written it into the slice of this number.
    Here(usize),
    /// Another insert has claimed the item.
    Before,
    /// A slice has been published: the caller must look for the item again.
    Outdated,
}

/// At least one of the racing inserts of an item returns `true`. No insert waits.
impl Claim for Free {
    #[inline]
    fn claim(slices: &Slices<Self>, view: View, hash: u64) -> Claimed {
        let newest = view.seen - 1;
        let new = slices.slice(newest).array().insert(hash);
        if new { Claimed::Here(newest) } else { Claimed::Before }
    }
}

/// Exactly one of the racing inserts of an item returns `true`. Inserts of new items of one line
/// wait for each other.
impl Claim for Locked {
    #[inline]
    fn claim(slices: &Slices<Self>, view: View, hash: u64) -> Claimed {
        let View { seen, closed } = view;
        let newest = seen - 1;
        if closed < newest {
            slices.visit(closed, seen, hash);
            // The query before the visits is not enough: another insert of the item may have come
            // in between.
            if slices.contains_in(seen, hash) {
                return Claimed::Before;
            }
        }
        // Another slice may have been published, and the item's line visited. Under the lock the
        // number cannot be too old.
        match slices.slice(newest).array().insert_if(hash, || slices.len() == seen) {
            Some(true) => Claimed::Here(newest),
            Some(false) => Claimed::Before,
            None => Claimed::Outdated,
        }
    }
}

/// Inserts an item; returns whether this call claimed it.
#[inline]
pub(crate) fn insert<W: Claim>(slices: &Slices<W>, hash: u64) -> bool {
    let view = View::of(slices);
    !slices.contains_in(view.seen, hash) && insert_absent(slices, view, hash)
}

/// Inserts an item that was not found in the slices of the view.
#[inline]
pub(crate) fn insert_absent<W: Claim>(slices: &Slices<W>, view: View, hash: u64) -> bool {
    match W::claim(slices, view, hash) {
        Claimed::Here(slice) => {
            // No lock is held here.
            slices.added(slice, hash);
            true
        }
        Claimed::Before => false,
        Claimed::Outdated => insert_again(slices, hash),
    }
}

/// Inserts an item after the slices have changed. Each further call has seen one more slice.
#[cold]
#[inline(never)]
fn insert_again<W: Claim>(slices: &Slices<W>, hash: u64) -> bool {
    insert(slices, hash)
}
