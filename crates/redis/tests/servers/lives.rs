//! Filters that are deleted and created again under running clients.

use std::collections::HashSet;

use futures_util::future::join_all;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, cmd};
use tamis_redis::{AsyncRedisBloomFilter, Error, RedisBloomFilter};

use crate::harness::{PATIENCE, Server};

const FILTERS: usize = 12;

/// The workers of each filter.
const WORKERS: usize = 4;

/// The rounds of each worker. In each round one of them destroys the filter.
const ROUNDS: usize = if option_env!("TAMIS_LONG").is_some() { 500 } else { 25 };

/// The items of each round. All workers insert the same.
const ITEMS: u64 = 10;

/// What a worker has seen.
#[derive(Default)]
struct Seen {
    /// The verdicts `true`: the identity of the filter, and the item.
    won: Vec<(String, u64)>,
    /// The errors that no worker can cause for another one.
    refused: Vec<Error>,
}

impl Seen {
    /// Takes note of an error.
    fn error(&mut self, error: Option<Error>) {
        let expected = ["Missing", "Exists", "Creating", "Replaced"];
        let is_expected = |error: &Error| {
            let text = format!("{error:?}");
            expected.iter().any(|name| text.starts_with(name))
        };
        self.refused.extend(error.filter(|error| !is_expected(error)));
    }
}

fn name(filter: usize) -> String {
    format!("filter-{filter}")
}

#[test]
fn filters_stay_usable_while_workers_destroy_and_create_them() {
    let Some(server) = Server::start() else { return };
    let url = server.url();
    let workers = (0..FILTERS * WORKERS).map(|number| worker(&server, number / WORKERS, number));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let seen = runtime.block_on(join_all(workers));

    // 1. Each filter can be used, and is deleted as a whole.
    let unusable: Vec<_> = (0..FILTERS).filter_map(|number| unusable(&url, number)).collect();
    assert_eq!(unusable, [""; 0], "{} of {FILTERS} filters", unusable.len());
    for key in server.keys() {
        assert!(key.ends_with("}:lives"), "{key} is left");
        let seconds: i64 = server.query(&["TTL", &key]);
        assert!(seconds >= 0, "{key} is left for ever");
    }

    // 2. No item of a filter has two winners, and no worker has an error that it cannot expect.
    let (mut lives, mut all) = (HashSet::new(), HashSet::new());
    for (identity, item) in seen.iter().flat_map(|seen| &seen.won) {
        lives.insert(identity);
        assert!(all.insert((identity, item)), "two winners of {item}");
    }
    eprintln!("{} lives, {} winners", lives.len(), all.len());
    assert!(lives.len() > FILTERS, "filters that were created again: {}", lives.len());
    let refused: Vec<_> = seen.iter().flat_map(|seen| &seen.refused).collect();
    assert_eq!(refused.len(), 0, "{refused:?}");
}

/// Opens or creates a filter, inserts items and sometimes destroys it, again and again.
async fn worker(server: &Server, filter: usize, number: usize) -> Seen {
    let name = name(filter);
    let builder = AsyncRedisBloomFilter::<u64>::builder(&server.url(), &name);
    let builder = builder.capacity(1000).false_positive_rate(1e-12);
    // No call waits if the filters work.
    let builder = builder.timeout(PATIENCE).deadline(PATIENCE);
    // A blocking connection would hold up all workers, which share a thread. By default a reply has
    // half a second.
    let config =
        AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    let client = Client::open(server.url()).unwrap();
    let connected = client.get_multiplexed_async_connection_with_config(&config).await;
    let mut connection = connected.unwrap();
    let mut seen = Seen::default();
    for round in 0..ROUNDS {
        seen.error(builder.open_or_create().await.err());
        // If the filter is the same before and after it is opened, that one was opened.
        let before = identity(&mut connection, &name).await;
        let opened = builder.open().await;
        let after = identity(&mut connection, &name).await;
        match opened {
            Ok(opened) => {
                for item in 0..ITEMS {
                    match opened.insert(&item).await {
                        Ok(true) if before == after => {
                            seen.won.extend(before.clone().map(|before| (before, item)));
                        }
                        inserted => seen.error(inserted.err()),
                    }
                }
            }
            Err(error) => seen.error(Some(error)),
        }
        if round % WORKERS == number % WORKERS {
            seen.error(builder.destroy().await.err());
        }
    }
    seen
}

/// Returns the identity of the filter that exists now.
async fn identity(connection: &mut MultiplexedConnection, name: &str) -> Option<String> {
    let command = cmd("GET").arg(format!("{{{name}}}")).to_owned();
    let descriptor: Option<String> = command.query_async(connection).await.unwrap();
    let descriptor = descriptor?;
    let (_, rest) = descriptor.split_once("\"identity\":").expect("a descriptor");
    Some(rest.split(',').next().unwrap().to_owned())
}

/// Uses and destroys a filter, and returns what fails.
fn unusable(url: &str, number: usize) -> Option<String> {
    let builder = RedisBloomFilter::<u64>::builder(url, &name(number))
        .capacity(1000)
        .false_positive_rate(1e-12);
    let builder = builder.timeout(PATIENCE).deadline(PATIENCE);
    let used = || {
        let filter = builder.open_or_create()?;
        // No worker has inserted this item.
        let new = [filter.insert(&ITEMS)?, filter.insert(&ITEMS)?];
        builder.destroy()?;
        Ok::<_, Error>(new)
    };
    match used() {
        Ok([true, false]) => None,
        other => Some(format!("{number}: {other:?}")),
    }
}
