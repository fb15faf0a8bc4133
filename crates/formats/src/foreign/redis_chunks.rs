//! RedisBloom: how `SCANDUMP` splits a filter into chunks, and how `LOADCHUNK` joins them.
//!
//! Each chunk goes with an iterator. That of the header is 1; each later one is 1 plus the number
//! of bytes of the arrays so far. A chunk has at most 16 MiB and belongs to one sub-filter. Source:
//! `rebloom.c`, `sb.c` and `cf.c`.

use std::borrow::Cow;
use std::iter;

use super::cursor::in_range;
use super::error::Error;

/// The most bytes of a chunk.
const MAX_CHUNK: usize = 16 << 20;

/// Splits a filter: the header, then the arrays of the sub-filters.
pub(super) fn split<'f>(
    header: Vec<u8>,
    arrays: impl Iterator<Item = &'f [u8]>,
) -> impl Iterator<Item = (i64, Cow<'f, [u8]>)> {
    let data = arrays.flat_map(|array| array.chunks(MAX_CHUNK));
    let data = data.scan(1, |iterator, chunk| {
        *iterator += chunk.len() as i64;
        Some((*iterator, Cow::Borrowed(chunk)))
    });
    iter::once((1, Cow::Owned(header))).chain(data)
}

/// Joins chunks in their order. The last one may be the answer that ends a dump: 0 and no data.
pub(super) fn join<B: AsRef<[u8]>>(
    chunks: impl IntoIterator<Item = (i64, B)>,
) -> Result<Vec<u8>, Error> {
    let mut joined = Vec::new();
    let mut expected = 1;
    let chunks = chunks.into_iter().take_while(|(iterator, _)| *iterator != 0);
    for (number, (iterator, chunk)) in chunks.enumerate() {
        let chunk = chunk.as_ref();
        if number > 0 {
            expected += chunk.len() as i64;
        }
        in_range("the iterator", iterator, expected, expected)?;
        let bytes = chunk.len() as u64;
        joined.try_reserve(chunk.len()).map_err(|_| Error::Alloc { bytes })?;
        joined.extend_from_slice(chunk);
    }
    Ok(joined)
}
