//! The source: cuts the inputs into chunks that end where records end, and numbers them.

use core::mem;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use zerocopy::FromZeros;

use super::chunk::{Chunk, Stop, Why};
use super::records::Records;
use crate::input::Input;
use crate::memory;

/// The size of the largest chunk. A chunk's records are numbered in 32 bits.
const MAX_CHUNK: usize = 1 << 30;

/// All inputs, one after the other.
///
/// A chunk holds what one call of `read` returns; if no record ends in it, more calls follow until one does. So every
/// record from a slow pipe is processed as soon as it arrives, and a file is read in few calls.
pub(super) struct Source<I, R> {
    inputs: I,
    current: Option<Input<R>>,
    /// The bytes read after the last whole record of the previous chunk: the start of the next record, shorter than one
    /// chunk.
    head: Vec<u8>,
    /// The number of the next chunk.
    turn: u64,
    /// Whether the next chunk is the first of its input.
    opening: bool,
    /// Whether reading has failed. Nothing more is read then.
    failed: bool,
    separator: u8,
    chunk: usize,
    max_record: u64,
}

impl<I: Iterator<Item = Input<R>>, R: Read> Source<I, R> {
    pub(super) fn new(inputs: I, records: &Records) -> Self {
        Self {
            inputs,
            current: None,
            head: Vec::new(),
            turn: 0,
            opening: false,
            failed: false,
            separator: records.separator,
            chunk: records.chunk.clamp(1, MAX_CHUNK),
            max_record: records.max_record,
        }
    }

    /// Reads the next chunk and numbers it. Returns `false` if there is none.
    pub(super) fn read<'s>(&mut self, chunk: &mut Chunk<'s>, giants: &'s Mutex<()>) -> bool {
        while !self.failed {
            if self.current.is_none() {
                self.current = self.inputs.next();
                self.opening = true;
            }
            let Some(input) = &mut self.current else { return false };
            chunk.name = Arc::clone(&input.name);
            let mut ended = false;
            let why = self.fill(chunk, giants, &mut ended);
            if ended {
                self.current = None;
            }
            if let Some(why) = why {
                // This chunk has no whole record, only the failure. The records before it are in earlier chunks.
                chunk.stop = Some(Stop { record: 0, why });
                self.failed = true;
            } else if chunk.used == 0 {
                // The input has ended: go on with the next one.
                continue;
            }
            // Turns have no gaps: only a chunk that is returned takes one.
            chunk.opens = mem::take(&mut self.opening);
            chunk.turn = self.turn;
            self.turn += 1;
            return true;
        }
        false
    }

    /// Reads until a record ends, the input ends, reading fails or the record is too long. Returns why it failed, if it
    /// did.
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
        // Zeroed by the allocator: pages that no read reaches are never in memory. A read from a pipe has at most 64 KiB.
        // MEASURED: one line from a pipe takes 4.2 MiB instead of 4.7 MiB with a buffer that is filled with zeros (Zen 5).
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
        loop {
            // The record is larger than a chunk: extend the buffer. Only one worker at a time may hold such a giant.
            // Waiting for it here, inside the source, is no deadlock: its holder waits only for earlier chunks, whose
            // workers have all left the source.
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
                // The input ended inside a record: add the missing separator.
                if filled > 0 {
                    if filled == bytes.len() {
                        if bytes.try_reserve_exact(1).is_err() {
                            return Some(Why::Read(memory::short(filled)));
                        }
                        bytes.push(0);
                    }
                    bytes[filled] = self.separator;
                    chunk.lent = true;
                    chunk.used = filled + 1;
                }
                return None;
            }
            // The chunk ends at the last separator; the rest is kept for the next chunk.
            let new = &bytes[filled..filled + read];
            if let Some(last) = memchr::memrchr(self.separator, new) {
                if self.head.try_reserve(new.len() - last - 1).is_err() {
                    return Some(Why::Read(memory::short(new.len())));
                }
                self.head.extend_from_slice(&new[last + 1..]);
                chunk.used = filled + last + 1;
                return None;
            }
            // All that was read so far is one record.
            filled += read;
            if filled as u64 > self.max_record {
                return Some(Why::TooLong(self.max_record));
            }
        }
    }
}
