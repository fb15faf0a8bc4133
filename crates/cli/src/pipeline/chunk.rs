//! A chunk of input and its way through one worker: its bytes, records, hashes and verdicts.

use core::ops::Range;
use std::sync::{Arc, MutexGuard};

use super::entry::Entry;
use super::keys::Keys;
use super::plan::Printed;
use crate::error::{Error, Why};
use crate::key::{Flaw, NoKey, Scratch};
use crate::packing::Refusal;

mod scan;

pub(super) use self::scan::Rules;

/// Where and why a chunk ends early.
pub(super) struct Stop {
    /// The first record that is not processed.
    pub(super) record: usize,
    /// The record that the error names.
    pub(super) named: usize,
    pub(super) why: Why,
}

impl Stop {
    /// Ends a chunk before this record.
    pub(super) fn at(record: usize, why: Why) -> Self {
        Self { record, named: record, why }
    }
}

impl Why {
    /// The error of a record at this line, from 1. It names no line if the whole input is one that
    /// is not read.
    pub(crate) fn at(self, name: Arc<str>, line: u64) -> Error {
        let found = match &self {
            Self::Header(found) => Some(found.clone()),
            Self::Read(source) => source
                .get_ref()
                .and_then(|why| why.downcast_ref::<Refusal>())
                .map(ToString::to_string),
            _ => None,
        };
        match found {
            Some(found) => Error::Input { name: name.to_string(), found },
            None => Error::At { name, line, why: self },
        }
    }
}

/// A chunk. A worker uses one for all its chunks, so that its vectors are allocated once.
#[derive(Default)]
pub(crate) struct Chunk<'s> {
    /// Its number, in input order.
    pub(crate) turn: u64,
    /// The name of its input.
    pub(super) name: Arc<str>,
    /// If it is the first chunk of its input: the number of lines before it, which are those of a
    /// header.
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
    /// For each record, the first verdict: of a command that looks for new records, whether it is
    /// the first of its key.
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
    /// Where each shard's entries begin in `sorted`, and where the last one's end. Empty unless the
    /// entries are sorted.
    starts: Vec<usize>,
    /// The number of records for which there is memory.
    room: usize,
    scratch: Scratch,
    pub(super) stop: Option<Stop>,
    /// The right to hold more bytes than a chunk usually has.
    pub(super) giant: Option<MutexGuard<'s, ()>>,
}

impl Chunk<'_> {
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

    /// The number of lines that the first `records` records take.
    pub(super) fn lines(&self, records: usize) -> u64 {
        let folded = self.folded.iter().take_while(|(record, _)| *record < records);
        records as u64 + folded.map(|(_, more)| more).sum::<u64>()
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

    /// The records that have a key, and their keys, in input order; none unless the decider sees
    /// keys.
    pub(crate) fn records(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().zip(self.keys.iter()).map(|(entry, key)| {
            let number = entry.record as usize;
            let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
            (&self.bytes[start..self.ends[number] - 1], key)
        })
    }

    /// The items of the shard with this number, in input order, and where their verdicts go. The
    /// entries may be overwritten.
    pub(crate) fn batch_of(&mut self, shard: usize) -> Batch<'_> {
        let entries = &mut self.sorted[self.starts[shard]..self.starts[shard + 1]];
        Batch { entries, fresh: &mut self.fresh, second: &mut self.second }
    }

    /// Ends the chunk before this record, which cannot be decided.
    pub(crate) fn stop(&mut self, record: u32, why: Why) {
        let record = record as usize;
        // If there are several errors, the one at the earliest record counts.
        if self.stop.as_ref().is_none_or(|stop| record < stop.record) {
            self.stop = Some(Stop::at(record, why));
        }
    }

    /// Ends the run after this chunk, all of whose records are decided as far as they can be; the
    /// error names `record`. This counts more than an error at the end of the chunk, which the next
    /// run finds again.
    #[cfg(feature = "redis")]
    pub(crate) fn stop_after(&mut self, record: u32, why: Why) {
        self.stop = Some(Stop { record: self.ends.len(), named: record as usize, why });
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
        // Appends a run of adjacent records to what is kept. A run that is in its place already is
        // not copied.
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
    /// Whether each record of the chunk is the second of its key; empty unless such records are
    /// printed.
    pub(crate) second: &'c mut [bool],
}
