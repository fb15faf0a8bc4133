//! Arrays of cache lines: aligned and zeroed, with an error when the allocation failed.

use core::fmt;
use core::hint::black_box;
use core::ops::{Deref, DerefMut, Range};
use core::sync::atomic::Ordering;

use crate::line::{LINE_BYTES, LINE_WORDS, Line, prefetch};
use crate::memory::{Memory, SMALL_PAGE_LINES};
use crate::word::Word;

/// An allocation failed.
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
    /// Bytes requested.
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
    /// Allocates `count` lines of zeros; a count of zero allocates one line.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the size overflows or the allocation failed. On Linux (with feature `std`)
    /// a large array is touched before this returns, so a system that overcommits memory may kill
    /// the process here.
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
        Self::allocated(count, Memory::zeroed)
    }

    /// As [`zeroed`](Self::zeroed), but a large array takes memory only for the pages that have
    /// been written: for lines that arrive from a source which may end early.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the size overflows, or the system has less memory than the array needs.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Lines;
    ///
    /// let mut lines = Lines::reserved(1 << 20)?;
    /// lines.word_mut(7).update(|word| *word = 1);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn reserved(count: u64) -> Result<Self, AllocError> {
        Self::allocated(count, Memory::reserved)
    }

    /// As [`reserved`](Self::reserved), for a table that grows: its lines are written from the
    /// first on, little by little, `written` of them soon. A page is a huge one only where that
    /// makes what has pages larger by a quarter at most.
    ///
    /// # Errors
    ///
    /// As [`reserved`](Self::reserved); but Linux with feature `std` needs address space only. If
    /// there is no memory later, when a page is written, it ends the process.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Lines;
    ///
    /// let mut lines = Lines::growing(1 << 20, 10)?;
    /// lines.word_mut(7).update(|word| *word = 1);
    /// assert_eq!(lines.len(), 1 << 20);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn growing(count: u64, written: u64) -> Result<Self, AllocError> {
        let written = usize::try_from(written).unwrap_or(usize::MAX);
        Self::allocated(count, |count| Memory::growing(count, written))
    }

    /// Makes the pages of some lines present, so that the first write to a line does not wait for
    /// the system. Changes no line, and other threads may write concurrently. Lines that do not
    /// exist are ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// let lines = tamis_sync::Lines::reserved(1 << 20)?;
    /// lines.touch(0..64);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn touch(&self, lines: Range<usize>) {
        let end = lines.end.min(self.len());
        for number in (lines.start..end).step_by(SMALL_PAGE_LINES) {
            // The compiler must not know that the operand is 0: it would make the operation a load,
            // and remove that.
            // ORDERING: Relaxed: it sets no bit.
            self[number].words[0].fetch_or(black_box(0), Ordering::Relaxed);
        }
    }

    fn allocated(
        count: u64,
        allocate: impl FnOnce(usize) -> Option<Memory>,
    ) -> Result<Self, AllocError> {
        let count = count.max(1);
        let error = AllocError { bytes: u128::from(count) * LINE_BYTES as u128 };
        let count = usize::try_from(count).map_err(|_| error)?;
        allocate(count).map(Self).ok_or(error)
    }

    #[cfg(all(any(unix, windows), feature = "std", not(any(tamis_loom, tamis_shuttle))))]
    pub(crate) const fn of_memory(memory: Memory) -> Self {
        Self(memory)
    }

    /// Returns a word by its number among the words of all lines, with a single bounds check and
    /// without computing the number of the line.
    ///
    /// # Panics
    ///
    /// If `number` is out of bounds.
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
            // A model checker's words have another size: compute line and word.
            return &lines[number / LINE_WORDS].words[number % LINE_WORDS];
        }
        // SAFETY: a line has the size of its eight words, as checked above, so it contains nothing
        // else: the lines are `lines.len() * LINE_WORDS` contiguous words.
        let words = unsafe {
            core::slice::from_raw_parts(lines.as_ptr().cast::<Word>(), lines.len() * LINE_WORDS)
        };
        &words[number]
    }

    /// Returns a word for exclusive access; otherwise as [`word`](Self::word).
    ///
    /// # Panics
    ///
    /// If `number` is out of bounds.
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
        // SAFETY: as in `word`; and `&mut self` proves that no other reference to the lines exists.
        let words = unsafe {
            let count = lines.len() * LINE_WORDS;
            core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<Word>(), count)
        };
        &mut words[number]
    }

    /// Returns the bytes of all lines for exclusive access, as they are in memory: 64 bytes per
    /// line, each word in the byte order of this processor. There are none if the lines are those
    /// of a mapped file, which other processes may change.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Lines;
    ///
    /// let mut lines = Lines::zeroed(2)?;
    /// lines.bytes_mut()[64..72].copy_from_slice(&7_u64.to_ne_bytes());
    /// lines.word_mut(8).update(|word| assert_eq!(*word, 7));
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[cfg(not(any(tamis_loom, tamis_shuttle)))]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let lines = &mut **self;
        // SAFETY: a line consists of nothing but its eight words of 8 bytes (checked below), so all
        // its bytes are initialized, and any bytes are valid words. `&mut self` proves that no
        // other reference to the lines exists.
        unsafe {
            core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), size_of_val(lines))
        }
    }

    /// Prefetches the line of a word, given by its number among the words of all lines, as
    /// [`Line::prefetch`] does. If `number` is out of bounds, it does nothing or prefetches an
    /// unrelated line.
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

#[cfg(not(any(tamis_loom, tamis_shuttle)))]
const _: () = assert!(size_of::<Line>() == LINE_BYTES && size_of::<Word>() == 8);

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
