//! Round trips of every kind, layout and hasher: the same answers, and the same bytes when saved
//! again.

use std::fs;
use std::thread;

use crate::common::{any_rapid, bytes_of, check_answers, check_round_trip, filled, read_again};
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, OnceScalableBloomFilter,
    RotatingBloomFilter, ScalableBloomFilter, Verdict as _, raw,
};
use tamis_cuckoo::{CuckooFilter, Geometry, OnceCuckooFilter};
use tamis_formats::{Info, Normalization, Options, Saved, load, read, save, write};
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
        let filter = builder.hasher(any_rapid(bits)).build().unwrap();
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
                let filter =
                    builder.hasher(AnyStable::from(Xxh3::with_seed(lines))).build().unwrap();
                check_round_trip(&filled(filter, lines.clamp(3, 2000)));
                let builder = OnceBloomFilter::<u64>::builder();
                let builder = builder.bits(512 * lines).probes(probes).words(words);
                let filter =
                    builder.hasher(AnyStable::from(Xxh64::with_seed(lines))).build().unwrap();
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
            check_round_trip(&filled(builder.hasher(any_rapid(9)).build().unwrap(), items));
            let builder = OnceCuckooFilter::<u64>::builder();
            let builder = builder.buckets(buckets).slots(slots).fingerprint_bits(width);
            check_round_trip(&filled(builder.hasher(any_rapid(9)).build().unwrap(), items));
        }
    }
}

#[test]
fn counters_of_every_number_of_words() {
    for words in [1, 2, 4, 8] {
        // The last has several chunks.
        for lines in [1, 7, CHUNK / 2 + 3] {
            let builder = CountingBloomFilter::<u64>::builder().bits(512 * lines).words(words);
            let builder = builder.probes(3 * words.min(8)).hasher(any_rapid(lines));
            let filter = builder.build().unwrap();
            // Some counters are saturated, and some are 0 again.
            (0..20).for_each(|_| assert!(filter.insert(&0) || filter.contains(&0)));
            for item in 0..lines.min(1500) {
                filter.insert(&item);
                if item % 3 == 1 {
                    assert!(filter.remove(&item));
                }
            }
            check_round_trip(&filter);
            let again = read_again(&filter);
            assert_eq!(again.saturated(), filter.saturated());
            assert!((0..2000).all(|item| again.count(&item) == filter.count(&item)));
            assert!(lines == 1 || again.remove(&3));
            // A merge adds the counters.
            let sum = read_again(&filter);
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), bytes_of(&filter)).unwrap();
            Options::new().merge_from(&sum, file.path()).unwrap();
            filter.union_with(&filter.clone()).unwrap();
            assert!(bytes_of(&sum) == bytes_of(&filter));
        }
    }
}

/// Windows of items and of time, after any number of rotations. A loaded window rotates as the
/// saved one.
#[test]
fn windows_of_every_number_of_generations() {
    use std::time::Duration;
    for generations in [2, 3, 7, 16] {
        for items in [0, 1, 400, 2500] {
            let builder = RotatingBloomFilter::<u64>::builder().capacity(1000);
            let builder = builder.generations(generations).hasher(any_rapid(items));
            check_round_trip(&filled(builder.clone().build().unwrap(), items));
            let timed = filled(builder.span(Duration::from_secs(60)).build().unwrap(), items / 3);
            check_round_trip(&timed);
            for second in [5, 40, 77] {
                timed.advance(Duration::from_secs(1000 + second));
                timed.insert(&(10_000 + second));
                check_round_trip(&timed);
            }
            let again = read_again(&timed);
            for second in [90, 130, 170] {
                let now = Duration::from_secs(1000 + second);
                assert_eq!(again.advance(now), timed.advance(now));
                assert!((0..11_000).all(|item| again.contains(&item) == timed.contains(&item)));
            }
        }
    }
}

#[test]
fn bloom_filters_of_several_slices() {
    for items in [0, 1000, 5000, 150_000] {
        let builder = ScalableBloomFilter::<u64>::builder().capacity(1024);
        let builder = builder.false_positive_rate(1e-3).max_size_in_bytes(1 << 30);
        let filter = filled(builder.hasher(any_rapid(items)).build().unwrap(), items);
        check_round_trip(&filter);
        // A loaded filter goes on growing.
        let again = read_again(&filter);
        assert_eq!(raw::slices(&again).len(), raw::slices(&filter).len());
        again.insert_many_with(0..4 * items, |_, _| ());
        assert!((0..4 * items).all(|item| again.contains(&item)));
        assert!(items < 1000 || raw::slices(&again).len() > raw::slices(&filter).len());
        let builder = OnceScalableBloomFilter::<u64>::builder().capacity(1024);
        check_round_trip(&filled(builder.hasher(any_rapid(items)).build().unwrap(), items));
    }
}

/// The end of growth that was given, or the default, is the same in a loaded filter.
#[test]
fn a_filter_grows_to_the_same_end() {
    for (rate, end) in [(0.01, None), (1e-12, None), (1e-12, Some(20_000)), (1e-6, Some(5000))] {
        for items in [0, 4000, 10_000] {
            let builder = ScalableBloomFilter::<u64>::builder().capacity(1024);
            let builder = builder.false_positive_rate(rate).hasher(any_rapid(items));
            let builder = end.into_iter().fold(builder, |builder, end| builder.max_capacity(end));
            let filter = filled(builder.build().unwrap(), items);
            check_round_trip(&filter);
            let again = read_again(&filter);
            assert_eq!(again.max_capacity(), filter.max_capacity());
            let info = Info::read(&bytes_of(&filter)[..]).unwrap();
            let tamis_formats::Geometry::Chain(sizes) = info.geometry() else {
                panic!("not slices")
            };
            assert_eq!(sizes.max_capacity(), end.map(|end| end as u64));
            // Both grow in the same steps.
            for filter in [&filter, &again] {
                filter.insert_many_with(items..30_000, |_, _| ());
            }
            assert_eq!(again.capacity(), filter.capacity());
            assert!(again.capacity() >= end.unwrap_or(30_000));
        }
    }
}

macro_rules! each_kind {
    ($check:ident) => {
        $check!(BloomFilter BlockedBloomFilter OnceBloomFilter CuckooFilter OnceCuckooFilter
            CountingBloomFilter RotatingBloomFilter ScalableBloomFilter OnceScalableBloomFilter)
    };
}

/// Checks a filter of every kind with this hasher. Returns the bytes and the answers of each.
fn of_each_kind(hasher: &AnyStable) -> [(Vec<u8>, Vec<bool>); 9] {
    macro_rules! check {
        ($($name:ident)*) => {[$({
            let builder = $name::<u64>::builder().capacity(300).hasher(hasher.clone());
            let filter = filled(builder.build().unwrap(), 250);
            check_round_trip(&filter);
            (bytes_of(&filter), (0..3000).map(|item| filter.contains(&item)).collect())
        }),*]};
    }
    each_kind!(check)
}

/// Checks that a filter of every kind with this hasher in its type has the same bytes and answers
/// as with this hasher chosen at run time.
fn of_each_type<S: StableHasher + HashItem<u64> + Into<AnyStable>>(hasher: &S) {
    let of_type = BloomFilter::<u64>::builder().capacity(300).hasher(hasher.clone());
    check_round_trip(&filled(of_type.build().unwrap(), 250));
    let mut expected = of_each_kind(&hasher.clone().into()).into_iter();
    macro_rules! check {
        ($($name:ident)*) => {$({
            let (bytes, answers) = expected.next().unwrap();
            let builder = $name::<u64>::builder().capacity(300).hasher(hasher.clone());
            let filter = filled(builder.build().unwrap(), 250);
            assert!(bytes_of(&filter) == bytes, "other bytes by the hasher of the type");
            let again: $name<u64, S> = read(&bytes[..]).unwrap();
            assert!(bytes_of(&again) == bytes, "other bytes after a read by this type");
            assert!((0..).zip(answers).all(|(item, answer)| again.contains(&item) == answer));
        })*};
    }
    each_kind!(check);
}

#[test]
fn every_hasher() {
    for seed in [0, 1, u64::MAX] {
        of_each_type(&Rapid::with_seed(seed));
        of_each_type(&Xxh3::with_seed(seed));
        of_each_type(&Xxh64::with_seed(seed));
    }
    of_each_type(&SipHash13::with_key(*b"0123456789abcdef"));
    of_each_type(&SipHash13::with_key([0; 16]));
}

/// A filter of every layout with this hasher.
fn of_each_layout(hasher: &AnyStable) {
    let classic = BloomFilter::<u64>::builder().bits(3001).probes(7).hasher(hasher.clone());
    check_round_trip(&filled(classic.build().unwrap(), 200));
    macro_rules! lines {
        ($($name:ident)*) => {$(for words in [1, 2, 4, 8] {
            let builder = $name::<u64>::builder().bits(512 * 7).probes(8).words(words);
            check_round_trip(&filled(builder.hasher(hasher.clone()).build().unwrap(), 200));
        })*};
    }
    macro_rules! buckets {
        ($($name:ident)*) => {$(for (slots, width) in Geometry::shapes() {
            let builder = $name::<u64>::builder().buckets(102).slots(slots).fingerprint_bits(width);
            check_round_trip(&filled(builder.hasher(hasher.clone()).build().unwrap(), 150));
        })*};
    }
    lines!(BlockedBloomFilter OnceBloomFilter);
    buckets!(CuckooFilter OnceCuckooFilter);
}

#[test]
fn every_layout_with_every_hasher() {
    of_each_layout(&Rapid::with_seed(11).into());
    of_each_layout(&Xxh3::with_seed(12).into());
    of_each_layout(&Xxh64::with_seed(13).into());
    of_each_layout(&SipHash13::with_key([14; 16]).into());
}

/// Items of every type are found again by the item, not only by its hash. One type of `tamis-bloom`
/// and one of `tamis-cuckoo` are enough, since only the hasher sees the items.
#[test]
fn items_of_every_type_with_every_hasher() {
    macro_rules! check {
        ($hasher:expr, $items:expr, $item:ty, $($name:ident)*) => {$({
            let filter = $name::<$item>::builder().capacity(200).hasher($hasher.clone());
            let filter = filter.build().unwrap();
            let items: Vec<_> = (0..300).map($items).collect();
            let borrowed = || items.iter().map(std::borrow::Borrow::<$item>::borrow);
            borrowed().take(100).for_each(|item| _ = filter.insert(item));
            let again = read_again(&filter);
            for (number, item) in borrowed().enumerate() {
                let answer = filter.contains(item);
                assert_eq!(again.contains(item), answer);
                assert!(answer || number >= 100);
            }
        })*};
    }
    let hashers: [AnyStable; 4] = [
        Rapid::with_seed(1).into(),
        Xxh3::with_seed(2).into(),
        Xxh64::with_seed(3).into(),
        SipHash13::with_key([4; 16]).into(),
    ];
    for hasher in hashers {
        check!(hasher, |item: u64| item, u64, BloomFilter CuckooFilter);
        check!(hasher, |item: u32| item, u32, BloomFilter CuckooFilter);
        check!(hasher, |item: u32| u128::from(item), u128, BloomFilter CuckooFilter);
        check!(hasher, |item| "x".repeat(item), str, BloomFilter CuckooFilter);
        check!(hasher, |item| vec![7_u8; item], [u8], BloomFilter CuckooFilter);
    }
}

#[test]
fn a_normalization_is_kept() {
    let builder = BloomFilter::<u64>::builder().bits(999).probes(7).hasher(any_rapid(1));
    let filter = filled(builder.build().unwrap(), 50);
    let options = Options::new()
        .normalization(Normalization::new("abcdefghijklmnopqrstuvwxyz 01234").unwrap());
    let mut bytes = Vec::new();
    options.write(&filter, &mut bytes).unwrap();
    check_answers(&filter, &bytes, &options);
}

/// While a thread inserts, it holds the lock bit of a line. The file does not have this bit.
#[test]
fn a_held_lock_is_not_saved() {
    const LOCK: u64 = 1 << 62;
    let builder = OnceBloomFilter::<u64>::builder().bits(3 * 512).probes(6).words(2);
    let geometry = builder.geometry().unwrap();
    let mut lines = raw::Lines::zeroed(raw::lines(geometry)).unwrap();
    lines.iter_mut().for_each(|line| line.words[0].update(|word| *word = LOCK | 5));
    let filter: crate::common::Once =
        raw::from_lines(geometry, 1, Rapid::with_seed(0), lines).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locked");
    save(&filter, &path).unwrap();
    for bytes in [bytes_of(&filter), std::fs::read(&path).unwrap()] {
        for line in bytes[4096..].chunks_exact(64) {
            assert_eq!(line[..8], 5_u64.to_le_bytes());
        }
        assert!(read::<crate::common::Once>(&bytes[..]).is_ok());
    }
}

#[test]
fn a_removed_item_is_gone_and_copies_are_kept() {
    let filter = crate::common::small_cuckoo();
    for _ in 0..3 {
        filter.insert(&1000).unwrap();
    }
    assert!(filter.remove(&1000) && filter.remove(&3));
    let again: crate::common::Cuckoo = read(&bytes_of(&filter)[..]).unwrap();
    assert_eq!((again.len(), again.count(&1000)), (filter.len(), filter.count(&1000)));
    // A loaded filter can be changed like any other.
    assert!(again.remove(&1000) && again.insert(&2000).is_ok());
    assert_eq!(again.len(), filter.len());
}

#[test]
fn filters_follow_each_other_in_a_stream() {
    let mut bytes = bytes_of(&crate::common::small_bloom());
    bytes.extend(bytes_of(&crate::common::small_cuckoo()));
    bytes.extend_from_slice(b"rest");
    let mut stream = &bytes[..];
    let bloom: crate::common::Bloom = read(&mut stream).unwrap();
    let cuckoo: crate::common::Cuckoo = read(&mut stream).unwrap();
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
    let filter = crate::common::small_once();
    let bytes = bytes_of(&filter);
    let again: crate::common::Once = read(Pieces(&bytes, 0)).unwrap();
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
            let (union, one, other) = (new(), new(), new());
            for item in 0..5000 {
                if item % 2 == 0 { one.insert(&item) } else { other.insert(&item) };
            }
            union.union_with(&one).unwrap();
            save(&other, &path).unwrap();
            Options::new().merge_from(&union, &path).unwrap();
            one.union_with(&other).unwrap();
            assert!(bytes_of(&union) == bytes_of(&one));
        })*};
    }
    kinds! {
        BloomFilter: |builder| builder.bits(10_000_000).probes(5);
        BlockedBloomFilter: |builder| builder.bits(10_000_000).probes(8).words(2);
        OnceBloomFilter: |builder| builder.bits(10_000_000).probes(8).words(2);
    }
}

/// Every insert that returned before the save began is in the file, whatever other threads do
/// meanwhile.
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
            before
                .clone()
                .for_each(|item| assert!(filter.insert_hash(hash(item)).verdict().is_ok()));
            thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    for item in before.end..before.end + 1000 {
                        assert!(filter.insert_hash(hash(item)).verdict().is_ok());
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
    let once = OnceCuckooFilter::<u64>::builder().capacity(20_000);
    check(&once.hasher(hasher.clone()).build().unwrap());
    let counting = CountingBloomFilter::<u64>::builder().capacity(20_000);
    check(&counting.hasher(hasher.clone()).build().unwrap());
    let rotating = RotatingBloomFilter::<u64>::builder().capacity(20_000);
    check(&rotating.hasher(hasher.clone()).build().unwrap());
    // These grow meanwhile.
    let scalable = ScalableBloomFilter::<u64>::builder().capacity(1024);
    check(&scalable.hasher(hasher.clone()).build().unwrap());
    let scalable = OnceScalableBloomFilter::<u64>::builder().capacity(1024);
    check(&scalable.hasher(hasher.clone()).build().unwrap());
    let growing = CuckooFilter::<u64>::builder().capacity(1).max_capacity(20_000);
    check(&growing.hasher(hasher.clone()).build().unwrap());
    let growing = OnceCuckooFilter::<u64>::builder().capacity(1).max_capacity(20_000);
    check(&growing.hasher(hasher).build().unwrap());
}

/// Removals of an item with copies in both buckets tear the pass of a save, which then saves a
/// copy: no item is lost, and none is doubled.
#[test]
fn a_save_while_copies_are_removed_from_both_buckets() {
    // More than one chunk.
    let builder = CuckooFilter::<u64>::builder().buckets(1 << 18).slots(4).fingerprint_bits(32);
    let filter = builder.hasher(Rapid::with_seed(1)).build().unwrap();
    (0..1000).for_each(|item| filter.insert(&item).unwrap());
    // One more than a bucket holds.
    (0..5).for_each(|_| filter.insert(&u64::MAX).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torn");
    thread::scope(|scope| {
        let saver = scope.spawn(|| {
            for _ in 0..20 {
                save(&filter, &path).unwrap();
                let saved = load::<CuckooFilter<u64, Rapid>>(&path).unwrap();
                assert!((0..1000).all(|item| saved.count(&item) == 1));
                assert!((4..=6).contains(&saved.count(&u64::MAX)));
            }
        });
        while !saver.is_finished() {
            assert!(filter.remove(&u64::MAX));
            filter.insert(&u64::MAX).unwrap();
        }
    });
}
