//! Copies the bits of a filter into a local one.

use futures_util::{StreamExt, TryStreamExt, stream};
use redis::Value;
use tamis_bloom::raw::{self, Growth, Lines, LinesError, SliceSizes};
use tamis_core::BuildError;
use tamis_hash::{AnyStable, HashItem};

use crate::calls::shared::{Call, Shared};
use crate::copies::local::{Local, LocalKind};
use crate::error::Error;
use crate::servers::router::Kind;
use crate::wire::commands;
use crate::wire::sizes::{LINE_BYTES, Slice};
use crate::wire::tag::State;

/// The bytes that are read at once. It keeps the server busy for less than a millisecond.
const CHUNK_BYTES: u64 = 256 << 10;

/// The shards that are read at once: their chunks take memory in addition to the filter.
const SHARDS_AT_ONCE: usize = 8;

/// Copies the bits of all slices, and counts them. Each item whose insert had returned before is in
/// the copy.
pub(crate) async fn pull(filter: Call<'_>) -> Result<Vec<(Lines, u64)>, Error> {
    // An insert that has returned is in a slice up to the one that is open now.
    let shards = filter.sizes().shards;
    let open = stream::iter(0..shards).map(|shard| filter.find_current(shard));
    let open: Vec<u32> = open.buffered(SHARDS_AT_ONCE).try_collect().await?;
    let newest = open.iter().copied().max().unwrap_or(0);
    let mut slices = Vec::new();
    for number in 0..=newest {
        slices.push(copy(filter, number, &open).await?);
    }
    Ok(slices)
}

/// Returns an empty local filter with the sizes of the largest slice that a shard has.
pub(crate) fn empty<T: ?Sized>(filter: &Shared) -> Result<Local<T>, Error>
where
    AnyStable: HashItem<T>,
{
    let newest = (0..filter.sizes().shards).map(|shard| filter.current(shard)).max();
    let slice = filter.slice(newest.unwrap_or(0));
    blocked(filter, slice, lines_of(slice)?)
}

/// Copies one slice, and counts its bits. `open`: the open slice of each shard.
async fn copy(filter: Call<'_>, number: u32, open: &[u32]) -> Result<(Lines, u64), Error> {
    let slice = filter.slice(number);
    let (mut lines, mut ones) = (lines_of(slice)?, 0);
    let mut chunks: Vec<(u32, u64)> = Vec::new();
    for (shard, _) in (0..).zip(open).filter(|(_, open)| **open >= number) {
        let starts = (0..slice.line_bytes()).step_by(CHUNK_BYTES as usize);
        chunks.extend(starts.map(|start| (shard, start)));
    }
    let read = stream::iter(chunks).map(|(shard, start)| chunk(filter, shard, number, start));
    let mut read = core::pin::pin!(read.buffer_unordered(SHARDS_AT_ONCE));
    while let Some((first, bytes)) = read.try_next().await? {
        let to = lines.iter_mut().skip(first as usize);
        for (to, bytes) in to.zip(bytes.chunks_exact(LINE_BYTES as usize)) {
            let (words, _) = bytes.as_chunks::<8>();
            for (to, bytes) in to.words.iter_mut().zip(words) {
                let from = u64::from_le_bytes(*bytes);
                ones += u64::from(from.count_ones());
                to.update(|word| *word = from);
            }
        }
    }
    Ok((lines, ones))
}

/// Reads a chunk of a key, and returns it with the number of its first line in the slice.
async fn chunk(
    filter: Call<'_>,
    shard: u32,
    number: u32,
    start: u64,
) -> Result<(u64, Vec<u8>), Error> {
    let slice = filter.slice(number);
    let key = filter.key(shard, number);
    let end = (start + CHUNK_BYTES).min(slice.line_bytes());
    // The tag is read after the bytes: if it is there, the key was there before.
    let sent = [commands::read(&key, start, end), commands::state(&key, slice)];
    loop {
        let mut replies = filter.send(shard, &sent, Kind::Read).await?.into_iter();
        let (Some(Value::BulkString(bytes)), Some(tag)) = (replies.next(), replies.next()) else {
            return Err(Error::Reply { expected: "bytes and a tag" });
        };
        match commands::stated(&tag, filter.identity()) {
            Some(State::Open | State::Closed) if bytes.len() as u64 == end - start => {
                return Ok((u64::from(shard) * slice.lines + start / LINE_BYTES, bytes));
            }
            _ => filter.lost(shard, number).await?,
        }
    }
}

/// Makes the local filter of what [`pull`] has returned.
pub(crate) fn local<T: ?Sized>(
    filter: &Shared,
    slices: Vec<(Lines, u64)>,
) -> Result<Local<T>, Error>
where
    AnyStable: HashItem<T>,
{
    if !filter.sizes().grows() {
        let first = slices.into_iter().next();
        let (lines, _) = first.ok_or(Error::Build(BuildError::Bits))?;
        return blocked(filter, filter.slice(0), lines);
    }
    let growth = Growth {
        first_capacity: filter.sizes().capacity(),
        rate: filter.sizes().rate,
        max_size_in_bytes: u64::MAX,
        max_capacity: None,
    };
    let newest = slices.len().saturating_sub(1) as u32;
    let slices = (0..).zip(slices).map(|(number, (lines, ones))| {
        let slice = filter.slice(number);
        let Slice { geometry, capacity, .. } = *slice;
        // The items that are counted decide when the local filter would grow.
        let estimated = || slice.items(ones, raw::lines(geometry)) as u64;
        let full = if number < newest { capacity } else { estimated() };
        (SliceSizes { geometry, capacity, items: counted(full, capacity) }, lines)
    });
    let hasher = filter.descriptor.hasher.clone();
    let slices: Vec<_> = slices.collect();
    let made = raw::from_slices(growth, hasher, slices).map_err(of_lines)?;
    Ok(Local::new(LocalKind::Scalable(made), filter.descriptor.normalization))
}

fn blocked<T: ?Sized>(filter: &Shared, slice: &Slice, lines: Lines) -> Result<Local<T>, Error>
where
    AnyStable: HashItem<T>,
{
    let capacity = usize::try_from(slice.capacity).map_err(|_| BuildError::TooLarge)?;
    let hasher = filter.descriptor.hasher.clone();
    let made = raw::from_lines(slice.geometry, capacity, hasher, lines).map_err(of_lines)?;
    Ok(Local::new(LocalKind::Blocked(made), filter.descriptor.normalization))
}

fn lines_of(slice: &Slice) -> Result<Lines, Error> {
    let lines = raw::lines(slice.geometry);
    Lines::zeroed(lines).map_err(|_| Error::Alloc { bytes: lines.saturating_mul(LINE_BYTES) })
}

/// Returns the number of items, rounded down to what a slice counts: one item in `2^j`, so that at
/// least 2^16 count.
fn counted(items: u64, capacity: u64) -> u64 {
    let step = 1 << (capacity >> 16).checked_ilog2().unwrap_or(0);
    items - items % step
}

fn of_lines(error: LinesError) -> Error {
    match error {
        LinesError::Alloc { bytes } => Error::Alloc { bytes },
        _ => Error::Mismatch { field: "geometry" },
    }
}
