//! Builds a filter of any format from a capacity and a rate, as its system does.

use std::hash::{BuildHasher, RandomState};

use super::bits_and_blooms::BitsAndBloomsFilter;
use super::bloom::{bits_for, check_rate, round};
use super::datasketches::DataSketchesFilter;
use super::error::Error;
use super::format::Format;
use super::go_cuckoo::GoCuckooFilter;
use super::guava::{GuavaFilter, GuavaStrategy};
use super::hadoop::{HadoopFilter, HadoopHash};
use super::hadoop_counting::HadoopCountingFilter;
use super::leveldb::{LevelDbFilter, probes};
use super::orc::OrcFilter;
use super::parquet::ParquetFilter;
use super::pybloom::PybloomFilter;
use super::pybloom_scalable::PybloomScalableFilter;
use super::rbloom::RbloomFilter;
use super::redis_bloom::RedisModuleBloomFilter;
use super::redis_cuckoo::RedisModuleCuckooFilter;
use super::registry::AnyFilter;
use super::rocksdb::{RocksDbFilter, probes_of_blocks};
use super::spark::{SparkFilter, SparkVersion};

/// The rate of a system that has no default.
const RATE: f64 = 0.01;
/// The growth of a filter of RedisBloom: the default of `EXPANSION`.
const EXPANSION: u32 = 2;
/// `LARGE_SET_GROWTH` of pybloom_live, the default of `mode`.
const SCALE: i32 = 4;
/// The most bits per key that are tried for LevelDB.
const MAX_BITS_PER_KEY: u32 = 1000;
/// The thousandths of a bit per key that RocksDB takes.
const MILLIBITS: core::ops::RangeInclusive<u32> = 1000..=100_000;
/// The bits of a block of RocksDB.
const BLOCK_BITS: f64 = 512.0;
/// The least and the most bytes of a filter of Parquet that parquet-java and Arrow make.
const PARQUET_BYTES: (f64, f64) = (32.0, (128 << 20) as f64);

impl Format {
    /// Makes an empty filter for `capacity` keys as the system does.
    ///
    /// | format | size | rate if `None` |
    /// |---|---|---:|
    /// | `bits_and_blooms` | `NewWithEstimates` | 0.01 |
    /// | `datasketches` | `createByAccuracy`; the seed is random if `None` | 0.01 |
    /// | `go_cuckoo` | `NewFilter` | |
    /// | `guava:…` | `create` of Guava 33 | 0.03, as `create` |
    /// | `hadoop:…` | `m = ⌈-n ln p / (ln 2)²⌉`, `k = round(m / n · ln 2)`, Murmur | 0.01 |
    /// | `leveldb:filter` | the least number of bits per key that keeps the rate, up to 1000 | 0.01 |
    /// | `orc` | `BloomFilterUtf8` | 0.01 |
    /// | `parquet:bitset`, `parquet:header` | as parquet-java and Arrow: `-8 n / ln(1 - p^(1/8))` bits, rounded up to a power of two, from 32 bytes to 128 MiB | 0.01 |
    /// | `pybloom_live:bloom` | `BloomFilter` | 0.001, as the class |
    /// | `pybloom_live:scalable` | `ScalableBloomFilter`, which grows from this capacity by `LARGE_SET_GROWTH` | 0.001, as the class |
    /// | `rbloom` | `Bloom` | 0.01 |
    /// | `redisbloom:bf` | `BF.RESERVE`, which grows by `EXPANSION 2` | 0.01, as `bf-error-rate` |
    /// | `redisbloom:cf` | `CF.RESERVE` | |
    /// | `rocksdb:format5` | the least number of bits per key that keeps the rate, in steps of 0.001 from 1 to 100 | 0.01 |
    /// | `rocksdb:legacy` | the same, in steps of 1 | 0.01 |
    /// | `spark:v1`, `spark:v2` | `create`; the seed is 0 if `None` | 0.03, as `create` |
    ///
    /// LevelDB and RocksDB do not know rates. With `b` bits per key and `k` hash functions, a
    /// filter has the rate `(1 - e^(-k / b))^k`, plus the part of the hashes that the keys have
    /// (`BloomMath` in `util/bloom_impl.h` of RocksDB). A block of 512 bits with `n` keys has `(1 -
    /// (511 / 512)^(k n))^k`; the rate is the mean over `n`, a Poisson variable with the mean `512
    /// / b`. RocksDB itself estimates this mean from two values of `n`, which is too low for rates
    /// below 0.001. The legacy format has `0.1 / (0.75 b + 22)` more
    /// (`LegacyLocalityBloomImpl::EstimatedFpRate`). A filter of LevelDB has a higher rate than the
    /// formula says, with more than 30,000 keys several times that:
    /// [`false_positive_rate`](super::Filter::false_positive_rate) measures it.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if the system makes no such filter: the capacity or the rate is out of its
    /// range, or a rate or a seed is given that it does not [take](Self::takes_rate);
    /// [`Error::ReadOnly`] for the filter block of a table and for a Parquet file, which have more
    /// than a filter; [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Format, Key};
    ///
    /// let mut filter = Format::SparkV1.build(1000, Some(0.03), None)?;
    /// filter.insert(Key::Text("a"))?;
    /// assert_eq!(filter.parameters(), [("bits", 7360), ("hash functions", 5)]);
    ///
    /// let error = Format::GoCuckoo.build(1000, Some(0.03), None).unwrap_err();
    /// assert_eq!(error, Error::Size { parameter: "rate" });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn build(
        self,
        capacity: u64,
        rate: Option<f64>,
        seed: Option<u64>,
    ) -> Result<AnyFilter, Error> {
        for (parameter, given, takes) in [
            ("rate", rate.is_some(), self.takes_rate()),
            ("seed", seed.is_some(), self.takes_seed()),
        ] {
            if given && !takes {
                return Err(Error::Size { parameter });
            }
        }
        let rate = rate.unwrap_or(self.default_rate());
        check_rate(rate)?;
        Ok(match self {
            Self::BitsAndBlooms => Box::new(BitsAndBloomsFilter::new(capacity, rate)?),
            Self::DataSketches => {
                let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(()));
                Box::new(DataSketchesFilter::new(capacity, rate, seed as i64)?)
            }
            Self::GoCuckoo => Box::new(GoCuckooFilter::new(capacity)?),
            Self::GuavaMitz64 => Box::new(GuavaFilter::new(GuavaStrategy::Mitz64, capacity, rate)?),
            Self::GuavaMitz32 => Box::new(GuavaFilter::new(GuavaStrategy::Mitz32, capacity, rate)?),
            Self::HadoopBloom => {
                let (m, k) = sizes_of_hadoop(capacity, rate)?;
                Box::new(HadoopFilter::new(m, k, HadoopHash::Murmur)?)
            }
            Self::HadoopCounting => {
                let (m, k) = sizes_of_hadoop(capacity, rate)?;
                Box::new(HadoopCountingFilter::new(m, k, HadoopHash::Murmur)?)
            }
            Self::LevelDbFilter => {
                let bits = bits_per_key_of_leveldb(capacity, rate)?;
                Box::new(LevelDbFilter::new(capacity, bits)?)
            }
            Self::Orc => Box::new(OrcFilter::new(capacity, rate)?),
            Self::ParquetBitset => Box::new(ParquetFilter::new(bytes_of_parquet(capacity, rate)?)?),
            Self::ParquetHeader => {
                Box::new(ParquetFilter::new(bytes_of_parquet(capacity, rate)?)?.to_header()?)
            }
            Self::PybloomBloom => Box::new(PybloomFilter::new(capacity, rate)?),
            Self::PybloomScalable => Box::new(PybloomScalableFilter::new(capacity, rate, SCALE)?),
            Self::Rbloom => Box::new(RbloomFilter::new(capacity, rate)?),
            Self::RedisBloom => {
                Box::new(RedisModuleBloomFilter::new(capacity, rate, Some(EXPANSION))?)
            }
            Self::RedisCuckoo => Box::new(RedisModuleCuckooFilter::new(capacity)?),
            Self::RocksDbFormat5 => {
                let millibits = millibits_of_rocksdb(capacity, rate)?;
                Box::new(RocksDbFilter::new(capacity, f64::from(millibits) / 1000.0)?)
            }
            Self::RocksDbLegacy => {
                let bits = bits_per_key_of_legacy_rocksdb(capacity, rate)?;
                Box::new(RocksDbFilter::new_as_format_4(capacity, bits.into())?)
            }
            Self::SparkV1 => Box::new(SparkFilter::new(SparkVersion::V1, capacity, rate)?),
            Self::SparkV2 => {
                let seed = i32::try_from(seed.unwrap_or(0) as i64);
                let seed = seed.map_err(|_| Error::Size { parameter: "seed" })?;
                Box::new(SparkFilter::new(SparkVersion::V2 { seed }, capacity, rate)?)
            }
            Self::LevelDbBlock | Self::ParquetFile => return Err(Error::ReadOnly),
        })
    }

    /// Returns the rate of a system that is given none.
    const fn default_rate(self) -> f64 {
        match self {
            Self::GuavaMitz32 | Self::GuavaMitz64 | Self::SparkV1 | Self::SparkV2 => 0.03,
            Self::PybloomBloom | Self::PybloomScalable => 0.001,
            _ => RATE,
        }
    }
}

/// Returns the numbers of bits and of hash functions. The user of Hadoop computes them; this is the
/// usual way.
fn sizes_of_hadoop(capacity: u64, rate: f64) -> Result<(u64, u64), Error> {
    if capacity == 0 {
        return Err(Error::Size { parameter: "capacity" });
    }
    let keys = capacity as f64;
    let m = bits_for(keys, rate).ceil();
    // The conversions saturate.
    Ok((m as u64, round(m / keys * core::f64::consts::LN_2).max(1.0) as u64))
}

/// Returns the number of bytes that parquet-java and Arrow compute.
fn bytes_of_parquet(capacity: u64, rate: f64) -> Result<u64, Error> {
    let bits = -8.0 * capacity as f64 / (-rate.powf(0.125)).ln_1p();
    // The writers drop the fraction, and then round up.
    let bytes = (bits.trunc() / 8.0).max(PARQUET_BYTES.0);
    if bytes > PARQUET_BYTES.1 {
        return Err(Error::Size { parameter: "capacity" });
    }
    Ok((bytes.ceil() as u64).next_power_of_two())
}

/// Returns the least number of bits per key that keeps the rate.
fn bits_per_key_of_leveldb(capacity: u64, rate: f64) -> Result<u32, Error> {
    let keeps = |bits: &u32| {
        let rate_of_bits = standard_rate(f64::from(*bits), probes(*bits).into());
        either(rate_of_bits, rate_of_hashes(capacity, 32)) <= rate
    };
    (1..=MAX_BITS_PER_KEY).find(keeps).ok_or(Error::Size { parameter: "rate" })
}

/// As [`bits_per_key_of_leveldb`], for RocksDB of format 4.
fn bits_per_key_of_legacy_rocksdb(capacity: u64, rate: f64) -> Result<u32, Error> {
    let keeps = |bits: &u32| {
        let (k, bits) = (probes(*bits).into(), f64::from(*bits));
        let rate_of_bits = blocked_rate(bits, k) + 0.1 / (bits * 0.75 + 22.0);
        either(rate_of_bits, rate_of_hashes(capacity, 32)) <= rate
    };
    let mut all = MILLIBITS.step_by(1000).map(|millibits| millibits / 1000);
    all.find(keeps).ok_or(Error::Size { parameter: "rate" })
}

/// As [`bits_per_key_of_leveldb`], in thousandths, for RocksDB of format 5.
fn millibits_of_rocksdb(capacity: u64, rate: f64) -> Result<u32, Error> {
    let keeps = |millibits: &u32| {
        let k = probes_of_blocks(*millibits).into();
        let rate_of_bits = blocked_rate(f64::from(*millibits) / 1000.0, k);
        either(rate_of_bits, rate_of_hashes(capacity, 64)) <= rate
    };
    // The rate falls from each whole number of bits to the next one, but not with every step.
    let whole = MILLIBITS.step_by(1000).find(keeps).ok_or(Error::Size { parameter: "rate" })?;
    let least = (whole - 999).max(*MILLIBITS.start());
    Ok((least..=whole).find(keeps).unwrap_or(whole))
}

/// `BloomMath::StandardFpRate` of RocksDB.
fn standard_rate(bits_per_key: f64, k: u32) -> f64 {
    (1.0 - (-f64::from(k) / bits_per_key).exp()).powf(k.into())
}

/// Returns the rate of blocks, each with a random number of keys (Putze, Sanders and Singler 2007).
fn blocked_rate(bits_per_key: f64, k: u32) -> f64 {
    let (k, mean) = (f64::from(k), BLOCK_BITS / bits_per_key);
    let zero = (-1.0 / BLOCK_BITS).ln_1p();
    // The probability of more keys than this is far below all rates.
    let most = (mean + 12.0 * mean.sqrt() + 30.0) as u32;
    let mut of_count = (-mean).exp();
    (1..=most).fold(0.0, |sum, keys| {
        of_count *= mean / f64::from(keys);
        sum + of_count * (-(zero * k * f64::from(keys)).exp_m1()).powf(k)
    })
}

/// `BloomMath::FingerprintFpRate` of RocksDB: the part of the hashes of this many bits that the
/// keys take.
fn rate_of_hashes(capacity: u64, bits: i32) -> f64 {
    -(-(capacity as f64) * f64::from(-bits).exp2()).exp_m1()
}

/// Returns the probability of one event or the other.
fn either(one: f64, other: f64) -> f64 {
    one + other - one * other
}
