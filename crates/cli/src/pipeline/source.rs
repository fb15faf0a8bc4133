//! The source: cuts the inputs into chunks that end where records end, and numbers them.

use core::mem;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::vec;

use zerocopy::FromZeros;

use super::chunk::{Chunk, Stop};
use super::header::Header;
use super::records::Records;
use crate::error::Why;
use crate::input::Input;
use crate::key::Cutter;
use crate::memory;

/// The size of the largest chunk. A chunk's records are numbered in 32 bits.
const MAX_CHUNK: usize = 1 << 30;

/// The bytes that are read per record, if the records of a chunk are limited.
const READ: usize = 128;

/// All inputs, one after the other.
///
/// A chunk holds what one call of `read` returns; if no record ends in it, more calls follow until
/// one does. So every record from a slow pipe is processed as soon as it arrives, and a file is
/// read in few calls.
pub(super) struct Source<'r, 'i> {
    inputs: vec::IntoIter<Input<'i>>,
    current: Option<Input<'i>>,
    /// The bytes read after the last whole record of the previous chunk: the start of the next
    /// record, shorter than one chunk. After a header, and if the records of a chunk are limited,
    /// whole records too.
    head: Vec<u8>,
    /// Whether no record has been looked for in `head`.
    unseen: bool,
    /// Where the records end.
    cutter: Cutter,
    /// The first header.
    header: Option<Arc<Header>>,
    /// The number of the next chunk.
    turn: u64,
    /// If the next chunk is the first of its input: the number of lines before it.
    opening: Option<u64>,
    /// Whether reading has failed. Nothing more is read then.
    failed: bool,
    records: &'r Records,
    chunk: usize,
}

impl<'r, 'i> Source<'r, 'i> {
    pub(super) fn new(inputs: Vec<Input<'i>>, records: &'r Records) -> Self {
        let Records { separator, ref key, chunk, most, .. } = *records;
        Self {
            inputs: inputs.into_iter(),
            current: None,
            head: Vec::new(),
            unseen: false,
            cutter: Cutter::new(separator, key.format(separator)),
            header: None,
            turn: 0,
            opening: None,
            failed: false,
            records,
            // Most of what is read goes into the chunk.
            chunk: most
                .map_or(chunk, |most| chunk.min(most.saturating_mul(READ)))
                .clamp(1, MAX_CHUNK),
        }
    }

    /// Reads the header of the first input that has one, and returns it. After an error, the name
    /// of the input.
    pub(super) fn header(&mut self) -> Result<Option<Arc<Header>>, (Arc<str>, Why)> {
        while self.records.header && self.header.is_none() && self.open() {
            self.read_header().map_err(|why| {
                let name = self.current.as_ref().map(|input| Arc::clone(&input.name));
                (name.unwrap_or_default(), why)
            })?;
        }
        Ok(self.header.clone())
    }

    /// Goes to the next input. Returns `false` if there is none.
    fn open(&mut self) -> bool {
        self.current = self.inputs.next();
        self.opening = Some(0);
        self.cutter.reset();
        self.current.is_some()
    }

    /// Reads the header of the current input, and checks that it is the same as that of the first.
    fn read_header(&mut self) -> Result<(), Why> {
        let Some(input) = &mut self.current else { return Ok(()) };
        let Input { name, reader, .. } = input;
        let Some(header) = Header::read(name, reader, self.records, &mut self.head)? else {
            self.current = None;
            return Ok(());
        };
        self.unseen = true;
        self.opening = Some(header.lines(self.records.separator));
        match &self.header {
            Some(first) => header.require(first),
            None => {
                self.header = Some(Arc::new(header));
                Ok(())
            }
        }
    }

    /// Reads the next chunk and numbers it. Returns `false` if there is none.
    pub(super) fn read<'s>(&mut self, chunk: &mut Chunk<'s>, giants: &'s Mutex<()>) -> bool {
        while !self.failed {
            let mut why = None;
            if self.current.is_none() {
                if !self.open() {
                    return false;
                }
                if self.records.header {
                    why = self.read_header().err();
                }
            }
            if let Some(input) = &self.current {
                chunk.name = Arc::clone(&input.name);
            }
            let mut ended = false;
            let why = why.or_else(|| self.fill(chunk, giants, &mut ended));
            if ended {
                self.current = None;
            }
            if let Some(why) = why {
                // This chunk has no whole record, only the failure. The records before it are in
                // earlier chunks.
                chunk.stop = Some(Stop::at(0, why));
                self.failed = true;
            } else if chunk.used == 0 {
                // The input has ended: go on with the next one.
                continue;
            }
            // Turns have no gaps: only a chunk that is returned takes one.
            chunk.opens = self.opening.take();
            chunk.turn = self.turn;
            self.turn += 1;
            return true;
        }
        false
    }

    /// Reads until a record ends, the input ends, reading fails or the record is too long. Returns
    /// why it failed, if it did.
    fn fill<'s>(
        &mut self,
        chunk: &mut Chunk<'s>,
        giants: &'s Mutex<()>,
        ended: &mut bool,
    ) -> Option<Why> {
        let Some(input) = &mut self.current else { return None };
        // What is allocated in small parts cannot report an error.
        if memory::is_short() {
            return Some(Why::Read(memory::short(self.chunk)));
        }
        let bytes = &mut chunk.bytes;
        // Zeroed by the allocator: pages that no read reaches are never in memory. A read from a
        // pipe has at most 64 KiB.
        // MEASURED: one line from a pipe takes 4.2 MiB instead of 4.7 MiB with a buffer that is
        // filled with zeros (Zen 5).
        if bytes.is_empty() {
            match u8::new_vec_zeroed(self.chunk) {
                Ok(zeros) => *bytes = zeros,
                Err(_) => return Some(Why::Read(memory::short(self.chunk))),
            }
        }
        // Begin with the bytes that the previous chunk left.
        let mut filled = self.head.len();
        bytes[..filled].copy_from_slice(&self.head);
        self.head.clear();
        let mut seen = if mem::take(&mut self.unseen) { 0 } else { filled };
        loop {
            if seen < filled {
                // The chunk ends with the last whole record; the rest is kept for the next chunk.
                if let Some((last, quoted)) = self.cutter.last_end(&bytes[..filled], seen) {
                    let most = self.records.most.unwrap_or(usize::MAX);
                    let end = self.cutter.nth_end(&bytes[..last], most);
                    if end < last {
                        // The others are looked for again.
                        self.cutter.reset();
                        self.unseen = true;
                    }
                    if self.head.try_reserve(filled - end).is_err() {
                        return Some(Why::Read(memory::short(filled - end)));
                    }
                    self.head.extend_from_slice(&bytes[end..filled]);
                    (chunk.used, chunk.quoted) = (end, quoted);
                    return None;
                }
                // All that was read so far is one record.
                let limit = self.records.max_record;
                if filled as u64 > limit {
                    let open = self.cutter.is_open_in(&bytes[..=limit as usize]);
                    return Some(Why::TooLong { limit, open });
                }
                seen = filled;
            }
            // The record is larger than a chunk: extend the buffer. Only one worker at a time may
            // hold such a giant. Waiting for it here, inside the source, is no deadlock: its holder
            // waits only for earlier chunks, whose workers have all left the source.
            if filled == bytes.len() {
                if chunk.giant.is_none() {
                    chunk.giant = Some(giants.lock().unwrap_or_else(PoisonError::into_inner));
                }
                if bytes.try_reserve(self.chunk).is_err() {
                    return Some(Why::Read(memory::short(filled + self.chunk)));
                }
                bytes.resize(filled + self.chunk, 0);
            }
            // Read at most one chunk at a time, even if the buffer is larger.
            let room = bytes.len().min(filled + self.chunk);
            let read = match input.reader.read(&mut bytes[filled..room]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Some(Why::Read(error)),
            };
            if read == 0 {
                *ended = true;
                // The input ended inside a record: add the missing separator. (A quoted field that
                // is open has it.)
                if filled > 0 {
                    let separator = self.records.separator;
                    chunk.lent = !(self.cutter.is_inside() && bytes[filled - 1] == separator);
                    if chunk.lent {
                        if filled == bytes.len() {
                            if bytes.try_reserve_exact(1).is_err() {
                                return Some(Why::Read(memory::short(filled)));
                            }
                            bytes.push(0);
                        }
                        bytes[filled] = separator;
                        filled += 1;
                    }
                    (chunk.used, chunk.quoted) = (filled, true);
                }
                return None;
            }
            filled += read;
        }
    }
}
