//! An item that is in for good is found while what looks like it comes and goes: in filters of 2 to 32 buckets with
//! fingerprints of 8 bits, where a remove that does not tell readers is seen.
//!
//! `TAMIS_LONG=1 cargo test --release -p tamis-cuckoo --test small_storm` is the long form.

use std::env;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use tamis_cuckoo::CuckooFilter;
use tamis_hash::{HashItem, Rapid, split};
use tamis_sync::{Ordering, Word};

type Filter = CuckooFilter<u64, Rapid>;

/// Removals in each filter. MEASURED: with a remove that never tells, an item is missed once in 7 removals, or 70,000
/// lookups, on two busy cores: 2837 times in a short run, of 2 seconds. (The storms over larger filters missed none in
/// 60 million lookups.) So a machine on which it is seen 200 times less often still sees it, but for one run in a
/// million.
fn removals() -> u64 {
    if env::var_os("TAMIS_LONG").is_some_and(|value| value == "1") { 30_000 } else { 1000 }
}

/// Removals between two changes of where the free slot is.
const SWAPS: usize = 16;

/// What a storm was.
#[derive(Debug, Default)]
struct Storm {
    lookups: u64,
    missed: u64,
}

/// BatchRead for one item while others that the filter takes for it come and go, one at a time, each as soon as it can
/// after the one before.
///
/// The two buckets of all these have one free slot. If the first bucket of one that comes is full, its copy comes to
/// the other, and the copy that goes with it is taken from the first: the item's own, perhaps. So that copy goes to
/// and fro, and nobody but the remove can tell readers. Two loads of a reader are hardly ever so far apart that it
/// misses the copy in both buckets, unless its thread has to wait in between. That is what the sleeps are for: who
/// wakes up takes a core from a reader.
fn storm(buckets: u64, slots: u32, seed: u64) -> Storm {
    let hasher = Rapid::with_seed(seed);
    let new = || {
        let builder = Filter::builder_with_hasher(hasher.clone());
        builder.buckets(buckets).slots(slots).fingerprint_bits(8).build().unwrap()
    };
    let [filter, alone] = [new(), new()];
    let mut hashes = (0_u64..).map(|item| hasher.hash_item(&item));
    let resident = hashes.next().unwrap();
    for filter in [&filter, &alone] {
        filter.insert_hash(resident).unwrap();
    }
    let first_of = |hash| split::place(hash, buckets);
    // One that tries the resident's first bucket first, and one that tries the other.
    let alike = [true, false].map(|same| {
        let is = |&hash: &u64| {
            alone.contains_hash(hash) && (first_of(hash) == first_of(resident)) == same
        };
        hashes.clone().find(is).unwrap()
    });
    let mut unlike = hashes.filter(|&hash| !alone.contains_hash(hash));
    // Others until there is no room, then room for two that look like the resident.
    let tried = unlike.by_ref().take(100 * buckets as usize);
    let mut others: Vec<u64> = tried.filter(|&hash| filter.insert_hash(hash).is_ok()).collect();
    let fits = || {
        let came = alike.map(|hash| filter.insert_hash(hash).is_ok());
        for (hash, came) in alike.into_iter().zip(came) {
            assert!(!came || filter.remove_hash(hash));
        }
        came == [true; 2]
    };
    while !fits() {
        assert!(filter.remove_hash(others.pop().unwrap()));
    }
    let inserted = filter.len();
    // One of the two slots is taken by one of these, now in the one bucket, now in the other.
    let pair = alike.map(first_of);
    let fillers: Vec<u64> =
        unlike.filter(|&hash| pair.contains(&first_of(hash))).take(64).collect();

    let (readers, done) = (thread::available_parallelism().map_or(2, usize::from), Word::new(0));
    let begin = Barrier::new(readers + 1);
    let read = || {
        begin.wait();
        let mut storm = Storm::default();
        // ORDERING: Relaxed: it only says when to end.
        while done.load(Ordering::Relaxed) == 0 {
            // One by one, and many at a time.
            storm.missed += (0..64).filter(|_| !filter.contains_hash(resident)).count() as u64;
            filter.contains_hashes([resident; 64], |_, hit| storm.missed += u64::from(!hit));
            storm.lookups += 128;
        }
        storm
    };
    let churn = || {
        begin.wait();
        for removed in (0..removals()).step_by(SWAPS) {
            let filler = fillers[removed as usize / SWAPS % fillers.len()];
            filter.insert_hash(filler).unwrap();
            for hash in alike.into_iter().cycle().take(SWAPS) {
                filter.insert_hash(hash).unwrap();
                assert!(filter.remove_hash(hash), "an inserted item could not be removed");
                thread::sleep(Duration::from_micros(1));
            }
            assert!(filter.remove_hash(filler), "an inserted item could not be removed");
        }
        // ORDERING: Relaxed: as above.
        done.store(1, Ordering::Relaxed);
    };
    let mut storm = Storm::default();
    thread::scope(|scope| {
        let readers: Vec<_> = (0..readers).map(|_| scope.spawn(read)).collect();
        scope.spawn(churn);
        for reader in readers {
            let Storm { lookups, missed } = reader.join().unwrap();
            storm.lookups += lookups;
            storm.missed += missed;
        }
    });
    assert_eq!(filter.len(), inserted);
    assert!(others.iter().all(|&hash| filter.contains_hash(hash)));
    storm
}

#[test]
fn an_item_is_found_while_what_looks_like_it_comes_and_goes() {
    let mut all = Storm::default();
    for (slots, seed) in [(4, 1), (8, 2), (4, 3), (8, 4)] {
        for buckets in [2, 4, 8, 16, 32] {
            let storm = storm(buckets, slots, seed);
            println!("{buckets} buckets of {slots} slots: {storm:?}");
            all.lookups += storm.lookups;
            all.missed += storm.missed;
        }
    }
    println!("{all:?}");
    assert_eq!(all.missed, 0, "{all:?}");
    assert!(all.lookups > 20 * removals(), "a lull: {all:?}");
}
