//! The Bloom filters of other systems that have one array of bits. The file of each system defines
//! what differs.

use core::any::Any;
use core::fmt;
use std::io;

use super::bits::BitArray;
use super::cursor::Cursor;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;

/// The rule by which a system finds the places of a key. A header knows it; it has no bits.
pub(super) trait Places {
    /// Calls `each` with the places of a key, in order, until it returns `false` or all have been
    /// passed. Returns whether it returned `true` for all. Each place is in the array.
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error>;
}

/// What differs between the Bloom filters of two systems: the header with the sizes and the rule,
/// and what follows from these.
pub(super) trait System: Places + Clone + PartialEq + fmt::Debug + 'static {
    /// Whether the array is written as big-endian words.
    const BIG_ENDIAN_WORDS: bool = false;

    /// Reads the header. Returns it with the bytes of the array.
    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error>;

    /// Returns the bytes that are written in front of the array.
    fn header(&self) -> Vec<u8>;

    /// Returns what [`Filter::format`] returns.
    fn format(&self) -> Format;

    /// Returns what [`Filter::parameters`] returns.
    fn parameters(&self) -> Vec<(&'static str, u64)>;

    /// Returns what [`Filter::false_positive_rate`] returns for a filter with this array.
    fn rate(&self, bits: &BitArray) -> f64;

    /// Returns what [`Filter::contains_hash`] returns for a filter with this array.
    fn contains_hash(&self, _bits: &BitArray, _hash: i128) -> Option<bool> {
        None
    }

    /// Returns whether the filter contains no key and has no places.
    fn is_void(&self) -> bool {
        false
    }

    /// Returns whether the system would refuse a key.
    fn is_full(&self) -> bool {
        self.is_void()
    }

    /// Counts an insert that set a bit, if the system counts them.
    fn count(&mut self) {}

    /// Counts the keys of another filter, whose bits are in this array now, if the system counts
    /// keys.
    fn count_union(&mut self, _other: &Self, _bits: &BitArray) {}

    /// Returns whether the system has a union of these two filters.
    fn unites_with(&self, other: &Self) -> bool {
        self == other
    }
}

/// A Bloom filter of another system.
#[derive(Clone, Debug)]
pub(super) struct ForeignBloomFilter<S> {
    pub(super) system: S,
    pub(super) bits: BitArray,
}

impl<S: System> ForeignBloomFilter<S> {
    /// Makes an empty filter whose array has this number of bytes.
    pub(super) fn zeroed(system: S, bytes: u64) -> Result<Self, Error> {
        Ok(Self { system, bits: BitArray::zeroed(bytes)? })
    }

    /// Reads a filter.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let (system, array) = S::read(&mut cursor)?;
        cursor.end()?;
        let read =
            if S::BIG_ENDIAN_WORDS { BitArray::of_big_endian_words } else { BitArray::of_bytes };
        Ok(Self { system, bits: read(array)? })
    }

    /// Sets the bits of a key. Returns whether one of them was not set.
    pub(super) fn set(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let (system, bits) = (&self.system, &mut self.bits);
        let mut changed = false;
        system.each(key, &mut |place| {
            changed |= bits.set(place);
            true
        })?;
        Ok(changed)
    }
}

impl<S: System> Filter for ForeignBloomFilter<S> {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        // Without places, every key is contained.
        Ok(contains(&self.system, &self.bits, key)? && !self.system.is_void())
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        if self.system.is_full() {
            // A key that the system does not have is the first error.
            return self.contains(key).and(Err(Error::Full));
        }
        let changed = self.set(key)?;
        if changed {
            self.system.count();
        }
        Ok(changed)
    }

    fn union_with(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = like(other, |other: &Self| self.system.unites_with(&other.system))?;
        self.bits.unite(&other.bits);
        self.system.count_union(&other.system, &self.bits);
        Ok(())
    }

    fn contains_hash(&self, hash: i128) -> Option<bool> {
        self.system.contains_hash(&self.bits, hash)
    }

    fn format(&self) -> Format {
        self.system.format()
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        self.system.parameters()
    }

    fn false_positive_rate(&self) -> f64 {
        self.system.rate(&self.bits)
    }

    fn encoded_len(&self) -> u64 {
        (self.system.header().len() + self.bits.as_bytes().len()) as u64
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.system.header())?;
        if S::BIG_ENDIAN_WORDS {
            self.bits.write_big_endian_words(to)
        } else {
            to.write_all(self.bits.as_bytes())
        }
    }
}

/// Returns whether all places of a key are set.
pub(super) fn contains(places: &impl Places, bits: &BitArray, key: Key<'_>) -> Result<bool, Error> {
    places.each(key, &mut |place| bits.get(place))
}

/// The places that [`sums_of_32_bits`] can give: those of a larger filter are not reached.
pub(super) const PLACES_OF_SUMS: u64 = 1 << 31;

/// Calls `each` with `first + i second` for `i` from 1 to `k`, in wrapping `i32`, made
/// non-negative, modulo `bits`: the places of several systems in Java. No place is above 2^31 - 1.
/// Returns as [`Places::each`] does.
pub(super) fn sums_of_32_bits(
    (first, second): (i32, i32),
    k: u32,
    bits: u64,
    each: &mut dyn FnMut(u64) -> bool,
) -> bool {
    (1..=k).all(|i| {
        let sum = first.wrapping_add((i as i32).wrapping_mul(second));
        let sum = if sum < 0 { !sum } else { sum };
        each(sum as u64 % bits)
    })
}

/// Returns a filter as one of type `F` that has the places of another, if `same` says so.
pub(super) fn like<F: Filter>(
    other: &dyn Filter,
    same: impl FnOnce(&F) -> bool,
) -> Result<&F, Error> {
    let other: &dyn Any = other;
    other.downcast_ref().filter(|other| same(other)).ok_or(Error::Union)
}

/// Returns the greatest number of hash functions of a filter that is read or made. No rate needs
/// more than 1074. A system that computes the number from the bits per key gets at most the number
/// of bits. A greater number in a file is damage: a query of a small filter would take long.
pub(super) fn max_probes(bits: u64) -> i64 {
    i64::try_from(bits).unwrap_or(i64::MAX).max(1 << 16)
}

/// Rounds as `Math.round` of Java does: half up.
pub(super) fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}

/// Returns `-n ln p / (ln 2)²`, the number of bits for `n` keys at a rate of `p` (Bloom 1970). The
/// systems round it.
pub(super) fn bits_for(keys: f64, rate: f64) -> f64 {
    let ln_2 = core::f64::consts::LN_2;
    -keys * rate.ln() / (ln_2 * ln_2)
}

/// Checks a rate.
pub(super) fn check_rate(rate: f64) -> Result<(), Error> {
    // In this form the condition rejects NaN too.
    if rate > 0.0 && rate < 1.0 { Ok(()) } else { Err(Error::Size { parameter: "rate" }) }
}
