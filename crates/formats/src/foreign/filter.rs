//! What every filter of another system can do.

use core::any::Any;
use core::fmt;
use std::io;

use super::error::Error;
use super::format::Format;
use super::key::{Key, KeyType};

/// A filter of another system.
pub trait Filter: Any + fmt::Debug {
    /// Returns whether the filter may contain a key, as the system answers.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] if the system has no keys of this type, and [`Error::EmptyKey`] if the key is
    /// empty and the system has no empty keys.
    fn contains(&self, key: Key<'_>) -> Result<bool, Error>;

    /// Returns whether the filter may contain a key with this hash, if the program that wrote the
    /// filter brings the hash of a key: of these formats, rbloom's alone. `None` for all others.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Format, Key};
    ///
    /// let mut filter = Format::Rbloom.build(1000, Some(0.01), None)?;
    /// // The default hash here: the first half of the SHA-256 of the key.
    /// filter.insert(Key::Bytes(b""))?;
    /// let hash = 0xe3b0_c442_98fc_1c14_9afb_f4c8_996f_b924_u128 as i128;
    /// assert_eq!(filter.contains_hash(hash), Some(true));
    /// assert_eq!(Format::Orc.build(1000, None, None)?.contains_hash(hash), None);
    /// # Ok::<(), Error>(())
    /// ```
    fn contains_hash(&self, hash: i128) -> Option<bool> {
        let _ = hash;
        None
    }

    /// Inserts a key as the system does. Returns whether the filter has changed.
    ///
    /// # Errors
    ///
    /// Those of [`contains`](Self::contains); [`Error::ReadOnly`] if the filter is a part of a
    /// table or of a file; [`Error::Full`] if the system refuses the insert; [`Error::Size`] or
    /// [`Error::Alloc`] if the filter has to grow and cannot.
    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error>;

    /// Removes a key as the system does. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Those of [`contains`](Self::contains), and [`Error::NoRemoval`] if the system cannot remove
    /// keys.
    fn remove(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let _ = key;
        Err(Error::NoRemoval)
    }

    /// Returns the format in which the filter is written.
    fn format(&self) -> Format;

    /// Returns the numbers of the filter that the system stores or that follow from them, each with
    /// its name: `bits`, `hash functions`, `buckets`, `items`, `seed` and others. A number below
    /// zero is in two's complement.
    fn parameters(&self) -> Vec<(&'static str, u64)>;

    /// Returns the probability that a key which was not inserted is contained, estimated from the
    /// present bits or fingerprints in time linear in their number. The hash of the system is taken
    /// as random.
    ///
    /// With `f` as the part of the bits that are set and `k` as the number of hash functions, it is
    /// about `f^k` (Bloom 1970). Where the places of a key form an arithmetic progression, the
    /// short ones are counted as such. If the bits of a key are in one block, the rate is the mean
    /// over all blocks. In a cuckoo filter it is the part of all pairs of a bucket and a
    /// fingerprint that are found. With several parts of the rates `r`, it is `1 - Π (1 - r)`.
    ///
    /// Where all places come from a hash of 32 bits (LevelDB, and RocksDB's format 4), they are not
    /// uniform, and the rate can be several times that. There it is measured with up to 2^22 random
    /// hashes: the standard error is 3 % at rates above 2.4e-4, and 15 % at 1e-5.
    fn false_positive_rate(&self) -> f64;

    /// Returns whether the system has an empty key of a type. It has no empty integer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Format, Key, KeyType};
    /// let hadoop = Format::HadoopBloom.build(100, None, None)?;
    /// assert!(!hadoop.takes_empty(KeyType::Bytes));
    /// assert_eq!(hadoop.contains(Key::Bytes(b"")), Err(Error::EmptyKey));
    /// // This system ignores the empty string, and has the empty bytes.
    /// let sketch = Format::DataSketches.build(100, None, None)?;
    /// assert_eq!([KeyType::Text, KeyType::Bytes].map(|kind| sketch.takes_empty(kind)), [false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn takes_empty(&self, key_type: KeyType) -> bool {
        let key = match key_type {
            KeyType::Bytes => Key::Bytes(b""),
            KeyType::Text => Key::Text(""),
            KeyType::I32 | KeyType::I64 => return false,
        };
        !matches!(self.contains(key), Err(Error::EmptyKey | Error::Key { .. }))
    }

    /// Returns whether the system has keys of a type.
    fn takes(&self, key_type: KeyType) -> bool {
        let key = match key_type {
            KeyType::Bytes => Key::Bytes(b"0"),
            KeyType::Text => Key::Text("0"),
            KeyType::I32 => Key::I32(0),
            KeyType::I64 => Key::I64(0),
        };
        !matches!(self.contains(key), Err(Error::Key { .. }))
    }

    /// Adds all keys of another filter of the same format, sizes and hash, if the system has a
    /// union of such filters: Guava, Spark, Hadoop (not the counting filter), ORC, DataSketches,
    /// `bits-and-blooms`, rbloom and pybloom_live do. For Parquet it is the union of the bits.
    ///
    /// # Errors
    ///
    /// [`Error::Union`] if the other filter is not like this one, or the system has no union;
    /// [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Filter, Format, Key};
    ///
    /// let mut monday = Format::GuavaMitz64.build(1000, Some(0.01), None)?;
    /// let mut tuesday = Format::GuavaMitz64.build(1000, Some(0.01), None)?;
    /// tuesday.insert(Key::Text("a"))?;
    /// monday.union_with(&*tuesday)?;
    /// assert!(monday.contains(Key::Text("a"))?);
    ///
    /// let larger = Format::GuavaMitz64.build(2000, Some(0.01), None)?;
    /// assert_eq!(monday.union_with(&*larger), Err(Error::Union));
    /// # Ok::<(), Error>(())
    /// ```
    fn union_with(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let _ = other;
        Err(Error::Union)
    }

    /// Makes the filter smaller by the largest factor after which its
    /// [rate](Self::false_positive_rate) is at most `rate`, and returns the factor. The answers to
    /// inserted keys stay the same. Of all formats, only the filters of Parquet can be folded: for
    /// the others, and where no factor keeps the rate, it is 1.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Filter, Key, ParquetFilter};
    ///
    /// let mut filter = ParquetFilter::new(1 << 20)?;
    /// for key in 0..1000 {
    ///     filter.insert(Key::I64(key))?;
    /// }
    /// assert_eq!((filter.fold_to(0.01), filter.encoded_len()), (512, 2048));
    /// assert!(filter.contains(Key::I64(7))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn fold_to(&mut self, rate: f64) -> u64 {
        let _ = rate;
        1
    }

    /// Returns the number of bytes that [`write`](Self::write) writes.
    fn encoded_len(&self) -> u64;

    /// Writes the filter as the system does. If it was read, and not changed, these are the bytes
    /// that were read.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    fn write(&self, to: &mut dyn io::Write) -> io::Result<()>;

    /// Returns the filter as [`write`](Self::write) writes it.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A vector takes all bytes.
        let _ = self.write(&mut bytes);
        bytes
    }
}
