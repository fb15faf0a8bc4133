//! A list on disk behind a filter in memory.

use std::io;

use tamis::BlockedBloomFilter;
use tamis::hash::Rapid;

use crate::exact::SortedFile;

/// The part of the candidates that read the disk although they are not listed.
const RATE: f64 = 1e-3;

/// A list and its filter.
pub(crate) struct Guarded {
    filter: BlockedBloomFilter<str, Rapid>,
    list: SortedFile,
    reads: u64,
}

/// The answer about a candidate.
pub(crate) struct Answer {
    /// Whether the filter contains it, so that the disk was read.
    pub(crate) passed: bool,
    pub(crate) is_listed: bool,
}

impl Guarded {
    /// Writes the list to disk, and makes its filter.
    pub(crate) fn new(list: impl Iterator<Item = String>) -> io::Result<Self> {
        let mut list: Vec<String> = list.collect();
        list.sort_unstable();
        // The list of an attacker needs a secret seed; here the output is to be the same each time.
        let mut filter = BlockedBloomFilter::builder()
            .capacity(list.len())
            .false_positive_rate(RATE)
            .hasher(Rapid::with_seed(30))
            .build()
            .map_err(io::Error::other)?;
        filter.extend(&list);
        Ok(Self { filter, list: SortedFile::new(&list)?, reads: 0 })
    }

    /// Answers about a batch: first the filter about all, then the disk about those that pass.
    pub(crate) fn contains_many(&mut self, candidates: &[String]) -> io::Result<Vec<Answer>> {
        let passed = self.filter.contains_many(candidates);
        let answers = candidates.iter().zip(passed).map(|(candidate, passed)| {
            // The filter has no false negatives: what does not pass is not listed.
            if !passed {
                return Ok(Answer { passed, is_listed: false });
            }
            self.reads += 1;
            Ok(Answer { passed, is_listed: self.list.contains(candidate)? })
        });
        answers.collect()
    }

    /// Returns the number of lookups on disk.
    pub(crate) fn reads(&self) -> u64 {
        self.reads
    }

    /// Returns the memory of the filter and of the index of the file.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.filter.size_in_bytes() + self.list.index_in_bytes()
    }

    pub(crate) fn bytes_on_disk(&self) -> u64 {
        self.list.len()
    }

    pub(crate) fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }
}
