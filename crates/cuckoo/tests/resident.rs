//! The memory that filters really take: alone in its process, so that no other test takes or frees
//! memory meanwhile.
#![cfg(all(target_os = "linux", feature = "std", not(any(tamis_loom, tamis_shuttle))))]

use std::fs;

use tamis_cuckoo::OnceCuckooFilter;

/// Returns the bytes of the process that have a page of their own.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * (4 << 10)
}

/// Small filters take what they say, and a few pages, however far they may grow: no huge page each,
/// and neither do their copies.
#[test]
fn small_filters_with_a_high_bound_take_small_pages() {
    const FILTERS: usize = 200;
    for bound in [1_000_000, 3_000_000, 10_000_000, 1_000_000_000] {
        let before = resident();
        let filters: Vec<OnceCuckooFilter<u64>> = (0..FILTERS)
            .map(|_| OnceCuckooFilter::builder().capacity(10).max_capacity(bound).build().unwrap())
            .collect();
        for filter in &filters {
            (0..500).for_each(|item| assert!(filter.insert(&item).is_ok()));
        }
        let copies = filters.clone();
        let each = resident().saturating_sub(before) / (filters.len() + copies.len());
        let said = filters[0].size_in_bytes() as usize;
        assert!(each <= said + (64 << 10), "{bound}: {each} bytes, {said} said");
    }
}
