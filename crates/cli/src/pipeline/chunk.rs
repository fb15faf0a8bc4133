//! A chunk of input and its way through one worker: its bytes, records, hashes and verdicts.

use core::mem;
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
use crate::key::{Flaw, Format, Key, NoKey, Row, Rows, Scratch, is_open};
use crate::{Error, memory};

/// How the records of a chunk are read and hashed.
pub(super) struct Rules<'r> {
    key: &'r Key,
    /// Where records end, if their fields may be quoted.
    format: Option<Format>,
    /// The byte between fields, if it may be the wrong one.
    delimiter: Option<u8>,
    /// Whether a CR at the end of a line makes its key another one.
    has_cr: bool,
    strict: bool,
    separator: u8,
    max_record: u64,
    hasher: &'r Hasher,
    plan: Plan,
}

impl<'r> Rules<'r> {
    /// The key is that of `records`, with the names that a header has resolved.
    pub(super) fn new(records: &'r Records, key: &'r Key, hasher: &'r Hasher, plan: Plan) -> Self {
        Self {
            key,
            format: key.format(records.separator),
            delimiter: key.delimiter(),
            has_cr: key.has_cr() && records.separator == b'\n',
            strict: records.strict,
            separator: records.separator,
            max_record: records.max_record,
            hasher,
            plan,
        }
    }
}

impl Rules<'_> {
    /// The error for a record, which is longer than the limit.
    #[cold]
    fn too_long(&self, record: &[u8]) -> Why {
        let limit = self.max_record;
        let open = self.format.is_some_and(|format| is_open(format, &record[..=limit as usize]));
        Why::TooLong { limit, open }
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
    /// A record is longer than the limit; a quoted field may be open there.
    TooLong {
        limit: u64,
        open: bool,
    },
    /// The header of an input is not the one expected.
    Header(String),
    NoKey(NoKey),
    Malformed(Flaw),
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
    /// A filter in Redis has no verdict on some records, of which this is the first. The others of the chunk have one.
    #[cfg(feature = "redis")]
    Remote {
        record: u32,
        source: Box<dyn core::error::Error + Send + Sync>,
        /// What happened to all of them.
        fate: String,
    },
}

/// A chunk. A worker uses one for all its chunks, so that its vectors are allocated once.
pub(crate) struct Chunk<'s> {
    /// Its number, in input order.
    pub(crate) turn: u64,
    /// The name of its input.
    pub(super) name: Arc<str>,
    /// If it is the first chunk of its input: the number of lines before it, which are those of a header.
    pub(super) opens: Option<u64>,
    /// Whether a quote may be in it, where a field may be quoted.
    pub(super) quoted: bool,
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
    /// The malformed rows of CSV.
    pub(super) malformed: Vec<(usize, Flaw)>,
    /// The rows that take several lines, and how many lines more than one.
    folded: Vec<(usize, u64)>,
    /// Whether a record has the byte between fields.
    pub(super) delimited: bool,
    /// The numbers of lines that end in CR LF, and in LF alone, if that makes a difference.
    pub(super) line_ends: [u64; 2],
    /// The hashes of the keys, in input order.
    pub(super) entries: Vec<Entry>,
    /// The same, sorted by shard.
    sorted: Vec<Entry>,
    /// The keys of the entries, in input order. Empty unless the decider sees them.
    keys: Keys,
    /// Where each shard's entries begin in `sorted`.
    starts: [usize; SHARDS as usize + 1],
    /// The number of records for which there is memory.
    room: usize,
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
            opens: None,
            quoted: false,
            lent: false,
            bytes: Vec::new(),
            used: 0,
            ends: Vec::new(),
            fresh: Vec::new(),
            second: Vec::new(),
            printed: Printed::None,
            keyless: None,
            malformed: Vec::new(),
            folded: Vec::new(),
            delimited: false,
            line_ends: [0; 2],
            entries: Vec::new(),
            sorted: Vec::new(),
            keys: Keys::default(),
            starts: [0; SHARDS as usize + 1],
            room: 0,
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
        self.opens = None;
        self.quoted = false;
        self.lent = false;
        self.used = 0;
        self.ends.clear();
        self.fresh.clear();
        self.second.clear();
        self.keyless = None;
        self.malformed.clear();
        self.folded.clear();
        self.line_ends = [0; 2];
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
        match rules.format {
            Some(format) if self.quoted => self.scan_rows(rules, format, counts, hash),
            _ => self.scan_lines(rules, counts, hash),
        }
        self.note_bytes(rules);
    }

    /// Scans records none of which has a separator in it.
    #[inline]
    fn scan_lines(
        &mut self,
        rules: &Rules<'_>,
        counts: &mut [usize; SHARDS as usize],
        hash: impl Fn(&[u8]) -> u64,
    ) {
        let bytes = mem::take(&mut self.bytes);
        let mut start = 0;
        for end in memchr::memchr_iter(rules.separator, &bytes[..self.used]) {
            if !self.push(rules, &bytes[start..end], end + 1, counts, &hash) {
                break;
            }
            start = end + 1;
        }
        self.bytes = bytes;
    }

    /// Scans rows, in whose fields there may be quotes and separators.
    #[inline]
    fn scan_rows(
        &mut self,
        rules: &Rules<'_>,
        format: Format,
        counts: &mut [usize; SHARDS as usize],
        hash: impl Fn(&[u8]) -> u64,
    ) {
        let bytes = mem::take(&mut self.bytes);
        let mut start = 0;
        for Row { end, open, flaw } in Rows::new(format, &bytes[..self.used]) {
            let number = self.ends.len();
            // A separator at the end of an open field is a part of it.
            let last = end - usize::from(!open || self.lent);
            let lines = memchr::memchr_iter(rules.separator, &bytes[start..end - 1]).count();
            let record = &bytes[start..last];
            let flaw = flaw.filter(|_| rules.key.is_csv());
            if let Some(flaw) = flaw
                && rules.strict
                && record.len() as u64 <= rules.max_record
            {
                self.stop = Some(Stop { record: number, why: Why::Malformed(flaw) });
                break;
            }
            if !self.push(rules, record, end, counts, &hash) {
                break;
            }
            self.malformed.extend(flaw.map(|flaw| (number, flaw)));
            if lines > 0 {
                self.folded.push((number, lines as u64));
            }
            start = end;
        }
        self.bytes = bytes;
    }

    /// Adds a record, which ends before `end`. Returns whether to go on.
    #[inline(always)]
    fn push(
        &mut self,
        rules: &Rules<'_>,
        record: &[u8],
        end: usize,
        counts: &mut [usize; SHARDS as usize],
        hash: &impl Fn(&[u8]) -> u64,
    ) -> bool {
        let number = self.ends.len();
        if number >= self.room && !self.grow(rules) {
            let why = Why::Read(memory::short(number * size_of::<Entry>()));
            self.stop = Some(Stop { record: number, why });
            return false;
        }
        // A record that stops the chunk is not pushed to `ends`: neither it nor a later one is decided or printed.
        if record.len() as u64 > rules.max_record {
            self.stop = Some(Stop { record: number, why: rules.too_long(record) });
            return false;
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
                // The number fits in 32 bits: all ends of records in a chunk come from its last read, which has at most
                // 2^30 bytes.
                self.entries.push(Entry { hash, record: number as u32 });
                self.fresh.push(false);
            }
            Err(found) if rules.strict => {
                self.stop = Some(Stop { record: number, why: Why::NoKey(found) });
                return false;
            }
            // A record without a key has no hash, and nothing is asked about it.
            Err(found) => {
                self.keyless.get_or_insert((number, found));
                self.fresh.push(rules.plan.keyless);
            }
        }
        self.ends.push(end);
        true
    }

    /// Makes room for one more record at least. Returns whether the allocation succeeded.
    #[cold]
    fn grow(&mut self, rules: &Rules<'_>) -> bool {
        let Self { ends, fresh, entries, keys, used, .. } = self;
        let mut grow = || {
            // Other workers need some memory for what is small.
            if memory::is_short() {
                return None;
            }
            ends.try_reserve(1).ok()?;
            fresh.try_reserve(1).ok()?;
            entries.try_reserve(1).ok()?;
            let keys = rules.plan.keys.map_or(Some(usize::MAX), |_| keys.reserve(*used));
            Some(ends.capacity().min(fresh.capacity()).min(entries.capacity()).min(keys?))
        };
        let room = grow();
        self.room = room.unwrap_or(0);
        room.is_some()
    }

    /// Notes which bytes the records have.
    fn note_bytes(&mut self, rules: &Rules<'_>) {
        let bytes = &self.bytes[..self.used];
        let delimiter = rules.delimiter;
        self.delimited = delimiter.is_some_and(|byte| memchr::memchr(byte, bytes).is_some());
        if !rules.has_cr {
            return;
        }
        // Without any CR, which is found faster than each record, all lines end in LF.
        let crlf = match memchr::memchr(b'\r', bytes) {
            None => 0,
            Some(_) => {
                let ends = self.ends.iter().filter(|&&end| bytes[..end].ends_with(b"\r\n"));
                ends.count() as u64
            }
        };
        // A last line without LF may be part of a line that ends in CR LF.
        let unended = u64::from(self.lent && !bytes.ends_with(b"\r\n"));
        self.line_ends = [crlf, (self.ends.len() as u64).saturating_sub(crlf + unended)];
    }

    /// The number of lines that the first `records` records take.
    pub(super) fn lines(&self, records: usize) -> u64 {
        let folded = self.folded.iter().take_while(|(record, _)| *record < records);
        records as u64 + folded.map(|(_, more)| more).sum::<u64>()
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

    /// The records that have a key, and their keys, in input order; none unless the decider sees keys.
    pub(crate) fn records(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().zip(self.keys.iter()).map(|(entry, key)| {
            let number = entry.record as usize;
            let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
            (&self.bytes[start..self.ends[number] - 1], key)
        })
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
    #[cfg(feature = "redis")]
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

/// Items to decide, and where their verdicts go.
pub(crate) struct Batch<'c> {
    pub(crate) entries: &'c mut [Entry],
    /// The first verdict on each record of the chunk.
    pub(crate) fresh: &'c mut [bool],
    /// Whether each record of the chunk is the second of its key; empty unless such records are printed.
    pub(crate) second: &'c mut [bool],
}
