//! What the format needs from cuckoo filters: those of a fixed size, and those that grow in place.

use tamis_core::Frozen;
use tamis_cuckoo::raw::{self, growing};
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_hash::{HashItem, StableHasher};
use tamis_sync::{AllocError, Lines};

use crate::error::LoadError;
use crate::filters::saved::sealed::Sealed;
use crate::filters::saved::{Saved, lines_error, other_kind};
use crate::kind::Kind;
use crate::layout::header::Header;
use crate::layout::source::{Content, Passing, of_copy};
use crate::sizes::geometry::Geometry;
use crate::sizes::growing::GrowingSizes;

macro_rules! cuckoo {
    ($($name:ident, $kind:ident;)*) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for $name<T, S> {
            type Body = Lines;

            fn sizes(&self) -> Geometry {
                let geometry = self.geometry();
                if geometry.doublings() == 0 {
                    return Geometry::Cuckoo(geometry);
                }
                let sizes = GrowingSizes::of_bytes(geometry, self.size_in_bytes());
                sizes.map_or(Geometry::Cuckoo(geometry), Geometry::GrowingCuckoo)
            }

            fn passing(&self) -> Result<Content<'_>, AllocError> {
                let geometry = self.geometry();
                if geometry.doublings() != 0 {
                    // While lines are read one by one, buckets are split.
                    return self.still();
                }
                // While lines are read one by one, other threads may move fingerprints from later
                // lines to earlier ones. The pass finds out.
                Ok((Geometry::Cuckoo(geometry), Box::new(Passing(raw::pass(self)))))
            }

            fn still(&self) -> Result<Content<'_>, AllocError> {
                let geometry = self.geometry();
                if geometry.doublings() == 0 {
                    let (lines, items) = raw::try_copy_lines(self)?;
                    return Ok(of_copy(Geometry::Cuckoo(geometry), lines, items));
                }
                // The filter may grow meanwhile, so the sizes are those of the copy.
                let (extent, lines, items) = growing::try_copy(self)?;
                let geometry = Geometry::GrowingCuckoo(GrowingSizes::new(extent));
                Ok(of_copy(geometry, lines, items))
            }

            fn of_body(header: &Header, hasher: S, lines: Lines) -> Result<Self, LoadError> {
                let Header { capacity, items, .. } = *header;
                let capacity = capacity as usize;
                match header.geometry {
                    Geometry::Cuckoo(geometry) => {
                        raw::from_lines(geometry, capacity, hasher, lines, items)
                    }
                    Geometry::GrowingCuckoo(sizes) => {
                        growing::from_lines(sizes.extent(), capacity, hasher, lines, items)
                    }
                    _ => return Err(other_kind::<Self>(header)),
                }
                .map_err(|error| lines_error::<Self>(header, error))
            }

            fn frozen_of_body(
                header: &Header,
                hasher: S,
                lines: Lines,
            ) -> Result<Frozen<Self>, LoadError> {
                let Geometry::Cuckoo(geometry) = header.geometry else {
                    return Self::of_body(header, hasher, lines).map(Frozen::new);
                };
                let Header { capacity, items, .. } = *header;
                raw::frozen_from_lines(geometry, capacity as usize, hasher, lines, items)
                    .map_err(|error| lines_error::<Self>(header, error))
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Saved for $name<T, S> {
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

cuckoo! {
    CuckooFilter, Cuckoo;
    OnceCuckooFilter, OnceCuckoo;
}
