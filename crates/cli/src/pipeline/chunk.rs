//! A chunk of input and its way through one worker: its bytes, records, hashes and verdicts.

use core::ops::Range;
use std::io;
use std::sync::{Arc, MutexGuard};

use tamis::InsertError;
use tamis::formats::foreign;
use tamis::hash::split;

use super::entry::{Entry, SHARDS};
use super::hasher::Hasher;
use super::keys::Keys;
use super::plan::{Plan, Printed};
use super::records::Records;
use crate::key::{Key, NoKey, Scratch};
use crate::{Error, memory};

/// How the records of a chunk are read and hashed.
pub(super) struct Rules<'r> {
    key: &'r Key,
    strict: bool,
    separator: u8,
    max_record: u64,
    hasher: &'r Hasher,
    plan: Plan,
}

impl<'r> Rules<'r> {
    pub(super) fn new(records: &'r Records, hasher: &'r Hasher, plan: Plan) -> Self {
        Self {
            key: &records.key,
            strict: records.strict,
            separator: records.separator,
            max_record: records.max_record,
            hasher,
            plan,
        }
    }
}

/// Where and why a chunk ends early.
pub(super) struct Stop {
    /// The first record that is not processed.
    pub(super) record: usize,
    pub(super) why: Why,
}

/// Why a chunk ends early.
pub(crate) enum Why {
    Read(io::Error),
    TooLong(u64),
    NoKey(NoKey),
    /// The decider found no room for the item.
    Growth(Error),
    /// A filter of fixed size refused the item.
    Insert(InsertError),
    /// The item would bring the rate of a filter of fixed size too far above the one that was asked for.
    Overfull {
        filter: String,
        items: u64,
        rate: f64,
    },
    /// A filter of another system refused the item.
    Foreign(foreign::Error),
    /// A filter in Redis has no verdict on `count` records, of which this is the first. The others of the chunk have one.
    Remote {
        record: u32,
        count: u64,
        source: tamis_redis::Error,
    },
}

/// A chunk. A worker uses one for all its chunks, so that its vectors are allocated once.
pub(crate) struct Chunk<'s> {
    /// Its number, in input order.
    pub(crate) turn: u64,
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
    /// For each record, the first verdict: of a command that looks for new records, whether it is the first of its key.
    fresh: Vec<bool>,
    /// For each record, whether it is the second of its key. Empty unless such records are printed.
    second: Vec<bool>,
    printed: Printed,
    /// The first record without a key, and why it has none.
    pub(super) keyless: Option<(usize, NoKey)>,
    /// The hashes of the keys, in input order.
    pub(super) entries: Vec<Entry>,
    /// The same, sorted by shard.
    sorted: Vec<Entry>,
    /// The keys of the entries, in input order. Empty unless the decider sees them.
    keys: Keys,
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
            fresh: Vec::new(),
            second: Vec::new(),
            printed: Printed::None,
            keyless: None,
            entries: Vec::new(),
            sorted: Vec::new(),
            keys: Keys::default(),
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
            self.keys = Keys::default();
            self.scratch = Scratch::default();
        }
        self.giant = None;
        self.lent = false;
        self.used = 0;
        self.ends.clear();
        self.fresh.clear();
        self.second.clear();
        self.keyless = None;
        self.entries.clear();
        self.keys.clear();
        self.stop = None;
    }

    /// Finds the records, hashes their keys and, if that is planned, sorts the hashes by shard.
    pub(super) fn scan(&mut self, rules: &Rules<'_>) {
        let mut counts = [0; SHARDS as usize];
        // Select the hash function once per chunk, not once per record.
        match rules.hasher {
            Hasher::Fixed(hasher) => {
                self.scan_with(rules, &mut counts, |key| hasher.hash_bytes(key));
            }
            Hasher::Random(hasher) => {
                self.scan_with(rules, &mut counts, |key| hasher.hash_bytes(key));
            }
            Hasher::Any(hasher) => {
                self.scan_with(rules, &mut counts, |key| hasher.hash_bytes(key));
            }
        }
        self.printed = rules.plan.printed;
        let records = if self.printed == Printed::Second { self.ends.len() } else { 0 };
        let entries = if rules.plan.sharded { self.entries.len() } else { 0 };
        let is_short = self.sorted.len() < entries && memory::is_short();
        if is_short
            || self.second.try_reserve(records).is_err()
            || self.sorted.try_reserve(entries.saturating_sub(self.sorted.len())).is_err()
        {
            self.abandon();
            counts = [0; SHARDS as usize];
        }
        if self.printed == Printed::Second {
            self.second.resize(self.ends.len(), false);
        }
        if rules.plan.sharded {
            self.sort(counts);
        }
    }

    /// Stops the chunk before its first record, because there is no memory for it.
    fn abandon(&mut self) {
        let needed = self.ends.len() * size_of::<Entry>();
        self.ends.clear();
        self.fresh.clear();
        self.entries.clear();
        self.keyless = None;
        self.stop = Some(Stop { record: 0, why: Why::Read(memory::short(needed)) });
    }

    /// [`Chunk::scan`] up to the sort, with this hash function; counts the entries of each shard.
    #[inline]
    fn scan_with(
        &mut self,
        rules: &Rules<'_>,
        counts: &mut [usize; SHARDS as usize],
        hash: impl Fn(&[u8]) -> u64,
    ) {
        let bytes = &self.bytes[..self.used];
        let mut start = 0;
        // The number of records for which there is memory.
        let mut room = 0;
        for end in memchr::memchr_iter(rules.separator, bytes) {
            let record = &bytes[start..end];
            let number = self.ends.len();
            if number >= room {
                let of_keys = rules.plan.keys.map(|_| &mut self.keys);
                let grown =
                    grow(&mut self.ends, &mut self.fresh, &mut self.entries, of_keys, bytes.len());
                let Some(grown) = grown else {
                    let why = Why::Read(memory::short(number * size_of::<Entry>()));
                    self.stop = Some(Stop { record: number, why });
                    break;
                };
                room = grown;
            }
            // A record that stops the chunk is not pushed to `ends`: neither it nor a later one is decided or printed.
            if record.len() as u64 > rules.max_record {
                self.stop = Some(Stop { record: number, why: Why::TooLong(rules.max_record) });
                break;
            }
            let key = rules.key.of(record, &mut self.scratch);
            let kept = key.and_then(|key| match rules.plan.keys {
                None => Ok(key),
                Some(key_type) => self.keys.push(key, key_type).map(|()| key),
            });
            match kept {
                Ok(key) => {
                    let hash = hash(key);
                    counts[split::shard(hash, SHARDS) as usize] += 1;
                    // The number fits in 32 bits: all separators of a chunk come from its last read, which has at most
                    // 2^30 bytes.
                    self.entries.push(Entry { hash, record: number as u32 });
                    self.fresh.push(false);
                }
                Err(found) if rules.strict || found.is_fatal() => {
                    self.stop = Some(Stop { record: number, why: Why::NoKey(found) });
                    break;
                }
                // A record without a key has no hash, and nothing is asked about it.
                Err(found) => {
                    self.keyless.get_or_insert((number, found));
                    self.fresh.push(rules.plan.keyless);
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

    /// The verdicts on all records.
    pub(super) fn fresh(&self) -> &[bool] {
        &self.fresh
    }

    /// For each record, whether it is printed; `None` if none is.
    pub(super) fn printed(&self) -> Option<&[bool]> {
        match self.printed {
            Printed::Fresh => Some(&self.fresh),
            Printed::Second => Some(&self.second),
            Printed::None => None,
        }
    }

    /// Whether reading or finding the records has failed in this chunk.
    pub(crate) fn is_cut(&self) -> bool {
        self.stop.is_some()
    }

    /// All items of the chunk, in input order, and where their verdicts go.
    pub(crate) fn batch(&mut self) -> Batch<'_> {
        Batch { entries: &mut self.entries, fresh: &mut self.fresh, second: &mut self.second }
    }

    /// All items of the chunk, in input order, with their keys, and where the first verdicts go.
    pub(crate) fn keyed(&mut self) -> (&[Entry], &Keys, &mut [bool]) {
        (&self.entries, &self.keys, &mut self.fresh)
    }

    /// The items of the shard with this number, in input order, and where their verdicts go. The entries may be
    /// overwritten.
    pub(crate) fn batch_of(&mut self, shard: usize) -> Batch<'_> {
        let entries = &mut self.sorted[self.starts[shard]..self.starts[shard + 1]];
        Batch { entries, fresh: &mut self.fresh, second: &mut self.second }
    }

    /// Ends the chunk before this record, which cannot be decided.
    pub(crate) fn stop(&mut self, record: u32, why: Why) {
        let record = record as usize;
        // If there are several errors, the one at the earliest record counts.
        if self.stop.as_ref().is_none_or(|stop| record < stop.record) {
            self.stop = Some(Stop { record, why });
        }
    }

    /// Ends the run after this chunk, all of whose records are decided as far as they can be. This counts more than an error
    /// at the end of the chunk, which the next run finds again.
    pub(crate) fn stop_after(&mut self, why: Why) {
        self.stop = Some(Stop { record: self.ends.len(), why });
    }

    /// Moves the bytes of the records that are printed to the front.
    pub(super) fn compact(&mut self) {
        let records = self.stop.as_ref().map_or(self.ends.len(), |stop| stop.record);
        let mut kept = 0;
        let bytes = &mut self.bytes;
        // Not `self.printed()`, which would borrow `bytes` too.
        let printed = match self.printed {
            Printed::Fresh => &self.fresh,
            Printed::Second => &self.second,
            Printed::None => return,
        };
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
        let Some(printed) = self.printed() else { return 0 };
        let mut kept = 0;
        let mut start = 0;
        for (&end, &printed) in self.ends[..records].iter().zip(printed) {
            kept += if printed { end - start } else { 0 };
            start = end;
        }
        kept
    }
}

/// Makes room for one more record, and for keys of this length together. Returns the number of records for which there is
/// room, or `None` if the allocation failed.
fn grow(
    ends: &mut Vec<usize>,
    fresh: &mut Vec<bool>,
    entries: &mut Vec<Entry>,
    keys: Option<&mut Keys>,
    bytes: usize,
) -> Option<usize> {
    // Other workers need some memory for what is small.
    if memory::is_short() {
        return None;
    }
    ends.try_reserve(1).ok()?;
    fresh.try_reserve(1).ok()?;
    entries.try_reserve(1).ok()?;
    let keys = keys.map_or(Some(usize::MAX), |keys| keys.reserve(bytes));
    Some(ends.capacity().min(fresh.capacity()).min(entries.capacity()).min(keys?))
}

/// Items to decide, and where their verdicts go.
pub(crate) struct Batch<'c> {
    pub(crate) entries: &'c mut [Entry],
    /// The first verdict on each record of the chunk.
    pub(crate) fresh: &'c mut [bool],
    /// Whether each record of the chunk is the second of its key; empty unless such records are printed.
    pub(crate) second: &'c mut [bool],
}
