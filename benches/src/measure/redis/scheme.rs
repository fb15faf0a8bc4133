//! The schemes: ways to keep a Bloom filter in Redis.

use redis::{Connection, cmd, pipe};
use tamis::hash::{HashItem, Rapid};
use tamis_redis::{LocalKind, RedisBloomFilter};

use super::server::Server;
use crate::measure::setup::Fallible;

/// How items are inserted and queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By our library.
    Library,
    /// By `SETBIT` and `GETBIT`, in a pipeline.
    Pipeline,
    /// By a script that calls these.
    Script,
}

/// A way, and the number of items of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheme {
    /// Its name.
    pub(super) name: &'static str,
    /// The items of a call.
    pub(super) batch: usize,
    way: Way,
}

/// All schemes.
pub(super) const ALL: [Scheme; 7] = [
    Scheme::new("tamis, 1 item per call", 1, Way::Library),
    Scheme::new("tamis, 200 items per call", 200, Way::Library),
    Scheme::new("tamis, 2048 items per call", 2048, Way::Library),
    Scheme::new("`SETBIT` per bit, in a pipeline, 1 item per call", 1, Way::Pipeline),
    Scheme::new("`SETBIT` per bit, in a pipeline, 200 items per call", 200, Way::Pipeline),
    Scheme::new("Lua script, 1 item per call", 1, Way::Script),
    Scheme::new("Lua script, 200 items per call", 200, Way::Script),
];

impl Scheme {
    const fn new(name: &'static str, batch: usize, way: Way) -> Self {
        Self { name, batch, way }
    }
}

/// The hasher of all schemes.
const HASHER: Rapid = Rapid::with_seed(1);

/// Sets the bits of items, and returns whether a bit of each was 0. `ARGV`: the bits per item, and
/// the bits.
const INSERT: &str = "local k, new = tonumber(ARGV[1]), {} \
for item = 0, (#ARGV - 1) / k - 1 do local zeros = 0 \
for at = item * k + 2, item * k + k + 1 do \
zeros = zeros + 1 - redis.call('SETBIT', KEYS[1], ARGV[at], 1) end \
new[item + 1] = zeros > 0 and 1 or 0 end return new";

/// Returns whether a bit of each item is 0, and stops at the first that is. `ARGV` as above.
const CONTAINS: &str = "local k, absent = tonumber(ARGV[1]), {} \
for item = 0, (#ARGV - 1) / k - 1 do absent[item + 1] = 0 \
for at = item * k + 2, item * k + k + 1 do \
if redis.call('GETBIT', KEYS[1], ARGV[at]) == 0 then absent[item + 1] = 1 break end end end \
return absent";

/// A filter of a scheme, and a client with a connection of its own.
pub(super) struct Filter {
    pub(super) scheme: Scheme,
    key: String,
    /// The bits of the key, and the bits of an item.
    layout: (u64, u32),
    connection: Connection,
    library: Option<RedisBloomFilter<u64>>,
    /// The hashes of the scripts.
    insert: String,
    contains: String,
}

impl Filter {
    /// Creates the filter, with the items from 0 to half of its capacity. It has as many bits as
    /// our filter of this capacity and rate.
    pub(super) fn create(
        server: &Server,
        scheme: Scheme,
        (capacity, rate): (u64, f64),
    ) -> Fallible<Self> {
        let key = scheme.name.replace(' ', "-");
        let builder = RedisBloomFilter::<u64>::builder(&server.url(), &key).hasher(HASHER);
        let builder = builder.capacity(capacity).false_positive_rate(rate).fixed();
        let library = builder.create()?;
        let local = library.local()?;
        let items = 0..capacity / 2;
        let mut connection = server.connect()?;
        let mut load = |script| cmd("SCRIPT").arg("LOAD").arg(script).query(&mut connection);
        let (insert, contains) = (load(INSERT)?, load(CONTAINS)?);
        let LocalKind::Blocked(empty) = library.local()?.into_filter() else {
            return Err("the copy of a filter that does not grow has more than one slice".into());
        };
        let layout = (empty.geometry().bits(), empty.geometry().probes());
        let mut filter = Self { scheme, key, layout, connection, library: None, insert, contains };
        if scheme.way == Way::Library {
            items.for_each(|item| _ = local.insert(&item));
            library.push(&local)?;
            filter.library = Some(library);
        } else {
            builder.destroy()?;
            let mut bytes = vec![0_u8; layout.0 as usize / 8];
            for offset in items.flat_map(|item| filter.offsets(item)) {
                bytes[offset as usize / 8] |= 0x80 >> (offset % 8);
            }
            for (chunk, bytes) in (0_u64..).zip(bytes.chunks(1 << 20)) {
                let mut command = cmd("SETRANGE");
                command.arg(&filter.key).arg(chunk << 20).arg(bytes);
                command.query::<u64>(&mut filter.connection)?;
            }
        }
        Ok(filter)
    }

    /// Inserts the items, or queries them, as many per call as the scheme has. Returns whether each
    /// was new, or is absent.
    pub(super) fn call(&mut self, items: &[u64], insert: bool) -> Fallible<Vec<bool>> {
        let mut all = Vec::with_capacity(items.len());
        for items in items.chunks(self.scheme.batch) {
            all.extend(match self.scheme.way {
                Way::Library => self.library(items, insert)?,
                Way::Pipeline => self.pipeline(items, insert)?,
                Way::Script => self.script(items, insert)?,
            });
        }
        Ok(all)
    }

    fn library(&self, items: &[u64], insert: bool) -> Fallible<Vec<bool>> {
        let filter = self.library.as_ref().ok_or("another scheme")?;
        let negated = |found: Vec<bool>| found.into_iter().map(|found| !found).collect();
        Ok(match (items, insert) {
            ([item], true) => vec![filter.insert(item)?],
            ([item], false) => vec![!filter.contains(item)?],
            (items, true) => filter.insert_many(items).into_iter().collect::<Result<_, _>>()?,
            (items, false) => negated(filter.contains_many(items)?),
        })
    }

    /// Returns the offsets of an item's bits, by double hashing: a second hash is the step from bit
    /// to bit.
    fn offsets(&self, item: u64) -> Vec<u64> {
        let (bits, probes) = self.layout;
        let first = HASHER.hash_item(&item);
        let step = HASHER.hash_item(&first) | 1;
        let hashes = (0..u64::from(probes)).map(|n| first.wrapping_add(n.wrapping_mul(step)));
        hashes.map(|hash| ((u128::from(hash) * u128::from(bits)) >> 64) as u64).collect()
    }

    /// Sends one command per bit of the items, `SETBIT` or `GETBIT`, in one pipeline.
    fn pipeline(&mut self, items: &[u64], set: bool) -> Fallible<Vec<bool>> {
        let mut pipeline = pipe();
        for offset in items.iter().flat_map(|item| self.offsets(*item)) {
            pipeline.cmd(if set { "SETBIT" } else { "GETBIT" }).arg(&self.key).arg(offset);
            if set {
                pipeline.arg(1);
            }
        }
        let old: Vec<u64> = pipeline.query(&mut self.connection)?;
        Ok(old.chunks(self.layout.1 as usize).map(|bits| bits.contains(&0)).collect())
    }

    /// Runs one of the scripts by its hash.
    fn script(&mut self, items: &[u64], insert: bool) -> Fallible<Vec<bool>> {
        let offsets: Vec<u64> = items.iter().flat_map(|item| self.offsets(*item)).collect();
        let mut command = cmd("EVALSHA");
        command.arg(if insert { &self.insert } else { &self.contains }).arg(1).arg(&self.key);
        command.arg(self.layout.1).arg(offsets);
        let replies: Vec<u64> = command.query(&mut self.connection)?;
        Ok(replies.into_iter().map(|reply| reply == 1).collect())
    }
}
