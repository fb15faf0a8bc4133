//! Ways to query items in our layout: by their words, by their lines, or by their bits.

use redis::RedisResult;
use tamis::bloom::Geometry;

use super::commands::Key;
use super::layout::Layout;
use super::server::{Cost, Fallible, Server};
use crate::growing::median;

/// The items of a command or of a pipeline.
pub(crate) const ITEMS: usize = 256;

/// A way to query items.
type Way = fn(&mut Key, &[u64]) -> RedisResult<Vec<bool>>;

/// The ways.
const WAYS: [(&str, Way); 4] = [
    ("`BITFIELD_RO`, `GET i64` per word", Key::query_words),
    ("`GETRANGE` of the line, in a pipeline", Key::query_lines),
    ("`BITFIELD_RO`, `GET u1` per bit", Key::query_bits),
    ("`GETBIT` per bit, in a pipeline", |key, items| {
        Ok(key.bit_by_bit(items, false)?.into_iter().map(|zero| !zero).collect())
    }),
];

/// The costs of queries for items with the same number of words.
#[derive(Debug)]
pub struct Queries {
    /// The bits of an item.
    pub probes: u32,
    /// The words that they are in.
    pub words: u32,
    /// The ways, and the CPU time of the server and of the client.
    pub rows: Vec<(&'static str, [f64; 2])>,
}

/// Queries `items` items in each way, half of which are present, in rounds.
pub(super) fn measure(
    server: &mut Server,
    geometry: Geometry,
    rounds: usize,
    items: u64,
) -> Fallible<Queries> {
    let layout = Layout::Lines(geometry);
    let mut key = Key { connection: server.connect()?, name: "queries".to_owned(), layout };
    let bytes = layout.filled(0..items / 2);
    redis::cmd("SET").arg(&key.name).arg(bytes).query::<()>(&mut key.connection)?;
    let mut figures: [[Vec<f64>; 2]; WAYS.len()] = Default::default();
    let all: Vec<u64> = (0..items).collect();
    for _ in 0..rounds {
        for ((name, way), figures) in WAYS.into_iter().zip(&mut figures) {
            let (found, Cost { server, client, .. }) = server.cost(all.len(), || {
                let mut found = 0;
                for items in all.chunks(ITEMS) {
                    found += way(&mut key, items)?.into_iter().filter(|found| *found).count();
                }
                Ok(found)
            })?;
            let expected = items as usize / 2;
            // The filter is nearly empty.
            if !(expected..=expected + 5).contains(&found) {
                return Err(format!("{name}: {found} items found of {expected}").into());
            }
            figures.iter_mut().zip([server, client]).for_each(|(all, one)| all.push(one));
        }
    }
    server.command::<()>(&["DEL", &key.name])?;
    let rows = WAYS
        .into_iter()
        .zip(figures)
        .map(|((name, _), figures)| (name, figures.map(|all| median(all).unwrap_or_default())));
    Ok(Queries { probes: geometry.probes(), words: geometry.words(), rows: rows.collect() })
}
