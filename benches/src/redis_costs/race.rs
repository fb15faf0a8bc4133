//! Two clients that insert the same items in calls at the same time: how many items both of them
//! won.
//!
//! The second client inserts the items of each call in the opposite order. In the same order, the
//! server would read equal parts of both pipelines, and each item's commands of one client would
//! come before those of the other.

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;

use super::scheme::{Client, Filter};
use super::server::{Fallible, Server};

/// The result of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The items.
    pub items: usize,
    /// Those of which both clients found that they are new.
    pub twice: usize,
}

/// Lets two clients insert these new items.
///
/// # Errors
///
/// If both win although the scheme has one winner, or more items than the rate allows have no
/// winner.
pub(super) fn run(server: &Server, filter: &Filter, items: &[u64], rate: f64) -> Fallible<Race> {
    let batch = filter.scheme.batch;
    let reversed = |all: &[u64]| -> Vec<u64> {
        all.chunks(batch).flat_map(|items| items.iter().rev().copied()).collect()
    };
    let clients =
        [(filter.connect(server)?, items.to_vec()), (filter.connect(server)?, reversed(items))];
    let start = &Barrier::new(clients.len());
    let results = thread::scope(|scope| {
        let insert = |(mut client, items): (Client, Vec<u64>)| {
            scope.spawn(move || {
                // Both begin each call at the same time. After an error they go on, so that neither
                // waits for ever.
                let calls = items.chunks(batch).map(|items| {
                    start.wait();
                    client.insert(items, batch)
                });
                let calls: Vec<Fallible<Vec<bool>>> = calls.collect();
                let new = calls.into_iter().collect::<Fallible<Vec<_>>>()?.concat();
                let won = items.into_iter().zip(new).filter(|(_, new)| *new);
                Ok(won.map(|(item, _)| item).collect())
            })
        };
        let threads = clients.map(insert);
        let join = |thread: thread::ScopedJoinHandle<'_, Fallible<HashSet<u64>>>| {
            thread.join().map_err(|_| "a client panicked")?
        };
        threads.into_iter().map(join).collect::<Fallible<Vec<_>>>()
    })?;
    let wins = |item: &u64| results.iter().filter(|won| won.contains(item)).count();
    let count = |winners| items.iter().filter(|item| wins(item) == winners).count();
    let (twice, never) = (count(2), count(0));
    let wrong = filter.scheme.one_winner && twice > 0;
    if wrong || never as f64 > 2.0 * rate * items.len() as f64 + 5.0 {
        let name = filter.scheme.name;
        return Err(format!("{name}: {twice} items have two winners, {never} none").into());
    }
    Ok(Race { items: items.len(), twice })
}
