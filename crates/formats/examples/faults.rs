//! The program on which `cargo xtask faults` inflicts errors and kills: it saves a filter, or loads
//! one.
//!
//! `faults save KIND PATH SEED` saves a filter, `faults load KIND PATH` loads it. KIND is `bloom`,
//! `cuckoo`, `live`, or `set` for a set of two filters. The status is 0 if that was successful.

use std::error::Error;
use std::process::ExitCode;
use std::{env, fmt};

use tamis_bloom::BloomFilter;
use tamis_cuckoo::CuckooFilter;
use tamis_formats::{FilterSet, Live, Options, Parts, SetWriter, load, save};
use tamis_hash::Rapid;

/// The bits of each filter: two chunks of the body, and a part of a third one.
const BITS: u64 = 5 << 22;
const ITEMS: u64 = 1000;

type Bloom = BloomFilter<u64, Rapid>;
type Cuckoo = CuckooFilter<u64, Rapid>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    match *arguments {
        ["save", kind, path, seed] => {
            let hasher = Rapid::with_seed(seed.parse()?);
            let builder = BloomFilter::<u64>::builder().bits(BITS).probes(7);
            match kind {
                "bloom" => {
                    let filter: Bloom = builder.hasher(hasher).build()?;
                    (0..ITEMS).for_each(|item| assert!(filter.insert(&item) || item > 0));
                    save(&filter, path)?;
                }
                "cuckoo" => {
                    let builder = CuckooFilter::<u64>::builder().buckets(BITS / 64);
                    let builder = builder.slots(4).fingerprint_bits(16);
                    let filter: Cuckoo = builder.hasher(hasher).build()?;
                    (0..ITEMS).try_for_each(|item| filter.insert(&item))?;
                    save(&filter, path)?;
                }
                "live" => {
                    let parts = Parts { geometry: builder.geometry()?, capacity: 1, hasher };
                    Live::<Bloom>::create_file(path, &parts, &Options::new())?;
                }
                "set" => {
                    let mut set = SetWriter::create(path)?;
                    let filter: Bloom = builder.hasher(hasher.clone()).build()?;
                    (0..ITEMS).for_each(|item| assert!(filter.insert(&item) || item > 0));
                    set.add("one", &filter)?;
                    let filter: Cuckoo =
                        CuckooFilter::<u64>::builder().capacity(2000).hasher(hasher).build()?;
                    (0..ITEMS).try_for_each(|item| filter.insert(&item))?;
                    set.add("two", &filter)?;
                    set.finish()?;
                }
                _ => return Err(unknown(kind)),
            }
        }
        ["load", "bloom", path] => lost((0..ITEMS).any({
            let filter: Bloom = load(path)?;
            move |item| !filter.contains(&item)
        }))?,
        ["load", "cuckoo", path] => lost((0..ITEMS).any({
            let filter: Cuckoo = load(path)?;
            move |item| !filter.contains(&item)
        }))?,
        ["load", "live", path] => {
            let _: Bloom = Options::new().live(true).load(path)?;
        }
        ["load", "set", path] => {
            let set = FilterSet::<u64>::open(path, u64::MAX)?;
            let found = set.which_many(0..ITEMS)?;
            lost(found.iter().any(|filters| *filters != [0, 1]))?;
        }
        _ => return Err(unknown(format!("{arguments:?}"))),
    }
    Ok(())
}

fn lost(is_lost: bool) -> Result<(), Box<dyn Error>> {
    if is_lost { Err("an item is lost".into()) } else { Ok(()) }
}

fn unknown(argument: impl fmt::Display) -> Box<dyn Error> {
    format!("unknown: {argument}; see the first lines of examples/faults.rs").into()
}
