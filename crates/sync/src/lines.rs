//! Arrays of cache lines: aligned, zeroed, and refused with an error when memory is.

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::Word;
use crate::memory::Memory;

/// Words in a cache line.
pub const LINE_WORDS: usize = 8;

/// Bytes in a cache line.
pub const LINE_BYTES: usize = 64;

/// Bits in a cache line.
pub const LINE_BITS: u64 = 512;

/// Eight words that share one 64-byte cache line: what one memory access brings.
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
    /// Asks the processor to bring the line into its cache, ahead of the access. A hint: where there
    /// is no such instruction it does nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Line::default().prefetch();
    /// ```
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: every x86-64 has the instruction, and it may be given any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(self).cast()) };
        }
    }

    /// The same, ahead of a write: the line is asked for as this core's own.
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
            // Written out, since the intrinsic falls back to a prefetch for reading where the compiler is not
            // told that the processor has this one.
            // SAFETY: an x86-64 without the instruction takes it for a no-operation, and it may be given any
            // address; it changes no register and no flag.
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

/// The allocator refused to give this many bytes.
///
/// # Examples
///
/// ```
/// use tamis_sync::Lines;
///
/// let error = Lines::zeroed(u64::MAX).unwrap_err();
/// assert_eq!(error.to_string(), "cannot allocate 1180591620717411303360 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// Bytes asked for.
    pub bytes: u128,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot allocate {} bytes", self.bytes)
    }
}

impl core::error::Error for AllocError {}

/// A fixed number of [`Line`]s, at least one.
///
/// # Examples
///
/// ```
/// use tamis_sync::Lines;
///
/// let lines = Lines::zeroed(3)?;
/// assert_eq!(lines.len(), 3);
/// # Ok::<(), tamis_sync::AllocError>(())
/// ```
#[derive(Debug)]
pub struct Lines(Memory);

impl Lines {
    /// `count` lines of zeros; a count of zero gives one line.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the size overflows or the memory is refused. The memory is zeroed before this
    /// returns, so a system that promises more than it has may end the process here.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Lines;
    /// assert_eq!(Lines::zeroed(0)?.len(), 1);
    /// assert!(Lines::zeroed(1 << 60).is_err());
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn zeroed(count: u64) -> Result<Self, AllocError> {
        let count = count.max(1);
        let error = AllocError { bytes: u128::from(count) * LINE_BYTES as u128 };
        let count = usize::try_from(count).map_err(|_| error)?;
        Memory::zeroed(count).map(Self).ok_or(error)
    }

    /// A word by its number among the words of all lines.
    ///
    /// # Panics
    ///
    /// If there is no such word.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::{Lines, Ordering};
    ///
    /// let lines = Lines::zeroed(2)?;
    /// // ORDERING: Relaxed, there is one thread.
    /// lines.word(13).fetch_or(1, Ordering::Relaxed);
    /// // ORDERING: likewise.
    /// assert_eq!(lines[1].words[5].load(Ordering::Relaxed), 1);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn word(&self, number: usize) -> &Word {
        #[cfg(not(any(tamis_loom, tamis_shuttle)))]
        return &self.words()[number];
        #[cfg(any(tamis_loom, tamis_shuttle))]
        &self.0[number / LINE_WORDS].words[number % LINE_WORDS]
    }

    /// All words in a row. MEASURED: a query of a classic filter takes 16 instructions a probe if its line is looked
    /// up first, and 12 so.
    #[cfg(not(any(tamis_loom, tamis_shuttle)))]
    #[inline]
    fn words(&self) -> &[Word] {
        const _: () = assert!(size_of::<Line>() == LINE_WORDS * size_of::<Word>());
        // SAFETY: a line is its words, one after the other, and nothing else (it has their size, above), so lines in a
        // row are so many words in a row, as well aligned. They are borrowed as long as the lines are.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * LINE_WORDS) }
    }

    /// The same for who holds the lines alone.
    #[cfg(not(any(tamis_loom, tamis_shuttle)))]
    #[inline]
    fn words_mut(&mut self) -> &mut [Word] {
        let words = self.0.len() * LINE_WORDS;
        // SAFETY: as in `words`; and nobody else has them while the lines are borrowed.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), words) }
    }

    /// A word, for who holds the lines alone.
    ///
    /// # Panics
    ///
    /// If there is no such word.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Lines;
    ///
    /// let mut lines = Lines::zeroed(2)?;
    /// lines.word_mut(13).update(|word| *word = 7);
    /// lines[1].words[5].update(|word| assert_eq!(*word, 7));
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline]
    pub fn word_mut(&mut self, number: usize) -> &mut Word {
        #[cfg(not(any(tamis_loom, tamis_shuttle)))]
        return &mut self.words_mut()[number];
        #[cfg(any(tamis_loom, tamis_shuttle))]
        &mut self.0[number / LINE_WORDS].words[number % LINE_WORDS]
    }
}

impl Deref for Lines {
    type Target = [Line];

    #[inline]
    fn deref(&self) -> &[Line] {
        &self.0
    }
}

impl DerefMut for Lines {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Line] {
        &mut self.0
    }
}
