//! The search for an empty slot: the shortest sequence of relocations that gives one to one of two
//! full buckets.
//!
//! The search is breadth-first and only reads. From a bucket it continues to the other bucket of
//! each fingerprint in it. It returns the relocations; the caller must check that each is still
//! possible. Source: Li, Andersen, Kaminsky and Freedman, "Algorithmic improvements for fast
//! concurrent cuckoo hashing", EuroSys 2014.

use arrayvec::ArrayVec;

use crate::bucket::SHAPES;
use crate::growth::layout::Contents;
use crate::place::Class;

/// The highest number of buckets that a search expands, in the largest filters. They take 16 KiB of
/// stack.
const MAX: usize = 1024;

/// Returns the number of buckets that a search expands, in a filter with the given number of
/// buckets. To expand a bucket is to read the other bucket of each of its fingerprints.
///
/// Each additional read reduces the chance that a search fails by some factor. In a filter of N
/// buckets about N searches must succeed, so the number grows with log N. MEASURED: with four
/// slots, the load at the first failed insert is 0.974 for 2^18 buckets and 0.9715 for 2.5e7,
/// instead of 0.961 with a quarter of this number (any machine: a count).
pub(crate) const fn budget(buckets: u64) -> usize {
    let budget = 32 * (64 - buckets.leading_zeros()) as usize;
    if budget > MAX { MAX } else { budget }
}

/// A bucket that the search has read.
#[derive(Clone, Copy)]
struct Node {
    bucket: u64,
    /// The fingerprint that would be relocated into it from the bucket of the parent, in the upper
    /// 48 bits, and the number of the parent.
    link: u64,
}

// A fingerprint has at most 48 bits.
const _: () = {
    let mut at = 0;
    while at < SHAPES.len() {
        assert!(SHAPES[at].width <= 48);
        at += 1;
    }
};

impl Node {
    const fn new(bucket: u64, fingerprint: u64, parent: u16) -> Self {
        Self { bucket, link: fingerprint << 16 | parent as u64 }
    }

    const fn fingerprint(self) -> u64 {
        self.link >> 16
    }

    const fn parent(self) -> u16 {
        self.link as u16
    }
}

/// The parent of the two buckets at which the search starts.
const ROOT: u16 = u16::MAX;

/// A table to search. Reads are guesses: the caller checks each relocation again.
///
/// In a table that grows, a bucket is a position, and which bucket it is depends on the fingerprint
/// too.
pub(crate) trait Readable {
    /// Returns the number of buckets.
    fn len(&self) -> u64;

    /// Returns the contents of a fingerprint's bucket.
    fn read(&self, bucket: u64, fingerprint: u64) -> Contents<'_>;

    /// Returns the other bucket of a fingerprint.
    fn alternate(&self, fingerprint: u64, bucket: u64) -> u64;
}

/// A search, with the buckets that it has read.
pub(crate) struct Search {
    /// One more than the budget, for the bucket at the end of the path.
    nodes: ArrayVec<Node, { MAX + 1 }>,
}

impl Search {
    /// Creates a search. It may be used several times.
    pub(crate) fn new() -> Self {
        Self { nodes: ArrayVec::new() }
    }

    /// Returns the relocations that give an empty slot to one of the two buckets, in the order in
    /// which they must be executed: the first into the bucket with the empty slot, each next into
    /// the bucket that the one before left. Each is the class of a copy, with its present bucket
    /// first.
    ///
    /// Returns an empty sequence if one of the two buckets has an empty slot already, and `None` if
    /// no path was found.
    ///
    /// The path is the shortest, so no bucket is on it twice. If no other thread writes, every step
    /// finds what this search read.
    pub(crate) fn steps(
        &mut self,
        class: Class,
        table: &impl Readable,
    ) -> Option<impl Iterator<Item = Class>> {
        let mut at = usize::from(self.find_empty(class, table)?);
        // Follow the parents from the bucket with the empty slot back to a root, which has no
        // parent.
        Some(core::iter::from_fn(move || {
            let node = self.nodes[at];
            let from = self.nodes.get(usize::from(node.parent()))?.bucket;
            at = usize::from(node.parent());
            Some(Class { fingerprint: node.fingerprint(), buckets: [from, node.bucket] })
        }))
    }

    /// Returns the node of the nearest bucket with an empty slot.
    fn find_empty(&mut self, class: Class, table: &impl Readable) -> Option<u16> {
        self.nodes.clear();
        // Start at both buckets of the item. If one has an empty slot, there is nothing to
        // relocate.
        for bucket in class.buckets {
            let node = self.push(Node::new(bucket, class.fingerprint, ROOT));
            if table.read(bucket, class.fingerprint).first_empty().is_some() {
                return Some(node);
            }
        }
        // Expand the nodes in the order in which they were found, so that the first hit is the
        // nearest.
        let most = budget(table.len());
        let mut parent = 0;
        while let Some(&node) = self.nodes.get(usize::from(parent)) {
            let bucket = node.bucket;
            for fingerprint in table.read(bucket, node.fingerprint()).fingerprints() {
                let to = table.alternate(fingerprint, bucket);
                let found = table.read(to, fingerprint).first_empty().is_some();
                if !found && self.nodes.len() >= most {
                    // The budget is spent, so this bucket is not expanded. But the other buckets at
                    // the border are still read.
                    continue;
                }
                let node = self.push(Node::new(to, fingerprint, parent));
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
