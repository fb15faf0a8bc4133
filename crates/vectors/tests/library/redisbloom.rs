//! RedisBloom: Bloom and cuckoo filters.

use std::io;

use tamis_formats::foreign::{
    Error, Filter, Format, Key, RedisModuleBloomFilter, RedisModuleCuckooFilter,
};
use tamis_vectors::{OwnedKey, Vector, sparse_vectors, vectors};

use crate::{System, check_sparse, damage, key};

/// A filter of either sort: one manifest has both.
#[derive(Debug)]
enum Redis {
    Bloom(RedisModuleBloomFilter),
    Cuckoo(RedisModuleCuckooFilter),
    /// A cuckoo filter that was filled with `CF.ADDNX`.
    CuckooOfNew(RedisModuleCuckooFilter),
}

impl Redis {
    fn filter(&self) -> &dyn Filter {
        match self {
            Self::Bloom(filter) => filter,
            Self::Cuckoo(filter) | Self::CuckooOfNew(filter) => filter,
        }
    }

    fn chunks(&self) -> Vec<(i64, Vec<u8>)> {
        let owned = |(iterator, data): (i64, std::borrow::Cow<'_, [u8]>)| (iterator, data.into());
        match self {
            Self::Bloom(filter) => filter.chunks().map(owned).collect(),
            Self::Cuckoo(filter) | Self::CuckooOfNew(filter) => {
                filter.chunks().map(owned).collect()
            }
        }
    }
}

impl Filter for Redis {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        self.filter().contains(key)
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        match self {
            Self::Bloom(filter) => filter.insert(key),
            Self::Cuckoo(filter) => filter.insert(key),
            Self::CuckooOfNew(filter) => filter.insert_new(key),
        }
    }

    fn remove(&mut self, key: Key<'_>) -> Result<bool, Error> {
        match self {
            Self::Bloom(filter) => filter.remove(key),
            Self::Cuckoo(filter) | Self::CuckooOfNew(filter) => filter.remove(key),
        }
    }

    fn format(&self) -> Format {
        self.filter().format()
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        self.filter().parameters()
    }

    fn false_positive_rate(&self) -> f64 {
        self.filter().false_positive_rate()
    }

    fn encoded_len(&self) -> u64 {
        self.filter().encoded_len()
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        self.filter().write(to)
    }
}

/// No file of one sort is one of the other.
fn read(bytes: &[u8]) -> Result<Redis, Error> {
    match (RedisModuleBloomFilter::from_bytes(bytes), RedisModuleCuckooFilter::from_bytes(bytes)) {
        (Ok(filter), Err(_)) => Ok(Redis::Bloom(filter)),
        (Err(_), Ok(filter)) => Ok(Redis::Cuckoo(filter)),
        (Ok(_), Ok(_)) => panic!("both"),
        (Err(error), Err(_)) => Err(error),
    }
}

/// Makes a filter from the command that made it.
fn build(vector: &Vector) -> Result<Redis, Error> {
    let words: Vec<&str> = vector.param("reserve").as_str().unwrap().split(' ').collect();
    let option = |name: &str, default: u16| {
        let at = words.iter().position(|word| *word == name);
        at.map_or(default, |at| words[at + 1].parse().unwrap())
    };
    if words[0] == "BF.RESERVE" {
        let (rate, capacity) = (words[2].parse().unwrap(), words[3].parse().unwrap());
        let grows = !words.contains(&"NONSCALING");
        let expansion = grows.then(|| option("EXPANSION", 2).into());
        return RedisModuleBloomFilter::new(capacity, rate, expansion).map(Redis::Bloom);
    }
    let filter = RedisModuleCuckooFilter::with_options(
        words[2].parse().unwrap(),
        option("BUCKETSIZE", 2) as u8,
        option("MAXITERATIONS", 20),
        option("EXPANSION", 1),
    )?;
    let new = vector.param("add").as_str() == Some("CF.ADDNX");
    Ok(if new { Redis::CuckooOfNew(filter) } else { Redis::Cuckoo(filter) })
}

#[test]
fn redisbloom_filters() {
    System { name: "redisbloom", vectors: 17, read, build }.check();
}

#[test]
fn redisbloom_chunks() {
    for vector in vectors("redisbloom") {
        let bytes = vector.bytes();
        let filter = read(&bytes).unwrap();
        let chunks = filter.chunks();
        let expected = vector.field("extra")["chunks"].as_array().unwrap();
        assert_eq!(chunks.len(), expected.len(), "{}", vector.name());
        for ((iterator, data), expected) in chunks.iter().zip(expected) {
            let number = |name: &str| expected[name].as_u64().unwrap() as usize;
            let (offset, length) = (number("offset"), number("length"));
            assert_eq!(Some(*iterator), expected["iterator"].as_i64(), "{}", vector.name());
            assert!(data[..] == bytes[offset..][..length], "{}", vector.name());
        }
        let end = [(0, Vec::new())];
        let joined = match filter {
            Redis::Bloom(_) => RedisModuleBloomFilter::from_chunks(chunks.into_iter().chain(end))
                .unwrap()
                .to_bytes(),
            _ => RedisModuleCuckooFilter::from_chunks(chunks.into_iter().chain(end))
                .unwrap()
                .to_bytes(),
        };
        assert!(joined == bytes, "{}", vector.name());
    }
}

#[test]
fn redisbloom_chunks_in_a_wrong_order_are_refused() {
    let mut filter = RedisModuleBloomFilter::new(10, 0.1, Some(1)).unwrap();
    for number in 0..30_i32 {
        filter.insert(Key::Bytes(&number.to_le_bytes())).unwrap();
    }
    let mut chunks: Vec<_> = filter.chunks().collect();
    chunks.swap(1, 2);
    let error = RedisModuleBloomFilter::from_chunks(chunks).unwrap_err();
    assert!(matches!(error, Error::Field { field: "the iterator", found: 25, min: 17, .. }));
    assert_eq!(RedisModuleCuckooFilter::new(10).unwrap().chunks().count(), 0);
}

/// Which adds RedisBloom answered with 0: the key may have been there.
#[test]
fn redisbloom_verdicts() {
    for vector in vectors("redisbloom") {
        let mut filter = build(&vector).unwrap();
        let inserted = vector.inserted();
        let changed = |owned: &OwnedKey| filter.insert(key(owned)).unwrap();
        let changed: Vec<bool> = inserted.iter().map(changed).collect();
        let refused = vector.field("extra")["add_answered_0_at"].as_array().unwrap().iter();
        let mut refused: Vec<usize> = refused.map(|at| at.as_u64().unwrap() as usize).collect();
        refused.sort_unstable();
        let found = (0..inserted.len()).filter(|&at| !changed[at]);
        assert!(found.eq(refused), "{}", vector.name());
    }
}

/// The places of a filter of more than 2^31 bits, its header and its iterators.
#[test]
fn redisbloom_filter_of_many_bits() {
    let vectors = sparse_vectors("redisbloom");
    assert_eq!(vectors.len(), 1);
    for vector in vectors {
        let Redis::Bloom(mut filter) = build(&vector).unwrap() else {
            panic!("not a Bloom filter")
        };
        let mut places = Vec::new();
        for inserted in vector.inserted() {
            places.extend(filter.places(key(&inserted)).unwrap());
            assert!(filter.insert(key(&inserted)).unwrap());
        }
        check_sparse(&vector, &filter, places);
        let iterators = filter.chunks().map(|(iterator, _)| iterator);
        assert!(iterators.eq(vector.numbers("iterators")));
    }
}

#[test]
fn redisbloom_filters_with_a_byte_more_are_refused() {
    for name in ["bf_e01_c10_exp1", "cf_c64_b1", "bf_e001_c100_empty"] {
        let vectors = vectors("redisbloom");
        let vector = vectors.iter().find(|vector| vector.name() == name).unwrap();
        let bytes = vector.bytes();
        if name.starts_with("bf") {
            damage::trail(&bytes, RedisModuleBloomFilter::from_bytes);
        } else {
            damage::trail(&bytes, RedisModuleCuckooFilter::from_bytes);
        }
    }
}

/// RedisBloom refuses the first three too. The last ones would let an insert allocate far more than
/// the file has.
#[test]
fn redisbloom_headers_that_contradict_themselves_are_refused() {
    // 64 bits for 10 items at an error of 0.05, which take 5 hash functions.
    let mut filter = RedisModuleBloomFilter::new(10, 0.1, Some(2)).unwrap();
    filter.insert(Key::Text("a")).unwrap();
    let bytes = filter.to_bytes();
    let refused = |at: usize, field: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + field.len()].copy_from_slice(field);
        RedisModuleBloomFilter::from_bytes(&bytes).unwrap_err()
    };
    let field = |field, found, min, max| Error::Field { field, found, min, max };
    assert_eq!(refused(0, &[2]), field("the number of items", 2, 1, 1));
    let probes = "the number of hash functions";
    assert_eq!(refused(60, &[4]), field(probes, 4, 5, 5));
    // As many bits per entry as 10 hash functions need.
    assert_eq!(refused(52, &14_f64.to_le_bytes()), field(probes, 5, 10, 10));
    assert_eq!(refused(36, &[11]), field("the number of items", 11, 0, 10));
    assert_eq!(refused(64, &[65]), field("the capacity", 65, 1, 64));
    assert_eq!(refused(64, &[11]), Error::Size { parameter: "capacity" });
    assert_eq!(refused(44, &1e-300_f64.to_le_bytes()), Error::Size { parameter: "capacity" });
}

/// 4 items take 64.8 bits at this error.
#[test]
fn redisbloom_drops_a_fraction_of_a_bit() {
    let bytes = RedisModuleBloomFilter::new(4, 4.17e-4, None).unwrap().to_bytes();
    assert_eq!(bytes.len(), 20 + 53 + 8);
    assert!(RedisModuleBloomFilter::from_bytes(&bytes).is_ok());
}

#[test]
fn redisbloom_sizes_and_keys_that_do_not_exist_are_refused() {
    let size = |filter: Result<RedisModuleBloomFilter, Error>| {
        assert!(matches!(filter.unwrap_err(), Error::Size { .. }));
    };
    size(RedisModuleBloomFilter::new(0, 0.1, None));
    size(RedisModuleBloomFilter::new(u64::MAX, 0.1, None));
    size(RedisModuleBloomFilter::new(10, 1.0, None));
    size(RedisModuleBloomFilter::new(10, f64::NAN, None));
    size(RedisModuleBloomFilter::new(10, 5e-324, Some(2)));
    size(RedisModuleBloomFilter::new(10, 0.1, Some(0)));
    size(RedisModuleBloomFilter::new(10, 0.1, Some(32_769)));
    for (capacity, bucket_size, iterations, expansion) in
        [(u64::MAX, 1, 1, 1), (10, 0, 1, 1), (10, 1, 0, 1), (10, 1, 1, 32_769)]
    {
        let filter =
            RedisModuleCuckooFilter::with_options(capacity, bucket_size, iterations, expansion);
        assert!(matches!(filter.unwrap_err(), Error::Size { .. }));
    }
    let mut filter = RedisModuleBloomFilter::new(1, 0.1, None).unwrap();
    assert!(matches!(filter.insert(Key::I64(1)), Err(Error::Key { .. })));
    assert_eq!(filter.remove(Key::Text("a")), Err(Error::NoRemoval));
    assert_eq!(filter.insert(Key::Text("a")), Ok(true));
    assert_eq!(filter.insert(Key::Text("b")), Err(Error::Full));
    let mut filter = RedisModuleCuckooFilter::with_options(1, 1, 1, 0).unwrap();
    assert!(matches!(filter.insert(Key::I64(1)), Err(Error::Key { .. })));
    assert_eq!(filter.insert(Key::Text("a")), Ok(true));
    let before = filter.to_bytes();
    assert_eq!(filter.insert(Key::Text("b")), Err(Error::Full));
    assert!(filter.to_bytes() == before, "a refused insert changes the filter");
}
