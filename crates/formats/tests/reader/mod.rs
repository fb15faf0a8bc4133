//! A second reader of the format: slow, written from `spec/v1.md`, without the code of the crates
//! of Tamis.

#![allow(dead_code, reason = "each test uses a part")]

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use siphasher::sip::SipHasher13;
use twox_hash::{XxHash3_64, XxHash64};

const G: u64 = 0x9E37_79B9_7F4A_7C15;
const M: u64 = 0xD134_2543_DE82_EF95;

/// The filter of a file.
pub(crate) struct Reader {
    pub(crate) kind: u64,
    pub(crate) is_live: bool,
    /// Whether the layout is 7.
    grows: bool,
    pub(crate) policy: String,
    pub(crate) key: [u8; 16],
    algorithm: u64,
    size: u64,
    probes: u64,
    words: u64,
    /// The fields of the kind.
    record: Vec<u64>,
    /// The arrays of a body with a directory.
    arrays: Vec<Array>,
    body: Vec<u8>,
}

/// A slice of kinds 6 and 7: its first byte in the body, its bits, probes and words.
struct Array {
    at: u64,
    bits: u64,
    probes: u64,
    words: u64,
}

/// Returns a number of `len` bytes.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes[at..at + len].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn range(x: u64, n: u64) -> u64 {
    ((u128::from(x) * u128::from(n)) >> 64) as u64
}

fn pattern(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(G)
}

fn check(is_right: bool, what: &str) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(what.to_owned()) }
}

/// The bits of a bucket with a shape that exists.
fn bucket_bits(slots: u64, width: u64) -> Option<u64> {
    match (slots, width) {
        (4, 8) => Some(32),
        (8, 8) | (5, 12) | (4, 16) | (3, 20) | (2, 32) => Some(64),
        (7, 18) | (5, 25) | (4, 32) | (3, 42) => Some(128),
        _ => None,
    }
}

impl Reader {
    /// Reads a whole file.
    pub(crate) fn new(file: &[u8]) -> Result<Self, String> {
        check(file.len() >= 256, "header cut off")?;
        let (header, rest) = file.split_at(256);
        check(header[..8] == [0x89, 0x54, 0x41, 0x4D, 0x49, 0x53, 0x0D, 0x0A], "magic")?;
        check(number(header, 8, 4) == 1, "version")?;
        check(number(header, 12, 4) == 256, "header length")?;
        check(number(header, 248, 8) == XxHash3_64::oneshot(&header[..248]), "header checksum")?;
        let (kind, flags, layout) =
            (number(header, 16, 4), number(header, 20, 4), number(header, 24, 4));
        check(flags <= 1, "flags")?;
        check(
            [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4), (8, 5), (9, 6)]
                .contains(&(kind, layout))
                || [(4, 7), (5, 7)].contains(&(kind, layout)),
            "kind or layout",
        )?;
        let policy = &header[56..88];
        let policy_len = policy.iter().position(|byte| *byte == 0).unwrap_or(32);
        check(policy[..policy_len].iter().all(|byte| (0x20..=0x7E).contains(byte)), "policy")?;
        check(policy[policy_len..].iter().all(|byte| *byte == 0), "policy")?;
        let mut reader = Self {
            kind,
            grows: layout == 7,
            is_live: flags == 1,
            policy: String::from_utf8(policy[..policy_len].to_vec()).unwrap(),
            key: header[32..48].try_into().unwrap(),
            algorithm: number(header, 28, 4),
            size: number(header, 88, 8),
            probes: number(header, 96, 4),
            words: number(header, 100, 4),
            record: (0..12).map(|field| number(header, 152 + 8 * field, 8)).collect(),
            arrays: Vec::new(),
            body: Vec::new(),
        };
        check((1..=4).contains(&reader.algorithm), "algorithm")?;
        check(reader.algorithm == 4 || reader.key[8..] == [0; 8], "key")?;
        let probe = [0x21, 0x21, 0x20, 0x73, 0x69, 0x6D, 0x61, 0x7A];
        check(number(header, 48, 8) == reader.hash(&probe), "hash probe")?;
        reader.check_sizes(layout)?;
        check(number(header, 104, 8) >= 1, "capacity")?;
        // The body and the table, whose lengths follow from the sizes.
        let lines = reader.lines();
        let body_len = u64::try_from(lines * 64).map_err(|_| "size")?;
        let chunks = body_len.div_ceil(1 << 20);
        let body_offset = (256 + 8 * chunks).div_ceil(4096) * 4096;
        check(number(header, 120, 8) == body_offset, "body offset")?;
        check(number(header, 128, 8) == body_len, "body length")?;
        check(number(header, 136, 8) == 1 << 20, "chunk length")?;
        let fields = match kind {
            6 | 7 => 4,
            9 => 5,
            _ if layout == 7 => 3,
            _ => 0,
        };
        check(reader.record[fields..].iter().all(|field| *field == 0), "reserved")?;
        check(file.len() as u64 == body_offset + body_len, "file length")?;
        let (table, padding) = rest.split_at(8 * chunks as usize);
        let (padding, body) = padding.split_at(body_offset as usize - 256 - table.len());
        check(padding.iter().all(|byte| *byte == 0), "padding")?;
        reader.body = body.to_vec();
        let table_checksum = number(header, 144, 8);
        if reader.is_live {
            check(
                table_checksum == 0 && table.iter().all(|byte| *byte == 0),
                "table of a live file",
            )?;
        } else {
            check(table_checksum == XxHash3_64::oneshot(table), "table checksum")?;
            for (chunk, bytes) in body.chunks(1 << 20).enumerate() {
                let right = number(table, 8 * chunk, 8) == XxHash3_64::oneshot(bytes);
                check(right, "chunk checksum")?;
            }
        }
        reader.check_body(number(header, 112, 8))?;
        Ok(reader)
    }

    fn check_sizes(&self, layout: u64) -> Result<(), String> {
        let Self { kind, size, probes, words, .. } = *self;
        let line_sizes = |size, probes, words| {
            check(size >= 512 && size % 512 == 0 && [1, 2, 4, 8].contains(&words), "sizes")?;
            check(probes >= words && probes <= (8 * words).min(32), "sizes")
        };
        match layout {
            4 => {
                let slices = self.record[2];
                check((1..=64).contains(&slices), "slices")?;
                check(kind == 6 || words > 1, "one word and a lock")?;
                line_sizes(size, probes, words)?;
                check(size / 512 >= slices, "size of the slices")?;
                let rate = f64::from_bits(self.record[0]);
                check(rate > 0.0 && rate < 1.0, "rate")?;
                check(!self.is_live, "a live file of slices")?;
            }
            5 => {
                line_sizes(size, probes, words)?;
                check(!self.is_live, "a live file of counters")?;
            }
            6 => {
                line_sizes(size, probes, words)?;
                let [generations, rotations, items, span, due] = self.record[..5] else { panic!() };
                check((2..=16).contains(&generations), "generations")?;
                check(rotations < 1 << 55 && items < 1 << 56, "rotations or items")?;
                check(span != 0 || due == 0, "an end of a generation without a span")?;
                check(due < u64::MAX, "end of a generation")?;
                check(self.lines() <= 1 << 57, "size of the window")?;
                check(!self.is_live, "a live file of a window")?;
            }
            1 => {
                check(size >= 1 && (1..=64).contains(&probes) && words == 0, "sizes")?;
            }
            2 => {
                line_sizes(size, probes, words)?;
                check(!(self.is_live && kind == 3 && words > 1), "a live file with locks")?;
            }
            7 => {
                let [doublings, bits, buckets] = self.record[..3] else { panic!() };
                check(probes == 0, "slots")?;
                check(bits == 64 || bits == 128, "bits of a bucket")?;
                check((1..=34).contains(&doublings), "doublings")?;
                let widest = if bits == 64 { 31 } else { 42 };
                let positions = size.checked_ilog2().map_or(0, |bits| 1 << bits);
                let last_level = doublings + u64::from(size != positions);
                check((last_level + 8..=widest).contains(&words), "bits of a whole fingerprint")?;
                check(size >= 8 && size % 8 == 0, "first number of buckets")?;
                let last = u128::from(size) << doublings;
                check(last * u128::from(bits) <= 1 << 62, "last number of buckets")?;
                check(buckets >= size && u128::from(buckets) <= last, "number of buckets")?;
                check(bits * buckets % 512 == 0, "whole lines")?;
                let split = buckets - (positions << (buckets / positions).ilog2());
                check(split * bits % 512 == 0, "whole lines of split buckets")?;
                check(!self.is_live, "a live file with locks")?;
            }
            _ => {
                check(size >= 2 && size % 2 == 0 && size <= 1 << 56, "sizes")?;
                check(bucket_bits(probes, words).is_some(), "shape")?;
                check(!self.is_live, "a live file with locks")?;
            }
        }
        Ok(())
    }

    fn lines(&self) -> u128 {
        let bits = match self.kind {
            6 | 7 => return u128::from(self.record[2]) + u128::from(self.size / 512),
            8 => return 4 * u128::from(self.size / 512),
            9 => return (u128::from(self.record[0]) + 1) * u128::from(self.size / 512),
            4 | 5 if self.grows => u128::from(self.record[1]) * u128::from(self.record[2]),
            1..=3 => u128::from(self.size),
            _ => u128::from(self.size) * u128::from(self.bucket_bits()),
        };
        bits.div_ceil(512)
    }

    fn bucket_bits(&self) -> u64 {
        bucket_bits(self.probes, self.words).unwrap()
    }

    fn has_locks(&self) -> bool {
        matches!(self.kind, 3 | 7) && self.words > 1
    }

    fn check_body(&mut self, items: u64) -> Result<(), String> {
        let all_bits = 8 * self.body.len() as u64;
        match self.kind {
            1 => {
                check((self.size..all_bits).all(|bit| !self.bit(bit)), "bits behind the last")?;
                check(items == 0, "items")
            }
            2 | 3 => {
                let locked =
                    self.has_locks() && (0..self.size / 512).any(|line| self.bit(512 * line + 62));
                check(!locked, "a lock")?;
                check(items == 0, "items")
            }
            6 | 7 => {
                self.check_slices()?;
                check(items == 0, "items")
            }
            8 => check(items == 0, "items"),
            9 => {
                let slots = self.record[0] + 1;
                let spare = (self.record[1] + 1) % slots;
                let words = self.body.len() as u64 / 8;
                let used = (0..words).any(|word| {
                    word % slots == spare && number(&self.body, 8 * word as usize, 8) != 0
                });
                check(!used, "a bit of the spare generation")?;
                check(items == 0, "items")
            }
            4 | 5 if self.grows => self.check_grown(items),
            _ => {
                let (bits, used) = (self.bucket_bits(), self.probes * self.words);
                let behind = self.size * bits;
                check((behind..all_bits).all(|bit| !self.bit(bit)), "bits behind the last bucket")?;
                let spare = (0..self.size)
                    .any(|bucket| (used..bits).any(|bit| self.bit(bucket * bits + bit)));
                check(!spare, "spare bits of a bucket")?;
                let count = (0..self.size).map(|bucket| {
                    self.slots(bucket).into_iter().filter(|slot| *slot != 0).count() as u64
                });
                check(items == count.sum::<u64>(), "items")
            }
        }
    }

    /// Reads the directory of kinds 6 and 7.
    fn check_slices(&mut self) -> Result<(), String> {
        let mut at = 64 * self.record[2];
        for slice in 0..self.record[2] {
            let entry = &self.body[64 * slice as usize..][..64];
            let [bits, capacity, items] = [0, 16, 24].map(|at| number(entry, at, 8));
            let [probes, words] = [8, 12].map(|at| number(entry, at, 4));
            check(bits >= 512 && bits % 512 == 0 && [1, 2, 4, 8].contains(&words), "sizes")?;
            check(probes >= words && probes <= (8 * words).min(32), "sizes of a slice")?;
            check(self.kind == 6 || words > 1, "one word and a lock in a slice")?;
            check(slice > 0 || (probes, words) == (self.probes, self.words), "first slice")?;
            check(capacity >= 1, "capacity of a slice")?;
            let step = 1 << (capacity >> 16).checked_ilog2().unwrap_or(0);
            check(items <= 1 << 62 && items % step == 0, "items of a slice")?;
            check(entry[32..].iter().all(|byte| *byte == 0), "zeros of the directory")?;
            check(bits / 8 <= self.body.len() as u64 - at, "lines of the slices")?;
            let locked =
                self.kind == 7 && (0..bits / 512).any(|line| self.bit(8 * at + 512 * line + 62));
            check(!locked, "a lock in a slice")?;
            self.arrays.push(Array { at, bits, probes, words });
            at += bits / 8;
        }
        check(at == self.body.len() as u64, "lines of the slices")
    }

    /// The number of positions of layout 7.
    fn positions(&self) -> u64 {
        1 << self.size.ilog2()
    }

    /// The highest level of a bucket of layout 7.
    fn last_level(&self) -> u64 {
        self.record[0] + u64::from(self.size != self.positions())
    }

    /// The place of the bucket of layout 7 that has a position and the low bits of a fingerprint,
    /// as it holds it, and its level.
    fn grown_bucket(&self, position: u64, form: u64) -> (u64, u64) {
        let level = u64::from((self.record[2] / self.positions()).ilog2());
        let number = position + self.positions() * (form % (1 << level));
        if number >= self.record[2] - (self.positions() << level) {
            return (number, level);
        }
        (position + self.positions() * (form % (2 << level)), level + 1)
    }

    /// The slots per bucket and the bits of a slot, at a level of layout 7.
    fn grown_shape(&self, level: u64) -> (u64, u64) {
        let words = [(2, 31), (3, 20), (4, 15), (5, 12), (6, 10), (7, 8)];
        let pairs =
            [(3, 42), (4, 31), (5, 25), (6, 21), (7, 18), (8, 15), (9, 14), (10, 12), (11, 11)];
        let shapes = if self.record[1] == 64 { &words[..] } else { &pairs };
        let fits = shapes.iter().filter(|(_, width)| *width >= self.words - level);
        *fits.max_by_key(|(slots, _)| *slots).unwrap()
    }

    /// A number of bits of the body.
    fn bits(&self, first: u64, count: u64) -> u64 {
        (0..count).map(|bit| u64::from(self.bit(first + bit)) << bit).sum()
    }

    /// The slots of a bucket of layout 7.
    fn grown_slots(&self, place: u64, level: u64) -> Vec<u64> {
        let (slots, width) = self.grown_shape(level);
        (0..slots).map(|slot| self.bits(place * self.record[1] + slot * width, width)).collect()
    }

    /// Checks every bucket of layout 7.
    fn check_grown(&self, items: u64) -> Result<(), String> {
        let [_, bits, buckets] = self.record[..3] else { panic!() };
        let mut is_met = vec![false; buckets as usize];
        let mut found = 0;
        for place in 0..buckets {
            let (position, low) = (place % self.positions(), place / self.positions());
            let (place, level) = self.grown_bucket(position, low);
            assert!(!std::mem::replace(&mut is_met[place as usize], true), "a bucket twice");
            let (slots, width) = self.grown_shape(level);
            let first = place * bits;
            check(self.bits(first + bits - 2, 2) == 1 + level % 2, "tag of a bucket")?;
            let spare = (slots * width..bits - 2).any(|bit| self.bit(first + bit));
            check(!spare, "spare bits of a bucket")?;
            for held in self.grown_slots(place, level).into_iter().filter(|held| *held != 0) {
                let is_held =
                    held >= 1 << (self.last_level() - level) && held < 1 << (self.words - level);
                check(is_held, "a number that no item has")?;
                found += 1;
            }
        }
        assert!(is_met.into_iter().all(|is_met| is_met), "a place that no bucket has");
        check(items == found, "items")
    }

    /// Bit `i` of the body: words are little-endian, so that it is bit `i mod 8` of byte `i / 8`.
    fn bit(&self, bit: u64) -> bool {
        self.body[bit as usize / 8] >> (bit % 8) & 1 == 1
    }

    /// The slots of a bucket, bit by bit. A bucket of 32 bits follows the one before it, as bits
    /// do.
    fn slots(&self, bucket: u64) -> Vec<u64> {
        let slot = |slot| {
            let first = bucket * self.bucket_bits() + slot * self.words;
            (0..self.words).map(|bit| u64::from(self.bit(first + bit)) << bit).sum()
        };
        (0..self.probes).map(slot).collect()
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        let seed = number(&self.key, 0, 8);
        match self.algorithm {
            1 => rapidhash_v3_seeded(bytes, &RapidSecrets::seed_cpp(seed)),
            2 => XxHash3_64::oneshot_with_seed(seed, bytes),
            3 => XxHash64::oneshot(seed, bytes),
            _ => SipHasher13::new_with_key(&self.key).hash(bytes),
        }
    }

    /// Returns whether the filter contains the item with these bytes.
    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        let hash = self.hash(item);
        match self.kind {
            1 => {
                let states = std::iter::successors(Some(hash), |state| Some(state.wrapping_mul(M)));
                states.take(self.probes as usize).all(|state| self.bit(range(state, self.size)))
            }
            2 | 3 => {
                self.line_contains(hash, self.size, self.probes, self.words, |bit| self.bit(bit))
            }
            6 | 7 => self.arrays.iter().any(|slice| {
                let Array { at, bits, probes, words } = *slice;
                self.line_contains(hash, bits, probes, words, |bit| self.bit(8 * at + bit))
            }),
            // A bit is set if its counter is not 0.
            8 => self.line_contains(hash, self.size, self.probes, self.words, |bit| {
                let (word, bit) = (bit / 64, bit % 64);
                let first = 64 * (4 * word + bit % 4) + 4 * (bit / 4);
                (first..first + 4).any(|bit| self.bit(bit))
            }),
            9 => {
                let slots = self.record[0] + 1;
                (0..slots).any(|slot| {
                    self.line_contains(hash, self.size, self.probes, self.words, |bit| {
                        self.bit(64 * (bit / 64 * slots + slot) + bit % 64)
                    })
                })
            }
            4 | 5 if self.grows => {
                let whole = pattern(hash) >> (64 - self.words);
                let least = 1 << self.last_level();
                let whole = if whole < least { whole + least } else { whole };
                let even = 2 * range(hash, self.positions() / 2);
                let odd = even ^ (2 * range(whole.wrapping_mul(G), self.positions() / 2) + 1);
                let folded = whole ^ whole >> (self.words - self.last_level());
                [(even, whole), (odd, folded)].iter().any(|(position, form)| {
                    let (place, level) = self.grown_bucket(*position, *form);
                    self.grown_slots(place, level).contains(&(form >> level))
                })
            }
            _ => {
                let fingerprint = range(pattern(hash), (1 << self.words) - 1) + 1;
                let first = range(hash, self.size);
                let turn = 2 * range(fingerprint.wrapping_mul(G), self.size / 2) + 1;
                let second = (turn + self.size - first) % self.size;
                [first, second].iter().any(|bucket| self.slots(*bucket).contains(&fingerprint))
            }
        }
    }

    /// Returns whether a line layout of these sizes, with these bits, contains an item.
    fn line_contains(
        &self,
        hash: u64,
        size: u64,
        probes: u64,
        words: u64,
        is_set: impl Fn(u64) -> bool,
    ) -> bool {
        let line = range(hash, size / 512);
        let group_words = 8 / words;
        let bits = group_words.ilog2();
        (0..words).all(|group| {
            let count = (probes + words - 1 - group) / words;
            let mut p = pattern(hash);
            for _ in 0..group / 3 {
                p = p.wrapping_mul(M);
            }
            let q = p << (group as u32 % 3 * (14 + bits));
            let (entry, turn) = (q >> 56, q >> 50 & 63);
            let word = group * group_words + (q >> (50 - bits)) % group_words;
            let mut mask = tables()[count as usize - 1][entry as usize].rotate_left(turn as u32);
            if self.has_locks() && word == 0 {
                mask &= !(1 << 62);
            }
            (0..64)
                .filter(|bit| mask >> bit & 1 == 1)
                .all(|bit| is_set(512 * line + 64 * word + bit))
        })
    }
}

/// The tables of masks, by the number of bits less one.
pub(crate) fn tables() -> &'static [[u64; 256]; 8] {
    static TABLES: std::sync::LazyLock<[[u64; 256]; 8]> = std::sync::LazyLock::new(|| {
        let mut tables = [[0; 256]; 8];
        let mut x = 605_u64;
        for entry in 0..256 {
            let mut mask = 0_u64;
            for table in &mut tables {
                loop {
                    x = x
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    if mask >> (x >> 58) & 1 == 0 {
                        break;
                    }
                }
                mask |= 1 << (x >> 58);
                table[entry] = mask;
            }
        }
        tables
    });
    &TABLES
}
