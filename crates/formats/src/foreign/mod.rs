//! Filters of other systems: read, queried, changed, built and written byte for byte as those systems do.
//!
//! Each system has its own encoding of keys, so a key says its type: [`Key`]. The filters are values for one thread at a
//! time, in the layout of the system: an insert takes `&mut self`.
//!
//! A filter whose format is known only when the program runs is an [`AnyFilter`]: [`read`] finds the format among those
//! that a [name](Format::named) stands for, [`Format::build`] makes a filter for a capacity and a rate, and [`convert`]
//! changes the format where both formats have the same hash and the same bits.
//!
//! | system | type |
//! |---|---|
//! | bits-and-blooms (Go), `WriteTo` | [`BitsAndBloomsFilter`] |
//! | DataSketches, `BloomFilter.toByteArray` | [`DataSketchesFilter`] |
//! | Go, `cuckoofilter`, `Encode` | [`GoCuckooFilter`] |
//! | Guava, `BloomFilter.writeTo` | [`GuavaFilter`] |
//! | Hadoop, `BloomFilter.write` | [`HadoopFilter`] |
//! | Hadoop, `CountingBloomFilter.write` | [`HadoopCountingFilter`] |
//! | LevelDB, `CreateFilter` | [`LevelDbFilter`] |
//! | LevelDB, the filter block of a table | [`LevelDbFilterBlock`] |
//! | ORC, message `BloomFilter` with `utf8bitset` | [`OrcFilter`] |
//! | Parquet, the filter of a column | [`ParquetFilter`], [`ParquetColumn`], [`ParquetFileFilter`] |
//! | pybloom_live (Python), `BloomFilter.tofile` | [`PybloomFilter`] |
//! | pybloom_live (Python), `ScalableBloomFilter.tofile` | [`PybloomScalableFilter`] |
//! | rbloom (Python), `Bloom.save` | [`RbloomFilter`] |
//! | RedisBloom, `BF.SCANDUMP` | [`RedisBloomFilter`] |
//! | RedisBloom, `CF.SCANDUMP` | [`RedisCuckooFilter`] |
//! | RocksDB, the full filter of a table | [`RocksDbFilter`] |
//! | Spark, `BloomFilter.writeTo` | [`SparkFilter`] |
//!
//! # Examples
//!
//! ```
//! # use tamis_formats as tamis;
//! use tamis::formats::foreign::{Filter, GuavaFilter, GuavaStrategy, Key};
//!
//! // What `BloomFilter.create(Funnels.stringFunnel(UTF_8), 1000, 0.03)` makes.
//! let mut filter = GuavaFilter::new(GuavaStrategy::Mitz64, 1000, 0.03)?;
//! filter.insert(Key::Text("a"))?;
//! let bytes = filter.to_bytes();
//!
//! let filter = GuavaFilter::from_bytes(&bytes)?;
//! assert!(filter.contains(Key::Text("a"))?);
//! assert_eq!(filter.to_bytes(), bytes);
//! # Ok::<(), tamis::formats::foreign::Error>(())
//! ```
//!
//! | file | job |
//! |---|---|
//! | `format.rs` | the names of the formats |
//! | `registry.rs`, `build.rs` | a filter of any format: read, converted; built |
//! | `key.rs` | the types of keys |
//! | `error.rs` | the reasons why bytes, sizes or keys are refused |
//! | `cursor.rs` | reads numbers from bytes, with the checks |
//! | `bits.rs` | an array of bits in the orders that the systems use |
//! | `bloom.rs` | what all Bloom filters do: set and test the places of a key |
//! | `rates.rs` | false-positive rates, estimated from the bits |
//! | `slots.rs` | a table of fingerprints, of the cuckoo filters |
//! | `metro.rs` | MetroHash64 |
//! | `redis_chunks.rs` | the chunks of RedisBloom |
//! | `thrift.rs`, `parquet_header.rs` | Thrift's compact protocol, and the header of a filter in it, for Parquet |
//! | `xxph3.rs`, `leveldb_hash.rs` | the hashes of RocksDB and LevelDB |
//! | one file per system | its header, its hash, its places |

#[cfg(test)]
mod bad_input;
mod bits;
mod bits_and_blooms;
mod bloom;
mod build;
mod cursor;
mod datasketches;
mod error;
mod format;
mod go_cuckoo;
mod guava;
mod hadoop;
mod hadoop_counting;
mod hadoop_hash;
mod key;
mod leveldb;
mod leveldb_block;
mod leveldb_hash;
mod metro;
mod orc;
mod parquet;
mod parquet_file;
mod parquet_file_filter;
mod parquet_header;
mod pybloom;
mod pybloom_scalable;
mod rates;
mod rbloom;
mod redis_bloom;
mod redis_chunks;
mod redis_cuckoo;
mod registry;
mod rocksdb;
mod slots;
mod spark;
mod thrift;
mod xxph3;

use core::any::Any;
use core::fmt;
use std::io;

pub use self::bits_and_blooms::BitsAndBloomsFilter;
pub use self::datasketches::DataSketchesFilter;
pub use self::error::Error;
pub use self::format::Format;
pub use self::go_cuckoo::GoCuckooFilter;
pub use self::guava::{GuavaFilter, GuavaStrategy};
pub use self::hadoop::{HadoopFilter, HadoopHash};
pub use self::hadoop_counting::HadoopCountingFilter;
pub use self::key::{Key, KeyType};
pub use self::leveldb::LevelDbFilter;
pub use self::leveldb_block::LevelDbFilterBlock;
pub use self::orc::OrcFilter;
pub use self::parquet::ParquetFilter;
pub use self::parquet_file::ParquetColumn;
pub use self::parquet_file_filter::ParquetFileFilter;
pub use self::pybloom::PybloomFilter;
pub use self::pybloom_scalable::PybloomScalableFilter;
pub use self::rbloom::RbloomFilter;
pub use self::redis_bloom::RedisBloomFilter;
pub use self::redis_cuckoo::RedisCuckooFilter;
pub use self::registry::{AnyFilter, convert, read};
pub use self::rocksdb::RocksDbFilter;
pub use self::spark::{SparkFilter, SparkVersion};

/// A filter of another system.
///
/// # Examples
///
/// See the [module](self).
pub trait Filter: Any + fmt::Debug {
    /// Returns whether the filter may contain a key, as the system answers.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] if the system has no keys of this type.
    fn contains(&self, key: Key<'_>) -> Result<bool, Error>;

    /// Inserts a key as the system does. Returns whether the filter has changed.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] if the system has no keys of this type, and [`Error::Full`] if the system would refuse it.
    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error>;

    /// Removes a key as the system does. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] as [`contains`](Self::contains), and [`Error::NoRemoval`] if the system cannot remove keys.
    fn remove(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let _ = key;
        Err(Error::NoRemoval)
    }

    /// Returns the format in which the filter is written.
    fn format(&self) -> Format;

    /// Returns the numbers of the filter that the system stores or that follow from them, each with its name: `bits`,
    /// `hash functions`, `buckets`, `items`, `seed` and others. A number below zero is in two's complement.
    fn parameters(&self) -> Vec<(&'static str, u64)>;

    /// Returns the probability that a key which was not inserted is contained, estimated from the present bits or
    /// fingerprints in time linear in their number. The hash of the system is taken as random.
    ///
    /// With `f` as the part of the bits that are set and `k` as the number of hash functions, it is about `f^k` (Bloom
    /// 1970). Where the places of a key form an arithmetic progression, the short ones are counted as such. If the bits of
    /// a key are in one block, the rate is the mean over all blocks. In a cuckoo filter it is the part of all pairs of a
    /// bucket and a fingerprint that are found. With several parts of the rates `r`, it is `1 - Π (1 - r)`.
    fn false_positive_rate(&self) -> f64;

    /// Returns whether the system has an empty key of a type. It has no empty integer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{DataSketchesFilter, Error, Filter, HadoopFilter, HadoopHash, Key, KeyType};
    /// let hadoop = HadoopFilter::new(100, 3, HadoopHash::Murmur)?;
    /// assert!(!hadoop.takes_empty(KeyType::Bytes));
    /// assert_eq!(hadoop.contains(Key::Bytes(b"")), Err(Error::EmptyKey));
    /// // This system ignores the empty string, and has the empty bytes.
    /// let sketch = DataSketchesFilter::new(100, 0.01, 1)?;
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

    /// Adds all keys of another filter of the same format, sizes and hash, if the system has a union of such filters:
    /// Guava, Spark, Hadoop (not the counting filter), ORC, DataSketches, `bits-and-blooms`, rbloom and pybloom_live do.
    /// For Parquet it is the union of the bits.
    ///
    /// # Errors
    ///
    /// [`Error::Union`] if the other filter is not like this one, or the system has no union.
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

    /// Returns the number of bytes that [`write`](Self::write) writes.
    fn encoded_len(&self) -> u64;

    /// Writes the filter as the system does. If it was read, and not changed, these are the bytes that were read.
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
