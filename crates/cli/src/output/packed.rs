//! The output of records: a file, whose contents are compressed if its name ends in `.gz` or
//! `.zst`.
//!
//! A flush ends a gzip member or a Zstandard frame, and the next record begins another: both
//! formats are a sequence of them. So after each flush, the file is complete, and has all records
//! that were written.

use core::mem;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::input::promised;
use crate::memory;
use crate::packing::Packing;
use crate::zst::Frames;

/// The level of gzip. One thread compresses, while the others read and decide. MEASURED: the
/// homepages (2.1 MB) eight times, in seconds of one core per GB and percent of their size: level 1
/// takes 4.3 s and 20.3 %, level 2 7.7 s and 17.3 %, level 3 11 s and 16.8 %, level 6 27 s and 16.0
/// % (Zen 4).
const GZIP: Compression = Compression::new(2);

/// The bytes of records in a Zstandard frame, which are kept in memory. The encoder finds
/// repetitions in 128 KiB only, so a larger frame is hardly smaller. MEASURED: the same records
/// take 18 s per GB and 24.1 %, instead of 2.1 s and 17.3 % with libzstd at level 1, which needs a
/// C compiler (Zen 4).
const FRAME: usize = 1 << 20;

/// What a frame takes while it is compressed and read back: itself twice, what is compressed, and
/// the tables and buffers of both directions.
const PACKING: u64 = 8 << 20;

/// The compressed bytes after which they are written.
const FULL: usize = 1 << 16;

/// An output of records. Several threads may hold it; one at a time writes.
#[derive(Debug)]
pub(crate) struct Packed<W> {
    output: W,
    /// `None` if records are written as they are.
    packer: Option<Mutex<Packer>>,
}

impl<W> Packed<W> {
    /// Writes to an open file, or what stands before it. `path`: the name by which it was opened;
    /// none is standard output.
    pub(super) fn new(output: W, path: Option<&Path>) -> Self {
        let packing = path.and_then(|path| {
            // A link by another name, too: what its target promises must be true.
            promised(path).or_else(|| promised(&fs::canonicalize(path).ok()?))
        });
        let packer = packing.and_then(Packer::new).map(Mutex::new);
        Self { output, packer }
    }

    /// What is written to. It has what was written before the last flush.
    pub(crate) const fn get(&self) -> &W {
        &self.output
    }

    fn packer(&self) -> Option<MutexGuard<'_, Packer>> {
        let packer = self.packer.as_ref()?;
        Some(packer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<W> Write for &Packed<W>
where
    for<'w> &'w W: Write,
{
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(mut packer) = self.packer() else { return (&self.output).write(bytes) };
        packer.write(bytes, &self.output)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.packer().map_or(Ok(()), |mut packer| packer.end(&self.output))
    }
}

/// Compresses records.
#[derive(Debug)]
struct Packer {
    encoder: Encoder,
    /// Whether a member or frame is open. The first one is, so that the file of an empty output has
    /// one too.
    is_open: bool,
}

#[derive(Debug)]
enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    /// The records of the frame. The encoder takes a whole frame, and panics if its reader or its
    /// writer fails.
    Zstandard(Vec<u8>),
}

impl Packer {
    fn new(packing: Packing) -> Option<Self> {
        let encoder = match packing {
            Packing::Gzip => Encoder::Gzip(gzip()),
            Packing::Zstandard => Encoder::Zstandard(Vec::new()),
            Packing::Plain | Packing::Foreign(_) => return None,
        };
        Some(Self { encoder, is_open: true })
    }

    fn write(&mut self, mut bytes: &[u8], mut file: impl Write) -> io::Result<()> {
        self.is_open = true;
        match &mut self.encoder {
            Encoder::Gzip(encoder) => {
                encoder.write_all(bytes)?;
                let packed = encoder.get_mut();
                if packed.len() >= FULL {
                    file.write_all(packed)?;
                    packed.clear();
                }
            }
            Encoder::Zstandard(frame) => {
                if frame.capacity() == 0 {
                    frame.try_reserve(FRAME).map_err(|_| memory::short(FRAME))?;
                }
                while frame.len() + bytes.len() >= FRAME {
                    let (head, rest) = bytes.split_at(FRAME - frame.len());
                    frame.extend_from_slice(head);
                    file.write_all(&zstandard(frame)?)?;
                    frame.clear();
                    bytes = rest;
                }
                frame.extend_from_slice(bytes);
                self.is_open = !frame.is_empty();
            }
        }
        Ok(())
    }

    /// Ends the member or the frame, if one is open.
    fn end(&mut self, mut file: impl Write) -> io::Result<()> {
        if !mem::take(&mut self.is_open) {
            return Ok(());
        }
        match &mut self.encoder {
            Encoder::Gzip(encoder) => file.write_all(&mem::replace(encoder, gzip()).finish()?),
            Encoder::Zstandard(frame) => file.write_all(&zstandard(&mem::take(frame))?),
        }
    }
}

fn gzip() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), GZIP)
}

/// Returns the frame of these bytes. The encoder is young, and the output may replace the only copy
/// of its input: so each frame is read back, and one that is wrong is replaced by one that is not
/// compressed. MEASURED: 18 s per GB instead of 14 s without that (Zen 4).
fn zstandard(bytes: &[u8]) -> io::Result<Vec<u8>> {
    if memory::available().is_some_and(|available| available < PACKING) {
        return Err(memory::short(PACKING as usize));
    }
    let frame = compress_to_vec(bytes, CompressionLevel::Fastest);
    let mut back = Vec::with_capacity(bytes.len());
    match io::copy(&mut Frames::new(frame.as_slice()), &mut back) {
        Ok(_) if back == bytes => Ok(frame),
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Err(error),
        _ => Ok(compress_to_vec(bytes, CompressionLevel::Uncompressed)),
    }
}
