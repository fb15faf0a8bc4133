//! Looking for room: the shortest way to move items so that one of two full buckets gets an empty slot.
//!
//! A read-only search, breadth first, over the buckets to which the items of a bucket could go. It finds
//! the steps; whether they can still be taken is for who takes them to see. Source: Li, Andersen, Kaminsky
//! and Freedman, "Algorithmic improvements for fast concurrent cuckoo hashing", EuroSys 2014.

use arrayvec::ArrayVec;

use crate::bucket::Shape;
use crate::place::{Class, alternate};

/// The most buckets from which a search goes on, in the largest filters: 16 KiB of stack.
const MAX: usize = 1024;

/// Buckets from which a search goes on, in a filter of so many; it looks into as many times more as a bucket
/// has slots.
///
/// Each bucket looked into in vain leaves a chance below one, and a filter of N buckets is to see some N
/// searches without one failing: so the number grows with log N. MEASURED: with four slots, the load at
/// the first refusal is 0.974 for 2^18 buckets and 0.9715 for 2.5e7; a quarter of the buckets gives 0.961.
pub(crate) const fn budget(buckets: u64) -> usize {
    let budget = 32 * (64 - buckets.leading_zeros()) as usize;
    if budget > MAX { MAX } else { budget }
}

/// One item to move: a copy of the fingerprint lies in `from`, and `to` is its other bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) fingerprint: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Step {
    /// The class of what is moved, from where it lies to where it goes.
    pub(crate) const fn class(self) -> Class {
        Class { fingerprint: self.fingerprint, buckets: [self.from, self.to] }
    }
}

/// A bucket that was looked into.
#[derive(Clone, Copy)]
struct Node {
    bucket: u64,
    /// What would come into it, from the bucket of the parent.
    fingerprint: u32,
    parent: u16,
}

/// The parent of the two buckets in which the search begins.
const ROOT: u16 = u16::MAX;

/// The buckets that a search has looked into.
pub(crate) struct Search {
    /// One more for the end of the way.
    nodes: ArrayVec<Node, { MAX + 1 }>,
    shape: Shape,
    buckets: u64,
}

impl Search {
    pub(crate) fn new(shape: Shape, buckets: u64) -> Self {
        Self { nodes: ArrayVec::new(), shape, buckets }
    }

    /// The steps that give an empty slot to one of the two buckets, in the order in which they are to be
    /// taken: the first into a bucket that has one, each next into the bucket that the one before left.
    /// No steps if one of the two has an empty slot as it is; none at all if no way was found.
    ///
    /// The way is the shortest, so no bucket is on it twice, and each step finds what this search saw if
    /// nobody else changes it.
    pub(crate) fn steps(
        &mut self,
        roots: [u64; 2],
        read: impl Fn(u64) -> u64,
    ) -> Option<impl Iterator<Item = Step>> {
        let mut at = usize::from(self.find_empty(roots, read)?);
        Some(core::iter::from_fn(move || {
            let Node { bucket: to, fingerprint, parent } = self.nodes[at];
            let from = self.nodes.get(usize::from(parent))?.bucket;
            at = usize::from(parent);
            Some(Step { fingerprint: u64::from(fingerprint), from, to })
        }))
    }

    /// The node of the first bucket with an empty slot.
    fn find_empty(&mut self, roots: [u64; 2], read: impl Fn(u64) -> u64) -> Option<u16> {
        self.nodes.clear();
        for bucket in roots {
            let node = self.push(Node { bucket, fingerprint: 0, parent: ROOT });
            if self.shape.find_empty(read(bucket)).is_some() {
                return Some(node);
            }
        }
        let most = budget(self.buckets);
        let mut parent = 0;
        while let Some(&Node { bucket, .. }) = self.nodes.get(usize::from(parent)) {
            for fingerprint in self.shape.fingerprints_of(read(bucket)) {
                let to = alternate(fingerprint, bucket, self.buckets);
                let found = self.shape.find_empty(read(to)).is_some();
                if !found && self.nodes.len() >= most {
                    // No room to go on from there; but the buckets next to it are still looked into.
                    continue;
                }
                let fingerprint = fingerprint as u32;
                let node = self.push(Node { bucket: to, fingerprint, parent });
                if found {
                    return Some(node);
                }
            }
            parent += 1;
        }
        None
    }

    fn push(&mut self, node: Node) -> u16 {
        self.nodes.push(node);
        self.nodes.len() as u16 - 1
    }
}
