//! Copies of all slices, while other threads query. Inserts and removals wait.
//!
//! Memory is allocated before the locks are taken: an allocator is foreign code and may be slow.

use alloc::vec::Vec;

use tamis_sync::{AllocError, Lines, StripeGuard};

use super::{Slice, Slices};
use crate::geometry::Geometry;

/// The buckets of a slice: its sizes, the lines, and the number of fingerprints in them.
pub(crate) type Copied = (Geometry, Lines, u64);

impl Slices {
    /// Copies all slices, as they are at one moment of the call.
    pub(crate) fn copy(&self) -> Result<Self, AllocError> {
        self.of_copies(self.copy_lines()?)
    }

    /// Copies the buckets of all slices, oldest first, as they are at one moment of the call.
    pub(crate) fn copy_lines(&self) -> Result<Vec<Copied>, AllocError> {
        let mut guards = self.room_for_guards()?;
        let mut copies = Vec::new();
        // 1. Allocate for the slices that are published. Each further turn allocates for at
        //    least one more, and a plan has at most `Slots::MAX`, so the loop ends.
        loop {
            self.allocate_copies(&mut copies)?;
            // 2. Lock all classes.
            self.lock_all(&mut guards);
            // 3. Begin again if the filter has grown. A slice that is published later is empty
            //    until the locks are free.
            if copies.len() == self.list.len() {
                break;
            }
            guards.clear();
        }
        // 4. Copy.
        self.fill_copies(&mut copies);
        drop(guards);
        Ok(copies)
    }

    /// Allocates what [`lock_all`](Self::lock_all) needs.
    pub(super) fn room_for_guards(&self) -> Result<Vec<StripeGuard<'_>>, AllocError> {
        let mut guards = Vec::new();
        reserve(&mut guards, self.locks.len())?;
        Ok(guards)
    }

    /// Allocates the copies of the published slices that `copies` lacks.
    pub(super) fn allocate_copies(&self, copies: &mut Vec<Copied>) -> Result<(), AllocError> {
        let lacking = self.list.iter().skip(copies.len());
        reserve(copies, lacking.len())?;
        for slice in lacking {
            let geometry = slice.table.geometry();
            copies.push((geometry, Lines::zeroed(geometry.lines())?, 0));
        }
        Ok(())
    }

    /// Copies the slices for which memory is allocated. The caller holds the locks of all
    /// classes.
    pub(super) fn fill_copies(&self, copies: &mut [Copied]) {
        for ((_, lines, len), slice) in copies.iter_mut().zip(self.list.iter()) {
            *len = slice.table.copy_into(lines);
        }
    }

    /// Makes slices of copies of all slices.
    pub(super) fn of_copies(&self, copies: Vec<Copied>) -> Result<Self, AllocError> {
        let mut copies = copies.into_iter().zip(self.list.iter());
        let mut next = || {
            let ((_, lines, len), slice) = copies.next()?;
            let table = slice.table.like(lines);
            Some(table.and_then(|table| Slice::of_table(table, len)))
        };
        // The list is never empty.
        let first = next().unwrap_or(Err(AllocError { bytes: 0 }))?;
        let mut copied = Self::with_first(self.plan, first, self.locks.len() as u64)?;
        while let Some(slice) = next() {
            let pushed = copied.push(slice?);
            debug_assert!(pushed, "a list has room for all slices of a plan");
        }
        Ok(copied)
    }
}

/// Reserves room for `more` values.
fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    let bytes = values.len().saturating_add(more).saturating_mul(size_of::<T>()) as u128;
    values.try_reserve_exact(more).map_err(|_| AllocError { bytes })
}
