//! The lines of a filter, to be written to a body.

use core::ops::Range;

use tamis_cuckoo as cuckoo;
use tamis_sync::{AllocError, LINE_BYTES, Lines};

use crate::layout::line_bytes::{Words, bytes_of, swap_on_big_endian};
use crate::sizes::geometry::Geometry;

/// The sizes of a body, and its lines.
pub(crate) type Content<'f> = (Geometry, Box<dyn Source + 'f>);

/// The lines of a filter, to be written to a body.
pub trait Source {
    /// Returns the bytes of consecutive lines: those of a chunk. They are in the buffer or in the
    /// filter. Returns `None` if the lines are inconsistent.
    fn chunk<'b>(
        &'b mut self,
        lines: Range<u64>,
        buffer: &'b mut Vec<[u8; LINE_BYTES]>,
    ) -> Option<&'b [u8]>;

    /// Returns the number of items for the header, after the last chunk. Returns `None` if the
    /// lines are inconsistent.
    fn items(&self) -> Option<u64>;
}

/// Lines that a function returns, one by one.
pub(crate) struct Computed<F> {
    pub(crate) line: F,
    pub(crate) items: u64,
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
}

/// The lines of a cuckoo filter in use, read without a copy.
pub(crate) struct Passing<'f>(pub(crate) cuckoo::raw::Pass<'f>);

impl Source for Passing<'_> {
    fn chunk<'b>(
        &'b mut self,
        lines: Range<u64>,
        buffer: &'b mut Vec<[u8; LINE_BYTES]>,
    ) -> Option<&'b [u8]> {
        if self.0.is_torn() {
            return None;
        }
        buffer.clear();
        buffer.reserve_exact((lines.end - lines.start) as usize);
        self.0.read(lines, |words| buffer.push(bytes_of(*words)));
        Some(buffer.as_flattened())
    }

    fn items(&self) -> Option<u64> {
        self.0.finish()
    }
}

/// All lines of a body, with the bytes of the file. Nothing changes them.
pub(crate) struct Copied {
    pub(crate) lines: Lines,
    pub(crate) items: u64,
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
}

/// Returns lines that a function reads from a filter which does not count its items.
pub(crate) fn computed<'f>(geometry: Geometry, line: impl Fn(u64) -> Words + 'f) -> Content<'f> {
    (geometry, Box::new(Computed { line, items: 0 }))
}

/// Copies the lines that a function reads from a filter which does not count its items.
pub(crate) fn copied(
    geometry: Geometry,
    line: impl Fn(u64) -> Words,
) -> Result<Content<'static>, AllocError> {
    let mut lines = Lines::zeroed(geometry.lines())?;
    for (number, to) in (0..).zip(lines.iter_mut()) {
        to.words.iter_mut().zip(line(number)).for_each(|(to, bits)| to.update(|to| *to = bits));
    }
    Ok(of_copy(geometry, lines, 0))
}

/// Returns the lines of a copy, at least those of the sizes.
pub(crate) fn of_copy(geometry: Geometry, mut lines: Lines, items: u64) -> Content<'static> {
    // The bytes of a file are little-endian. Lines behind those of the file are not touched.
    let (bytes, _) = lines.bytes_mut().as_chunks_mut();
    swap_on_big_endian(&mut bytes[..geometry.lines() as usize]);
    (geometry, Box::new(Copied { lines, items }))
}
