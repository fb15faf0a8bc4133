//! RedisBloom: the cuckoo filter of `CF.SCANDUMP`, which grows by sub-filters.
//!
//! ```text
//! u64 items, u64 buckets of the first sub-filter, u64 deletes, u64 sub-filters
//! u16 bucket size, u16 max iterations, u16 expansion, the tables of the sub-filters: all little-endian
//! ```
//!
//! Sub-filter `j` has `buckets * expansion^j` buckets of one byte a slot. The hash is
//! MurmurHash64A. Source: `src/cf.c` and `src/cuckoo.c`.

use std::io;

use zerocopy::{AllocError, FromZeros};

use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::rates;
use super::slots::Slots;

/// The bytes of the header.
const HEADER: u64 = 38;
/// The most buckets of a sub-filter.
const MAX_BUCKETS: u64 = (1 << 56) - 1;
/// The most that `EXPANSION` may be.
const MAX_EXPANSION: u16 = 32_768;
/// The most sub-filters that an insert makes: `cf-max-expansions`, by default.
const MAX_SUBS: usize = 32;
/// The most sub-filters of a file.
const MAX_SUBS_READ: i64 = u16::MAX as i64;

/// A cuckoo filter of RedisBloom: `CF.RESERVE`, `CF.ADD`, `CF.DEL`, `CF.EXISTS`, `CF.SCANDUMP` and
/// `CF.LOADCHUNK`.
///
/// Keys are bytes; a string is its bytes. [`insert`](Filter::insert) is `CF.ADD`: it stores a key
/// again.
#[derive(Clone, Debug)]
pub(super) struct RedisModuleCuckooFilter {
    items: u64,
    buckets: u64,
    deletes: u64,
    bucket_size: u8,
    max_iterations: u16,
    expansion: u16,
    /// From the oldest to the newest, at least one.
    subs: Vec<Slots>,
}

/// What the filter knows of a key: its hash, and the fingerprint, which is not 0.
#[derive(Clone, Copy)]
struct Entry {
    hash: u64,
    fingerprint: u8,
}

impl Entry {
    fn of(key: Key<'_>) -> Result<Self, Error> {
        let hash = murmur2::murmur64a(key.bytes()?, 0);
        Ok(Self { hash, fingerprint: (hash % 255) as u8 + 1 })
    }

    /// Returns the two buckets in a sub-filter.
    fn buckets(self, sub: &Slots) -> [u64; 2] {
        [self.hash, other(self.hash, self.fingerprint)].map(|hash| hash % sub.buckets())
    }

    fn is_in(self, sub: &Slots) -> bool {
        self.buckets(sub).iter().any(|&bucket| sub.has(bucket, self.fingerprint))
    }

    /// Replaces the first such slot of the two buckets. Returns whether there was one.
    fn replace(self, sub: &mut Slots, from: u8, to: u8) -> bool {
        self.buckets(sub).iter().any(|&bucket| sub.replace(bucket, from, to))
    }

    /// Stores the fingerprint in an empty slot of the two buckets. Returns whether there was one.
    fn store(self, sub: &mut Slots) -> bool {
        self.replace(sub, 0, self.fingerprint)
    }
}

/// Returns the other hash, or the other bucket, of a fingerprint.
fn other(hash: u64, fingerprint: u8) -> u64 {
    hash ^ (u64::from(fingerprint) * 0x5bd1_e995)
}

impl RedisModuleCuckooFilter {
    /// Makes an empty filter as `CF.RESERVE` does by default: buckets of 2, at most 20 moves, all
    /// sub-filters of one size.
    pub(super) fn new(capacity: u64) -> Result<Self, Error> {
        Self::with_options(capacity, 2, 20, 1)
    }

    /// Makes an empty filter as `CF.RESERVE` does with `BUCKETSIZE`, `MAXITERATIONS` and
    /// `EXPANSION`.
    pub(super) fn with_options(
        capacity: u64,
        bucket_size: u8,
        max_iterations: u16,
        expansion: u16,
    ) -> Result<Self, Error> {
        for (parameter, wrong) in [
            ("bucket size", bucket_size == 0),
            ("number of iterations", max_iterations == 0),
            ("expansion", expansion > MAX_EXPANSION),
        ] {
            if wrong {
                return Err(Error::Size { parameter });
            }
        }
        let buckets = (capacity / u64::from(bucket_size)).checked_next_power_of_two();
        let buckets = buckets.filter(|&buckets| buckets <= MAX_BUCKETS);
        let buckets = buckets.ok_or(Error::Size { parameter: "capacity" })?;
        let expansion = if expansion == 0 { 0 } else { expansion.next_power_of_two() };
        let subs = vec![Slots::empty(buckets, bucket_size)?];
        Ok(Self { items: 0, buckets, deletes: 0, bucket_size, max_iterations, expansion, subs })
    }

    /// Reads a filter: the data of all chunks, in order.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let (items, buckets, deletes) = (cursor.u64_le()?, cursor.i64_le()?, cursor.u64_le()?);
        let (count, bucket_size) = (cursor.i64_le()?, cursor.u16_le()?);
        let (max_iterations, expansion) = (cursor.u16_le()?, cursor.u16_le()?);
        in_range("the number of buckets", buckets, 1, MAX_BUCKETS as i64)?;
        let next = (buckets as u64).next_power_of_two() as i64;
        in_range("the number of buckets", buckets, next, next)?;
        in_range("the bucket size", bucket_size.into(), 1, 255)?;
        in_range("the number of iterations", max_iterations.into(), 1, u16::MAX.into())?;
        in_range("the expansion", expansion.into(), 0, MAX_EXPANSION.into())?;
        if expansion != 0 {
            let next = expansion.next_power_of_two().into();
            in_range("the expansion", expansion.into(), next, next)?;
        }
        // Without expansion there is one sub-filter.
        let max_count = if expansion == 0 { 1 } else { MAX_SUBS_READ };
        in_range("the number of sub-filters", count, 1, max_count)?;

        let (buckets, bucket_size) = (buckets as u64, bucket_size as u8);
        let mut filter =
            Self { items, buckets, deletes, bucket_size, max_iterations, expansion, subs: vec![] };
        for _ in 0..count {
            // A number of bytes that is too large for a `u64` is not there.
            let bytes =
                filter.buckets_of_next().and_then(|next| next.checked_mul(bucket_size.into()));
            let table = cursor.take(bytes.unwrap_or(u64::MAX))?;
            filter.subs.push(Slots::of_bytes(table, bucket_size)?);
        }
        cursor.end()?;
        Ok(filter)
    }

    fn header(&self) -> Vec<u8> {
        let mut header = Vec::new();
        for number in [self.items, self.buckets, self.deletes, self.subs.len() as u64] {
            header.extend(number.to_le_bytes());
        }
        for number in [self.bucket_size.into(), self.max_iterations, self.expansion] {
            header.extend(number.to_le_bytes());
        }
        header
    }

    /// Returns the number of buckets of the next sub-filter.
    fn buckets_of_next(&self) -> Option<u64> {
        let times = u64::from(self.expansion).checked_pow(self.subs.len() as u32)?;
        self.buckets.checked_mul(times).filter(|&buckets| buckets <= MAX_BUCKETS)
    }

    /// Makes a sub-filter.
    fn grow(&mut self) -> Result<(), Error> {
        if self.expansion == 0 || self.subs.len() >= MAX_SUBS {
            return Err(Error::Full);
        }
        let buckets = self.buckets_of_next().ok_or(Error::Full)?;
        self.subs.push(Slots::empty(buckets, self.bucket_size)?);
        Ok(())
    }

    /// Moves the entries of the newest sub-filters into older ones, and drops each that is empty
    /// then. Takes time in proportion to the filter.
    fn compact(&mut self) {
        // There are many sub-filters only if they have one size. A bucket that is full stays full,
        // so that the search for a bucket starts where the last one ended.
        let buckets = if self.expansion == 1 { self.buckets } else { 0 };
        let Ok(mut starts) = usize::try_from(buckets).map_or(Err(AllocError), u16::new_vec_zeroed)
        else {
            return;
        };
        while let Some((newest, older @ [_, ..])) = self.subs.split_last_mut() {
            let mut empty = true;
            for bucket in 0..newest.buckets() {
                for slot in 0..usize::from(self.bucket_size) {
                    let fingerprint = newest.bucket(bucket)[slot];
                    if fingerprint == 0 {
                        continue;
                    }
                    // An older sub-filter has no more buckets, so that the bucket serves as the
                    // hash.
                    let found = [bucket, other(bucket, fingerprint)].map(|hash| {
                        let start = starts.get_mut((hash % newest.buckets()) as usize);
                        let from = start.as_deref().map_or(0, |&start| start.into());
                        let found = first_with_space(older, hash, from);
                        if let Some(start) = start {
                            *start = found as u16;
                        }
                        (found, hash)
                    });
                    let [(first, _), (second, _)] = found;
                    let (at, hash) = found[usize::from(second < first)];
                    match older.get_mut(at) {
                        Some(sub) => {
                            sub.replace(hash % sub.buckets(), 0, fingerprint);
                            newest.swap(bucket, slot, 0);
                        }
                        None => empty = false,
                    }
                }
            }
            if !empty {
                break;
            }
            self.subs.pop();
        }
        self.deletes = 0;
    }
}

/// Returns the first sub-filter, from a number on, whose bucket has an empty slot; or any number
/// above all.
fn first_with_space(subs: &[Slots], hash: u64, from: usize) -> usize {
    let mut rest = subs.iter().skip(from);
    let found = rest.position(|sub| sub.has(hash % sub.buckets(), 0));
    found.map_or(from.max(subs.len()), |found| from + found)
}

/// Stores a fingerprint by moving others from slot to slot. Returns whether it did; if not, nothing
/// has changed.
fn evict(sub: &mut Slots, entry: Entry, bucket_size: usize, max_iterations: u16) -> bool {
    let buckets = sub.buckets();
    let mut bucket = entry.hash % buckets;
    let mut fingerprint = entry.fingerprint;
    let mut victim = 0;
    for _ in 0..max_iterations {
        fingerprint = sub.swap(bucket, victim, fingerprint);
        bucket = other(bucket, fingerprint) % buckets;
        if sub.replace(bucket, 0, fingerprint) {
            return true;
        }
        victim = (victim + 1) % bucket_size;
    }
    // Takes the same steps back.
    for _ in 0..max_iterations {
        victim = (victim + bucket_size - 1) % bucket_size;
        bucket = other(bucket, fingerprint) % buckets;
        fingerprint = sub.swap(bucket, victim, fingerprint);
    }
    false
}

impl Filter for RedisModuleCuckooFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        let entry = Entry::of(key)?;
        Ok(self.subs.iter().any(|sub| entry.is_in(sub)))
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let entry = Entry::of(key)?;
        let (bucket_size, iterations) = (self.bucket_size.into(), self.max_iterations);
        let stored = self.subs.iter_mut().rev().any(|sub| entry.store(sub))
            || self.subs.last_mut().is_some_and(|sub| evict(sub, entry, bucket_size, iterations));
        if !stored {
            // The new sub-filter is empty.
            self.grow()?;
            self.subs.last_mut().map(|sub| entry.store(sub));
        }
        self.items = self.items.wrapping_add(1);
        Ok(true)
    }

    fn remove(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let entry = Entry::of(key)?;
        let remove = |sub: &mut Slots| entry.replace(sub, entry.fingerprint, 0);
        if !self.subs.iter_mut().rev().any(remove) {
            return Ok(false);
        }
        self.items = self.items.wrapping_sub(1);
        self.deletes = self.deletes.wrapping_add(1);
        if self.subs.len() > 1 && self.deletes as f64 > self.items as f64 * 0.1 {
            self.compact();
        }
        Ok(true)
    }

    fn format(&self) -> Format {
        Format::RedisCuckoo
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("sub-filters", self.subs.len() as u64),
            ("buckets", self.subs.iter().map(Slots::buckets).sum()),
            ("slots per bucket", self.bucket_size.into()),
            ("items", self.items),
            ("deletes", self.deletes),
            ("expansion", self.expansion.into()),
            ("iterations", self.max_iterations.into()),
        ]
    }

    fn false_positive_rate(&self) -> f64 {
        rates::of_any(
            self.subs
                .iter()
                .map(|sub| sub.false_positive_rate(|bucket, of| other(bucket, of) % sub.buckets())),
        )
    }

    fn encoded_len(&self) -> u64 {
        HEADER + self.subs.iter().map(|sub| sub.as_bytes().len() as u64).sum::<u64>()
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.header())?;
        self.subs.iter().try_for_each(|sub| to.write_all(sub.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter whose sub-filters have these tables.
    fn filter(tables: &[Vec<u8>], bucket_size: u8, expansion: u16) -> RedisModuleCuckooFilter {
        let subs = tables.iter().map(|table| Slots::of_bytes(table, bucket_size).unwrap());
        let subs: Vec<_> = subs.collect();
        let buckets = subs[0].buckets();
        let (items, deletes, max_iterations) = (9, 9, 1);
        RedisModuleCuckooFilter {
            items,
            buckets,
            deletes,
            bucket_size,
            max_iterations,
            expansion,
            subs,
        }
    }

    /// The loop of RedisBloom.
    fn compact_slowly(filter: &mut RedisModuleCuckooFilter) {
        while let Some((newest, older @ [_, ..])) = filter.subs.split_last_mut() {
            let mut empty = true;
            for bucket in 0..newest.buckets() {
                for slot in 0..usize::from(filter.bucket_size) {
                    let entry = Entry { hash: bucket, fingerprint: newest.bucket(bucket)[slot] };
                    if entry.fingerprint == 0 {
                    } else if older.iter_mut().any(|sub| entry.store(sub)) {
                        newest.swap(bucket, slot, 0);
                    } else {
                        empty = false;
                    }
                }
            }
            if !empty {
                break;
            }
            filter.subs.pop();
        }
        filter.deletes = 0;
    }

    #[test]
    fn entries_move_where_redisbloom_moves_them() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut dropped = 0;
        for _ in 0..3000 {
            let (buckets, bucket_size) = (1 << random(4), 1 + random(3));
            let (expansion, count) = (1 << random(2), 2 + random(5) as u32);
            let full = 1 + random(10);
            let tables: Vec<Vec<u8>> = (0..count)
                .map(|sub| {
                    let slots = buckets * bucket_size * u64::pow(expansion, sub);
                    // The older ones have more entries.
                    let is_empty = |random: u64| random >= full / u64::from(1 + sub / 2);
                    (0..slots)
                        .map(|_| if is_empty(random(10)) { 0 } else { 1 + random(255) as u8 })
                        .collect()
                })
                .collect();
            let mut slow = filter(&tables, bucket_size as u8, expansion as u16);
            let mut fast = slow.clone();
            fast.compact();
            compact_slowly(&mut slow);
            assert!(fast.to_bytes() == slow.to_bytes(), "{tables:?} {bucket_size}");
            dropped += u32::from(fast.subs.len() < tables.len());
        }
        assert!(
            (300..2700).contains(&dropped),
            "{dropped} of 3000 cases have dropped a sub-filter"
        );
    }

    /// The loop of RedisBloom would compare 10^11 slots.
    #[test]
    fn many_full_sub_filters_are_searched_once() {
        let table = |entry: u8| vec![entry; 16];
        let counts = [(32_000, 8), (16_000, 0), (16_000, 8)];
        let tables: Vec<_> = counts.iter().flat_map(|&(n, entry)| vec![table(entry); n]).collect();
        let mut filter = filter(&tables, 8, 1);
        filter.compact();
        assert!(filter.subs.len() == 48_000 && filter.subs.iter().all(|sub| !sub.has(0, 0)));
    }
}
