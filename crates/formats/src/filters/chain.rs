//! What the format needs from Bloom filters that grow.

use tamis_bloom::raw::{self, SliceSizes};
use tamis_bloom::{Growing, OnceScalableBloomFilter, ScalableBloomFilter};
use tamis_hash::{HashItem, StableHasher};
use tamis_sync::AllocError;

use crate::error::LoadError;
use crate::filters::saved::sealed::Sealed;
use crate::filters::saved::{Saved, copy_lines, other_kind};
use crate::filters::slice_entry::Slice;
use crate::kind::Kind;
use crate::layout::directory::{Arrays, CopiedArrays, Entry};
use crate::layout::header::Header;
use crate::layout::source::{Computed, Source};
use crate::sizes::chain::ChainSizes;
use crate::sizes::geometry::Geometry;

/// Returns the sizes of a filter with these slices.
fn sizes_of<F: Growing + Saved>(filter: &F, slices: &[SliceSizes]) -> ChainSizes {
    ChainSizes::of_slices(F::KIND == Kind::OnceScalableBloom, raw::growth(filter), slices)
}

macro_rules! growing {
    ($($name:ident, $kind:ident;)*) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for $name<T, S> {
            type Body = Arrays<Slice>;

            fn sizes(&self) -> Geometry {
                Geometry::Chain(sizes_of(self, &raw::slices(self)))
            }

            fn built_for(&self) -> u64 {
                raw::growth(self).first_capacity
            }

            fn passing(&self) -> Result<impl Source, AllocError> {
                // Bits are only set, and slices only added: each item that was inserted before is
                // in one of these.
                let slices = raw::slices(self);
                let sizes = sizes_of(self, &slices);
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
                    if let Some(sizes) = slices.get(line as usize) {
                        return Slice { sizes: *sizes }.to_words();
                    }
                    let number = ends.partition_point(|end| *end <= line);
                    let first = if number == 0 { slices.len() as u64 } else { ends[number - 1] };
                    raw::read_slice_line(self, number, line - first)
                };
                Ok(Computed { line, items: 0, geometry: Geometry::Chain(sizes) })
            }

            fn still(&self) -> Result<impl Source, AllocError> {
                let slices = raw::slices(self);
                let sizes = Geometry::Chain(sizes_of(self, &slices));
                let copies = slices.into_iter().enumerate();
                let copies = copies.map(|(number, sizes)| {
                    let line = |line| raw::read_slice_line(self, number, line);
                    Ok((Slice { sizes }, copy_lines(raw::lines(sizes.geometry), line)?))
                });
                let copies: Vec<_> = copies.collect::<Result<_, AllocError>>()?;
                Ok(CopiedArrays::new(sizes, 0, copies.into_iter()))
            }

            fn of_body(header: &Header, hasher: S, body: Self::Body) -> Result<Self, LoadError> {
                let Geometry::Chain(sizes) = header.geometry else {
                    return Err(other_kind::<Self>(header));
                };
                let slices = body.0.into_iter().map(|(slice, lines)| (slice.sizes, lines));
                raw::from_slices(sizes.growth(header.capacity), hasher, slices).map_err(|error| {
                    match error {
                        raw::LinesError::Alloc { bytes } => LoadError::Alloc { bytes },
                        _ => other_kind::<Self>(header),
                    }
                })
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
