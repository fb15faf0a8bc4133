//! Resident items are found, and snapshots contain their exact copies, while other threads relocate
//! and remove items around them.
//!
//! `TAMIS_STORM_LOOKUPS=1000000000 cargo test --release -p tamis-cuckoo --test races storm::` runs
//! the long form.

use std::collections::VecDeque;
use std::env;
use std::thread;

use tamis_cuckoo::{Builder, CuckooFilter, Geometry, InsertError};
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Ordering, Word};

type Filter = CuckooFilter<u64, Rapid>;

const READERS: u64 = 2;
const CHURNERS: u64 = 2;

/// Returns the number of lookups of all readers together.
fn lookups() -> u64 {
    let given = env::var("TAMIS_STORM_LOOKUPS").ok().map(|text| text.parse().expect("a number"));
    given.unwrap_or(20_000_000)
}

/// The counts of a storm.
#[derive(Debug, Default)]
struct Storm {
    lookups: u64,
    missed: u64,
    snapshots: u64,
    inserts: u64,
    failed: u64,
}

/// Returns the number of copies of a resident. Few items have two or three: copies of an item share
/// two buckets, so a filter in which every item has three copies is full at three quarters.
fn copies_of(hash: u64) -> u32 {
    match hash % 32 {
        0 => 3,
        1 => 2,
        _ => 1,
    }
}

/// Fills a filter to the given percentage with residents. Then two threads insert and remove items
/// of their own, up to 5 % of the slots, until the readers have made their lookups. These items are
/// always new: an item that is inserted again finds the slot that it left, and relocates nothing.
///
/// If `distinct`, no inserted item has the class of a resident, so the copies of residents can be
/// counted exactly.
fn storm(buckets: u64, (slots, bits): (u32, u32), percent: u64, distinct: bool) -> Storm {
    let builder = Builder::<Filter>::new(Rapid::with_seed(1));
    let filter = builder.buckets(buckets).slots(slots).fingerprint_bits(bits).build().unwrap();
    let hasher = Rapid::with_seed(1);
    let all_slots = buckets * u64::from(slots);
    let mut residents = Vec::new();
    for hash in (0_u64..).map(|item| hasher.hash_item(&item)) {
        if filter.len() as u64 >= all_slots * percent / 100 {
            break;
        }
        if !distinct || !filter.by_hash().contains(hash) {
            (0..copies_of(hash)).for_each(|_| filter.by_hash().insert(hash).unwrap());
            residents.push(hash);
        }
    }
    let (only_residents, inserted) = (filter.clone(), filter.len());
    let most = (all_slots * 5 / 100 / CHURNERS) as usize + 1;
    let left = Word::new(lookups());
    // ORDERING: Relaxed: it only counts the remaining lookups.
    let done = || left.load(Ordering::Relaxed) > u64::MAX / 2;

    let read = |seed: u64| {
        let mut missed = 0;
        let mut done = 0;
        let mut at = seed;
        // ORDERING: Relaxed, as above. It wraps when nothing is left.
        while left.fetch_add(0_u64.wrapping_sub(4096), Ordering::Relaxed) < u64::MAX / 2 {
            let hashes = (0..4096).map(|_| {
                at = at.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
                residents[(at >> 33) as usize % residents.len()]
            });
            // Alternate between single queries and batches.
            if done % 8192 == 0 {
                hashes.for_each(|hash| missed += u64::from(!filter.by_hash().contains(hash)));
            } else {
                filter.by_hash().contains_many_with(hashes, |_, hit| missed += u64::from(!hit));
            }
            done += 4096;
        }
        (done, missed)
    };
    let churn = |seed: u64| {
        let (mut inserts, mut failed) = (0, 0);
        let mut inside = VecDeque::new();
        let items = (1 << 40 | seed << 32..).map(|item: u64| hasher.hash_item(&item));
        for hash in items.filter(|&hash| !distinct || !only_residents.by_hash().contains(hash)) {
            inserts += 1;
            match filter.by_hash().insert(hash) {
                Ok(()) => inside.push_back(hash),
                Err(InsertError::Full | InsertError::TooManyCopies) => failed += 1,
                Err(error) => panic!("{error}"),
            }
            let over = done();
            while inside.len() > if over { 0 } else { most } {
                let hash = inside.pop_front().expect("it is not empty");
                assert!(filter.by_hash().remove(hash), "an inserted item could not be removed");
            }
            if over {
                break;
            }
        }
        (inserts, failed)
    };
    let take_snapshots = || {
        let mut snapshots = 0;
        while !done() {
            let copy = filter.clone();
            for &hash in &residents {
                let (copies, expected) = (copy.by_hash().count(hash), copies_of(hash));
                let right = if distinct { copies == expected } else { copies >= expected };
                assert!(right, "{copies} copies in a snapshot, {expected} were inserted");
            }
            snapshots += 1;
        }
        snapshots
    };

    let mut storm = Storm::default();
    thread::scope(|scope| {
        let (read, churn) = (&read, &churn);
        let readers: Vec<_> = (0..READERS).map(|seed| scope.spawn(move || read(seed))).collect();
        let churners: Vec<_> = (0..CHURNERS).map(|seed| scope.spawn(move || churn(seed))).collect();
        let snapshots = scope.spawn(take_snapshots);
        for reader in readers {
            let (lookups, missed) = reader.join().unwrap();
            storm.lookups += lookups;
            storm.missed += missed;
        }
        for churner in churners {
            let (inserts, failed) = churner.join().unwrap();
            storm.inserts += inserts;
            storm.failed += failed;
        }
        storm.snapshots = snapshots.join().unwrap();
    });
    // The contents are the same as before the storm, although some inserts failed during it.
    for &hash in &residents {
        let (copies, expected) = (filter.by_hash().count(hash), copies_of(hash));
        assert!(if distinct { copies == expected } else { copies >= expected });
    }
    assert_eq!(filter.len(), inserted);
    assert_eq!(filter.clone().len(), inserted);
    storm
}

fn check_storm(storm: &Storm) {
    println!("{storm:?}");
    assert_eq!(storm.missed, 0, "{storm:?}");
    assert!(storm.lookups >= lookups() && storm.snapshots > 0, "{storm:?}");
    assert!(storm.inserts - storm.failed > 100, "too few inserts: {storm:?}");
}

#[test]
fn residents_are_found_while_others_relocate_them() {
    check_storm(&storm(4096, (4, 16), 90, true));
}

/// The filter is large enough for several stripes. A snapshot locks all of them.
#[test]
fn residents_are_found_in_a_filter_of_several_stripes() {
    check_storm(&storm(16_384, (4, 16), 90, true));
}

/// The filter has few classes, so residents and inserted items share some.
#[test]
fn residents_are_found_while_their_classes_change() {
    check_storm(&storm(64, (4, 8), 90, false));
}

/// The filter is so full that inserts fail. What they had relocated by then must not be lost.
#[test]
fn residents_are_found_while_inserts_fail() {
    let storm = storm(1024, (4, 16), 94, true);
    check_storm(&storm);
    assert!(storm.failed > 1000, "{storm:?}");
}

/// Returns the shapes of buckets of 128 bits, if the processor supports them.
fn pairs() -> impl Iterator<Item = (u32, u32)> {
    Geometry::shapes().filter(|(slots, bits)| slots * bits > 64)
}

/// Residents and items of the other threads together take up to 95 % of the slots, so nearly every
/// insert relocates.
#[test]
fn residents_are_found_in_buckets_of_128_bits() {
    for shape in pairs() {
        check_storm(&storm(16_384, shape, if shape.0 == 3 { 85 } else { 90 }, true));
    }
}

/// As above, so full that inserts fail.
#[test]
fn residents_are_found_in_buckets_of_128_bits_while_inserts_fail() {
    for shape in pairs() {
        let storm = storm(1024, shape, if shape.0 == 3 { 91 } else { 95 }, true);
        check_storm(&storm);
        assert!(storm.failed > 1000, "{shape:?}: {storm:?}");
    }
}
