//! Adds the bits of a local filter to one in Redis.
//!
//! The bits of a shard are written into a key that expires, and a script adds them to the bits of
//! the shard at once, if all of them are there: a server may evict a key that expires. So a push
//! that fails in the middle has added some shards and not others, and can be repeated.

use core::slice;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{Cmd, Value};
use tokio::time::timeout_at;

use crate::calls::shared::{Call, Shared};
use crate::copies::local::Local;
use crate::error::Error;
use crate::servers::router::{Failure, Kind};
use crate::wire::sizes::{LINE_BYTES, LINE_WORDS, Slice};
use crate::wire::tag::TAG_BYTES;
use crate::wire::{commands, scripts};

/// The bytes that are written at once. A chunk without a bit is not written.
const CHUNK_BYTES: u64 = 64 << 10;

/// The shards that are written at once: their chunks are in memory.
const SHARDS_AT_ONCE: usize = 8;

/// After this time the server deletes bits that no script has added.
const EXPIRES_S: u64 = 600;

/// Returns the words of a line of a part of a local filter.
pub(crate) type Line<'l> = dyn Fn(usize, u64) -> [u64; LINE_WORDS as usize] + Sync + 'l;

/// Returns the number of the slice of each part of a local filter.
///
/// # Errors
///
/// [`Error::Mismatch`] if it does not fit, [`Error::Window`] if the filter forgets.
pub(crate) fn fit<T: ?Sized>(filter: &Shared, local: &Local<T>) -> Result<Vec<u32>, Error> {
    filter.require_all()?;
    filter.require_hasher(local.hasher())?;
    if local.normalization() != filter.descriptor.normalization {
        return Err(Error::Mismatch { field: "policy" });
    }
    let slices = &filter.sizes().slices;
    let number = |geometry| slices.iter().position(|own| own.geometry == geometry);
    let mismatch = Error::Mismatch { field: "geometry" };
    let numbers = local.geometries().into_iter().map(|geometry| Some(number(geometry)? as u32));
    numbers.collect::<Option<_>>().ok_or(mismatch)
}

/// Adds the bits of a local filter, shard by shard. `numbers`: what [`fit`] has returned.
pub(crate) async fn push(filter: Call<'_>, numbers: &[u32], line: &Line<'_>) -> Result<(), Error> {
    let shards = filter.sizes().shards;
    for (part, &number) in numbers.iter().enumerate() {
        let mut shards = (0..shards).map(|shard| push_key(filter, line, part, shard, number));
        let mut pushing: FuturesUnordered<_> = shards.by_ref().take(SHARDS_AT_ONCE).collect();
        let mut result = Ok(());
        while let Some(pushed) = pushing.next().await {
            result = result.and(pushed);
            // After an error no other shard begins, and those that have begun delete their bits.
            if result.is_ok() {
                pushing.extend(shards.next());
            }
        }
        result?;
    }
    Ok(())
}

/// Adds the bits of one shard to one slice.
async fn push_key(
    filter: Call<'_>,
    line: &Line<'_>,
    part: usize,
    shard: u32,
    number: u32,
) -> Result<(), Error> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| Error::System { reason: error.to_string().into() })?;
    let bits = filter.name.push(filter.identity(), shard, u64::from_le_bytes(random));
    let pushed = async {
        match write(filter, line, part, [shard, number], &bits).await? {
            0 => Ok(()),
            ones => unite(filter, [shard, number], &bits, ones).await,
        }
    };
    let result = pushed.await;
    if result.is_err() {
        // If this fails too, or comes after the end of the call, they expire.
        let delete = commands::delete(slice::from_ref(&bits));
        let deleted = filter.send_one(shard, delete, Kind::Idempotent);
        _ = timeout_at(filter.end(), deleted).await;
    }
    result
}

/// Writes the bits of a shard into a key of their own, with a tag at their end. Returns the number
/// of ones, and of the tag's; or 0, and writes nothing, if no bit is set.
async fn write(
    filter: Call<'_>,
    line: &Line<'_>,
    part: usize,
    [shard, number]: [u32; 2],
    bits: &str,
) -> Result<u64, Error> {
    let slice = filter.slice(number);
    let send = async |start, bytes: &[u8], is_first: bool| {
        let sent = [commands::write(bits, start, bytes), commands::expire(bits, EXPIRES_S)];
        // A write keeps the time of a key. So from the first command on, the key expires.
        let reserved = is_first.then(|| commands::reserve(bits, EXPIRES_S));
        let sent: Vec<Cmd> = reserved.into_iter().chain(sent).collect();
        filter.send(shard, &sent, Kind::Idempotent).await?;
        Ok::<_, Error>(ones(bytes))
    };
    let mut sum = 0;
    for start in (0..slice.line_bytes()).step_by(CHUNK_BYTES as usize) {
        let bytes = chunk(line, part, shard, slice, start);
        if ones(&bytes) > 0 {
            sum += send(start, &bytes, sum == 0).await?;
        }
    }
    if sum > 0 {
        // The tag gives the bits their length.
        sum += send(slice.line_bytes(), &filter.identity().tag(false), false).await?;
    }
    Ok(sum)
}

/// Adds bits that were written, which have this number of ones, to those of their slice.
async fn unite(
    filter: Call<'_>,
    [shard, number]: [u32; 2],
    bits: &str,
    ones: u64,
) -> Result<(), Error> {
    // A shard that has not come to this slice yet grows until it has.
    let mut current = filter.find_current(shard).await?;
    while current < number {
        filter.grow(shard, current, Kind::Idempotent).await?;
        current = filter.find_current(shard).await?;
    }
    let (key, slice) = (filter.key(shard, number), filter.slice(number));
    let bytes = slice.line_bytes() + TAG_BYTES;
    let unite = scripts::unite([&key, bits], slice, filter.identity(), bytes, ones);
    // Not repeated: the bits are gone after the first time. The caller repeats the push.
    let sent = filter.write(shard, &[unite], Kind::Write).await;
    let sample = match sent.map_err(Failure::of_write)?.values.first() {
        Some(Value::Int(-1)) => {
            filter.lost(shard, number).await?;
            return Err(Error::Incomplete { shard });
        }
        Some(Value::Int(-2)) => return Err(Error::Incomplete { shard }),
        Some(Value::Int(ones)) => u64::try_from(*ones).unwrap_or(0),
        _ => return Err(Error::Reply { expected: "a number" }),
    };
    if current == number
        && sample >= slice.full
        && let Err(error) = filter.grow(shard, number, Kind::Once).await
    {
        filter.growth_failed(shard, number, error);
    }
    Ok(())
}

fn ones(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
}

/// Returns bytes of a shard.
fn chunk(line: &Line<'_>, part: usize, shard: u32, slice: &Slice, start: u64) -> Vec<u8> {
    let end = (start + CHUNK_BYTES).min(slice.line_bytes());
    let first = u64::from(shard) * slice.lines;
    let lines = first + start / LINE_BYTES..first + end / LINE_BYTES;
    lines.flat_map(|number| line(part, number).map(u64::to_le_bytes)).flatten().collect()
}
