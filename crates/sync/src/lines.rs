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
        prefetch(core::ptr::from_ref(self));
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

/// Asks for the line at this address, which may be any.
#[inline(always)]
fn prefetch(line: *const Line) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
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

    /// A word, by its number among the words of all lines: one check of a bound, and no arithmetic with the
    /// number of the line.
    ///
    /// # Panics
    ///
    /// If there is no such word.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::Lines;
    /// let lines = Lines::zeroed(3)?;
    /// assert!(core::ptr::eq(lines.word(10), &lines[1].words[2]));
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn word(&self, number: usize) -> &Word {
        let lines = &**self;
        if const { size_of::<Line>() != LINE_WORDS * size_of::<Word>() } {
            // The models' words are of another size.
            return &lines[number / LINE_WORDS].words[number % LINE_WORDS];
        }
        // SAFETY: a line is its eight words and, as the sizes say, nothing else: so the lines are this many
        // words in a row.
        let words = unsafe {
            core::slice::from_raw_parts(lines.as_ptr().cast::<Word>(), lines.len() * LINE_WORDS)
        };
        &words[number]
    }

    /// The same for who holds the lines alone.
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
    #[inline(always)]
    pub fn word_mut(&mut self, number: usize) -> &mut Word {
        let lines = &mut **self;
        if const { size_of::<Line>() != LINE_WORDS * size_of::<Word>() } {
            return &mut lines[number / LINE_WORDS].words[number % LINE_WORDS];
        }
        // SAFETY: as in `word`; and nobody else has the lines while they are borrowed.
        let words = unsafe {
            let count = lines.len() * LINE_WORDS;
            core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<Word>(), count)
        };
        &mut words[number]
    }

    /// Asks for the line of a word, by its number among the words of all lines, ahead of the access, as
    /// [`Line::prefetch`]. Where there is no such word it does nothing, or asks for memory that nobody needs.
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Lines::zeroed(3)?.prefetch_word(10);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    pub fn prefetch_word(&self, number: usize) {
        prefetch(self.as_ptr().cast::<u64>().wrapping_add(number).cast());
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
