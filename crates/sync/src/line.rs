//! One cache line of eight atomic words, and the hint to prefetch it.

use crate::word::Word;

/// Words in a cache line.
pub const LINE_WORDS: usize = 8;

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// Bits in a cache line.
pub const LINE_BITS: u64 = 512;

/// Eight words that share one 64-byte cache line: one memory access loads all of them.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Line, Ordering};
///
/// let line = Line::default();
/// // ORDERING: Relaxed, there is one thread.
/// assert_eq!(line.words[7].load(Ordering::Relaxed), 0);
/// assert_eq!(core::mem::align_of_val(&line), 64);
/// ```
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Line {
    /// The words, lowest address first.
    pub words: [Word; LINE_WORDS],
}

impl Line {
    /// Prefetches the line for a read that follows. A hint: it does nothing where the processor has
    /// no such instruction.
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Line::default().prefetch();
    /// ```
    #[inline]
    pub fn prefetch(&self) {
        prefetch(core::ptr::from_ref(self));
    }

    /// Prefetches the line for a write that follows: it arrives in this core's cache in exclusive
    /// state.
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Line::default().prefetch_to_write();
    /// ```
    #[inline]
    pub fn prefetch_to_write(&self) {
        #[cfg(target_arch = "x86_64")]
        {
            // In assembly: the intrinsic becomes a prefetch for reading unless the compiler may
            // assume that the processor has this instruction.
            // SAFETY: an x86-64 processor without the instruction executes it as a no-operation,
            // and any address is allowed; it changes no register and no flag.
            unsafe {
                core::arch::asm!(
                    "prefetchw [{line}]",
                    line = in(reg) core::ptr::from_ref(self),
                    options(nostack, preserves_flags, readonly),
                );
            }
        }
    }
}

/// Prefetches the line at this address for reading. Any address is allowed.
#[inline(always)]
pub(crate) fn prefetch(line: *const Line) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
