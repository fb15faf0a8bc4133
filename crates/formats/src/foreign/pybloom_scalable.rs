//! pybloom_live: what `ScalableBloomFilter.tofile` of the Python package writes.
//!
//! ```text
//! i32 scale, f64 ratio (0.9), u64 initial capacity, f64 rate, i32 filters, u64 length of each filter: all
//! little-endian; then each filter as in pybloom.rs
//! ```
//!
//! Source: `pybloom.py`.

use std::io;

use super::bloom::check_rate;
use super::cursor::{Cursor, MAX_UNSIGNED, in_range, unsigned_in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::pybloom::PybloomFilter;
use super::rates;

/// The quotient of the rates of two successive filters.
const RATIO: f64 = 0.9;
/// The greatest scale that is read or made. The package has 2 and 4; a user can pass another one.
const MAX_SCALE: i64 = 64;

/// A `ScalableBloomFilter` of pybloom_live 4, which grows by whole filters.
///
/// Keys: strings.
#[derive(Clone, Debug)]
pub(super) struct PybloomScalableFilter {
    scale: i32,
    initial_capacity: u64,
    rate: f64,
    /// From the oldest to the newest.
    filters: Vec<PybloomFilter>,
}

impl PybloomScalableFilter {
    /// Makes an empty filter as the constructor of `ScalableBloomFilter` does. The scale is its
    /// `mode`: each filter has the capacity of the one before times the scale.
    pub(super) fn new(initial_capacity: u64, rate: f64, scale: i32) -> Result<Self, Error> {
        check_rate(rate)?;
        if !(1..=MAX_UNSIGNED as u64).contains(&initial_capacity) {
            return Err(Error::Size { parameter: "capacity" });
        }
        if !(1..=MAX_SCALE).contains(&scale.into()) {
            return Err(Error::Size { parameter: "scale" });
        }
        Ok(Self { scale, initial_capacity, rate, filters: Vec::new() })
    }

    /// Reads a filter.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let (scale, ratio) = (cursor.i32_le()?, cursor.f64_le()?);
        let (initial_capacity, rate) = (cursor.u64_le()?, cursor.f64_le()?);
        let count = cursor.i32_le()?;
        in_range("the scale", scale.into(), 1, MAX_SCALE)?;
        unsigned_in_range("the initial capacity", initial_capacity, 1, MAX_UNSIGNED)?;
        in_range("the number of filters", count.into(), 0, i32::MAX.into())?;
        if ratio != RATIO {
            return Err(Error::Size { parameter: "ratio" });
        }
        check_rate(rate)?;
        // The lengths are in the bytes, so their number is bounded.
        let (lengths, _) = cursor.take(8 * count as u64)?.as_chunks();
        let filters = lengths.iter().map(|&length| {
            let bytes = cursor.take(u64::from_le_bytes(length))?;
            PybloomFilter::from_bytes(bytes)
        });
        let filters: Vec<_> = filters.collect::<Result<_, _>>()?;
        cursor.end()?;
        // After a filter with a greater rate the next one could need far more bytes than the file
        // has.
        if filters.iter().any(|filter| filter.system.rate > RATIO) {
            return Err(Error::Size { parameter: "rate" });
        }
        Ok(Self { scale, initial_capacity, rate, filters })
    }

    /// Returns the filter for the next key, which is new if the newest one is full.
    fn newest(&mut self) -> Result<&mut PybloomFilter, Error> {
        let next = match self.filters.last() {
            None => Some((self.initial_capacity, self.rate)),
            Some(PybloomFilter { system: last, .. }) if last.count >= last.capacity => {
                let capacity = last.capacity.checked_mul(self.scale as u64);
                Some((capacity.ok_or(Error::Size { parameter: "capacity" })?, last.rate))
            }
            Some(_) => None,
        };
        if let Some((capacity, rate)) = next {
            self.filters.push(PybloomFilter::new(capacity, rate * RATIO)?);
        }
        let last = self.filters.len() - 1;
        Ok(&mut self.filters[last])
    }
}

impl Filter for PybloomScalableFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        let Key::Text(_) = key else {
            return Err(Error::Key { found: key.key_type() });
        };
        for filter in self.filters.iter().rev() {
            if filter.contains(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        if self.contains(key)? {
            return Ok(false);
        }
        let newest = self.newest()?;
        newest.insert_unchecked(key)?;
        Ok(true)
    }

    fn format(&self) -> Format {
        Format::PybloomScalable
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let sum = |of: fn(&PybloomFilter) -> u64| {
            self.filters.iter().fold(0_u64, |sum, filter| sum.saturating_add(of(filter)))
        };
        vec![
            ("sub-filters", self.filters.len() as u64),
            ("initial capacity", self.initial_capacity),
            ("capacity", sum(|filter| filter.system.capacity)),
            ("items", sum(|filter| filter.system.count)),
            ("scale", self.scale as u64),
        ]
    }

    fn false_positive_rate(&self) -> f64 {
        rates::of_any(self.filters.iter().map(Filter::false_positive_rate))
    }

    fn encoded_len(&self) -> u64 {
        32 + self.filters.iter().map(|filter| 8 + filter.encoded_len()).sum::<u64>()
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.scale.to_le_bytes())?;
        to.write_all(&RATIO.to_le_bytes())?;
        to.write_all(&self.initial_capacity.to_le_bytes())?;
        to.write_all(&self.rate.to_le_bytes())?;
        to.write_all(&(self.filters.len() as u32).to_le_bytes())?;
        for filter in &self.filters {
            to.write_all(&filter.encoded_len().to_le_bytes())?;
        }
        self.filters.iter().try_for_each(|filter| filter.write(to))
    }
}
