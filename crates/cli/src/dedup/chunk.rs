//! A chunk of input on its way through one worker: its bytes, records, hashes and verdicts.

use core::ops::Range;
use std::io;
use std::sync::{Arc, MutexGuard};

use tamis::hash::split;

use super::chain::Entry;
use super::repeated::{Filters, Verdicts};
use super::{Hasher, Options, SHARDS};
use crate::Error;
use crate::key::{Key, NoKey, Scratch};

/// How the records of a chunk are read.
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

/// Where a chunk ends early: before this record.
pub(super) struct Stop {
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

/// A chunk. Its vectors serve one chunk after the other.
pub(super) struct Chunk<'s> {
    pub(super) turn: u64,
    /// The input that it is from.
    pub(super) name: Arc<str>,
    /// Whether it is the first chunk of its input.
    pub(super) opens: bool,
    /// Whether the last separator is ours, since the input ended without one.
    pub(super) lent: bool,
    /// What was read. Longer than what is used, so that it is zeroed but once.
    pub(super) bytes: Vec<u8>,
    /// How much of it is whole records.
    pub(super) used: usize,
    /// Where each record ends, separator included.
    pub(super) ends: Vec<usize>,
    /// What the filters say of each record. One without a key is fresh.
    verdicts: Verdicts,
    repeated: bool,
    /// The first record without a key, and why it has none.
    pub(super) keyless: Option<(usize, NoKey)>,
    /// The keys in input order, and sorted by shard.
    pub(super) entries: Vec<Entry>,
    sorted: Vec<Entry>,
    /// Where each shard's keys begin in `sorted`.
    starts: [usize; SHARDS as usize + 1],
    scratch: Scratch,
    pub(super) stop: Option<Stop>,
    /// The right to hold more than a chunk should.
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

    /// Makes room for the next chunk, and gives back what a giant record took.
    pub(super) fn clear(&mut self) {
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

    /// Finds the records, hashes their keys and sorts these by shard.
    pub(super) fn scan(&mut self, rules: &Rules) {
        let mut counts = [0; SHARDS as usize];
        // Decided here, once, and not at every record.
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
            if record.len() as u64 > rules.max_record {
                self.stop = Some(Stop { record: number, why: Why::TooLong(rules.max_record) });
                break;
            }
            match rules.key.of(record, &mut self.scratch) {
                Ok(key) => {
                    let hash = hash(key);
                    counts[split::shard(hash, SHARDS) as usize] += 1;
                    // A chunk has fewer records than bytes were read for it in one call.
                    self.entries.push(Entry { hash, record: number as u32 });
                    self.verdicts.fresh.push(false);
                }
                Err(found) if rules.strict || found.is_fatal() => {
                    self.stop = Some(Stop { record: number, why: Why::NoKey(found) });
                    break;
                }
                Err(found) => {
                    self.keyless.get_or_insert((number, found));
                    self.verdicts.fresh.push(true);
                }
            }
            start = end + 1;
            self.ends.push(start);
        }
    }

    /// A counting sort: stable, so that each shard sees its keys in input order.
    fn sort(&mut self, counts: [usize; SHARDS as usize]) {
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
        for &entry in &self.entries {
            let place = &mut next[split::shard(entry.hash, SHARDS) as usize];
            self.sorted[*place] = entry;
            *place += 1;
        }
    }

    /// Whether each record is the first of its key, or has none.
    pub(super) fn fresh(&self) -> &[bool] {
        &self.verdicts.fresh
    }

    /// Whether what is repeated is printed, and not what is fresh.
    pub(super) fn repeated(&self) -> bool {
        self.repeated
    }

    /// Whether each record is printed.
    pub(super) fn printed(&self) -> &[bool] {
        if self.repeated { &self.verdicts.second } else { &self.verdicts.fresh }
    }

    /// Asks shard `number` which of its keys are new.
    pub(super) fn decide(&mut self, number: usize, shard: &mut Filters<'_>) {
        let batch = &mut self.sorted[self.starts[number]..self.starts[number + 1]];
        if let Err((record, why)) = shard.decide(batch, &mut self.verdicts) {
            let record = record as usize;
            if self.stop.as_ref().is_none_or(|stop| record < stop.record) {
                self.stop = Some(Stop { record, why: Why::Growth(why) });
            }
        }
    }

    /// Moves the bytes of the records that are printed to the front, run by run.
    pub(super) fn compact(&mut self) {
        let records = self.stop.as_ref().map_or(self.ends.len(), |stop| stop.record);
        let mut kept = 0;
        let bytes = &mut self.bytes;
        let printed = if self.repeated { &self.verdicts.second } else { &self.verdicts.fresh };
        let mut keep = |run: Range<usize>| {
            let length = run.len();
            if run.start != kept && length > 0 {
                bytes.copy_within(run, kept);
            }
            kept += length;
        };
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

    /// How many bytes of the first `records` records are printed.
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
