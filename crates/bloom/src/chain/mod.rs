//! A growing filter: a chain of blocked arrays, its hasher, and the kind of its inserts. The public
//! types wrap it.
//!
//! | file | job |
//! |---|---|
//! | `plan.rs`, `steps.rs` | pure: the sizes of the slices, and where growth ends; the counts at which it does something |
//! | `state.rs` | the shared words apart from the bits: counts, claims, closed slices |
//! | `slice.rs`, `slices.rs` | one slice; all of them, and the query |
//! | `prepare.rs` | growth in portions |
//! | `claim.rs` | the two kinds of insert, with the proofs of what they return |
//! | `many.rs`, `figures.rs` | batches; estimates |

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use tamis_core::{BuildError, Figures};
use tamis_hash::HashItem;
use tamis_sync::{out_of_memory, run_batches};

use self::claim::Claim;
use self::many::{Contains, Insert};
use self::plan::Plan;
use self::slice::Slice;
use self::slices::Slices;
use crate::bits::Writer;

pub(crate) mod claim;
mod figures;
mod many;
#[cfg(all(test, tamis_loom))]
mod models;
#[cfg(all(test, any(tamis_loom, tamis_shuttle)))]
mod mutants;
pub(crate) mod plan;
mod prepare;
#[cfg(all(test, tamis_shuttle))]
mod schedules;
pub(crate) mod slice;
pub(crate) mod slices;
mod state;
mod steps;
#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests;

/// A growing filter. `W` is the kind of its inserts.
pub struct Chain<W, T: ?Sized, S> {
    pub(crate) slices: Slices<W>,
    pub(crate) hasher: S,
    /// No item is stored: the filter is `Send` and `Sync` whatever `T` is.
    item: PhantomData<fn(&T)>,
}

impl<W: Claim, T: ?Sized, S> Chain<W, T, S> {
    pub(crate) fn new(plan: Plan, hasher: S) -> Result<Self, BuildError> {
        Slices::new(plan).map(|slices| Self::of_slices(slices, hasher))
    }

    pub(crate) fn of_slices(slices: Slices<W>, hasher: S) -> Self {
        Self { slices, hasher, item: PhantomData }
    }

    #[inline]
    pub(crate) fn insert<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        // The user's code runs in `hash_item`, before anything is locked.
        self.insert_hash(self.hasher.hash_item(item))
    }

    #[inline]
    pub(crate) fn insert_hash(&self, hash: u64) -> bool {
        claim::insert(&self.slices, hash)
    }

    #[inline]
    pub(crate) fn contains_hash(&self, hash: u64) -> bool {
        self.slices.contains(hash)
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.slices.prefetch(hash);
    }

    #[inline]
    pub(crate) fn insert_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Insert::new(&self.slices), hashes, on_result);
    }

    #[inline]
    pub(crate) fn contains_many_with(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Contains::new(&self.slices), hashes, on_result);
    }

    /// Makes a chain of one empty slice like the first. (The plan of a loaded filter may compute
    /// other sizes.) If the allocation fails, ends as std's collections do.
    pub(crate) fn clear(&mut self) {
        let (plan, first) = (self.slices.plan, &self.slices.slice(0).filter);
        let slice = Slice::zeroed(first.geometry(), first.capacity() as u64)
            .unwrap_or_else(|_| out_of_memory(self.size_in_bytes()));
        self.slices = Slices::of_first(plan, slice);
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.slices.size_in_bytes()
    }

    pub(crate) fn read_figures(&self, lines: Option<u64>) -> Figures {
        self.slices.figures(lines)
    }

    /// Copies the filter while other threads insert. If an allocation fails, ends as std's
    /// collections do.
    pub(crate) fn snapshot(&self) -> Self
    where
        S: Clone,
    {
        Self::of_slices(self.slices.copy(), self.hasher.clone())
    }
}

/// Shows the sizes, never the bits.
impl<W: Writer, T: ?Sized, S> fmt::Debug for Chain<W, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain")
            .field("slices", &self.slices.len())
            .field("capacity", &self.slices.capacity())
            .finish_non_exhaustive()
    }
}
