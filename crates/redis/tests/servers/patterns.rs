//! Patterns of clients: however short they live, a filter is as large, and its rate as low, as with
//! one client.
//!
//! A client that lives for a few inserts cannot find out by its own inserts that a slice is
//! full.

use std::future::{Future, poll_fn};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::task::Poll;
use std::time::Instant;
use std::{env, pin};

use futures_util::{StreamExt, stream};
use tamis_hash::Xxh3;
use tamis_redis::{AsyncRedisBloomFilter, RedisBloomFilter, Storage};
use tokio::runtime::Runtime;

use crate::harness::Server;

/// Whether this is `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler.
const LONG: bool = option_env!("TAMIS_LONG").is_some();

/// The rate of the filters.
const RATE: f64 = 1e-4;

/// The clients that run at once.
const AT_ONCE: usize = 8;

/// What a process is given that inserts items and waits to be killed: an address, the first item,
/// and their number.
const ROLE: &str = "TAMIS_REDIS_KILLED";

/// The name of the test that is such a process.
const KILLED: &str = "patterns::killed_processes_do_not_overfill_a_filter";

/// Clients, each of which inserts other items into one filter.
#[derive(Clone, Copy)]
struct Pattern {
    clients: u64,
    /// The items of each client.
    items: u64,
    capacity: u64,
    shards: u32,
    /// The items that one client has inserted before.
    before: u64,
}

impl Pattern {
    /// Creates a filter with the items that are there before.
    fn create(self, server: &Server, name: &str) -> RedisBloomFilter<u64> {
        let builder = RedisBloomFilter::<u64>::builder(&server.url(), name);
        let builder = builder.capacity(self.capacity).shards(self.shards);
        let builder = builder.false_positive_rate(RATE).hasher(Xxh3::with_seed(1));
        let filter = builder.create().unwrap();
        assert!(filter.insert_many(1 << 40..(1 << 40) + self.before).iter().all(Result::is_ok));
        filter
    }

    fn items_of(self, client: u64) -> Vec<u64> {
        (client * self.items..(client + 1) * self.items).collect()
    }

    /// Creates a filter, lets the clients insert their items, and compares it with a filter of one
    /// client.
    fn run(self, insert: impl AsyncFn(AsyncRedisBloomFilter<u64>, Vec<u64>, u64)) {
        let Some(server) = Server::start() else { return };
        self.create(&server, "many");
        let (url, start) = (server.url(), Instant::now());
        Runtime::new().unwrap().block_on(async {
            let builder = AsyncRedisBloomFilter::<u64>::builder(&url, "many");
            let clients = stream::iter(0..self.clients).map(async |client| {
                let filter = builder.open().await.unwrap();
                insert(filter, self.items_of(client), client).await;
            });
            clients.buffer_unordered(AT_ONCE).for_each(async |()| {}).await;
        });
        eprintln!("{} clients in {:.1?}", self.clients, start.elapsed());
        self.compare(&server);
    }

    /// Compares the filter with one into which one client inserts the same items.
    fn compare(self, server: &Server) {
        let many = RedisBloomFilter::<u64>::builder(&server.url(), "many").open().unwrap();
        let one = self.create(server, "one");
        let mut inserted = self.before;
        let all: Vec<u64> = (0..self.clients * self.items).collect();
        for items in all.chunks(10_000) {
            // A client that was stopped has not inserted all of its items.
            let found = many.contains_many(items).unwrap();
            let items = items.iter().zip(found).filter(|(_, found)| *found).map(|(item, _)| item);
            let results = one.insert_many(items);
            inserted += results.len() as u64;
            assert!(results.iter().all(Result::is_ok));
        }
        let figures = many.figures().unwrap();
        let [many, one] = [many, one].map(|filter| filter.storage().unwrap());
        eprintln!("{inserted} items by many clients: {figures:?}, {many:?}, by one: {one:?}");
        assert!(inserted > self.capacity, "a filter that must grow: {inserted} items");
        assert!(figures.false_positive_rate.value <= RATE, "{figures:?}");
        assert!(figures.saturation.value <= 1.0, "{figures:?}");
        // A shard that is about to grow may have grown in one of them only.
        let ratio = |of: fn(&Storage) -> u64| of(&many) as f64 / of(&one) as f64;
        let ratios = [ratio(|storage| storage.keys), ratio(|storage| storage.size_in_bytes)];
        assert!(ratios.iter().all(|ratio| (0.9..1.1).contains(ratio)), "{many:?}, {one:?}");
    }
}

/// Of one shard, so that few clients fill it, none of which inserts a 1024th of its capacity.
const SHORT: Pattern =
    Pattern { clients: 1400, items: 90, capacity: 100_000, shards: 1, before: 0 };

#[test]
fn short_lived_clients_do_not_overfill_a_filter() {
    let long = [
        Pattern { clients: 10_000, items: 200, capacity: 1_000_000, shards: 16, before: 0 },
        Pattern { clients: 100_000, items: 10, capacity: 100_000, shards: 16, before: 0 },
    ];
    for pattern in if LONG { &long[..] } else { &[SHORT] } {
        pattern.run(async |filter, items, _| {
            assert!(filter.insert_many(&items).await.iter().all(Result::is_ok));
        });
    }
}

/// Each client drops its insert at some point: before the reply, after it, or before the shard has
/// grown.
#[test]
fn aborted_clients_do_not_overfill_a_filter() {
    // On a busy machine more of them end too early: up to 27 % of the items were not inserted.
    let clients = if LONG { 20_000 } else { 1900 };
    Pattern { clients, ..SHORT }.run(async |filter, items, client| {
        let mut insert = pin::pin!(filter.insert_many(&items));
        let mut left = 1 + client % 6;
        // The number of polls bounds the loop.
        poll_fn(|context| {
            left -= 1;
            match insert.as_mut().poll(context) {
                Poll::Pending if left > 0 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        })
        .await;
    });
}

/// Each process is killed when it has its verdicts.
#[test]
fn killed_processes_do_not_overfill_a_filter() {
    if let Ok(role) = env::var(ROLE) {
        return insert_and_wait(&role);
    }
    // Without the items before, it would take a thousand processes to fill the filter.
    let (clients, before) = if LONG { (2000, 0) } else { (100, 95_000) };
    let pattern = Pattern { clients, before, ..SHORT };
    let Some(server) = Server::start() else { return };
    pattern.create(&server, "many");
    for client in 0..clients {
        let role = format!("{}|{}|{}", server.url(), client * pattern.items, pattern.items);
        let mut process = Command::new(env::current_exe().unwrap())
            .args([KILLED, "--exact", "--nocapture"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "inserted"), "process {client} has failed");
        process.kill().unwrap();
        process.wait().unwrap();
    }
    pattern.compare(&server);
}

/// Inserts items, says so, and waits.
fn insert_and_wait(role: &str) {
    let mut role = role.split('|');
    let [address, first, items] = [(); 3].map(|()| role.next().unwrap());
    let [first, items] = [first, items].map(|number| number.parse::<u64>().unwrap());
    let filter = RedisBloomFilter::<u64>::builder(address, "many").open().unwrap();
    assert!(filter.insert_many(first..first + items).iter().all(Result::is_ok));
    // If tests run one by one, the line begins with the name of this one.
    println!("\ninserted");
    loop {
        std::thread::park();
    }
}

/// Items that are inserted again and again make no bits, so nobody needs to count bits because of
/// them.
#[test]
fn repeated_items_are_seldom_counted() {
    const ITEMS: u64 = 500;
    let repeats = if LONG { 10_000_000 } else { 100_000 };
    let Some(server) = Server::start() else { return };
    let builder = RedisBloomFilter::<u64>::builder(&server.url(), "hot");
    let filter = builder.capacity(1_000_000).hasher(Xxh3::with_seed(1)).create().unwrap();
    let items: Vec<u64> = (0..ITEMS).collect();
    let mut new = 0;
    // One item alone, and all of them in turn.
    for _ in 0..repeats / 1000 {
        new += filter.insert_many([0; 500]).iter().filter(|new| **new == Ok(true)).count();
        new += filter.insert_many(&items).iter().filter(|new| **new == Ok(true)).count();
    }
    assert_eq!(new as u64, ITEMS);
    let storage = filter.storage().unwrap();
    assert_eq!((storage.slices, storage.keys), (1, 16), "{storage:?}");
    let counts = server.commands("bitcount");
    assert!(counts <= ITEMS / 10, "{counts} counts for {ITEMS} items");
}
