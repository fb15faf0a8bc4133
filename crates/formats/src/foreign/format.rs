//! The names of the formats of other systems.

use core::fmt;

/// Defines the formats: each with its number in a file of Tamis, its name, and what has it.
macro_rules! formats {
    ($($variant:ident = $code:literal, $name:literal, $what:literal;)*) => {
        /// A format of another system.
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
            $(#[doc = concat!("`", $name, "`: ", $what, ".")] $variant,)*
        }

        impl Format {
            /// All formats. The formats of a system are neighbours, and the one that a system makes
            /// by default is the first.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_formats as tamis;
            /// use tamis::formats::foreign::Format;
            /// assert_eq!(Format::ALL.len(), 22);
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

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
                    $(Self::$variant => $name,)*
                }
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
                    $(Self::$variant => $code,)*
                }
            }
        }
    };
}

formats! {
    BitsAndBlooms = 1, "bits_and_blooms", "Go, bits-and-blooms, `WriteTo`";
    DataSketches = 2, "datasketches", "DataSketches, `BloomFilter.toByteArray`";
    GoCuckoo = 3, "go_cuckoo", "Go, `cuckoofilter`, `Encode`";
    GuavaMitz64 = 4, "guava:mitz64", "Guava, `BloomFilter.writeTo`, strategy `MURMUR128_MITZ_64`";
    GuavaMitz32 = 5, "guava:mitz32", "Guava, `BloomFilter.writeTo`, strategy `MURMUR128_MITZ_32`";
    HadoopBloom = 6, "hadoop:bloom", "Hadoop, `BloomFilter.write`";
    HadoopCounting = 7, "hadoop:counting", "Hadoop, `CountingBloomFilter.write`";
    LevelDbFilter = 8, "leveldb:filter", "LevelDB, one filter";
    LevelDbBlock = 9, "leveldb:block", "LevelDB, the filter block of a table";
    Orc = 10, "orc", "ORC, message `BloomFilter` with `utf8bitset`";
    ParquetBitset = 11, "parquet:bitset", "Parquet, the bits of a filter alone";
    ParquetHeader = 12, "parquet:header", "Parquet, a filter as a file has it: a Thrift header and the bits";
    ParquetFile = 13, "parquet:file", "Parquet, a whole file with the filters of a column";
    PybloomBloom = 14, "pybloom_live:bloom", "pybloom_live, `BloomFilter.tofile`";
    PybloomScalable = 15, "pybloom_live:scalable", "pybloom_live, `ScalableBloomFilter.tofile`";
    Rbloom = 16, "rbloom", "rbloom, `Bloom.save`";
    RedisBloom = 17, "redisbloom:bf", "RedisBloom, the data of all chunks of `BF.SCANDUMP`, in order";
    RedisCuckoo = 18, "redisbloom:cf", "RedisBloom, the data of all chunks of `CF.SCANDUMP`, in order";
    RocksDbFormat5 = 19, "rocksdb:format5", "RocksDB, the full filter of a table, format version 5";
    RocksDbLegacy = 20, "rocksdb:legacy", "RocksDB, the full filter of a table, earlier format versions";
    SparkV1 = 21, "spark:v1", "Spark, `BloomFilter.writeTo`, version 1";
    SparkV2 = 22, "spark:v2", "Spark, `BloomFilter.writeTo`, version 2";
}

impl Format {
    /// Returns the formats that a name stands for. The name of a system stands for all its formats
    /// that bytes can be recognized as; the first of them is the one to build.
    ///
    /// No bytes are filters of two formats of one name, so [`read`](super::read) finds the format
    /// whatever the order. The exception is a bare `leveldb`: any bytes are a filter, also those of
    /// the filter block of a table. `read` takes the bytes for a filter, and returns an error if
    /// they look like a block.
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
    pub fn system(self) -> &'static str {
        let name = self.name();
        name.split_once(':').map_or(name, |(system, _)| system)
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
