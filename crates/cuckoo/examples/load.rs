//! Fills a filter with buckets of 4 slots of 16 bits until an insert fails, and prints the load.
//!
//! `cargo run --release -p tamis-cuckoo --example load -- 100000000` needs 200 MB. The arguments
//! are the number of slots and the seed of the hasher.

use tamis_cuckoo::CuckooFilter;
use tamis_hash::Rapid;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let slots: u64 = arguments.next().map_or(Ok(1_000_000), |slots| slots.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let filter = CuckooFilter::<u64>::builder()
        .hasher(Rapid::with_seed(seed))
        .buckets(slots.div_ceil(4).next_multiple_of(2))
        .slots(4)
        .fingerprint_bits(16)
        .build()?;
    let error = (0_u64..).find_map(|item| filter.insert(&item).err());
    let load = filter.load_factor();
    println!("{} items, load {load:.4}: {}", filter.len(), error.unwrap());
    Ok(())
}
