//! The counts of records and bytes of a run.

use super::chunk::Chunk;

/// The counts of records and bytes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records read, without headers.
    pub lines: u64,
    /// Records printed.
    pub printed: u64,
    /// Records with the key of an earlier record. (Of a command that does not look for new records:
    /// those with the other answer.)
    pub duplicates: u64,
    /// Records without a key. They are printed, unless only repeated records are printed.
    pub keyless: u64,
    /// Bytes of the records read, including separators.
    pub bytes_in: u64,
    /// Bytes printed, with the header.
    pub bytes_out: u64,
}

impl Tally {
    /// The number of distinct keys.
    pub(crate) fn items(&self) -> u64 {
        self.lines - self.duplicates - self.keyless
    }

    /// These counts plus those of the first `records` records of `chunk`.
    pub(super) fn with(&self, chunk: &Chunk<'_>, records: usize) -> Self {
        let count = |flags: &[bool]| flags[..records].iter().filter(|&&flag| flag).count() as u64;
        let fresh = count(chunk.fresh());
        let printed = chunk.printed().map_or(0, count);
        // Entries are in input order, one for each record that has a key.
        let keys = chunk.entries.partition_point(|entry| (entry.record as usize) < records);
        // A separator that was added at the end of the input was not read.
        let read = records.checked_sub(1).map_or(0, |last| chunk.ends[last] as u64);
        let lent = u64::from(chunk.lent && read == chunk.used as u64);
        let kept = chunk.kept(records);
        let records = records as u64;
        Self {
            lines: self.lines + records,
            printed: self.printed + printed,
            duplicates: self.duplicates + records - fresh,
            keyless: self.keyless + records - keys as u64,
            bytes_in: self.bytes_in + read - lent,
            bytes_out: self.bytes_out + kept as u64,
        }
    }
}
