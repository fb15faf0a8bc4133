//! Reading a `.zst` file: all its frames, one after the other, checksums checked.

use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A reader of all the frames in `source`, data and skippable.
pub(crate) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// Enters the next frame that holds data. False: the file has ended.
    fn enter(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
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

    /// Leaves a frame whose data has all been read.
    fn leave(&mut self) -> io::Result<()> {
        self.inside = false;
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(ErrorKind::InvalidData, "a frame's checksum is wrong"));
        }
        Ok(())
    }
}

/// What is wrong with a frame, in words; the decoder's own say more about the decoder.
fn invalid(error: &FrameDecoderError) -> io::Error {
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
        FrameDecoderError::WindowSizeTooBig { .. } => {
            "its window is larger than 128 MiB; 'zstd -dc --long=31' decompresses it"
        }
        FrameDecoderError::DictNotProvided { .. } => {
            "it needs a dictionary; 'zstd -dc -D DICTIONARY' decompresses it"
        }
        _ => "this is no valid Zstandard frame",
    };
    io::Error::new(ErrorKind::InvalidData, text)
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.inside {
                self.inside = self.enter()?;
                if !self.inside {
                    break;
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| invalid(&error))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.leave()?;
        }
        Ok(0)
    }
}
