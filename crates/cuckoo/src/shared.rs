//! The state and the operations that both filter types share: inserts, queries and removals by
//! hash, copies, merges, and the false-positive rate of the contents.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use core::mem;

use tamis_core::{BuildError, Figures, Sampled};
use tamis_hash::{HashItem, ItemHasher};
use tamis_sync::{AllocError, Counter, out_of_memory};

use crate::bucket::{Shape, with_known_shape};
use crate::error::{InsertError, MergeError};
use crate::geometry::Geometry;
use crate::growth::many::Counted;
use crate::growth::table as growth;
use crate::table::Table;
use crate::{evict, occupancy, sizing};

/// A filter: its table, its number of copies, and its hasher. Each public type wraps one.
///
/// It is `pub`, since a supertrait of a public trait names it. No path names it outside this crate,
/// and it has no public method.
pub struct Shared<T: ?Sized, S> {
    pub(crate) table: Table,
    pub(crate) len: Counter,
    pub(crate) capacity: usize,
    pub(crate) hasher: S,
    /// No item is stored, so the filter is `Send` and `Sync` for every `T`.
    item: PhantomData<fn(&T)>,
}

/// Defines operations by hash. The code for the default shape is inlined into the caller. The code
/// for all shapes is one function that is not inlined, because it saves and restores registers that
/// only some of them need. If the other shapes need another expression, it follows `others:`.
///
/// MEASURED: a query executes 84 instructions, instead of 104 where all shapes share the inlined
/// function (any machine: counted by callgrind on x86-64 with AVX2).
macro_rules! of_a_hash {
    ($name:ident($len:ident) -> $answer:ty, |$buckets:ident, $class:ident| $run:expr) => {
        of_a_hash! {
            $name($len) -> $answer, |$buckets, $class| $run, others: $run
        }
    };
    ($name:ident($len:ident) -> $answer:ty, |$buckets:ident, $class:ident| $run:expr,
        others: $others:expr) => {
        impl<T: ?Sized, S> Shared<T, S> {
            #[inline(always)]
            pub(crate) fn $name(&self, hash: u64) -> $answer {
                #[inline(never)]
                fn other_shapes(table: &Table, $len: &Counter, hash: u64) -> $answer {
                    with_known_shape!(table.geometry.shape(), shape => {
                        let $buckets = table.buckets_of(shape);
                        let $class = $buckets.class(hash);
                        $others
                    })
                }
                let Self { table, len: $len, .. } = self;
                if !table.geometry.shape().is(Shape::DEFAULT) {
                    return match table.grown() {
                        Some(table) => Counted { table, len: $len }.$name(hash),
                        None => other_shapes(table, $len, hash),
                    };
                }
                let $buckets = table.buckets_of(Shape::DEFAULT);
                let $class = $buckets.class(hash);
                $run
            }
        }
    };
}

of_a_hash! {
    // The default shape is no pair, so its table is never unpaired. MEASURED: with
    // `contains_in_any` for all shapes, the compiler no longer inlines a query of the default
    // shape, and it executes 91 instructions instead of 84 (any machine: counted by callgrind on
    // x86-64 with AVX2).
    contains(_len) -> bool, |buckets, class| buckets.contains(class),
    others: buckets.contains_in_any(class)
}
of_a_hash! {
    insert(len) -> Result<(), InsertError>, |buckets, class| {
        evict::insert(buckets, class)?;
        len.add(1);
        Ok(())
    }
}
of_a_hash! {
    insert_once(len) -> Result<bool, InsertError>, |buckets, class| {
        let new = evict::insert_once(buckets, class)?;
        if new {
            len.add(1);
        }
        Ok(new)
    }
}
of_a_hash! {
    remove(len) -> bool, |buckets, class| {
        let removed = buckets.lock_stripe(class).remove();
        if removed {
            len.subtract(1);
        }
        removed
    }
}

impl<T: ?Sized, S> Shared<T, S> {
    /// Allocates an empty filter.
    pub(crate) fn new(geometry: Geometry, capacity: usize, hasher: S) -> Result<Self, BuildError> {
        let filter =
            Table::zeroed(geometry).and_then(|table| Self::with_table(table, 0, capacity, hasher));
        filter.map_err(|error| BuildError::Alloc { bytes: bytes(error) })
    }

    /// Makes a filter with this table, which contains `len` fingerprints.
    pub(crate) fn with_table(
        table: Table,
        len: u64,
        capacity: usize,
        hasher: S,
    ) -> Result<Self, AllocError> {
        let mut count = Counter::zeroed(table.geometry.parts())?;
        count.set(len);
        Ok(Self { table, len: count, capacity, hasher, item: PhantomData })
    }

    /// Hashes an item. Of these operations only this one runs code of the user, and it holds no
    /// lock.
    #[inline]
    pub(crate) fn hash<Q: ?Sized>(&self, item: &Q) -> u64
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.hasher.hash_item(item)
    }

    #[inline]
    pub(crate) fn count(&self, hash: u64) -> u32 {
        if let Some(table) = self.table.grown() {
            return table.lock_stripe(&table.placed(table.class(hash))).count();
        }
        let buckets = self.table.buckets();
        buckets.lock_stripe(buckets.class(hash)).count()
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        match self.table.grown() {
            Some(table) => table.prefetch_hash(hash),
            None => self.table.prefetch_hash(hash),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.len.set(0);
    }

    #[inline]
    pub(crate) fn geometry(&self) -> Geometry {
        self.table.geometry
    }

    pub(crate) fn len(&self) -> usize {
        // This fits: a slot has at least 8 bits, so a filter has no more slots than its memory has
        // bytes.
        self.len.get() as usize
    }

    pub(crate) fn load_factor(&self) -> f64 {
        let slots =
            self.table.grown().map_or_else(|| self.geometry().all_slots(), growth::Table::slots);
        self.len() as f64 / slots as f64
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        let sizes = || self.geometry().size_in_bytes();
        self.table
            .grown()
            .map_or_else(sizes, |table| table.size_in_bytes() + self.len.size_in_bytes())
    }

    pub(crate) fn saturation(&self) -> f64 {
        self.len() as f64 / self.capacity as f64
    }

    /// Returns a copy of the filter, which may be in use meanwhile.
    pub(crate) fn try_snapshot(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        // Foreign code: under the locks of `Table::copy` none may run.
        let hasher = self.hasher.clone();
        // The copied buckets give the count: other threads may insert during the copy.
        let (table, len) = match self.table.grown() {
            Some(grown) => {
                let (copy, len) = grown.copy()?;
                (Table::of_grown(copy)?, len)
            }
            None => self.table.copy()?,
        };
        Self::with_table(table, len, self.capacity, hasher)
    }

    /// Returns a copy of the filter. Ends the program as std's collections do if the allocation
    /// fails.
    pub(crate) fn snapshot(&self) -> Self
    where
        S: Clone,
    {
        self.try_snapshot().unwrap_or_else(|error| out_of_memory(bytes(error)))
    }

    /// Returns a filter with the copies of both, or if `once`, with one copy of each class of
    /// either.
    pub(crate) fn merge(a: &Self, b: &Self, once: bool) -> Result<Self, MergeError>
    where
        S: ItemHasher + Clone,
    {
        // Both filters must give an item the same class.
        let geometry = a.geometry();
        if geometry != b.geometry() {
            return Err(MergeError::Geometry);
        }
        if a.hasher.hash_probe() != b.hasher.hash_probe() {
            return Err(MergeError::Hash);
        }
        let alloc_error = |error: AllocError| MergeError::Alloc { bytes: bytes(error) };
        // Copy both: others may insert into them, and in a filter itself, a copy in relocation
        // could be read twice.
        let copy = |filter: &Self| filter.try_snapshot().map_err(alloc_error);
        let (mut merged, mut other) = (copy(a)?, copy(b)?);
        // Begin with the table that has grown further: all copies of an item may not fit into two
        // buckets of the other, which have fewer slots.
        let places = |filter: &Self| filter.table.grown().map_or(0, growth::Table::places);
        if places(&merged) < places(&other) {
            mem::swap(&mut merged, &mut other);
        }
        // Not the sum: at that number of items the rate may be above the request of both.
        merged.capacity = a.capacity.max(b.capacity);
        if let (Some(table), Some(from)) = (merged.table.grown(), other.table.grown()) {
            let into = Counted { table, len: &merged.len };
            into.insert_all(from, once).map_err(MergeError::Insert)?;
            return Ok(merged);
        }
        // A fingerprint and its bucket determine the class, so the copies can be inserted without
        // their items.
        let other = other.table.buckets();
        for bucket in 0..geometry.buckets() {
            for fingerprint in geometry.shape().fingerprints_of(other.read(bucket)) {
                let class = geometry.class(fingerprint, bucket);
                let inserted = if once {
                    evict::insert_once(merged.table.buckets(), class).map(drop)
                } else {
                    evict::insert(merged.table.buckets(), class)
                };
                inserted.map_err(MergeError::Insert)?;
            }
        }
        merged.len.set(merged.table.len());
        Ok(merged)
    }

    /// Reads all buckets, or at least this number of them. The number of copies is exact.
    pub(crate) fn read_figures(&self, buckets: Option<u64>) -> Figures {
        let all =
            self.table.grown().map_or_else(|| self.geometry().buckets(), growth::Table::places);
        // Odd: in a table that grows, buckets at even positions hold fewer copies than the others.
        let step = |buckets: u64| (all / buckets.max(1)).saturating_sub(1) | 1;
        let [items, fill, saturation] =
            [self.len() as f64, self.load_factor(), self.saturation()].map(Sampled::exact);
        Figures::new(items, fill, saturation, self.rate_of(buckets.map_or(1, step)))
    }

    /// Returns the probability that a random hash has the class of some copy, estimated from every
    /// `step`-th bucket.
    fn rate_of(&self, step: u64) -> Sampled {
        if let Some(table) = self.table.grown() {
            let pairs = table.buckets(0, step).map(|(position, contents)| {
                let is_in_other = |whole| {
                    let class = table.layout().class(whole, position);
                    table.peek(class.buckets[1], whole).contains(class)
                };
                occupancy::pairs(|| contents.fingerprints(), is_in_other)
            });
            return occupancy::rate(pairs, table.places(), table.plan.classes());
        }
        let (geometry, buckets) = (self.geometry(), self.table.buckets());
        let (all, shape) = (geometry.buckets(), geometry.shape());
        let steps = (0..all).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        let pairs = steps.map(|bucket| {
            let value = buckets.read_any(bucket);
            let is_in_other = |fingerprint| {
                let other = buckets.read_any(geometry.alternate(fingerprint, bucket));
                shape.contains(other, fingerprint)
            };
            occupancy::pairs(|| shape.fingerprints_of(value), is_in_other)
        });
        occupancy::rate(pairs, all, sizing::classes(all, shape))
    }
}

/// Prints the type only: the public types print their figures.
impl<T: ?Sized, S> fmt::Debug for Shared<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// Returns the size of the failed allocation.
pub(crate) fn bytes(error: AllocError) -> u64 {
    u64::try_from(error.bytes).unwrap_or(u64::MAX)
}
