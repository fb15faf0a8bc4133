//! Filters of other systems: read, queried, changed, built and written byte for byte as those
//! systems do.
//!
//! Each system has its own encoding of keys, so a key says its type: [`Key`]. The filters are
//! values for one thread at a time, in the layout of the system: an insert takes `&mut self`.
//!
//! An [`AnyFilter`] is a filter whose format is known only when the program runs. [`read`] finds
//! the format among those of a [name](Format::named), and [`Format::build`] makes a filter for a
//! capacity and a rate. [`convert`] changes the format where both formats have the same hash and
//! the same bits.
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
//! | RedisBloom, `BF.SCANDUMP` | [`RedisModuleBloomFilter`] |
//! | RedisBloom, `CF.SCANDUMP` | [`RedisModuleCuckooFilter`] |
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
mod redis_chunks;
mod redis_cuckoo;
mod registry;
mod rocksdb;
mod slots;
mod spark;
mod thrift;
mod xxph3;

pub use self::bits_and_blooms::BitsAndBloomsFilter;
pub use self::bloom::ForeignBloomFilter;
pub use self::datasketches::DataSketchesFilter;
pub use self::error::Error;
pub use self::filter::Filter;
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
pub use self::redis_bloom::RedisModuleBloomFilter;
pub use self::redis_cuckoo::RedisModuleCuckooFilter;
pub(crate) use self::registry::read_known;
pub use self::registry::{AnyFilter, convert, read};
pub use self::rocksdb::RocksDbFilter;
pub use self::spark::{SparkFilter, SparkVersion};
