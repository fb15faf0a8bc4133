//! A filter for 10,000 digests at 0.0005 that gets three times as many: Guava's filter has a fixed
//! size, and ours grow.

use tamis::formats::foreign::{AnyFilter, Format, Key};
use tamis::hash::Rapid;
use tamis::{CuckooFilter, ScalableBloomFilter};
use tamis_redis::RedisBloomFilter;

use crate::Fallible;
use crate::bounds::{Bounds, expected_fill};
use crate::keys::digest;
use crate::server::Process;
use crate::size::Size;
use crate::table::{Table, bytes, number, per_cent};

/// The digests that the filters are made for. The case has three times as many in the end.
const CAPACITY: u64 = 10_000;
const RATE: f64 = 0.0005;

/// Two absent strings. The second one is a false positive of Guava's filter with all digests.
const ABSENT: [&str; 2] = ["not inserted", "never inserted"];

/// The published answers about an absent string, the digest of 9999, and another absent string.
const RIGHT: &str = "false true false";
const WRONG: &str = "false true true";

/// What all filters of this case do.
trait Memory {
    fn insert_all(&mut self, keys: &[String]) -> Fallible;
    fn contains_all(&self, keys: &[String]) -> Fallible<Vec<bool>>;
    fn size(&self) -> Fallible<u64>;
}

impl Memory for AnyFilter {
    fn insert_all(&mut self, keys: &[String]) -> Fallible {
        for key in keys {
            self.insert(Key::Text(key))?;
        }
        Ok(())
    }

    fn contains_all(&self, keys: &[String]) -> Fallible<Vec<bool>> {
        Ok(keys.iter().map(|key| self.contains(Key::Text(key))).collect::<Result<_, _>>()?)
    }

    fn size(&self) -> Fallible<u64> {
        Ok(self.encoded_len())
    }
}

impl Memory for ScalableBloomFilter<str, Rapid> {
    fn insert_all(&mut self, keys: &[String]) -> Fallible {
        keys.iter().for_each(|key| _ = self.insert(key));
        Ok(())
    }

    fn contains_all(&self, keys: &[String]) -> Fallible<Vec<bool>> {
        Ok(self.contains_many(keys))
    }

    fn size(&self) -> Fallible<u64> {
        Ok(self.size_in_bytes())
    }
}

impl Memory for CuckooFilter<str, Rapid> {
    fn insert_all(&mut self, keys: &[String]) -> Fallible {
        for key in keys {
            self.insert(key)?;
        }
        Ok(())
    }

    fn contains_all(&self, keys: &[String]) -> Fallible<Vec<bool>> {
        Ok(self.contains_many(keys))
    }

    fn size(&self) -> Fallible<u64> {
        Ok(self.size_in_bytes())
    }
}

impl Memory for RedisBloomFilter<str> {
    fn insert_all(&mut self, keys: &[String]) -> Fallible {
        for result in self.insert_many(keys) {
            result?;
        }
        Ok(())
    }

    fn contains_all(&self, keys: &[String]) -> Fallible<Vec<bool>> {
        Ok(self.contains_many(keys)?)
    }

    fn size(&self) -> Fallible<u64> {
        Ok(self.storage()?.size_in_bytes)
    }
}

pub(crate) fn add(table: &mut Table, bounds: &mut Bounds, size: Size) -> Fallible {
    table.title(&format!(
        "Growth: filters for {} digests at {RATE}, then three times as many; is an absent string in, that of 9999, \
         another absent string?",
        number(CAPACITY)
    ));
    let mut guava = Format::GuavaMitz64.build(CAPACITY, Some(RATE), None)?;
    let [bits, probes] = ["bits", "hash functions"].map(|name| {
        let all = guava.parameters();
        all.iter().find(|(of, _)| *of == name).map_or(0, |(_, value)| *value)
    });
    assert_eq!((bits, probes), (158_208, 11), "Guava makes another filter");
    let queries = size.of(1_000_000, 20);
    let at = |digests: u64| per_cent(expected_fill(bits, probes * digests).powi(probes as i32));
    let run = Run { bounds: &mut *bounds, queries, name: "Guava's filter", formula: &at };
    let hits = run.add(table, &mut guava, WRONG)?;
    bounds.rate("Guava's filter, 30,000 digests", hits, queries, guava.false_positive_rate());

    let ours = |_: u64| format!("at most {}", per_cent(RATE));
    let hasher = || Rapid::with_seed(1);
    let builder = CuckooFilter::<str>::builder().capacity(CAPACITY as usize);
    let builder = builder.max_capacity(100 * CAPACITY as usize).false_positive_rate(RATE);
    let mut cuckoo = builder.hasher(hasher()).build()?;
    let name = "CuckooFilter that grows";
    Run { bounds: &mut *bounds, queries, name, formula: &ours }.add(table, &mut cuckoo, RIGHT)?;

    let builder = ScalableBloomFilter::<str>::builder().capacity(CAPACITY as usize);
    let mut scalable = builder.false_positive_rate(RATE).hasher(hasher()).build()?;
    let name = "ScalableBloomFilter";
    Run { bounds: &mut *bounds, queries, name, formula: &ours }.add(table, &mut scalable, RIGHT)?;

    let Some(server) = Process::start_or_skip(&[]) else {
        table.note("SKIPPED: the row on Redis, since redis-server is not installed");
        return Ok(());
    };
    let builder = RedisBloomFilter::<str>::builder(&server.url(), "digests");
    let builder = builder.capacity(CAPACITY).false_positive_rate(RATE).hasher(hasher());
    let mut redis = builder.create()?;
    let (name, queries) = ("ours in Redis", queries / 10);
    Run { bounds, queries, name, formula: &ours }.add(table, &mut redis, RIGHT)?;
    Ok(())
}

/// One filter of the case.
struct Run<'a> {
    bounds: &'a mut Bounds,
    queries: u64,
    name: &'a str,
    formula: &'a dyn Fn(u64) -> String,
}

impl Run<'_> {
    /// Adds the rows of a filter. Returns how many absent digests it contains in the end.
    fn add(self, table: &mut Table, filter: &mut dyn Memory, last: &str) -> Fallible<u64> {
        let Self { bounds, queries, name, formula } = self;
        let mut hits = 0;
        for (digests, published) in [(0..CAPACITY, RIGHT), (CAPACITY..3 * CAPACITY, last)] {
            let count = digests.end;
            let new: Vec<String> = digests.map(digest).collect();
            filter.insert_all(&new)?;
            assert!(
                filter.contains_all(&new)?.iter().all(|&found| found),
                "{name}: one is missing"
            );

            let [first, second] = ABSENT;
            let asked = [first.to_owned(), digest(9999), second.to_owned()];
            let answers = filter.contains_all(&asked)?;
            let answers = answers.iter().map(bool::to_string).collect::<Vec<_>>().join(" ");
            assert_eq!(answers, published, "{name}, {count} digests");

            // Absent digests, in portions.
            hits = 0;
            let absent: Vec<u64> = (3 * CAPACITY..3 * CAPACITY + queries).collect();
            for portion in absent.chunks(10_000) {
                let portion: Vec<String> = portion.iter().copied().map(digest).collect();
                let answers = filter.contains_all(&portion)?;
                hits += answers.iter().filter(|&&found| found).count() as u64;
            }
            let what = format!("{name}, {} digests", number(count));
            if last == RIGHT {
                bounds.at_most(&what, hits, queries, RATE);
            }
            let rate = per_cent(hits as f64 / queries as f64);
            let size = bytes(filter.size()? as f64);
            table.row(what, published, formula(count), format!("{answers}, {rate}, {size}"));
        }
        Ok(hits)
    }
}
