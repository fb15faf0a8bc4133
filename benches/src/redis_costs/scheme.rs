//! The schemes: ways to keep a Bloom filter in Redis.

use tamis::bloom::Geometry;
use tamis_redis::RedisBloomFilter;

use super::commands::{CONTAINS, INSERT, Key};
use super::layout::{Layout, hasher};
use super::server::{Fallible, Server};

/// How items are inserted and queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By our library. A filter that grows is made for a part of the items.
    Library { grows: bool },
    /// By the same commands without the library.
    BitField,
    /// By `SETBIT` and `GETBIT`.
    Pipeline,
    /// By a script that calls these.
    Script,
    /// By `GETBIT` for each bit, then `SETBIT` for each bit, as scrapy-redis-bloomfilter does.
    Sequential,
}

/// A way, and the number of items of a call.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// Its name.
    pub name: &'static str,
    /// The items of a call.
    pub batch: usize,
    /// Round trips per call if the item is new.
    pub round_trips_if_new: u32,
    /// Round trips per call if it is not, and for a query.
    pub round_trips: u32,
    /// Whether exactly one of several clients inserts an item.
    pub one_winner: bool,
    way: Way,
}

impl Scheme {
    /// Returns whether it is a scheme of our library.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.way, Way::Library { .. })
    }
}

/// A filter that grows is made for this part of the items.
const GROWTH: u64 = 8;

/// The bits of a key of scrapy-redis-bloomfilter, and its bits per item.
const SEQUENTIAL: Layout = Layout::Anywhere { bits: 1 << 30, probes: 6 };

/// Returns all schemes.
pub(crate) fn all() -> Vec<Scheme> {
    let one_trip = |name, batch, way| {
        let one_winner = way != Way::Pipeline;
        Scheme { name, batch, round_trips_if_new: 1, round_trips: 1, one_winner, way }
    };
    let library = Way::Library { grows: false };
    let grown = one_trip("ours, grown", 2048, Way::Library { grows: true });
    let sequential = one_trip("scrapy-redis-bloomfilter", 1, Way::Sequential);
    vec![
        one_trip("ours", 1, library),
        one_trip("ours", 200, library),
        one_trip("ours", 2048, library),
        Scheme { round_trips_if_new: 2, ..grown },
        one_trip("`BITFIELD` without our library", 1, Way::BitField),
        one_trip("`SETBIT` per bit, in a pipeline", 1, Way::Pipeline),
        one_trip("`SETBIT` per bit, in a pipeline", 200, Way::Pipeline),
        one_trip("Lua script", 1, Way::Script),
        one_trip("Lua script", 200, Way::Script),
        Scheme { round_trips_if_new: 12, round_trips: 6, one_winner: false, ..sequential },
    ]
}

/// The filter of a scheme for a number of items at a rate.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub(super) scheme: Scheme,
    name: String,
    capacity: u64,
    rate: f64,
    layout: Layout,
}

/// Returns the geometry that our library chooses.
pub(super) fn geometry(server: &Server, capacity: u64, rate: f64) -> Fallible<Geometry> {
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "sizes").capacity(capacity);
    let builder = builder.false_positive_rate(rate).fixed();
    let local = builder.create()?.local()?.into_blocked().ok_or("it does not grow")?;
    builder.destroy()?;
    Ok(local.geometry())
}

/// A client of a filter, with a connection of its own.
pub(super) enum Client {
    Library(RedisBloomFilter<u64>),
    BitField(Key),
    Pipeline(Key),
    Script { key: Key, insert: String, contains: String },
    Sequential(Key),
}

impl Filter {
    /// Creates the filter, with the items from 0 to half of its capacity. The geometry is that of
    /// our filter of this capacity and rate.
    pub(super) fn create(
        server: &Server,
        (name, scheme): (String, Scheme),
        capacity: u64,
        rate: f64,
        geometry: Geometry,
    ) -> Fallible<Self> {
        let layout = match scheme.way {
            Way::Library { .. } | Way::BitField => Layout::Lines(geometry),
            Way::Pipeline | Way::Script => {
                Layout::Anywhere { bits: geometry.bits(), probes: geometry.probes() }
            }
            Way::Sequential => SEQUENTIAL,
        };
        let filter = Self { scheme, name, capacity, rate, layout };
        let items = 0..capacity / 2;
        if let Way::Library { grows } = scheme.way {
            let ours = filter.builder(server).create()?;
            if grows {
                // By inserts, so that it grows.
                let items: Vec<u64> = items.collect();
                for chunk in items.chunks(1 << 16) {
                    ours.insert_many(chunk).into_iter().collect::<Result<Vec<bool>, _>>()?;
                }
            } else {
                let local = ours.local()?;
                items.for_each(|item| _ = local.insert(&item));
                ours.push(&local)?;
            }
        } else {
            let mut connection = server.connect()?;
            for (chunk, bytes) in (0_u64..).zip(layout.filled(items).chunks(1 << 20)) {
                let mut command = redis::cmd("SETRANGE");
                command.arg(&filter.name).arg(chunk << 20).arg(bytes);
                command.query::<u64>(&mut connection)?;
            }
        }
        Ok(filter)
    }

    fn builder(&self, server: &Server) -> tamis_redis::Builder<u64> {
        let builder = RedisBloomFilter::builder(&server.url(), &self.name).hasher(hasher());
        let builder = builder.false_positive_rate(self.rate);
        if self.scheme.way == (Way::Library { grows: true }) {
            builder.capacity(self.capacity / GROWTH)
        } else {
            builder.capacity(self.capacity).fixed()
        }
    }

    /// Connects a client.
    pub(super) fn connect(&self, server: &Server) -> Fallible<Client> {
        let mut key =
            Key { connection: server.connect()?, name: self.name.clone(), layout: self.layout };
        Ok(match self.scheme.way {
            Way::Library { .. } => Client::Library(self.builder(server).open()?),
            Way::BitField => Client::BitField(key),
            Way::Pipeline => Client::Pipeline(key),
            Way::Script => {
                let mut load = |script| {
                    redis::cmd("SCRIPT").arg("LOAD").arg(script).query(&mut key.connection)
                };
                let (insert, contains) = (load(INSERT)?, load(CONTAINS)?);
                Client::Script { key, insert, contains }
            }
            Way::Sequential => Client::Sequential(key),
        })
    }

    /// Deletes the keys.
    pub(super) fn delete(self, server: &mut Server) -> Fallible<()> {
        match self.scheme.way {
            Way::Library { .. } => Ok(self.builder(server).destroy()?),
            _ => server.command(&["DEL", &self.name]),
        }
    }
}

impl Client {
    /// Inserts the items, `batch` per call, and returns whether each was new.
    pub(super) fn insert(&mut self, items: &[u64], batch: usize) -> Fallible<Vec<bool>> {
        let mut all = Vec::with_capacity(items.len());
        for items in items.chunks(batch) {
            match self {
                Self::Library(filter) => match items {
                    [item] => all.push(filter.insert(item)?),
                    items => {
                        let results = filter.insert_many(items).into_iter();
                        all.extend(results.collect::<Result<Vec<bool>, _>>()?);
                    }
                },
                Self::BitField(key) => all.extend(key.insert_by_bitfield(items)?),
                Self::Pipeline(key) => all.extend(key.bit_by_bit(items, true)?),
                Self::Script { key, insert, .. } => all.extend(key.script(insert, items)?),
                Self::Sequential(key) => {
                    for item in items {
                        let new = key.one_by_one(*item, false)?;
                        if new {
                            key.one_by_one(*item, true)?;
                        }
                        all.push(new);
                    }
                }
            }
        }
        Ok(all)
    }

    /// Queries the items, `batch` per call, and returns whether each was found.
    pub(super) fn contains(&mut self, items: &[u64], batch: usize) -> Fallible<Vec<bool>> {
        let mut all = Vec::with_capacity(items.len());
        for items in items.chunks(batch) {
            match self {
                Self::Library(filter) => match items {
                    [item] => all.push(filter.contains(item)?),
                    items => all.extend(filter.contains_many(items)?),
                },
                Self::BitField(key) => all.extend(key.query_words(items)?),
                Self::Pipeline(key) => {
                    all.extend(key.bit_by_bit(items, false)?.into_iter().map(|zero| !zero));
                }
                Self::Script { key, contains, .. } => all.extend(key.script(contains, items)?),
                Self::Sequential(key) => {
                    for item in items {
                        all.push(!key.one_by_one(*item, false)?);
                    }
                }
            }
        }
        Ok(all)
    }
}
