//! The lines of a filter, to be written to a body.

use core::ops::Range;

use tamis_cuckoo as cuckoo;
use tamis_sync::{LINE_BYTES, Lines};

use crate::layout::line_bytes::{Words, bytes_of, swap_on_big_endian};
use crate::sizes::geometry::Geometry;

/// The lines of a filter, to be written to a body.
pub trait Source {
    /// Returns the bytes of consecutive lines: those of a chunk. They are in the buffer or in the
    /// filter. Returns `None` if the lines are inconsistent.
    fn chunk<'b>(
        &'b mut self,
        lines: Range<u64>,
        buffer: &'b mut Vec<[u8; LINE_BYTES]>,
    ) -> Option<&'b [u8]>;

    /// Returns the number of items for the header: in a pass, after the last chunk. Returns `None`
    /// if the lines are inconsistent.
    fn items(&self) -> Option<u64>;

    /// Returns the sizes for the header.
    fn geometry(&self) -> Geometry;
}

/// Lines that a function returns, one by one.
pub(crate) struct Computed<F> {
    pub(crate) line: F,
    pub(crate) items: u64,
    pub(crate) geometry: Geometry,
}

impl<F: Fn(u64) -> Words> Source for Computed<F> {
    fn chunk<'b>(
        &'b mut self,
        lines: Range<u64>,
        buffer: &'b mut Vec<[u8; LINE_BYTES]>,
    ) -> Option<&'b [u8]> {
        buffer.clear();
        buffer.extend(lines.map(|line| bytes_of((self.line)(line))));
        Some(buffer.as_flattened())
    }

    fn items(&self) -> Option<u64> {
        Some(self.items)
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }
}

/// The lines of a cuckoo filter in use, read without a copy.
pub(crate) struct Passing<'f> {
    pub(crate) pass: cuckoo::raw::Pass<'f>,
    pub(crate) geometry: Geometry,
}

impl Source for Passing<'_> {
    fn chunk<'b>(
        &'b mut self,
        lines: Range<u64>,
        buffer: &'b mut Vec<[u8; LINE_BYTES]>,
    ) -> Option<&'b [u8]> {
        if self.pass.is_torn() {
            return None;
        }
        buffer.clear();
        buffer.reserve_exact((lines.end - lines.start) as usize);
        self.pass.read(lines, |words| buffer.push(bytes_of(*words)));
        Some(buffer.as_flattened())
    }

    fn items(&self) -> Option<u64> {
        self.pass.finish()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }
}

/// A copy of all lines, which nothing changes.
pub(crate) struct Copied {
    lines: Lines,
    items: u64,
    geometry: Geometry,
}

impl Copied {
    /// Takes the lines of a filter: at least those of the geometry.
    pub(crate) fn new(mut lines: Lines, items: u64, geometry: Geometry) -> Self {
        // The bytes of a file are little-endian. Lines behind those of the file are not touched.
        let (bytes, _) = lines.bytes_mut().as_chunks_mut();
        swap_on_big_endian(&mut bytes[..geometry.lines() as usize]);
        Self { lines, items, geometry }
    }
}

impl Source for Copied {
    fn chunk<'b>(
        &'b mut self,
        lines: Range<u64>,
        _: &'b mut Vec<[u8; LINE_BYTES]>,
    ) -> Option<&'b [u8]> {
        let (bytes, _) = self.lines.bytes_mut().as_chunks::<LINE_BYTES>();
        Some(bytes[lines.start as usize..lines.end as usize].as_flattened())
    }

    fn items(&self) -> Option<u64> {
        Some(self.items)
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }
}
