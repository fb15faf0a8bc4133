//! Reads a filter from a stream.

use std::io::Read;

use tamis_core::Frozen;

use crate::error::LoadError;
use crate::filters::saved::{Saved, expect, expect_writable};
use crate::io::info::Info;
use crate::io::load::read_body;
use crate::options::Options;

/// Reads a filter from a stream: a pipe, a socket, an object store. It takes exactly the bytes of
/// the filter, so that others may follow.
///
/// It does not trust the sizes in the header: memory grows only as bytes arrive. Large arrays
/// reserve address space at once, and if the system refuses that, the result is
/// [`LoadError::Alloc`].
///
/// # Errors
///
/// As [`load`](crate::load).
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{read, write};
/// use tamis::{BlockedBloomFilter, BloomFilter, hash::Rapid};
///
/// let one = BloomFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// let builder = BlockedBloomFilter::<str>::builder().capacity(9).hasher(Rapid::with_seed(7));
/// let other = builder.build()?;
/// other.insert("a");
/// let mut bytes = Vec::new();
/// write(&one, &mut bytes)?;
/// write(&other, &mut bytes)?;
///
/// let mut stream = &bytes[..];
/// let one: BloomFilter<str, Rapid> = read(&mut stream)?;
/// let other: BlockedBloomFilter<str, Rapid> = read(&mut stream)?;
/// assert!(!one.contains("a") && other.contains("a"));
/// assert!(stream.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<F: Saved>(from: impl Read) -> Result<F, LoadError> {
    Options::new().read(from)
}

impl Options {
    /// Reads a filter from a stream with these options, as [`read`](crate::read) does.
    ///
    /// # Errors
    ///
    /// As [`read`](crate::read).
    pub fn read<F: Saved>(&self, mut from: impl Read) -> Result<F, LoadError> {
        let Info(header) = Info::read(&mut from)?;
        let hasher = expect::<F>(&header, self)?;
        expect_writable(&header)?;
        F::of_body(&header, hasher, read_body(&mut from, &header)?)
    }

    /// Reads a filter from a stream for queries only, as [`load_frozen`](Self::load_frozen) does
    /// from a file.
    ///
    /// # Errors
    ///
    /// As [`load_frozen`](Self::load_frozen).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Options, write};
    /// use tamis::{BloomFilter, hash::Rapid};
    ///
    /// let seen = BloomFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
    /// seen.insert("a");
    /// let mut bytes = Vec::new();
    /// write(&seen, &mut bytes)?;
    /// let frozen = Options::new().read_frozen::<BloomFilter<str, Rapid>>(&bytes[..])?;
    /// assert!(frozen.contains("a"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_frozen<F: Saved>(&self, mut from: impl Read) -> Result<Frozen<F>, LoadError> {
        let Info(header) = Info::read(&mut from)?;
        let hasher = expect::<F>(&header, self)?;
        F::frozen_of_body(&header, hasher, read_body(&mut from, &header)?)
    }
}
