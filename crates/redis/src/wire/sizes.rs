//! The sizes of a filter: which bits an item has in each slice. Pure arithmetic.
//!
//! All bits of an item lie in one 64-byte line, as in a `BlockedBloomFilter`, and a shard is a
//! range of lines. So all bits of an item are in one key, and the keys of a slice, one after
//! another, are the lines of a `BlockedBloomFilter` of the same geometry. An item has the same
//! shard in every slice, since the number of lines is a multiple of the number of shards:
//! `⌊⌊h·S·L / 2^64⌋ / L⌋ = ⌊h·S / 2^64⌋`.
//!
//! A growing filter has slices of twice the items each, with the rates `rate · 0.25 · 0.75^g`:
//! their sum stays below the rate (Almeida, Baquero, Preguiça and Hutchison, "Scalable Bloom
//! Filters", 2007).

use tamis_bloom::{BlockedBloomFilter, Geometry, raw};
use tamis_core::BuildError;
use tamis_hash::split;

use crate::error::Error;
use crate::wire::tag::TAG_BYTES;

/// The bytes and bits of a line.
pub(crate) const LINE_BYTES: u64 = 64;
const LINE_BITS: u64 = 8 * LINE_BYTES;

/// The words of a line.
pub(crate) const LINE_WORDS: u64 = 8;

/// The most shards.
pub(crate) const MAX_SHARDS: u32 = 1 << 16;

/// The fewest shards by default. At most this number of nodes shares the filter, and a batch has
/// this number of commands in flight.
const FEWEST_SHARDS: u32 = 16;

/// The most bytes of a shard's first slice by default. The server allocates them in 64 bytes
/// less than 8 MiB.
///
/// A larger shard blocks its server for longer while it is created, counted or moved to another
/// node.
const SHARD_BYTES: u64 = (8 << 20) - LINE_BYTES;

/// The most bytes of a string in Redis.
const MAX_KEY_BYTES: u64 = 512 << 20;

/// The most words of an item, if its rate needs no more.
///
/// MEASURED: 4 words instead of 2 take 22.5 bits per item instead of 25.6 at a rate of 1e-4 (any
/// machine), and 1.4 µs of the server's time per queried item instead of 0.8; 8 words take 2.6 µs
/// (Sapphire Rapids, Redis 7.0).
const MOST_WORDS: u32 = 4;

/// The most slices.
pub(crate) const MAX_SLICES: usize = 24;

/// A slice leaves this part of the rate that the slices before it have left.
const LEFT: f64 = 0.75;

/// The lines of a key that are counted to find out whether it is full: 64 KiB.
///
/// The count takes the server 10 to 40 µs. With 50 items per line its standard deviation is 0.44 %
/// of the items.
const SAMPLE_LINES: u64 = 1024;

/// A key counts as full at this part of its capacity. In the rest lie 4 standard deviations of the
/// count of a sample, and the items that are inserted before an insert counts: on average 1/128.
const FULL: f64 = 31.0 / 32.0;

/// Of a key for `n` items, one insert in `n / COUNTS` counts the bits, on average.
const COUNTS: u64 = 128;

/// The largest number of new items per count: it costs little from there on.
///
/// MEASURED: a count takes the server 10 to 40 µs, a script 12 µs instead of the 2 to 5 µs of an
/// insert without one, so one in 512 adds less than 0.1 µs per item (Sapphire Rapids, Redis 7.0).
const MOST_PER_COUNT: u64 = 512;

/// The sizes of one slice of all shards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slice {
    /// Of the bits of all shards.
    pub(crate) geometry: Geometry,
    /// The lines of one shard.
    pub(crate) lines: u64,
    /// The items of all shards.
    pub(crate) capacity: u64,
    /// How many bits of the first [`sample_bytes`](Self::sample_bytes) are set when the slice
    /// is full.
    pub(crate) full: u64,
}

/// Which bits an item has in a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The line in its key.
    line: u64,
    words: [u64; LINE_WORDS as usize],
}

impl Place {
    /// Returns the offsets of the bits, as the commands of Redis count them: from the highest bit
    /// of the first byte.
    pub(crate) fn offsets(self) -> impl Iterator<Item = u64> {
        self.words().flat_map(|(word, bits)| {
            let ones = (0..64).filter(move |bit| bits >> bit & 1 == 1);
            // Bit 0 is the lowest of the first byte of a little-endian word.
            ones.map(move |bit| 64 * word + (bit ^ 7))
        })
    }

    /// Returns the words with bits of the item, by their number in the key, and the bits.
    pub(crate) fn words(self) -> impl Iterator<Item = (u64, u64)> {
        let words = (LINE_WORDS * self.line..).zip(self.words);
        words.filter(|(_, bits)| *bits != 0)
    }
}

impl Slice {
    fn new(shards: u32, capacity: u64, rate: f64) -> Result<Self, BuildError> {
        let sized = smallest(capacity, rate)?;
        // Whole lines per shard.
        let lines = (sized.bits() / LINE_BITS).div_ceil(shards.into());
        Self::of_numbers(shards, capacity, lines, sized.probes(), sized.words())
    }

    /// Returns the slice with these numbers of a descriptor.
    pub(crate) fn of_numbers(
        shards: u32,
        capacity: u64,
        lines: u64,
        probes: u32,
        words: u32,
    ) -> Result<Self, BuildError> {
        if lines == 0 {
            return Err(BuildError::Bits);
        }
        if lines > (MAX_KEY_BYTES - TAG_BYTES) / LINE_BYTES {
            return Err(BuildError::TooLarge);
        }
        let bits = lines * u64::from(shards) * LINE_BITS;
        let geometry = BlockedBloomFilter::<()>::builder()
            .bits(bits)
            .probes(probes)
            .words(words)
            .geometry()?;
        let items = usize::try_from(capacity).map_err(|_| BuildError::TooLarge)?;
        let fill = geometry.fill_at((items as f64 * FULL) as usize);
        let full = fill * (lines.min(SAMPLE_LINES) * LINE_BITS) as f64;
        Ok(Self { geometry, lines, capacity, full: full as u64 })
    }

    /// Returns where an item with this hash has its bits, and in which shard.
    pub(crate) fn place(&self, hash: u64) -> Place {
        // Every slice has the layout in lines.
        let (line, words) = raw::bits_of(self.geometry, hash).unwrap_or_default();
        Place { line: line % self.lines, words }
    }

    /// Returns the number of bytes of lines in a key: the position of its tag.
    pub(crate) const fn line_bytes(&self) -> u64 {
        self.lines * LINE_BYTES
    }

    /// Returns the number of bytes that are counted to find out whether the key is full.
    pub(crate) fn sample_bytes(&self) -> u64 {
        self.lines.min(SAMPLE_LINES) * LINE_BYTES
    }

    /// Returns whether the insert of an item with this hash counts the bits, if it sets one.
    ///
    /// It follows from the hash alone, so each new item counts with the same probability, whichever
    /// client inserts it, and whatever that client did before. The number of new items until the
    /// next count has a geometric distribution: with the mean `n/128` of a key for `n` items (at
    /// most 512, at least 1), it exceeds `x·n` with probability `e^(−128x)`.
    pub(crate) fn is_sampled(&self, shards: u32, hash: u64) -> bool {
        // Other bits than those that choose the line and the pattern: the constant is that of
        // SplitMix64.
        let mixed = (hash ^ hash >> 32).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 29).is_multiple_of(self.items_per_count(shards))
    }

    /// Returns of how many new items one counts, on average.
    pub(crate) fn items_per_count(&self, shards: u32) -> u64 {
        (self.capacity / u64::from(shards) / COUNTS).clamp(1, MOST_PER_COUNT)
    }

    /// Returns the number of items in keys of this slice with `bits` bits set of `lines`
    /// lines: an estimate.
    pub(crate) fn items(&self, bits: u64, lines: u64) -> f64 {
        let share = lines as f64 / (self.geometry.bits() / LINE_BITS) as f64;
        let fill = bits as f64 / (lines * LINE_BITS).max(1) as f64;
        raw::items_at_fill(self.geometry, fill) * share
    }
}

/// Returns the error of a part of a filter in terms of the whole: rates of parts are shares of its
/// rate. A lowest rate of 1 or more says that no rate is possible.
pub(crate) fn of_filter(error: BuildError, rate: f64, part: f64) -> BuildError {
    match error {
        BuildError::RateTooLow { lowest, .. } => {
            let lowest = if lowest < 1.0 { lowest / part * rate } else { lowest };
            BuildError::RateTooLow { rate, lowest }
        }
        error => error,
    }
}

/// The sizes of a filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sizes {
    pub(crate) shards: u32,
    /// The rate that the filter stays below.
    pub(crate) rate: f64,
    /// At least one; a filter that does not grow has one.
    pub(crate) slices: Vec<Slice>,
}

impl Sizes {
    /// Returns the sizes for `capacity` items at this rate. The number of shards follows from the
    /// memory, if it is not given.
    pub(crate) fn new(
        capacity: u64,
        rate: f64,
        grows: bool,
        shards: Option<u32>,
    ) -> Result<Self, Error> {
        let capacity = capacity.max(1);
        // Written so that NaN is an error, too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate }.into());
        }
        let first = if grows { (1.0 - LEFT) * rate } else { rate };
        let rate_of = |number: usize| first * LEFT.powi(number as i32);
        let capacity_of =
            |number: usize| capacity.checked_mul(1 << number).ok_or(BuildError::TooLarge);
        // A filter that is to grow has at least two slices. The last of them needs the highest
        // rate, so an error names the lowest rate at which there is none.
        let least = if grows { 2 } else { 1 };
        let last = least - 1;
        smallest(capacity_of(last)?, rate_of(last))
            .map_err(|error| of_filter(error, rate, rate_of(last)))?;
        let shards = match shards {
            Some(shards) => shards,
            None => Self::shards_for(Slice::new(1, capacity, first), capacity, first)?,
        };
        require_shards(shards)?;
        let mut slices = Vec::new();
        while slices.is_empty() || grows && slices.len() < MAX_SLICES {
            let number = slices.len();
            let slice = capacity_of(number)
                .and_then(|capacity| Slice::new(shards, capacity, rate_of(number)));
            match slice {
                Ok(slice) => slices.push(slice),
                Err(error) if number < least => return Err(error.into()),
                // Growth ends where a key would be too large, or a rate too low.
                Err(_) => break,
            }
        }
        Ok(Self { shards, rate, slices })
    }

    /// Returns the number of shards of at most [`SHARD_BYTES`], a power of two.
    fn shards_for(
        whole: Result<Slice, BuildError>,
        capacity: u64,
        rate: f64,
    ) -> Result<u32, BuildError> {
        // One shard of more than 512 MiB is an error, so its size is taken from the geometry.
        let bytes = match whole {
            Ok(whole) => whole.line_bytes(),
            Err(_) => smallest(capacity, rate)?.size_in_bytes(),
        };
        let shards = bytes.div_ceil(SHARD_BYTES).next_power_of_two();
        Ok(shards.clamp(FEWEST_SHARDS.into(), MAX_SHARDS.into()) as u32)
    }

    /// Returns whether the filter grows.
    pub(crate) fn grows(&self) -> bool {
        self.slices.len() > 1
    }

    /// Returns the shard of an item with this hash.
    pub(crate) const fn shard(&self, hash: u64) -> u32 {
        split::place(hash, self.shards as u64) as u32
    }

    /// Returns the number of items of the first slice.
    pub(crate) fn capacity(&self) -> u64 {
        self.slices.first().map_or(0, |first| first.capacity)
    }

    /// Returns the sizes of a slice, or those of the last.
    pub(crate) fn slice(&self, number: u32) -> &Slice {
        let last = self.slices.len() - 1;
        &self.slices[last.min(number as usize)]
    }
}

/// Returns the geometry for this number of items and rate that takes the fewest bits.
///
/// In memory the number of words per item is the price of an insert. Here each bit is, and words
/// cost only queries: so up to [`MOST_WORDS`] are used wherever they save bits.
fn smallest(capacity: u64, rate: f64) -> Result<Geometry, BuildError> {
    let items = usize::try_from(capacity).map_err(|_| BuildError::TooLarge)?;
    let builder = BlockedBloomFilter::<()>::builder().capacity(items).false_positive_rate(rate);
    let default = builder.clone().geometry()?;
    let others = [1, 2, MOST_WORDS].map(|words| builder.clone().words(words).geometry().ok());
    let all = others.into_iter().flatten().filter(|_| default.words() <= MOST_WORDS);
    Ok(all.min_by_key(Geometry::bits).unwrap_or(default))
}

pub(crate) fn require_shards(shards: u32) -> Result<(), Error> {
    if (1..=MAX_SHARDS).contains(&shards) { Ok(()) } else { Err(Error::Shards { shards }) }
}

#[cfg(test)]
mod tests {
    use tamis_hash::{HashItem, Rapid};

    use super::*;

    /// The bits in the keys of a slice, one key after another, are those of a blocked filter.
    #[test]
    fn keys_hold_the_bytes_of_a_blocked_filter() {
        for (rate, shards) in [(0.3, 1), (0.01, 16), (1e-6, 24)] {
            let sizes = Sizes::new(3000, rate, true, Some(shards)).unwrap();
            for slice in &sizes.slices[..3] {
                let size = slice.line_bytes() as usize;
                let mut keys = vec![vec![0_u8; size]; shards as usize];
                let geometry = slice.geometry;
                let builder = BlockedBloomFilter::<u64>::builder().bits(geometry.bits());
                let filter =
                    builder.probes(geometry.probes()).words(geometry.words()).build().unwrap();
                for hash in (0..2000).map(|item| Rapid::with_seed(1).hash_item(&item)) {
                    filter.by_hash().insert(hash);
                    let key = &mut keys[sizes.shard(hash) as usize];
                    for offset in slice.place(hash).offsets() {
                        key[offset as usize / 8] |= 0x80 >> (offset % 8);
                    }
                    // The words that a query reads have these bits.
                    for (word, bits) in slice.place(hash).words() {
                        let bytes = &key[word as usize * 8..][..8];
                        assert_eq!(u64::from_le_bytes(bytes.try_into().unwrap()) & bits, bits);
                    }
                }
                let bytes = keys.concat();
                for (number, line) in (0..).zip(bytes.chunks(64)) {
                    let words = raw::read_line(&filter, number).map(u64::to_le_bytes);
                    assert_eq!(line, words.concat());
                }
            }
        }
    }

    /// A filter that could not grow is refused, if it was to grow.
    #[test]
    fn a_rate_that_leaves_none_for_growth_is_an_error() {
        for (capacity, rate) in [(1_000_000, 1e-12), (100_000, 1e-13), (1_000_000, 1e-13)] {
            let growing = Sizes::new(capacity, rate, true, None);
            let Err(Error::Build(BuildError::RateTooLow { rate: given, lowest })) = growing else {
                panic!("{growing:?}");
            };
            // The error has the rates of the filter, not those of a slice.
            assert_eq!(given, rate);
            assert!(Sizes::new(capacity, 1.0001 * lowest, true, None).is_ok());
            assert!(Sizes::new(capacity, 0.9999 * lowest, true, None).is_err());
            assert_eq!(
                Sizes::new(capacity, rate, false, None).is_ok(),
                rate * 1e19 > capacity as f64
            );
        }
        assert!(Sizes::new(1_000_000, 1e-11, true, None).unwrap().slices.len() > 1);
    }

    /// So is one whose second slice would have shards of more than 512 MiB.
    #[test]
    fn shards_that_leave_no_room_for_growth_are_an_error() {
        let sizes = |capacity, grows| Sizes::new(capacity, 1e-4, grows, Some(1));
        assert_eq!(sizes(150_000_000, true).map(|_| ()), Err(BuildError::TooLarge.into()));
        assert_eq!(sizes(150_000_000, false).map(|sizes| sizes.slices.len()), Ok(1));
        assert!(sizes(50_000_000, true).unwrap().slices.len() > 1);
        // Nor can a capacity be doubled that is more than half of all numbers.
        assert_eq!(sizes(u64::MAX, true).map(|_| ()), Err(BuildError::TooLarge.into()));
    }

    #[test]
    fn rates_of_slices_stay_below_the_request() {
        for rate in [0.1, 1e-3, 1e-6] {
            let sizes = Sizes::new(1 << 20, rate, true, None).unwrap();
            assert!(sizes.slices.len() >= 8, "{}", sizes.slices.len());
            let sum: f64 = sizes
                .slices
                .iter()
                .map(|g| g.geometry.false_positive_rate_at(g.capacity as usize))
                .sum();
            assert!(sum < rate, "{sum:e} of {rate:e}");
            assert!(sizes.slices.windows(2).all(|two| two[1].capacity == 2 * two[0].capacity));
        }
    }

    #[test]
    fn shards_follow_from_the_memory() {
        assert_eq!(Sizes::new(1000, 0.01, true, None).unwrap().shards, 16);
        let large = Sizes::new(1_000_000_000, 1e-4, false, None).unwrap();
        assert!(large.slices[0].line_bytes() <= SHARD_BYTES);
        assert!(large.slices[0].line_bytes() > SHARD_BYTES / 3, "{large:?}");
        assert_eq!(Sizes::new(1, 0.5, false, Some(0)), Err(Error::Shards { shards: 0 }));
        let too_few = Sizes::new(1_000_000_000, 1e-4, false, Some(2));
        assert_eq!(too_few, Err(Error::Build(BuildError::TooLarge)));
        assert!(matches!(Sizes::new(1, f64::NAN, true, None), Err(Error::Build(_))));
    }

    /// A shard counts as full at its capacity, and not much before.
    #[test]
    fn a_full_sample_is_that_of_a_full_shard() {
        for capacity in [2000_u64, 2_000_000] {
            let sizes = Sizes::new(capacity, 1e-3, true, Some(4)).unwrap();
            let slice = sizes.slices[0];
            let filled = |items: u64| {
                let mut ones = vec![0_u8; slice.sample_bytes() as usize];
                for hash in (0..items).map(|item| Rapid::with_seed(9).hash_item(&item)) {
                    if sizes.shard(hash) == 0 {
                        for offset in slice.place(hash).offsets() {
                            if let Some(byte) = ones.get_mut(offset as usize / 8) {
                                *byte |= 0x80 >> (offset % 8);
                            }
                        }
                    }
                }
                ones.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
            };
            assert!(filled(capacity * 11 / 10) >= slice.full, "{capacity}");
            assert!(filled(capacity * 9 / 10) < slice.full, "{capacity}");
            let items = slice.items(filled(capacity), slice.lines.min(SAMPLE_LINES));
            let expected =
                capacity as f64 / 4.0 * slice.lines.min(SAMPLE_LINES) as f64 / slice.lines as f64;
            assert!((items / expected - 1.0).abs() < 0.15, "{items} {expected}");
        }
    }

    /// The share of sampled items is the same in each shard and line, and for each bit.
    #[test]
    fn the_sample_is_independent_of_the_place() {
        let sizes = Sizes::new(1 << 22, 1e-3, true, Some(16)).unwrap();
        let slice = sizes.slices[0];
        let (mut shards, mut halves, mut offsets) = ([0; 16], [0; 2], [0; 64]);
        for hash in (0..2_000_000).map(|item| Rapid::with_seed(5).hash_item(&item)) {
            if slice.is_sampled(16, hash) {
                let place = slice.place(hash);
                shards[sizes.shard(hash) as usize] += 1;
                halves[usize::from(place.line.is_multiple_of(2))] += 1;
                place.offsets().for_each(|bit| offsets[bit as usize / 8 % 64] += 1);
            }
        }
        // 2,000,000 / 512 = 3906, with a standard deviation of 62.
        let sum: i32 = shards.iter().sum();
        assert!((3500..4300).contains(&sum), "{sum}");
        assert!(shards.iter().all(|count| (150..350).contains(count)), "{shards:?}");
        assert!(halves.iter().all(|count| (1600..2300).contains(count)), "{halves:?}");
        let mean = offsets.iter().sum::<i32>() / 64;
        let even = |count: &i32| (count - mean).abs() < mean / 3;
        assert!(offsets.iter().all(even), "{offsets:?}");
        // Each item counts in a small filter.
        let small = Sizes::new(1000, 1e-3, true, Some(16)).unwrap().slices[0];
        assert!((0..1000).all(|hash| small.is_sampled(16, u64::MAX - hash)));
    }
}
