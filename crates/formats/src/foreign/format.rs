//! The names of the formats of other systems.

use core::fmt;

/// A format of another system.
///
/// | name | what has the format | code |
/// |---|---|---:|
/// | `bits_and_blooms` | Go, bits-and-blooms, `WriteTo` | 1 |
/// | `datasketches` | DataSketches, `BloomFilter.toByteArray` | 2 |
/// | `go_cuckoo` | Go, `cuckoofilter`, `Encode` | 3 |
/// | `guava:mitz64`, `guava:mitz32` | Guava, `BloomFilter.writeTo`, by strategy | 4, 5 |
/// | `hadoop:bloom`, `hadoop:counting` | Hadoop, `BloomFilter.write`, `CountingBloomFilter.write` | 6, 7 |
/// | `leveldb:filter`, `leveldb:block` | LevelDB, one filter, the filter block of a table | 8, 9 |
/// | `orc` | ORC, message `BloomFilter` with `utf8bitset` | 10 |
/// | `parquet:bitset` | Parquet, the bits of a filter alone | 11 |
/// | `parquet:header` | Parquet, a filter as a file has it: a Thrift header and the bits | 12 |
/// | `parquet:file` | Parquet, a whole file with the filters of a column | 13 |
/// | `pybloom_live:bloom`, `pybloom_live:scalable` | pybloom_live, `tofile` of its two classes | 14, 15 |
/// | `rbloom` | rbloom, `Bloom.save` | 16 |
/// | `redisbloom:bf`, `redisbloom:cf` | RedisBloom, the data of `BF.SCANDUMP`, `CF.SCANDUMP` | 17, 18 |
/// | `rocksdb:format5`, `rocksdb:legacy` | RocksDB, the full filter of a table, by format version | 19, 20 |
/// | `spark:v1`, `spark:v2` | Spark, `BloomFilter.writeTo`, by version | 21, 22 |
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::Format;
///
/// assert_eq!(Format::named("spark"), Some(&[Format::SparkV1, Format::SparkV2][..]));
/// assert_eq!(Format::named("spark:v2"), Some(&[Format::SparkV2][..]));
/// assert_eq!(Format::SparkV2.to_string(), "spark:v2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `bits_and_blooms`.
    BitsAndBlooms,
    /// `datasketches`.
    DataSketches,
    /// `go_cuckoo`.
    GoCuckoo,
    /// `guava:mitz64`.
    GuavaMitz64,
    /// `guava:mitz32`.
    GuavaMitz32,
    /// `hadoop:bloom`.
    HadoopBloom,
    /// `hadoop:counting`.
    HadoopCounting,
    /// `leveldb:filter`.
    LevelDbFilter,
    /// `leveldb:block`.
    LevelDbBlock,
    /// `orc`.
    Orc,
    /// `parquet:bitset`.
    ParquetBitset,
    /// `parquet:header`.
    ParquetHeader,
    /// `parquet:file`.
    ParquetFile,
    /// `pybloom_live:bloom`.
    PybloomBloom,
    /// `pybloom_live:scalable`.
    PybloomScalable,
    /// `rbloom`.
    Rbloom,
    /// `redisbloom:bf`.
    RedisBloom,
    /// `redisbloom:cf`.
    RedisCuckoo,
    /// `rocksdb:format5`.
    RocksDbFormat5,
    /// `rocksdb:legacy`.
    RocksDbLegacy,
    /// `spark:v1`.
    SparkV1,
    /// `spark:v2`.
    SparkV2,
}

impl Format {
    /// All formats. The formats of a system are neighbours, and the one that a system makes by
    /// default is the first.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// assert_eq!(Format::ALL.len(), 22);
    /// ```
    pub const ALL: &'static [Self] = &[
        Self::BitsAndBlooms,
        Self::DataSketches,
        Self::GoCuckoo,
        Self::GuavaMitz64,
        Self::GuavaMitz32,
        Self::HadoopBloom,
        Self::HadoopCounting,
        Self::LevelDbFilter,
        Self::LevelDbBlock,
        Self::Orc,
        Self::ParquetBitset,
        Self::ParquetHeader,
        Self::ParquetFile,
        Self::PybloomBloom,
        Self::PybloomScalable,
        Self::Rbloom,
        Self::RedisBloom,
        Self::RedisCuckoo,
        Self::RocksDbFormat5,
        Self::RocksDbLegacy,
        Self::SparkV1,
        Self::SparkV2,
    ];

    /// Returns the formats that a name stands for. The name of a system stands for all its formats
    /// that bytes can be recognized as; the first of them is the one to build.
    ///
    /// No bytes are filters of two formats of one name, so [`read`](super::read) finds the format
    /// whatever the order. The exception is a bare `leveldb`: any bytes are a filter, also those of
    /// the filter block of a table. It stands for a filter, and for an error if the bytes look like
    /// a block.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    ///
    /// let parquet = Format::named("parquet").ok_or("a name")?;
    /// assert_eq!(parquet, [Format::ParquetBitset, Format::ParquetHeader, Format::ParquetFile]);
    /// assert_eq!(Format::named("rocksdb:legacy"), Some(&[Format::RocksDbLegacy][..]));
    /// assert_eq!(Format::named("bitcoin"), None);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<&'static [Self]> {
        let of_system = |format: &Self| format.system() == name;
        let whole = |format: &Self| format.name() == name;
        let all = Self::ALL;
        let start = all.iter().position(of_system).or_else(|| all.iter().position(whole))?;
        let count = all[start..].iter().take_while(|format| of_system(format)).count();
        // A full name stands for one format.
        Some(&all[start..start + count.max(1)])
    }

    /// Returns the name of the format.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// assert_eq!(Format::RedisCuckoo.name(), "redisbloom:cf");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BitsAndBlooms => "bits_and_blooms",
            Self::DataSketches => "datasketches",
            Self::GoCuckoo => "go_cuckoo",
            Self::GuavaMitz64 => "guava:mitz64",
            Self::GuavaMitz32 => "guava:mitz32",
            Self::HadoopBloom => "hadoop:bloom",
            Self::HadoopCounting => "hadoop:counting",
            Self::LevelDbFilter => "leveldb:filter",
            Self::LevelDbBlock => "leveldb:block",
            Self::Orc => "orc",
            Self::ParquetBitset => "parquet:bitset",
            Self::ParquetHeader => "parquet:header",
            Self::ParquetFile => "parquet:file",
            Self::PybloomBloom => "pybloom_live:bloom",
            Self::PybloomScalable => "pybloom_live:scalable",
            Self::Rbloom => "rbloom",
            Self::RedisBloom => "redisbloom:bf",
            Self::RedisCuckoo => "redisbloom:cf",
            Self::RocksDbFormat5 => "rocksdb:format5",
            Self::RocksDbLegacy => "rocksdb:legacy",
            Self::SparkV1 => "spark:v1",
            Self::SparkV2 => "spark:v2",
        }
    }

    /// Returns the name of the system: the part of the [name](Self::name) before the colon.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// assert_eq!((Format::Orc.system(), Format::SparkV1.system()), ("orc", "spark"));
    /// ```
    #[must_use]
    pub const fn system(self) -> &'static str {
        match self {
            Self::BitsAndBlooms | Self::DataSketches | Self::GoCuckoo => self.name(),
            Self::GuavaMitz64 | Self::GuavaMitz32 => "guava",
            Self::HadoopBloom | Self::HadoopCounting => "hadoop",
            Self::LevelDbFilter | Self::LevelDbBlock => "leveldb",
            Self::ParquetBitset | Self::ParquetHeader | Self::ParquetFile => "parquet",
            Self::PybloomBloom | Self::PybloomScalable => "pybloom_live",
            Self::Orc | Self::Rbloom => self.name(),
            Self::RedisBloom | Self::RedisCuckoo => "redisbloom",
            Self::RocksDbFormat5 | Self::RocksDbLegacy => "rocksdb",
            Self::SparkV1 | Self::SparkV2 => "spark",
        }
    }

    /// Returns whether the size of a filter follows from a false-positive rate. The cuckoo filters
    /// have the rate that their fingerprints of 8 bits give.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// assert!(Format::RedisBloom.takes_rate() && !Format::RedisCuckoo.takes_rate());
    /// ```
    #[must_use]
    pub const fn takes_rate(self) -> bool {
        !matches!(self, Self::GoCuckoo | Self::RedisCuckoo)
    }

    /// Returns whether a filter has a seed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// assert!(Format::SparkV2.takes_seed() && !Format::SparkV1.takes_seed());
    /// ```
    #[must_use]
    pub const fn takes_seed(self) -> bool {
        matches!(self, Self::DataSketches | Self::SparkV2)
    }

    /// Returns whether keys can be removed from a filter.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// assert!(Format::GoCuckoo.removes() && !Format::GuavaMitz64.removes());
    /// ```
    #[must_use]
    pub const fn removes(self) -> bool {
        matches!(self, Self::GoCuckoo | Self::RedisCuckoo | Self::HadoopCounting)
    }

    /// Returns the number of the format in a file of Tamis. It never changes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// assert_eq!(Format::GuavaMitz64.code(), 4);
    /// ```
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::BitsAndBlooms => 1,
            Self::DataSketches => 2,
            Self::GoCuckoo => 3,
            Self::GuavaMitz64 => 4,
            Self::GuavaMitz32 => 5,
            Self::HadoopBloom => 6,
            Self::HadoopCounting => 7,
            Self::LevelDbFilter => 8,
            Self::LevelDbBlock => 9,
            Self::Orc => 10,
            Self::ParquetBitset => 11,
            Self::ParquetHeader => 12,
            Self::ParquetFile => 13,
            Self::PybloomBloom => 14,
            Self::PybloomScalable => 15,
            Self::Rbloom => 16,
            Self::RedisBloom => 17,
            Self::RedisCuckoo => 18,
            Self::RocksDbFormat5 => 19,
            Self::RocksDbLegacy => 20,
            Self::SparkV1 => 21,
            Self::SparkV2 => 22,
        }
    }

    /// Returns the format with this number.
    pub(crate) fn of_code(code: u64) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| u64::from(format.code()) == code)
    }

    /// Returns whether filters of both formats hash a key alike.
    pub(super) fn has_hash_of(self, other: Self) -> bool {
        // The two filters of RedisBloom have other seeds, and those of RocksDB other hashes.
        self.system() == other.system() && !["redisbloom", "rocksdb"].contains(&self.system())
    }
}

/// Writes the name.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
