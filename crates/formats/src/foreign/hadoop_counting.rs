//! Hadoop: what `org.apache.hadoop.util.bloom.CountingBloomFilter.write` writes.
//!
//! ```text
//! the header of hadoop.rs, words of 16 counters: big-endian; the first counter is the least significant 4 bits
//! ```
//!
//! Source: `CountingBloomFilter.java`.

use std::io;

use super::bits::BitArray;
use super::bloom::{Places, System};
use super::cursor::Cursor;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::hadoop::{Hadoop, HadoopHash};
use super::key::Key;
use super::rates;

/// A counter with this value stays as it is.
const MAX: u8 = 15;

/// A `CountingBloomFilter` of Hadoop, which removes keys.
///
/// Keys: as in [`HadoopFilter`](super::HadoopFilter).
#[derive(Clone, Debug)]
pub(super) struct HadoopCountingFilter {
    header: Hadoop,
    counters: BitArray,
}

impl HadoopCountingFilter {
    /// Makes an empty filter as the constructor of `CountingBloomFilter` does: of `m` counters and
    /// `k` hash functions.
    pub(super) fn new(m: u64, k: u64, hash: HadoopHash) -> Result<Self, Error> {
        let header = Hadoop::new(m, k, hash)?;
        Ok(Self { header, counters: BitArray::zeroed(bytes(header))? })
    }

    /// Reads a filter.
    pub(super) fn from_bytes(bytes_of_filter: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes_of_filter);
        let header = Hadoop::read_header(&mut cursor)?;
        let counters = BitArray::of_big_endian_words(cursor.take(bytes(header))?)?;
        cursor.end()?;
        Ok(Self { header, counters })
    }

    /// Replaces each counter of a key by `to` of it. Returns whether one has changed.
    fn change(&mut self, key: Key<'_>, to: impl Fn(u8) -> u8) -> Result<bool, Error> {
        let counters = &mut self.counters;
        let mut changed = false;
        self.header.each(key, &mut |place| {
            let old = counters.nibble(place);
            counters.set_nibble(place, to(old));
            changed |= counters.nibble(place) != old;
            true
        })?;
        Ok(changed)
    }
}

/// Returns the number of bytes of the counters.
fn bytes(header: Hadoop) -> u64 {
    8 * u64::from(header.m.div_ceil(16))
}

impl Filter for HadoopCountingFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        self.header.each(key, &mut |place| self.counters.nibble(place) > 0)
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        self.change(key, |count| if count < MAX { count + 1 } else { MAX })
    }

    fn remove(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let found = self.contains(key)?;
        if found {
            self.change(key, |count| if count < MAX { count.saturating_sub(1) } else { MAX })?;
        }
        Ok(found)
    }

    fn format(&self) -> Format {
        Format::HadoopCounting
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        self.header.parameters_of("counters")
    }

    fn false_positive_rate(&self) -> f64 {
        let m = u64::from(self.header.m);
        let set = (0..m).filter(|&place| self.counters.nibble(place) > 0).count();
        rates::power(set as f64 / m as f64, self.header.k.into())
    }

    fn encoded_len(&self) -> u64 {
        self.header.header().len() as u64 + bytes(self.header)
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.header.header())?;
        self.counters.write_big_endian_words(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system does not know the true count of a counter that is 15, and so never decreases it.
    #[test]
    fn a_counter_of_15_stays() {
        let mut filter = HadoopCountingFilter::new(1000, 4, HadoopHash::Jenkins).unwrap();
        let key = Key::Bytes(b"key");
        let removed = |filter: &mut HadoopCountingFilter| {
            (0..20).take_while(|_| filter.remove(key).unwrap()).count()
        };
        for _ in 0..14 {
            assert!(filter.insert(key).unwrap());
        }
        assert_eq!(removed(&mut filter), 14);
        for count in 0..16 {
            assert_eq!(filter.insert(key).unwrap(), count < 15);
        }
        assert_eq!(removed(&mut filter), 20);
    }
}
