//! Round trips of every kind, layout and hasher: the same answers, and the same bytes when saved again.

mod common;
mod reader;

use std::thread;

use common::{bytes_of, check_answers, check_round_trip, filled};
use proptest::prelude::*;
use reader::Reader;
use tamis_bloom::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_cuckoo::{CuckooFilter, Geometry, OnceCuckooFilter};
use tamis_formats::{Options, Policy, Saved, load, merge_from, merge_read, read, save, write};
use tamis_hash::{AnyStable, HashItem, Rapid, SipHash13, StableHasher, Xxh3, Xxh64};

/// Lines in a chunk.
const CHUNK: u64 = 1 << 14;

#[test]
fn classic_filters_of_awkward_sizes() {
    let chunk = 512 * CHUNK;
    let sizes =
        [1, 2, 63, 64, 65, 511, 512, 513, 9_999, chunk - 1, chunk, chunk + 1, 3 * chunk + 77];
    for (bits, probes) in sizes.into_iter().zip([1, 2, 3, 7, 13, 20, 64].into_iter().cycle()) {
        let builder = BloomFilter::<u64>::builder().bits(bits).probes(probes);
        let filter = builder.hasher(Rapid::with_seed(bits)).build().unwrap();
        check_round_trip(&filled(filter, (bits / 16).clamp(1, 2000)));
    }
}

#[test]
fn line_filters_of_every_number_of_words() {
    for words in [1, 2, 4, 8] {
        for lines in [1, 3, 100, CHUNK - 1, CHUNK, CHUNK + 1] {
            for probes in [words, (4 * words).min(32)] {
                let builder = BlockedBloomFilter::<u64>::builder();
                let builder = builder.bits(512 * lines).probes(probes).words(words);
                let filter = builder.hasher(Xxh3::with_seed(lines)).build().unwrap();
                check_round_trip(&filled(filter, lines.clamp(3, 2000)));
                let builder = OnceBloomFilter::<u64>::builder();
                let builder = builder.bits(512 * lines).probes(probes).words(words);
                let filter = builder.hasher(Xxh64::with_seed(lines)).build().unwrap();
                check_round_trip(&filled(filter, lines.clamp(3, 2000)));
            }
        }
    }
}

#[test]
fn cuckoo_filters_of_every_shape() {
    for (slots, width) in Geometry::shapes() {
        // The last gives several chunks, the last of which is not whole.
        for buckets in [2, 4, 30, 1000, 300_002] {
            let items = (buckets * u64::from(slots) * 3 / 4).min(2500);
            let builder = CuckooFilter::<u64>::builder();
            let builder = builder.buckets(buckets).slots(slots).fingerprint_bits(width);
            check_round_trip(&filled(builder.hasher(Rapid::with_seed(9)).build().unwrap(), items));
            let builder = OnceCuckooFilter::<u64>::builder();
            let builder = builder.buckets(buckets).slots(slots).fingerprint_bits(width);
            check_round_trip(&filled(builder.hasher(Rapid::with_seed(9)).build().unwrap(), items));
        }
    }
}

/// A filter of every kind with this hasher, also as one with a hasher that is chosen at run time.
fn of_each_kind<S: StableHasher + HashItem<u64>>(hasher: &S)
where
    AnyStable: From<S>,
{
    macro_rules! kinds {
        ($($name:ident)*) => {$({
            let builder = $name::<u64>::builder().capacity(300).hasher(hasher.clone());
            let filter = filled(builder.build().unwrap(), 250);
            check_round_trip(&filter);
            let bytes = bytes_of(&filter);
            let any: $name<u64, AnyStable> = read(&bytes[..]).unwrap();
            check_answers(&any, &bytes, &Options::new());
            let builder = $name::<u64>::builder().capacity(300).hasher(AnyStable::from(hasher.clone()));
            assert!(bytes_of(&filled(builder.build().unwrap(), 250)) == bytes, "other bytes by AnyStable");
        })*};
    }
    kinds!(BloomFilter BlockedBloomFilter OnceBloomFilter CuckooFilter OnceCuckooFilter);
}

#[test]
fn every_hasher() {
    for seed in [0, 1, u64::MAX] {
        of_each_kind(&Rapid::with_seed(seed));
        of_each_kind(&Xxh3::with_seed(seed));
        of_each_kind(&Xxh64::with_seed(seed));
    }
    of_each_kind(&SipHash13::with_key(*b"0123456789abcdef"));
    of_each_kind(&SipHash13::with_key([0; 16]));
}

#[test]
fn a_policy_is_kept() {
    let filter = common::small_bloom();
    let options = Options::new().policy(Policy::new("abcdefghijklmnopqrstuvwxyz 01234").unwrap());
    let mut bytes = Vec::new();
    options.write(&filter, &mut bytes).unwrap();
    check_answers(&filter, &bytes, &options);
}

#[test]
fn a_removed_item_is_gone_and_copies_are_kept() {
    let filter = common::small_cuckoo();
    for _ in 0..3 {
        filter.insert(&1000).unwrap();
    }
    assert!(filter.remove(&1000) && filter.remove(&3));
    let again: common::Cuckoo = read(&bytes_of(&filter)[..]).unwrap();
    assert_eq!((again.len(), again.count(&1000)), (filter.len(), filter.count(&1000)));
    // A loaded filter can be changed like any other.
    assert!(again.remove(&1000) && again.insert(&2000).is_ok());
    assert_eq!(again.len(), filter.len());
}

#[test]
fn filters_follow_each_other_in_a_stream() {
    let mut bytes = bytes_of(&common::small_bloom());
    bytes.extend(bytes_of(&common::small_cuckoo()));
    bytes.extend_from_slice(b"rest");
    let mut stream = &bytes[..];
    let bloom: common::Bloom = read(&mut stream).unwrap();
    let cuckoo: common::Cuckoo = read(&mut stream).unwrap();
    assert!(bloom.contains(&7) && cuckoo.contains(&7));
    assert_eq!(stream, b"rest");
}

/// A reader may return fewer bytes than asked for, and be interrupted.
#[test]
fn a_stream_in_small_pieces() {
    struct Pieces<'b>(&'b [u8], usize);
    impl std::io::Read for Pieces<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let len = to.len().min(self.1 % 70 + 1);
            std::io::Read::read(&mut self.0, &mut to[..len])
        }
    }
    let filter = common::small_once();
    let bytes = bytes_of(&filter);
    let again: common::Once = read(Pieces(&bytes, 0)).unwrap();
    assert!(bytes_of(&again) == bytes);
}

#[test]
fn merged_files_are_the_union() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part");
    macro_rules! kinds {
        ($($name:ident: |$builder:ident| $sized:expr;)*) => {$({
            let $builder = $name::<u64>::builder();
            let new = || {
                let $builder = $builder.clone();
                $sized.hasher(Rapid::with_seed(3)).build().unwrap()
            };
            // More than one chunk.
            let (union, by_stream, one, other) = (new(), new(), new(), new());
            for item in 0..5000 {
                if item % 2 == 0 { one.insert(&item) } else { other.insert(&item) };
            }
            union.union_with(&one).unwrap();
            by_stream.union_with(&one).unwrap();
            save(&other, &path).unwrap();
            merge_from(&union, &path).unwrap();
            merge_read(&by_stream, &bytes_of(&other)[..]).unwrap();
            one.union_with(&other).unwrap();
            assert!(bytes_of(&union) == bytes_of(&one));
            assert!(bytes_of(&by_stream) == bytes_of(&one));
        })*};
    }
    kinds! {
        BloomFilter: |builder| builder.bits(10_000_000).probes(5);
        BlockedBloomFilter: |builder| builder.bits(10_000_000).probes(8).words(2);
        OnceBloomFilter: |builder| builder.bits(10_000_000).probes(8).words(2);
    }
}

/// Every insert that returned before the save began is in the file, whatever other threads do meanwhile.
#[test]
fn a_save_while_other_threads_insert() {
    fn check<F: Saved + Sync>(filter: &F)
    where
        F::Hasher: HashItem<u64>,
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("running");
        let hash = |item: u64| filter.hasher().hash_item(&item);
        for round in 0..5 {
            let before = round * 2000..round * 2000 + 1000;
            before.clone().for_each(|item| assert!(filter.try_insert_hash(hash(item)).is_ok()));
            thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    for item in before.end..before.end + 1000 {
                        assert!(filter.try_insert_hash(hash(item)).is_ok());
                    }
                });
                save(filter, &path).unwrap();
                let mut bytes = Vec::new();
                write(filter, &mut bytes).unwrap();
                for saved in [load::<F>(&path).unwrap(), read::<F>(&bytes[..]).unwrap()] {
                    (0..before.end).for_each(|item| {
                        assert!(saved.contains_hash(hash(item)), "{item} is lost");
                    });
                }
                writer.join().unwrap();
            });
        }
    }
    let hasher = Rapid::with_seed(1);
    check(&BloomFilter::<u64>::builder().capacity(20_000).hasher(hasher.clone()).build().unwrap());
    let once = OnceBloomFilter::<u64>::builder().capacity(20_000).words(4);
    check(&once.hasher(hasher.clone()).build().unwrap());
    check(&CuckooFilter::<u64>::builder().capacity(20_000).hasher(hasher.clone()).build().unwrap());
    check(&OnceCuckooFilter::<u64>::builder().capacity(20_000).hasher(hasher).build().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The independent reader, written from the specification, gives the same answers.
    #[test]
    fn the_second_reader_agrees_on_bloom_filters(
        bits in 1_u64..5000,
        words in 0_u32..4,
        probes in 1_u32..=8,
        items in 0_u64..200,
        seed: u64,
    ) {
        let words = 1 << words;
        let hasher = Rapid::with_seed(seed);
        let classic = BloomFilter::<u64>::builder().bits(bits).probes(probes);
        agree(&filled(classic.hasher(hasher.clone()).build().unwrap(), items));
        let probes = (probes * words).min(32);
        let blocked = BlockedBloomFilter::<u64>::builder().bits(bits).probes(probes).words(words);
        agree(&filled(blocked.hasher(hasher.clone()).build().unwrap(), items));
        let once = OnceBloomFilter::<u64>::builder().bits(bits).probes(probes).words(words);
        agree(&filled(once.hasher(hasher).build().unwrap(), items));
    }

    #[test]
    fn the_second_reader_agrees_on_cuckoo_filters(
        half in 1_u64..200,
        shape in 0_usize..10,
        items in 0_u64..500,
        seed: u64,
    ) {
        let shapes: Vec<_> = Geometry::shapes().collect();
        let (slots, width) = shapes[shape % shapes.len()];
        let hasher = Xxh3::with_seed(seed);
        let builder = CuckooFilter::<u64>::builder();
        let builder = builder.buckets(2 * half).slots(slots).fingerprint_bits(width);
        agree(&filled(builder.hasher(hasher.clone()).build().unwrap(), items));
        let builder = OnceCuckooFilter::<u64>::builder();
        let builder = builder.buckets(2 * half).slots(slots).fingerprint_bits(width);
        agree(&filled(builder.hasher(hasher).build().unwrap(), items));
    }
}

/// The golden files have one chunk. Here the second reader compares the checksums of several, in their order.
#[test]
fn the_second_reader_agrees_on_several_chunks() {
    let builder =
        BlockedBloomFilter::<u64>::builder().bits(512 * (2 * CHUNK + 5)).probes(8).words(2);
    let filter = filled(builder.hasher(Rapid::with_seed(4)).build().unwrap(), 100_000);
    agree(&filter);
    // The chunks differ, so a table in another order is another one.
    let mut bytes = bytes_of(&filter);
    let (first, second) = bytes[256..272].split_at_mut(8);
    first.swap_with_slice(second);
    assert!(Reader::new(&bytes).is_err());
}

fn agree<F: Saved>(filter: &F)
where
    F::Hasher: HashItem<u64>,
{
    let reader = Reader::new(&bytes_of(filter)).unwrap();
    for item in 0..1500_u64 {
        let answer = filter.contains_hash(filter.hasher().hash_item(&item));
        assert_eq!(reader.contains(&item.to_le_bytes()), answer, "{item}");
    }
}
