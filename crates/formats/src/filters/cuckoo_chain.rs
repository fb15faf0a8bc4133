//! What the format needs from cuckoo filters that grow.

use tamis_cuckoo::ScalableCuckooFilter;
use tamis_cuckoo::raw::scalable::{self, Part};
use tamis_hash::{HashItem, StableHasher};
use tamis_sync::AllocError;

use crate::error::LoadError;
use crate::filters::cuckoo_slice_entry::CuckooSlice;
use crate::filters::saved::sealed::Sealed;
use crate::filters::saved::{Saved, cuckoo_error, other_kind};
use crate::kind::Kind;
use crate::layout::directory::{Arrays, CopiedArrays};
use crate::layout::header::Header;
use crate::layout::source::Source;
use crate::sizes::cuckoo_chain::CuckooChainSizes;
use crate::sizes::geometry::Geometry;

impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for ScalableCuckooFilter<T, S> {
    type Body = Arrays<CuckooSlice>;

    fn sizes(&self) -> Geometry {
        let (plan, geometries) = (scalable::plan(self), scalable::geometries(self));
        Geometry::CuckooChain(CuckooChainSizes::of_geometries(plan, geometries))
    }

    // There is no other `passing`: while lines are read one by one, other threads may move, add and
    // remove fingerprints.
    fn still(&self) -> Result<impl Source, AllocError> {
        let plan = scalable::plan(self);
        let parts = scalable::try_copy(self)?;
        // The filter may grow meanwhile, so the sizes are those of the copy.
        let geometries = parts.iter().map(|part| part.geometry);
        let sizes = Geometry::CuckooChain(CuckooChainSizes::of_geometries(plan, geometries));
        let items = parts.iter().map(|part| part.len).sum();
        let arrays = (0..).zip(parts).map(|(number, part)| {
            let Part { geometry, lines, len: copies } = part;
            (CuckooSlice { plan, number, geometry, copies }, lines)
        });
        Ok(CopiedArrays::new(sizes, items, arrays))
    }

    fn of_body(header: &Header, hasher: S, body: Self::Body) -> Result<Self, LoadError> {
        let Geometry::CuckooChain(sizes) = header.geometry else {
            return Err(other_kind::<Self>(header));
        };
        let part = |(entry, lines): (CuckooSlice, _)| {
            let CuckooSlice { geometry, copies: len, .. } = entry;
            Part { geometry, lines, len }
        };
        let parts = body.0.into_iter().map(part).collect();
        let filter = scalable::from_parts(sizes.plan(), header.capacity as usize, hasher, parts)
            .map_err(|error| cuckoo_error::<Self>(header, error))?;
        // The zeros of empty slices take no memory.
        filter.release_empty();
        Ok(filter)
    }
}

impl<T: ?Sized, S: StableHasher + HashItem<T>> Saved for ScalableCuckooFilter<T, S> {
    const KIND: Kind = Kind::ScalableCuckoo;
}
