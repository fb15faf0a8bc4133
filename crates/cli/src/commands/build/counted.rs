//! A filter of Parquet that is sized at the end of the input, for the number of its keys.

use std::{io, iter, mem};

use tamis::formats::foreign::{self, AnyFilter, Filter, Format, Key, ParquetFilter, convert};

use crate::filters::Hashes;

/// The bytes of the filter that takes the keys when there is no memory for their hashes: the most
/// that parquet-java and Arrow make.
const MOST: u64 = 128 << 20;

/// The rate of the format if none is given.
const RATE: f64 = 0.01;

/// Keeps the hashes of the keys. Where memory does not allow that, they go to a filter of [`MOST`]
/// bytes, which is folded at the end.
#[derive(Debug)]
pub(super) struct Counted {
    format: Format,
    hashes: Hashes,
    /// The most hashes, if memory allows that many.
    most: usize,
    large: Option<ParquetFilter>,
    /// The number of keys that changed the large filter.
    changes: u64,
}

/// What became of it.
pub(super) struct Done {
    pub(super) filter: AnyFilter,
    /// The number of distinct keys, as far as the filter distinguishes them.
    pub(super) keys: u64,
    /// The bytes that the filter had before it was folded, if it was.
    pub(super) first: Option<u64>,
}

impl Counted {
    /// Returns the empty filter, if one of the format can be folded.
    pub(super) fn new(format: Format) -> Option<Self> {
        let folds = matches!(format, Format::ParquetBitset | Format::ParquetHeader);
        folds.then_some(Self {
            format,
            hashes: Hashes::new(false),
            most: usize::MAX,
            large: None,
            changes: 0,
        })
    }

    /// Returns the filter for the number of keys, or with an error this number.
    pub(super) fn finish(self, rate: Option<f64>) -> Result<Done, (u64, foreign::Error)> {
        if let Some(mut large) = self.large {
            let keys = self.changes;
            large.fold_to(rate.unwrap_or(RATE));
            let filter = convert(&large, self.format).map_err(|error| (keys, error))?;
            return Ok(Done { filter, keys, first: Some(MOST) });
        }
        let hashes = self.hashes.into_sorted();
        let keys = hashes.len() as u64;
        let built = self.format.build(keys.max(1), rate, None);
        let mut filter = built.map_err(|error| (keys, error))?;
        let any: &mut dyn std::any::Any = &mut *filter;
        if let Some(filter) = any.downcast_mut::<ParquetFilter>() {
            filter.insert_hashes(&hashes);
        }
        Ok(Done { filter, keys, first: None })
    }

    /// Inserts the hashes into a large filter, which takes the following ones, too.
    fn enlarge(&mut self) -> Result<(), foreign::Error> {
        let mut large = ParquetFilter::new(MOST)?;
        let hashes = mem::replace(&mut self.hashes, Hashes::new(false)).into_sorted();
        self.changes = hashes.len() as u64;
        large.insert_hashes(&hashes);
        self.large = Some(large);
        Ok(())
    }
}

impl Filter for Counted {
    /// Asked only whether the format takes keys of a type.
    fn contains(&self, _: Key<'_>) -> Result<bool, foreign::Error> {
        Ok(false)
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, foreign::Error> {
        if self.large.is_none() {
            let hash = iter::once(ParquetFilter::hash(key));
            if self.hashes.len() < self.most && self.hashes.extend(hash).is_ok() {
                return Ok(true);
            }
            self.enlarge()?;
        }
        let Some(large) = &mut self.large else { return Ok(false) };
        let is_new = large.insert(key)?;
        self.changes += u64::from(is_new);
        Ok(is_new)
    }

    fn format(&self) -> Format {
        self.format
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    fn false_positive_rate(&self) -> f64 {
        0.0
    }

    fn encoded_len(&self) -> u64 {
        0
    }

    fn write(&self, _: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the filter of some keys, each inserted twice.
    fn filter_of(keys: i64, format: Format, most: usize) -> Done {
        let mut counted = Counted { most, ..Counted::new(format).unwrap() };
        for key in (0..keys).chain(0..keys) {
            counted.insert(Key::I64(key)).unwrap();
        }
        counted.finish(Some(0.01)).unwrap()
    }

    #[test]
    fn keys_are_counted_or_the_filter_is_folded() {
        for format in [Format::ParquetBitset, Format::ParquetHeader] {
            let Done { filter: counted, keys, first } = filter_of(20_000, format, usize::MAX);
            assert_eq!((counted.format(), keys, first), (format, 20_000, None));
            let mut expected = format.build(20_000, Some(0.01), None).unwrap();
            (0..20_000).for_each(|key| _ = expected.insert(Key::I64(key)).unwrap());
            assert!(counted.to_bytes() == expected.to_bytes());

            let done = filter_of(20_000, format, 5000);
            let Done { filter: folded, keys, first } = done;
            assert_eq!((folded.format(), keys, first), (format, 20_000, Some(MOST)));
            assert!(folded.false_positive_rate() <= 0.01);
            // Twice the size is one fold less.
            assert!(folded.encoded_len() <= 2 * expected.encoded_len());
            assert!((0..20_000).all(|key| folded.contains(Key::I64(key)).unwrap()));
        }
        assert!(Counted::new(Format::Orc).is_none());
    }
}
