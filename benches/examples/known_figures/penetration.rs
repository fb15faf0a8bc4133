//! Requests for keys that a store does not have pass its cache: what caching empty objects, a
//! filter, and both of them cost and save.

use std::collections::HashSet;

use tamis::BlockedBloomFilter;
use tamis::hash::Rapid;

use crate::Fallible;
use crate::bounds::Bounds;
use crate::size::Size;
use crate::table::{Table, bytes, number};

/// An empty object: a key, as an index of the store would have it. An actual cache has more: the
/// value, a time and the links of its order.
type Empty = [u8; 16];

pub(crate) fn add(table: &mut Table, bounds: &mut Bounds, size: Size) -> Fallible {
    let keys = size.of(1_000_000, 100);
    let requests = size.of(2_000_000, 20);
    table.title(&format!(
        "Penetration of a cache: {} requests for absent keys, half of them repeated; the store has {} keys",
        number(requests),
        number(keys)
    ));
    let builder = BlockedBloomFilter::<[u8]>::builder().capacity(keys as usize);
    let builder = builder.false_positive_rate(0.01).hasher(Rapid::with_seed(9));
    let filter = builder.build()?;
    (0..keys).for_each(|i| _ = filter.insert(&key(i)[..]));
    assert!((0..keys).all(|i| filter.contains(&key(i)[..])), "the filter rejects a present key");

    // The store has none of the keys, so that each access is for nothing.
    let (mut by_empty, mut by_filter, mut by_both) = (0, 0, 0);
    let (mut empties, mut empties_behind): (HashSet<Empty>, HashSet<Empty>) = Default::default();
    for request in 0..requests {
        let absent = key(keys + number_of(request));
        by_empty += u64::from(empties.insert(absent));
        if filter.contains(&absent[..]) {
            by_filter += 1;
            by_both += u64::from(empties_behind.insert(absent));
        }
    }
    let distinct = requests.div_ceil(2);
    assert_eq!(by_empty, distinct, "an empty object is found for each key that was asked before");
    assert!(by_both <= by_filter && by_filter < by_empty, "the filter saves nothing");
    // Each distinct key is one query of the filter.
    bounds.rate("distinct absent keys", by_both, distinct, filter.false_positive_rate());

    let memory = |empties: &HashSet<Empty>| (empties.capacity() * size_of::<Empty>()) as f64;
    let of_filter = filter.size_in_bytes() as f64;
    let rate = filter.geometry().false_positive_rate_at(keys as usize);
    let expected = |part: f64| format!("about {}", number((part * distinct as f64) as u64));
    let rows = [
        ("nothing", 0.0, requests, number(requests)),
        ("empty objects in the cache", memory(&empties), by_empty, number(distinct)),
        ("a filter at 1 %", of_filter, by_filter, expected(2.0 * rate)),
        ("both", of_filter + memory(&empties_behind), by_both, expected(rate)),
    ];
    for (case, memory, accesses, expected) in rows {
        let ours = format!("{} accesses, {}", number(accesses), bytes(memory));
        table.row(case, "", format!("{expected} accesses"), ours);
    }
    table.note("the empty objects grow with the absent keys that are asked, the filter with the keys of the store");
    Ok(())
}

/// Returns the number of the absent key of a request. Every other request repeats an earlier one.
fn number_of(request: u64) -> u64 {
    let new = request / 2;
    if request.is_multiple_of(2) {
        return new;
    }
    let random = Rapid::with_seed(3).hash_bytes(&request.to_le_bytes());
    random % (new + 1)
}

/// Returns key number `i`.
fn key(i: u64) -> Empty {
    let mut key = *b"user:00000000000";
    for (at, digit) in key[5..].iter_mut().rev().enumerate() {
        *digit = b'0' + (i / 10_u64.pow(at as u32) % 10) as u8;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_requests_repeat_an_earlier_one() {
        let numbers: Vec<u64> = (0..1000).map(number_of).collect();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 500);
        let repeats = (1..1000).step_by(2).filter(|&at| numbers[..at].contains(&numbers[at]));
        assert_eq!(repeats.count(), 500);
    }

    #[test]
    fn keys_differ() {
        assert_eq!([key(0), key(12_345_678_901)], [*b"user:00000000000", *b"user:12345678901"]);
    }
}
