//! The memory of an array of lines: from the allocator, from the system as a mapping in huge pages,
//! or a mapped file.
//!
//! With pages of 4 KiB most accesses to a large filter also miss the TLB. Linux backs memory with
//! pages of 2 MiB if the program asks before it touches the memory. So a large array is mapped,
//! advised (`madvise`), and then touched by several threads at once. MEASURED: in 12 MiB a random
//! read takes 3.0 ns in huge pages and 3.8 ns in pages of 4 KiB (one thread, Sapphire Rapids).

use alloc::boxed::Box;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};

use crate::line::{LINE_BYTES, Line};

#[cfg(all(target_os = "linux", feature = "std", not(any(tamis_loom, tamis_shuttle))))]
#[path = "memory/huge.rs"]
mod huge;

/// The least number of lines that is mapped if the pages are to be placed when they are written:
/// 128 KiB. The allocator writes the zeros of an aligned array itself.
#[cfg(all(any(unix, windows), feature = "std", not(any(tamis_loom, tamis_shuttle))))]
const MIN_RESERVED: usize = (128 << 10) / LINE_BYTES;

/// The lines of a page of 4 KiB, the smallest page of every system.
pub(crate) const SMALL_PAGE_LINES: usize = (4 << 10) / LINE_BYTES;

/// An array of lines, and where it came from.
pub(crate) struct Memory {
    pub(crate) lines: NonNull<Line>,
    pub(crate) count: usize,
    /// The number of lines that `&mut self` gives exclusive access to: all, or none of a mapped
    /// file, which other processes may change.
    pub(crate) exclusive: usize,
    pub(crate) origin: Origin,
}

pub(crate) enum Origin {
    /// A leaked `Box<[Line]>`; `drop` makes the box again.
    Allocator,
    /// Pages of the system, on Linux in huge pages if it has them; their own drop unmaps them.
    #[cfg(all(any(unix, windows), feature = "std", not(any(tamis_loom, tamis_shuttle))))]
    System { _mapping: memmap2::MmapMut },
    /// A mapped file; its own drop unmaps it.
    #[cfg(all(any(unix, windows), feature = "std", not(any(tamis_loom, tamis_shuttle))))]
    File { _mapping: memmap2::MmapMut },
}

// SAFETY: `Memory` owns its lines, as a `Box` does, and lines are `Send`.
unsafe impl Send for Memory {}

// SAFETY: a shared `Memory` gives access only to shared lines, which are `Sync`.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates `count` lines of zeros, at least one. Returns `None` if the allocation failed.
    pub(crate) fn zeroed(count: usize) -> Option<Self> {
        #[cfg(all(target_os = "linux", feature = "std", not(any(tamis_loom, tamis_shuttle))))]
        if count >= huge::MIN {
            let mut memory = Self::reserved(count)?;
            huge::touch(&mut memory);
            return Some(memory);
        }
        Self::boxed(count)
    }

    /// As [`zeroed`](Self::zeroed), but the system places the pages of a large array only when they
    /// are first written.
    pub(crate) fn reserved(count: usize) -> Option<Self> {
        Self::growing(count, count)
    }

    /// As [`reserved`](Self::reserved), for lines that are written from the first on, little by
    /// little, `written` of them soon.
    #[cfg_attr(
        not(all(target_os = "linux", feature = "std", not(any(tamis_loom, tamis_shuttle)))),
        expect(unused_variables, reason = "only Linux is asked for huge pages")
    )]
    pub(crate) fn growing(count: usize, written: usize) -> Option<Self> {
        #[cfg(all(any(unix, windows), feature = "std", not(any(tamis_loom, tamis_shuttle))))]
        if count >= MIN_RESERVED {
            #[cfg(target_os = "linux")]
            let (lines, mapping) = huge::reserved(count, written)?;
            #[cfg(not(target_os = "linux"))]
            let (lines, mapping) = {
                let bytes = count.checked_mul(LINE_BYTES)?;
                let mut mapping = memmap2::MmapOptions::new().len(bytes).map_anon().ok()?;
                (NonNull::from(&mut mapping[..]).cast(), mapping)
            };
            return Some(Self {
                lines,
                count,
                exclusive: count,
                origin: Origin::System { _mapping: mapping },
            });
        }
        Self::boxed(count)
    }

    /// Allocates from the allocator. `drop` frees the leaked box.
    fn boxed(count: usize) -> Option<Self> {
        let count = count.max(1);
        let lines = NonNull::from(Box::leak(boxed(count)?)).cast();
        Some(Self { lines, count, exclusive: count, origin: Origin::Allocator })
    }
}

#[cfg(not(any(tamis_loom, tamis_shuttle)))]
fn boxed(count: usize) -> Option<Box<[Line]>> {
    let layout = core::alloc::Layout::array::<Line>(count).ok()?;
    // SAFETY: the size of the layout is not zero: `count` is at least 1 and a line has 64 bytes.
    let memory = unsafe { alloc::alloc::alloc_zeroed(layout) }.cast::<Line>();
    if memory.is_null() {
        return None;
    }
    let lines = ptr::slice_from_raw_parts_mut(memory, count);
    // SAFETY: `memory` was just allocated with the layout of `[Line; count]` by the allocator that
    // a `Box` frees with, and all-zero bytes are valid words.
    Some(unsafe { Box::from_raw(lines) })
}

/// A model checker's atomics carry state of their own, so zero bytes are not valid values of them.
#[cfg(any(tamis_loom, tamis_shuttle))]
fn boxed(count: usize) -> Option<Box<[Line]>> {
    Some((0..count).map(|_| Line::default()).collect())
}

impl Deref for Memory {
    type Target = [Line];

    #[inline]
    fn deref(&self) -> &[Line] {
        // SAFETY: every array has at least one line. (The compiler can then drop the bounds check
        // of an index that is masked by `len() - 1`.)
        unsafe { core::hint::assert_unchecked(self.count != 0) };
        // SAFETY: `lines` points to `count` lines, which live as long as `self`.
        unsafe { core::slice::from_raw_parts(self.lines.as_ptr(), self.count) }
    }
}

impl DerefMut for Memory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Line] {
        // SAFETY: as above, and `&mut self` proves that no other reference to the lines exists, in
        // this process. Of lines that other processes may change, the slice has none.
        unsafe { core::slice::from_raw_parts_mut(self.lines.as_ptr(), self.exclusive) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if matches!(self.origin, Origin::Allocator) {
            let lines = ptr::slice_from_raw_parts_mut(self.lines.as_ptr(), self.count);
            // SAFETY: `boxed` leaked this box, and no reference to it outlives `self`.
            drop(unsafe { Box::from_raw(lines) });
        }
    }
}

/// Prints the number of lines.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("lines", &self.count).finish_non_exhaustive()
    }
}
