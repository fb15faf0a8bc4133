//! Filters of other systems: read, queried, changed, built and written byte for byte as those
//! systems do.
//!
//! Each system has its own encoding of keys, so a key says its type: [`Key`]. The filters are
//! values for one thread at a time, in the layout of the system: an insert takes `&mut self`.
//!
//! Each [`Format`] has the same face. [`read`] finds the format of bytes among those of a
//! [name](Format::named), and [`Format::build`] makes a filter for a capacity and a rate: both
//! return an [`AnyFilter`], which is queried and changed as a [`Filter`]. [`convert`] changes the
//! format where both formats have the same hash and the same bits.
//!
//! # Keys
//!
//! A key is bytes, and a string is its UTF-8 bytes. These systems have other keys, or fewer:
//!
//! | system | keys |
//! |---|---|
//! | DataSketches | bytes; strings; integers, as `long`. The empty string is never inserted and never found |
//! | Guava | bytes as `byteArrayFunnel`; strings as `stringFunnel(UTF_8)`; `i32` as `integerFunnel`, `i64` as `longFunnel` |
//! | Hadoop | bytes and strings that are not empty |
//! | ORC | bytes as `addBytes`, strings as `addString`, integers as `addLong` |
//! | Parquet | those of the type of the column: `i32`, `i64`, bytes or strings; for all other types the bytes of the plain encoding. A filter without its file takes all keys |
//! | pybloom_live | strings. A file of version 3 may read without an error and miss its keys: if the slices need at most 128 bits of hash, that version has MD5 where version 4 has XXH3, and a file has no version |
//! | rbloom | the program that wrote the file brought the hash, which the file does not name. Bytes and strings are hashed as in rbloom's documentation, but without pickling; for all others there is [`contains_hash`](Filter::contains_hash) |
//! | Spark | bytes as `putBinary`, strings as `putString`, integers as `putLong` |
//!
//! An insert into a cuckoo filter (`go_cuckoo`, `redisbloom:cf`) stores a key again if the filter
//! contains it.
//!
//! # Examples
//!
//! ```
//! # use tamis_formats as tamis;
//! use tamis::formats::foreign::{Format, Key, read};
//!
//! // What `BloomFilter.create(Funnels.stringFunnel(UTF_8), 1000, 0.03)` of Guava makes.
//! let mut filter = Format::GuavaMitz64.build(1000, Some(0.03), None)?;
//! filter.insert(Key::Text("a"))?;
//! let bytes = filter.to_bytes();
//!
//! let filter = read(&[Format::GuavaMitz64], &bytes, None)?;
//! assert!(filter.contains(Key::Text("a"))?);
//! assert_eq!(filter.to_bytes(), bytes);
//! # Ok::<(), tamis::formats::foreign::Error>(())
//! ```
//!
//! | file | job |
//! |---|---|
//! | `filter.rs` | what every filter can do |
//! | `format.rs` | the names of the formats |
//! | `registry.rs`, `build.rs` | a filter of any format: read, converted; built |
//! | `key.rs` | the types of keys |
//! | `error.rs` | the reasons why bytes, sizes or keys are refused |
//! | `cursor.rs` | reads numbers from bytes, with the checks |
//! | `bits.rs` | an array of bits in the orders that the systems use |
//! | `bloom.rs` | the filter of the systems that have one array of bits: it sets and tests the places of a key |
//! | `rates.rs` | false-positive rates, estimated from the bits |
//! | `slots.rs` | a table of fingerprints, of the cuckoo filters |
//! | `metro.rs` | MetroHash64 |
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
mod filter;
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
mod redis_cuckoo;
mod registry;
mod rocksdb;
mod slots;
mod spark;
mod thrift;
mod xxph3;

pub use self::error::Error;
pub use self::filter::Filter;
pub use self::format::Format;
pub use self::key::{Key, KeyType};
pub use self::parquet::ParquetFilter;
pub(crate) use self::registry::read_known;
pub use self::registry::{AnyFilter, convert, read};
