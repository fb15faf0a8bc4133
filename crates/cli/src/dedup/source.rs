//! Cuts the inputs into chunks that end where records end.

use core::mem;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::Options;
use super::chunk::{Chunk, Stop, Why};
use crate::input::Input;

/// The largest chunk: a chunk's records are numbered in 32 bits.
const MAX_CHUNK: usize = 1 << 30;

/// All inputs, one after the other.
///
/// A chunk is what one call of `read` gives, or more until a record ends in it: so that from a slow
/// pipe every record comes out as soon as it went in, and a file is read in few calls.
pub(super) struct Source<I, R> {
    inputs: I,
    current: Option<Input<R>>,
    /// What was read beyond the last record of the chunk before: the head of the next record,
    /// shorter than one chunk.
    head: Vec<u8>,
    turn: u64,
    /// Whether the next chunk is the first of its input.
    opening: bool,
    /// Whether reading has failed: nothing more is read.
    failed: bool,
    separator: u8,
    chunk: usize,
    max_record: u64,
}

impl<I: Iterator<Item = Input<R>>, R: Read> Source<I, R> {
    pub(super) fn new(inputs: I, options: &Options) -> Self {
        Self {
            inputs,
            current: None,
            head: Vec::new(),
            turn: 0,
            opening: false,
            failed: false,
            separator: options.separator,
            chunk: options.chunk.clamp(1, MAX_CHUNK),
            max_record: options.max_record,
        }
    }

    /// Reads the next chunk. False: there is none.
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
                // What came before the failure went out in the chunk before.
                chunk.stop = Some(Stop { record: 0, why });
                self.failed = true;
            } else if chunk.used == 0 {
                // The input had nothing more.
                continue;
            }
            chunk.opens = mem::take(&mut self.opening);
            chunk.turn = self.turn;
            self.turn += 1;
            return true;
        }
        false
    }

    /// Reads until a record ends, or the input, or patience.
    fn fill<'s>(
        &mut self,
        chunk: &mut Chunk<'s>,
        giants: &'s Mutex<()>,
        ended: &mut bool,
    ) -> Option<Why> {
        let Some(input) = &mut self.current else { return None };
        let bytes = &mut chunk.bytes;
        if bytes.len() < self.chunk {
            bytes.resize(self.chunk, 0);
        }
        let mut filled = self.head.len();
        bytes[..filled].copy_from_slice(&self.head);
        self.head.clear();
        loop {
            if filled == bytes.len() {
                // A record larger than a chunk: one worker at a time may hold one. Its holder waits
                // for earlier chunks only, whose workers have all left the source.
                if chunk.giant.is_none() {
                    chunk.giant = Some(giants.lock().unwrap_or_else(PoisonError::into_inner));
                }
                if bytes.try_reserve(self.chunk).is_err() {
                    return Some(Why::Read(ErrorKind::OutOfMemory.into()));
                }
                bytes.resize(filled + self.chunk, 0);
            }
            // At most a chunk at a time, however large the buffer has become.
            let room = bytes.len().min(filled + self.chunk);
            let read = match input.reader.read(&mut bytes[filled..room]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Some(Why::Read(error)),
            };
            if read == 0 {
                *ended = true;
                if filled > 0 {
                    // The last record ends with its input.
                    if filled == bytes.len() {
                        bytes.push(0);
                    }
                    bytes[filled] = self.separator;
                    chunk.lent = true;
                    chunk.used = filled + 1;
                }
                return None;
            }
            let new = &bytes[filled..filled + read];
            if let Some(last) = memchr::memrchr(self.separator, new) {
                self.head.extend_from_slice(&new[last + 1..]);
                chunk.used = filled + last + 1;
                return None;
            }
            filled += read;
            if filled as u64 > self.max_record {
                return Some(Why::TooLong(self.max_record));
            }
        }
    }
}
