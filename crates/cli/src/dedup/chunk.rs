//! A chunk of input and its way through one worker: its bytes, records, hashes and verdicts.

use core::ops::Range;
use std::io;
use std::sync::{Arc, MutexGuard};

use tamis::hash::split;

use super::options::{Hasher, Options, SHARDS};
use super::repeated::{Filters, Verdicts};
use super::shard::Entry;
use crate::Error;
use crate::key::{Key, NoKey, Scratch};

/// The options that say how the records of a chunk are read.
pub(super) struct Rules {
    key: Key,
    repeated: bool,
    strict: bool,
    separator: u8,
    max_record: u64,
    hasher: Hasher,
}

impl Rules {
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        Ok(Self {
            key: options.key.clone(),
            repeated: options.repeated,
            strict: options.strict,
            separator: options.separator,
            max_record: options.max_record,
            hasher: Hasher::new(options.seed)?,
        })
    }
}

/// Where and why a chunk ends early.
pub(super) struct Stop {
    /// The first record that is not processed.
    pub(super) record: usize,
    pub(super) why: Why,
}

/// Why a chunk ends early.
pub(super) enum Why {
    Read(io::Error),
    TooLong(u64),
    NoKey(NoKey),
    Growth(Error),
}

/// A chunk. A worker uses one for all its chunks, so that its vectors are allocated once.
pub(super) struct Chunk<'s> {
    pub(super) turn: u64,
    /// The name of its input.
    pub(super) name: Arc<str>,
    /// Whether it is the first chunk of its input.
    pub(super) opens: bool,
    /// Whether the last separator was added, because the input ended without one.
    pub(super) lent: bool,
    /// The buffer. It stays longer than what is used, so that it is zeroed only once.
    pub(super) bytes: Vec<u8>,
    /// The length of the whole records at the start of `bytes`.
    pub(super) used: usize,
    /// Where each record ends, including its separator.
    pub(super) ends: Vec<usize>,
    /// The answers of the filters for each record. A record without a key is fresh.
    verdicts: Verdicts,
    repeated: bool,
    /// The first record without a key, and why it has none.
    pub(super) keyless: Option<(usize, NoKey)>,
    /// The hashes of the keys, in input order.
    pub(super) entries: Vec<Entry>,
    /// The same, sorted by shard.
    sorted: Vec<Entry>,
    /// Where each shard's entries begin in `sorted`.
    starts: [usize; SHARDS as usize + 1],
    scratch: Scratch,
    pub(super) stop: Option<Stop>,
    /// The right to hold more bytes than a chunk usually has.
    pub(super) giant: Option<MutexGuard<'s, ()>>,
}

impl Chunk<'_> {
    pub(super) fn new() -> Self {
        Self {
            turn: 0,
            name: Arc::from(""),
            opens: false,
            lent: false,
            bytes: Vec::new(),
            used: 0,
            ends: Vec::new(),
            verdicts: Verdicts::default(),
            repeated: false,
            keyless: None,
            entries: Vec::new(),
            sorted: Vec::new(),
            starts: [0; SHARDS as usize + 1],
            scratch: Scratch::default(),
            stop: None,
            giant: None,
        }
    }

    /// Empties the chunk for the next one, and frees the memory of a giant record.
    pub(super) fn clear(&mut self) {
        // Free before the right is released: the next giant record may then be read at once.
        if self.giant.is_some() {
            self.bytes = Vec::new();
            self.scratch = Scratch::default();
        }
        self.giant = None;
        self.lent = false;
        self.used = 0;
        self.ends.clear();
        self.verdicts.fresh.clear();
        self.verdicts.second.clear();
        self.keyless = None;
        self.entries.clear();
        self.stop = None;
    }

    /// Finds the records, hashes their keys and sorts the hashes by shard.
    pub(super) fn scan(&mut self, rules: &Rules) {
        let mut counts = [0; SHARDS as usize];
        // Select the hash function once per chunk, not once per record.
        match &rules.hasher {
            Hasher::Fixed(hasher) => {
                self.scan_with(rules, &mut counts, |key| hasher.hash_bytes(key));
            }
            Hasher::Random(hasher) => {
                self.scan_with(rules, &mut counts, |key| hasher.hash_bytes(key));
            }
        }
        self.repeated = rules.repeated;
        if rules.repeated {
            self.verdicts.second.resize(self.ends.len(), false);
        }
        self.sort(counts);
    }

    /// [`Chunk::scan`] up to the sort, with this hash function; counts the entries of each shard.
    #[inline]
    fn scan_with(
        &mut self,
        rules: &Rules,
        counts: &mut [usize; SHARDS as usize],
        hash: impl Fn(&[u8]) -> u64,
    ) {
        let bytes = &self.bytes[..self.used];
        let mut start = 0;
        for end in memchr::memchr_iter(rules.separator, bytes) {
            let record = &bytes[start..end];
            let number = self.ends.len();
            // A record that stops the chunk is not pushed to `ends`: neither it nor a later one is decided or printed.
            if record.len() as u64 > rules.max_record {
                self.stop = Some(Stop { record: number, why: Why::TooLong(rules.max_record) });
                break;
            }
            match rules.key.of(record, &mut self.scratch) {
                Ok(key) => {
                    let hash = hash(key);
                    counts[split::shard(hash, SHARDS) as usize] += 1;
                    // The number fits in 32 bits: all separators of a chunk come from its last read, which has at most
                    // 2^30 bytes.
                    self.entries.push(Entry { hash, record: number as u32 });
                    self.verdicts.fresh.push(false);
                }
                Err(found) if rules.strict || found.is_fatal() => {
                    self.stop = Some(Stop { record: number, why: Why::NoKey(found) });
                    break;
                }
                // A record without a key is in no shard, and is never a duplicate.
                Err(found) => {
                    self.keyless.get_or_insert((number, found));
                    self.verdicts.fresh.push(true);
                }
            }
            start = end + 1;
            self.ends.push(start);
        }
    }

    /// Sorts the entries by shard. A counting sort is stable, so each shard sees its entries in input order.
    fn sort(&mut self, counts: [usize; SHARDS as usize]) {
        // The counts give the place where each shard's entries begin.
        let mut next = [0; SHARDS as usize];
        let mut start = 0;
        for (shard, count) in counts.into_iter().enumerate() {
            next[shard] = start;
            self.starts[shard] = start;
            start += count;
        }
        self.starts[SHARDS as usize] = start;
        if self.sorted.len() < start {
            self.sorted.resize(start, Entry::default());
        }
        // Each entry goes to the next free place of its shard.
        for &entry in &self.entries {
            let place = &mut next[split::shard(entry.hash, SHARDS) as usize];
            self.sorted[*place] = entry;
            *place += 1;
        }
    }

    /// For each record, whether it is the first of its key or has no key.
    pub(super) fn fresh(&self) -> &[bool] {
        &self.verdicts.fresh
    }

    /// Whether the second record of each key is printed instead of the first.
    pub(super) fn repeated(&self) -> bool {
        self.repeated
    }

    /// For each record, whether it is printed.
    pub(super) fn printed(&self) -> &[bool] {
        if self.repeated { &self.verdicts.second } else { &self.verdicts.fresh }
    }

    /// Lets shard `number` decide its entries.
    pub(super) fn decide(&mut self, number: usize, shard: &mut Filters<'_>) {
        let batch = &mut self.sorted[self.starts[number]..self.starts[number + 1]];
        if let Err((record, why)) = shard.decide(batch, &mut self.verdicts) {
            let record = record as usize;
            // If several shards have an error, the one at the earliest record counts.
            if self.stop.as_ref().is_none_or(|stop| record < stop.record) {
                self.stop = Some(Stop { record, why: Why::Growth(why) });
            }
        }
    }

    /// Moves the bytes of the records that are printed to the front.
    pub(super) fn compact(&mut self) {
        let records = self.stop.as_ref().map_or(self.ends.len(), |stop| stop.record);
        let mut kept = 0;
        let bytes = &mut self.bytes;
        // Not `self.printed()`, which would borrow `bytes` too.
        let printed = if self.repeated { &self.verdicts.second } else { &self.verdicts.fresh };
        // Appends a run of adjacent records to what is kept. A run that is in its place already is not copied.
        let mut keep = |run: Range<usize>| {
            let length = run.len();
            if run.start != kept && length > 0 {
                bytes.copy_within(run, kept);
            }
            kept += length;
        };
        // A run begins after a record that is not printed, and ends before the next one.
        let mut run = 0;
        let mut start = 0;
        for (&end, &printed) in self.ends[..records].iter().zip(printed) {
            if !printed {
                keep(run..start);
                run = end;
            }
            start = end;
        }
        keep(run..start);
    }

    /// The bytes of the first `records` records that are printed.
    pub(super) fn kept(&self, records: usize) -> usize {
        let mut kept = 0;
        let mut start = 0;
        for (&end, &printed) in self.ends[..records].iter().zip(self.printed()) {
            kept += if printed { end - start } else { 0 };
            start = end;
        }
        kept
    }
}
