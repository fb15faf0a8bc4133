//! A reader of Zstandard data: all frames, one after the other, with their checksums checked.

use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, DEFAULT_MAX_WINDOW_SIZE, FrameDecoder};

use crate::memory;

/// A reader of all frames in `source`. Skippable frames are skipped.
pub(crate) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether the decoder is in a frame.
    inside: bool,
    /// The largest window for which there was memory at the first frame.
    largest: Option<u64>,
}

/// The decoder takes up to three times the window: its buffer is a power of two, and it has the old
/// one while it grows. It cannot report that there is no memory.
const WINDOWS: u64 = 3;

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), inside: false, largest: None }
    }

    /// Enters the next frame with data. Returns `false` at the end of the file.
    fn enter(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            let windows = |bytes: Option<u64>| bytes.map_or(u64::MAX, |bytes| bytes / WINDOWS);
            let largest = *self.largest.get_or_insert_with(|| windows(memory::available()));
            let largest = largest.min(windows(memory::left()));
            self.decoder.set_max_window_size(largest.min(DEFAULT_MAX_WINDOW_SIZE));
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                // The decoder reports a skippable frame as an error, after its header.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped =
                        io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(invalid(&error)),
            }
        }
        Ok(false)
    }

    /// Leaves a frame after all its data has been read, and checks its checksum, if it has one.
    fn leave(&mut self) -> io::Result<()> {
        self.inside = false;
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(ErrorKind::InvalidData, "the checksum of a frame is wrong"));
        }
        Ok(())
    }
}

/// Converts an error of the decoder to one for users: its own texts are about the decoder's
/// internals.
fn invalid(error: &FrameDecoderError) -> io::Error {
    // An early end of the file may be anywhere in the chain of causes.
    let mut cause: Option<&(dyn core::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<io::Error>()
            && inner.kind() == ErrorKind::UnexpectedEof
        {
            return io::Error::new(ErrorKind::UnexpectedEof, "the file ends inside a frame");
        }
        cause = inner.source();
    }
    let text = match error {
        FrameDecoderError::WindowSizeTooBig { requested, .. }
            if *requested <= DEFAULT_MAX_WINDOW_SIZE =>
        {
            return memory::short((WINDOWS * *requested) as usize);
        }
        FrameDecoderError::WindowSizeTooBig { .. } => {
            "the window of a frame is larger than 128 MiB; 'zstd -dc --long=31' decompresses it"
        }
        FrameDecoderError::DictNotProvided { .. } => {
            "a frame needs a dictionary; 'zstd -dc -D DICTIONARY' decompresses it"
        }
        _ => "this is not a valid Zstandard frame",
    };
    io::Error::new(ErrorKind::InvalidData, text)
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            // Enter the next frame, or end at the end of the file.
            if !self.inside {
                self.inside = self.enter()?;
                if !self.inside {
                    break;
                }
            }
            // Decode block by block until there is data.
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| invalid(&error))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            // The frame has no more data.
            self.leave()?;
        }
        Ok(0)
    }
}
