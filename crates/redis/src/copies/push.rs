//! Adds the bits of a local filter to one in Redis.
//!
//! The bits of a shard are written into a key that expires, and a script adds them to the bits of
//! the shard at once, if all of them are there: a server may evict a key that expires. So a push
//! that fails in the middle has added some shards and not others, and can be repeated.

use core::slice;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{Cmd, Value};
use tamis_hash::{AnyStable, HashItem};
use tokio::time::timeout_at;

use crate::calls::shared::Call;
use crate::copies::local::Local;
use crate::error::Error;
use crate::servers::router::{Failure, Kind};
use crate::wire::sizes::{LINE_BYTES, Slice};
use crate::wire::tag::TAG_BYTES;
use crate::wire::{commands, scripts};

/// The bytes that are written at once. A chunk without a bit is not written.
const CHUNK_BYTES: u64 = 64 << 10;

/// The shards that are written at once: their chunks are in memory.
const SHARDS_AT_ONCE: usize = 8;

/// After this time the server deletes bits that no script has added.
const EXPIRES_S: u64 = 600;

/// Adds the bits of a local filter, shard by shard.
pub(crate) async fn push<T: ?Sized>(filter: Call<'_>, local: &Local<T>) -> Result<(), Error>
where
    AnyStable: HashItem<T>,
{
    filter.require_hasher(local.hasher())?;
    if local.normalization() != filter.descriptor.normalization {
        return Err(Error::Mismatch { field: "policy" });
    }
    // Find the slice of each part, before anything is sent.
    let sizes = filter.sizes();
    let mut numbers = Vec::new();
    for geometry in local.geometries() {
        let found = sizes.slices.iter().position(|own| own.geometry == geometry);
        numbers.push(found.ok_or(Error::Mismatch { field: "geometry" })? as u32);
    }
    for (part, number) in numbers.into_iter().enumerate() {
        let mut shards =
            (0..sizes.shards).map(|shard| push_key(filter, local, part, shard, number));
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
async fn push_key<T: ?Sized>(
    filter: Call<'_>,
    local: &Local<T>,
    part: usize,
    shard: u32,
    number: u32,
) -> Result<(), Error> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| Error::System { reason: error.to_string().into() })?;
    let bits = filter.name.push(filter.identity(), shard, u64::from_le_bytes(random));
    let pushed = async {
        match write(filter, local, part, [shard, number], &bits).await? {
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
async fn write<T: ?Sized>(
    filter: Call<'_>,
    local: &Local<T>,
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
        let bytes = chunk(local, part, shard, slice, start);
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
fn chunk<T: ?Sized>(
    local: &Local<T>,
    part: usize,
    shard: u32,
    slice: &Slice,
    start: u64,
) -> Vec<u8> {
    let end = (start + CHUNK_BYTES).min(slice.line_bytes());
    let first = u64::from(shard) * slice.lines;
    let lines = first + start / LINE_BYTES..first + end / LINE_BYTES;
    lines.flat_map(|line| local.line(part, line).map(u64::to_le_bytes)).flatten().collect()
}
