//! The memory of a table: lines of zeros, directly from the system.
//!
//! Tables double at any time. In the allocator's heap the freed tables would leave gaps that are
//! too small for the next ones; pages of their own go back to the system at once.

use memmap2::MmapMut;
use zerocopy::FromBytes;

use super::line::Line;

/// A number of lines, at least one.
pub(super) struct Memory(MmapMut);

impl Memory {
    /// Allocates `lines` lines of zeros. Returns `None` if the allocation failed.
    ///
    /// Huge pages are not asked for. MEASURED: with them 10^8 lines take 8.5 and 8.1 s, without
    /// them 8.2 and 8.7 s (one thread, Zen 5).
    pub(super) fn zeroed(lines: u64) -> Option<Self> {
        let bytes = usize::try_from(lines).ok()?.checked_mul(size_of::<Line>())?;
        MmapMut::map_anon(bytes).ok().map(Self)
    }

    #[inline]
    pub(super) fn lines(&self) -> &[Line] {
        FromBytes::ref_from_bytes(&self.0).expect("pages are aligned and hold whole lines")
    }

    #[inline]
    pub(super) fn lines_mut(&mut self) -> &mut [Line] {
        FromBytes::mut_from_bytes(&mut self.0).expect("pages are aligned and hold whole lines")
    }
}
