//! Finds the records of a chunk, takes their keys and hashes them.

use core::mem;

use tamis::hash::split;

use super::{Chunk, Stop};
use crate::error::Why;
use crate::key::{Format, Key, Row, Rows, is_open};
use crate::memory;
use crate::pipeline::entry::{Entry, SHARDS};
use crate::pipeline::hasher::Hasher;
use crate::pipeline::plan::{Plan, Printed};
use crate::pipeline::records::Records;

/// How the records of a chunk are read and hashed.
pub(in crate::pipeline) struct Rules<'r> {
    key: &'r Key,
    /// Whether the key is a part of a record as it is.
    is_part: bool,
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
    pub(in crate::pipeline) fn new(
        records: &'r Records,
        key: &'r Key,
        hasher: &'r Hasher,
        plan: Plan,
    ) -> Self {
        Self {
            key,
            is_part: key.is_part(),
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

impl Chunk<'_> {
    /// Finds the records, hashes their keys and, if that is planned, sorts the hashes by shard.
    pub(in crate::pipeline) fn scan(&mut self, rules: &Rules<'_>) {
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
        self.stop = Some(Stop::at(0, Why::Read(memory::short(needed))));
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
                self.stop = Some(Stop::at(number, Why::Malformed(flaw)));
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
            let why = Why::Read(memory::short((number + 1) * size_of::<Entry>()));
            self.stop = Some(Stop::at(number, why));
            return false;
        }
        // A record that stops the chunk is not pushed to `ends`: neither it nor a later one is
        // decided or printed.
        if record.len() as u64 > rules.max_record {
            self.stop = Some(Stop::at(number, rules.too_long(record)));
            return false;
        }
        let key = if rules.is_part {
            rules.key.part_of(record, &mut self.scratch)
        } else {
            rules.key.built(record, &mut self.scratch)
        };
        let kept = key.and_then(|key| match rules.plan.keys {
            None => Ok(key),
            Some(key_type) => self.keys.push(key, key_type).map(|()| key),
        });
        match kept {
            Ok(key) => {
                let hash = hash(key);
                counts[split::shard(hash, SHARDS) as usize] += 1;
                // The number fits in 32 bits: all ends of records in a chunk come from its last
                // read, which has at most 2^30 bytes.
                self.entries.push(Entry { hash, record: number as u32 });
                self.fresh.push(false);
            }
            Err(found) if rules.strict => {
                self.stop = Some(Stop::at(number, Why::NoKey(found)));
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
                // The last byte of each record is the LF.
                let ends = self.ends.iter().filter(|&&end| end > 1 && bytes[end - 2] == b'\r');
                ends.count() as u64
            }
        };
        // A last line without LF may be part of a line that ends in CR LF.
        let unended = u64::from(self.lent && !bytes.ends_with(b"\r\n"));
        self.line_ends = [crlf, (self.ends.len() as u64).saturating_sub(crlf + unended)];
    }

    /// Sorts the entries by shard. A counting sort is stable, so each shard sees its entries in
    /// input order.
    fn sort(&mut self, counts: [usize; SHARDS as usize]) {
        // The counts give the place where each shard's entries begin.
        let mut next = [0; SHARDS as usize];
        let mut start = 0;
        self.starts.clear();
        for (next, count) in next.iter_mut().zip(counts) {
            *next = start;
            self.starts.push(start);
            start += count;
        }
        self.starts.push(start);
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
}
