//! A guard in front of a store that grows and shrinks: no size to guess, and deleted keys leave the
//! filter.
//!
//! ```sh
//! $ cargo run --release --example service_guard
//! 40000 requests, 10000 of them for keys that exist
//! ... reached the store, ... of them for nothing
//! the guard has grown from ... to ... bytes
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::sync::RwLock;
use std::thread;

use tamis::{CuckooFilter, InsertError};

const THREADS: u64 = 4;
const KEYS: u64 = 40_000;

/// A slow store, and in front of it a filter that contains each of its keys at any time.
struct Guarded {
    guard: CuckooFilter<u64>,
    store: RwLock<HashMap<u64, String>>,
}

impl Guarded {
    /// Stores a value. The key is in the filter before it is in the store, so no `get` misses it.
    fn put(&self, key: u64, value: String) -> Result<(), InsertError> {
        self.guard.insert(&key)?;
        if self.store.write().expect("no panic").insert(key, value).is_some() {
            // The key was there, and is in the filter twice now. One copy goes.
            self.guard.remove(&key);
        }
        Ok(())
    }

    /// Returns a copy of the value. Queries the store only if the filter may contain the key.
    fn get(&self, key: u64) -> Option<String> {
        if !self.guard.contains(&key) {
            return None;
        }
        self.store.read().expect("no panic").get(&key).cloned()
    }

    /// Deletes a key. Only the thread that deleted it from the store removes it from the filter,
    /// and only once.
    fn delete(&self, key: u64) {
        if self.store.write().expect("no panic").remove(&key).is_some() {
            self.guard.remove(&key);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // It starts small. Up to a million keys it keeps its rate, which is 1 % by default.
    let guard = CuckooFilter::builder().capacity(1000).max_capacity(1_000_000).build()?;
    let before = guard.size_in_bytes();
    let service = &Guarded { guard, store: RwLock::default() };

    // Each thread puts keys, reads them back, and deletes all but every fourth.
    thread::scope(|scope| {
        let work = |thread: u64| -> Result<(), InsertError> {
            for key in (thread..KEYS).step_by(THREADS as usize) {
                service.put(key, format!("value {key}"))?;
                assert!(service.get(key).is_some(), "the filter misses a key of the store");
                if !(key / THREADS).is_multiple_of(4) {
                    service.delete(key);
                }
            }
            Ok(())
        };
        let workers: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;

    // A request reaches the store if the guard may contain its key.
    let lookups = (0..KEYS).filter(|key| service.guard.contains(key)).count() as u64;
    let found = (0..KEYS).filter(|&key| service.get(key).is_some()).count() as u64;
    println!("{KEYS} requests, {found} of them for keys that exist");
    println!("{lookups} reached the store, {} of them for nothing", lookups - found);
    let after = service.guard.size_in_bytes();
    println!("the guard has grown from {before} to {after} bytes");
    assert_eq!(found, KEYS / 4, "a key is lost");
    assert_eq!(service.guard.len() as u64, found, "the filter has a copy too many");
    assert!(lookups - found < KEYS / 100, "more requests for nothing than the rate predicts");
    Ok(())
}
