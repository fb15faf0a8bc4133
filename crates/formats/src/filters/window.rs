//! What the format needs from rotating filters.

use tamis_bloom::{RotatingBloomFilter, raw};
use tamis_hash::{HashItem, StableHasher};
use tamis_sync::{AllocError, Lines};

use crate::error::LoadError;
use crate::filters::saved::sealed::Sealed;
use crate::filters::saved::{Saved, lines_error, other_kind};
use crate::kind::Kind;
use crate::layout::header::Header;
use crate::layout::source::{Content, computed};
use crate::sizes::geometry::Geometry;
use crate::sizes::window::WindowSizes;

impl<T: ?Sized, S: StableHasher + HashItem<T>> Sealed for RotatingBloomFilter<T, S> {
    type Body = Lines;

    fn sizes(&self) -> Geometry {
        Geometry::Window(WindowSizes::of_rotation(self.geometry(), raw::rotation(self)))
    }

    // There is no other `passing`: a generation that is read line by line may be cleared meanwhile.
    fn still(&self) -> Result<Content<'_>, AllocError> {
        let copy = raw::try_rotating_snapshot(self)?;
        let sizes = WindowSizes::of_rotation(copy.geometry(), raw::rotation(&copy));
        let (slots, spare) = (sizes.slots(), sizes.spare());
        let line = move |line| {
            let mut words = raw::read_rotating_line(&copy, line);
            for (number, word) in (8 * line..).zip(&mut words) {
                if number % slots == spare {
                    *word = 0;
                }
            }
            words
        };
        Ok(computed(Geometry::Window(sizes), line))
    }

    fn of_body(header: &Header, hasher: S, lines: Lines) -> Result<Self, LoadError> {
        let Geometry::Window(sizes) = header.geometry else {
            return Err(other_kind::<Self>(header));
        };
        let rotation = sizes.rotation(header.capacity as usize);
        raw::rotating_from_lines(sizes.geometry(), rotation, hasher, lines)
            .map_err(|error| lines_error::<Self>(header, error))
    }
}

impl<T: ?Sized, S: StableHasher + HashItem<T>> Saved for RotatingBloomFilter<T, S> {
    const KIND: Kind = Kind::RotatingBloom;
}
