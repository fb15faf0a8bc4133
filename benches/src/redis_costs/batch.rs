//! One command with many items: what an item costs, and for how long the command blocks the server.

use tamis::bloom::Geometry;

use super::commands::Key;
use super::layout::Layout;
use super::server::{Cost, Fallible, Server};
use crate::growing::median;

/// The items of a command.
const ITEMS: [usize; 6] = [1, 8, 32, 64, 256, 1024];

/// The figures at one rate.
#[derive(Debug)]
pub struct Sizes {
    /// The rate.
    pub rate: f64,
    /// The bits per item.
    pub probes: u32,
    /// The bytes of the key.
    pub bytes: u64,
    /// The items of a command, and the figures.
    pub rows: Vec<(usize, Blocking)>,
}

/// What a command costs the server, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Blocking {
    /// CPU time per item, all included.
    pub cpu: f64,
    /// The time of its execution that 99 % do not exceed.
    pub p99: f64,
    /// The longest execution.
    pub longest: f64,
}

/// Inserts `items` new items in commands of each size, in rounds.
pub(super) fn measure(
    server: &mut Server,
    rate: f64,
    geometry: Geometry,
    rounds: usize,
    items: u64,
) -> Fallible<Sizes> {
    let layout = Layout::Lines(geometry);
    let mut key = Key { connection: server.connect()?, name: "batches".to_owned(), layout };
    let last = (layout.bytes() - 1).to_string();
    server.command::<u64>(&["SETRANGE", &key.name, &last, "\0"])?;
    server.command::<()>(&["CONFIG", "SET", "latency-tracking-info-percentiles", "99 100"])?;
    let mut figures: [[Vec<f64>; 3]; ITEMS.len()] = Default::default();
    let mut next = 0;
    for _ in 0..rounds {
        for (size, figures) in ITEMS.into_iter().zip(&mut figures) {
            // Single items take a round trip each.
            let count = if size == 1 { items / 10 } else { items };
            let all: Vec<u64> = (next..next + count).collect();
            next += count;
            server.command::<()>(&["CONFIG", "RESETSTAT"])?;
            let ((), Cost { server: cpu, .. }) = server.cost(all.len(), || {
                all.chunks(size).try_for_each(|items| key.insert_by_bitfield(items).map(drop))?;
                Ok(())
            })?;
            let times = server.info("latencystats", "latency_percentiles_usec_bitfield")?;
            let times = times.split(',').filter_map(|pair| pair.split_once('=')?.1.parse().ok());
            figures
                .iter_mut()
                .zip([cpu].into_iter().chain(times))
                .for_each(|(all, one)| all.push(one));
        }
    }
    server.command::<()>(&["DEL", &key.name])?;
    let rows = ITEMS.into_iter().zip(figures).map(|(size, figures)| {
        let [cpu, p99, longest] = figures.map(|all| median(all).unwrap_or_default());
        (size, Blocking { cpu, p99, longest })
    });
    Ok(Sizes { rate, probes: geometry.probes(), bytes: layout.bytes(), rows: rows.collect() })
}
