//! The table against an oracle, for one thread.

use std::collections::HashMap;
use std::vec::Vec;
use std::println;

use tamis_hash::HashItem as _;
use tamis_sync::Counter;

use super::insert::{insert, insert_once};
use super::plan::Plan;
use super::table::Table;
use crate::error::InsertError;

fn hash(number: u64) -> u64 {
    tamis_hash::Rapid::with_seed(7).hash_item(&number)
}

#[test]
fn grows() {
    for (paired, rate) in [(true, 0.01), (false, 0.01), (true, 1e-4), (true, 1e-6), (false, 1e-4)] {
        let plan = Plan::with_buckets(1000, 200_000, rate, paired).unwrap();
        let table = Table::new(plan).unwrap();
        let len = Counter::zeroed(1).unwrap();
        let mut n = 0;
        loop {
            let class = plan.class(hash(n));
            match insert(&table, class) {
                Ok(()) => {}
                Err(error) => { println!("{error:?}"); break }
            }
            len.add(1);
            table.keep_up(class, &len);
            if n % 1000 == 0 || n < 2000 {
                for m in 0..=n { if n % 16384 == 0 || m + 1000 > n { assert!(table.contains(plan.class(hash(m))), "{n} {m} {:?}", table.pointer()); } }
            }
            n += 1;
        }
        println!("{plan:?} {n} {:?} cap {} bytes {} bits/item {}", table.pointer(), plan.capacity(), table.size_in_bytes(), table.size_in_bytes() as f64 * 8.0 / n as f64);
        for m in 0..n { assert!(table.contains(plan.class(hash(m)))); }
        for m in 0..n { assert!(table.lock_stripe(plan.class(hash(m))).remove()); }
        let mut left = 0;
        table.for_each_bucket(1, |_, c| left += c.fingerprints().count());
        assert_eq!(left, 0);
    }
}

#[test]
fn inserts() {
    use std::time::Instant;
    use crate::shared::Shared;
    use crate::geometry::Geometry;
    type F = Shared<u64, tamis_hash::Rapid>;
    for (rate, paired) in [(0.01, true), (1e-4, true), (1e-2, false)] {
        let n = 1_300_000u64;
        let hashes: Vec<u64> = (0..n).map(hash).collect();
        let mut best = [f64::MAX; 3];
        for _ in 0..5 {
            let fixed: F = Shared::new(Geometry::for_items(n, rate).unwrap(), n as usize, tamis_hash::Rapid::with_seed(7)).unwrap();
            let plan = Plan::with_buckets(100_000, 100_000_000, rate, paired).unwrap();
            let table = Table::new(plan).unwrap();
            let len = Counter::zeroed(8).unwrap();
            let ns = |d: std::time::Duration| d.as_nanos() as f64 / n as f64;
            let t = Instant::now();
            for &h in &hashes { fixed.insert(h).unwrap(); }
            best[0] = best[0].min(ns(t.elapsed()));
            let t = Instant::now();
            for &h in &hashes { let c = plan.class(h); insert(&table, c).unwrap(); len.add(1); table.keep_up(c, &len); }
            best[1] = best[1].min(ns(t.elapsed()));
            let fixed: F = Shared::new(Geometry::for_items(n, rate).unwrap(), n as usize, tamis_hash::Rapid::with_seed(7)).unwrap();
            let t = Instant::now();
            for &h in &hashes { fixed.insert_once(h).unwrap(); }
            best[2] = best[2].min(ns(t.elapsed()));
        }
        println!("RES {rate} {paired} fixed {:.1} once {:.1} grown {:.1}", best[0], best[2], best[1]);
    }
}
