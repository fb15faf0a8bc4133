//! What the format needs from Bloom filters that grow.

use tamis_bloom::raw::{self, SliceSizes};
use tamis_bloom::{Growing, OnceScalableBloomFilter, ScalableBloomFilter};
use tamis_hash::{HashItem, StableHasher};
use tamis_sync::AllocError;

use crate::error::LoadError;
use crate::filters::saved::sealed::Sealed;
use crate::filters::saved::{Saved, lines_error, other_kind};
use crate::kind::Kind;
use crate::layout::directory::Slices;
use crate::layout::header::Header;
use crate::layout::line_bytes::Words;
use crate::layout::slice_entry::to_words;
use crate::layout::source::{Content, computed, copied};
use crate::sizes::chain::ChainSizes;
use crate::sizes::geometry::Geometry;

/// Returns the sizes of a filter with these slices.
fn sizes_of<F: Growing + Saved>(filter: &F, slices: &[SliceSizes]) -> ChainSizes {
    ChainSizes::of_slices(F::KIND == Kind::OnceScalableBloom, raw::growth(filter), slices)
}

/// Returns the sizes of a body, and a function that reads a line of it.
fn body_of<F: Growing + Saved>(filter: &F) -> (Geometry, impl Fn(u64) -> Words) {
    // Bits are only set, and slices only added: each item that was inserted before is in one of
    // these.
    let slices = raw::slices(filter);
    let geometry = Geometry::Chain(sizes_of(filter, &slices));
    // The line of the body behind each slice.
    let mut end = slices.len() as u64;
    let ends: Vec<u64> = slices
        .iter()
        .map(|slice| {
            end += raw::lines(slice.geometry);
            end
        })
        .collect();
    let line = move |line: u64| {
        if let Some(slice) = slices.get(line as usize) {
            return to_words(slice);
        }
        let number = ends.partition_point(|end| *end <= line);
        let first = if number == 0 { slices.len() as u64 } else { ends[number - 1] };
        raw::read_slice_line(filter, number, line - first)
    };
    (geometry, line)
}

macro_rules! growing {
    ($($name:ident, $kind:ident;)*) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for $name<T, S> {
            type Body = Slices;

            fn sizes(&self) -> Geometry {
                Geometry::Chain(sizes_of(self, &raw::slices(self)))
            }

            fn built_for(&self) -> u64 {
                raw::growth(self).first_capacity
            }

            fn passing(&self) -> Result<Content<'_>, AllocError> {
                let (geometry, line) = body_of(self);
                Ok(computed(geometry, line))
            }

            fn still(&self) -> Result<Content<'_>, AllocError> {
                let (geometry, line) = body_of(self);
                copied(geometry, line)
            }

            fn of_body(header: &Header, hasher: S, body: Self::Body) -> Result<Self, LoadError> {
                let Geometry::Chain(sizes) = header.geometry else {
                    return Err(other_kind::<Self>(header));
                };
                raw::from_slices(sizes.growth(header.capacity), hasher, body.0)
                    .map_err(|error| lines_error::<Self>(header, error))
            }
        }

        impl<T: ?Sized, S: StableHasher + HashItem<T>> Saved for $name<T, S> {
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

growing! {
    ScalableBloomFilter, ScalableBloom;
    OnceScalableBloomFilter, OnceScalableBloom;
}
