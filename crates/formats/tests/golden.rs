//! Files of the first release, one per kind and layout: they load for ever, with the same answers,
//! to the same bytes.
//!
//! With `TAMIS_BLESS=1` the test writes files that are missing. No file may change.

use std::path::PathBuf;
use std::{env, fs};

use crate::common::{Ways, bytes_of, check_answers, growing_pairs, growing_words, map_file};
use crate::reader::Reader;
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, Geometry, OnceBloomFilter,
};
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter, raw};
use tamis_formats::foreign::{Format, Key};
use tamis_formats::{Info, Live, LoadError, Normalization, Options, Parts, save};
use tamis_hash::{AnyStable, HashItem, Rapid, SipHash13, StableHasher, Xxh3, Xxh64};
use twox_hash::XxHash3_64;

/// The items of each file: the numbers from 0.
const ITEMS: u64 = 40;

/// The files and their checksums.
const FILES: [(&str, u64); 28] = [
    ("bloom.tamis", 0xD12A_064C_8D0D_46CA),
    ("blocked-1.tamis", 0x779A_47FD_2C7C_C48F),
    ("once-1.tamis", 0x26B7_9804_A2AD_95C9),
    ("blocked-2.tamis", 0xC230_8A55_DDEF_B2BC),
    ("once-2.tamis", 0x20E3_5290_AECD_FEF3),
    ("blocked-4.tamis", 0xF15B_65E7_62BF_4168),
    ("once-4.tamis", 0xFFD1_3FFD_3C67_F0BD),
    ("blocked-8.tamis", 0x2611_5AB1_05B7_C9B2),
    ("once-8.tamis", 0x4720_2A9A_97DC_9763),
    ("cuckoo-4x8.tamis", 0x1B37_2D80_CDFB_A1F6),
    ("cuckoo-8x8.tamis", 0x6265_6AC0_775D_8F21),
    ("cuckoo-5x12.tamis", 0x39B7_4D13_EBDB_FE8C),
    ("cuckoo-4x16.tamis", 0x130B_9297_02C9_7606),
    ("cuckoo-3x20.tamis", 0x26DD_C0C7_E67F_59E7),
    ("cuckoo-2x32.tamis", 0xCB82_A98E_A378_CBE1),
    ("cuckoo-7x18.tamis", 0x40A8_C7A6_429F_07D7),
    ("cuckoo-5x25.tamis", 0x76A9_BD6E_46B8_98AD),
    ("cuckoo-4x32.tamis", 0xEFC8_2933_E592_DA7F),
    ("cuckoo-3x42.tamis", 0xA521_D034_9724_F36C),
    ("once-cuckoo.tamis", 0x2FBF_FC61_5C9A_5A24),
    ("scalable.tamis", 0xCB3B_588B_F410_4CE7),
    ("once-scalable.tamis", 0x6FFC_E0A3_CB7F_D4A9),
    ("counting.tamis", 0x1099_AD97_4125_212A),
    ("rotating.tamis", 0x7E4C_F4CE_6206_2F07),
    ("growing-cuckoo.tamis", 0x5F9B_7927_A751_C701),
    ("growing-once-cuckoo.tamis", 0x9808_1958_ED34_7B1B),
    ("foreign.tamis", 0xCB1C_D217_0673_3BF5),
    ("live.tamis", 0xBCC1_EDAA_2C49_7C1D),
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Returns the bytes of a file, after a check that they did not change.
fn golden(name: &str) -> Vec<u8> {
    let bytes = fs::read(path(name)).unwrap();
    let sum = XxHash3_64::oneshot(&bytes);
    let pinned = FILES.iter().find(|(file, _)| *file == name).map(|(_, sum)| *sum);
    assert_eq!(Some(sum), pinned, "{name}: {sum:#018x}");
    bytes
}

/// Writes a file that is missing, if asked to. Returns whether it did.
fn is_blessed(name: &str, bytes: &[u8]) -> bool {
    let is_missing = env::var_os("TAMIS_BLESS").is_some() && !path(name).exists();
    if is_missing {
        fs::write(path(name), bytes).unwrap();
        println!("    (\"{name}\", {:#018x}),", XxHash3_64::oneshot(bytes));
    }
    is_missing
}

/// Checks the file that holds such a filter. `new` builds it again, if this processor can.
fn check<F: Ways<Hasher = AnyStable>>(
    name: &str,
    hasher: impl Into<AnyStable>,
    normalization: &str,
    new: impl FnOnce(AnyStable) -> Option<F>,
) {
    let hasher = hasher.into();
    check_file(name, &hasher, normalization, new(hasher.clone()));
}

/// Checks the file that holds a filter with this hasher, which is `new` without its items.
fn check_file<F: Ways<Hasher = AnyStable>>(
    name: &str,
    hasher: &AnyStable,
    normalization: &str,
    new: Option<F>,
) {
    let name = format!("{name}.tamis");
    let options = Options::new().normalization(Normalization::new(normalization).unwrap());
    let new = new.map(|filter| crate::common::filled(filter, ITEMS));
    if let Some(filter) = &new {
        let mut bytes = Vec::new();
        options.write(filter, &mut bytes).unwrap();
        if is_blessed(&name, &bytes) {
            return;
        }
    }
    let bytes = golden(&name);
    let info = Info::open(path(&name)).unwrap();
    assert_eq!((info.kind(), info.normalization().name()), (F::KIND, normalization), "{name}");
    assert_eq!(info.algorithm(), hasher.algorithm(), "{name}");
    assert_eq!(info.file_len(), bytes.len() as u64, "{name}");
    // The answers, also by the second reader.
    let frozen = options.load_frozen::<F>(path(&name)).unwrap();
    let mapped = F::mapped(&options, map_file(&path(&name))).map(Result::unwrap);
    let second = Reader::new(&bytes).unwrap();
    assert_eq!(frozen.hasher().key(), hasher.key(), "{name}");
    assert_eq!((second.key, second.policy.as_str()), (hasher.key(), normalization), "{name}");
    let mut hits = 0;
    for item in 0..2000_u64 {
        let hash = hasher.hash_item(&item);
        let answer = second.contains(&item.to_le_bytes());
        assert_eq!(frozen.contains_hash(hash), answer, "{name}: {item}");
        if let Some(mapped) = &mapped {
            assert_eq!(mapped.contains_hash(hash), answer, "{name}: {item}");
        }
        assert!(answer || item >= ITEMS, "{name}: {item} is lost");
        hits += u64::from(answer);
    }
    assert!(hits < 400, "{name}: {hits} of 2000 items are in the filter");
    // A filter that is built and filled today has the same bytes, and so has the loaded one.
    if let Some(filter) = new {
        check_answers(&filter, &bytes, &options);
        let again: F = options.load(path(&name)).unwrap();
        check_answers(&again, &bytes, &options);
    } else {
        assert!(matches!(options.load::<F>(path(&name)), Err(LoadError::Unsupported { .. })));
    }
}

#[test]
fn bloom_files() {
    let builder = BloomFilter::<u64>::builder().bits(999).probes(7);
    check("bloom", Rapid::with_seed(0x0123_4567_89AB_CDEF), "", |hasher| {
        builder.hasher(hasher).build().ok()
    });
    for (words, probes) in [(1, 5), (2, 9), (4, 13), (8, 24)] {
        let builder = BlockedBloomFilter::<u64>::builder().bits(1536).probes(probes).words(words);
        let name = format!("blocked-{words}");
        check(&name, Xxh3::with_seed(words.into()), "url-v1", |hasher| {
            builder.hasher(hasher).build().ok()
        });
        let builder = OnceBloomFilter::<u64>::builder().bits(1536).probes(probes).words(words);
        let name = format!("once-{words}");
        check(&name, Xxh64::with_seed(words.into()), "", |hasher| {
            builder.hasher(hasher).build().ok()
        });
    }
}

#[test]
fn cuckoo_files() {
    let shapes =
        [(4, 8), (8, 8), (5, 12), (4, 16), (3, 20), (2, 32), (7, 18), (5, 25), (4, 32), (3, 42)];
    for (slots, width) in shapes {
        let builder = CuckooFilter::<u64>::builder();
        let builder = builder.buckets(30).slots(slots).fingerprint_bits(width);
        let name = format!("cuckoo-{slots}x{width}");
        let hasher = SipHash13::with_key(*b"sixteen bytes ok");
        check(&name, hasher, "", |hasher| builder.hasher(hasher).build().ok());
    }
    let builder = OnceCuckooFilter::<u64>::builder().buckets(30).slots(4).fingerprint_bits(16);
    check("once-cuckoo", Rapid::with_seed(u64::MAX), "lower case", |hasher| {
        builder.hasher(hasher).build().ok()
    });
}

#[test]
fn files_of_filters_that_grow() {
    check("scalable", Xxh3::with_seed(6), "", |hasher| Some(crate::common::scalable_bloom(hasher)));
    check("once-scalable", Xxh3::with_seed(7), "", |hasher| {
        Some(crate::common::once_scalable_bloom(hasher))
    });
    let builder = CuckooFilter::<u64>::builder().like(growing_words()).capacity(200);
    check("growing-cuckoo", Xxh3::with_seed(10), "", |hasher| builder.hasher(hasher).build().ok());
    let name = "growing-once-cuckoo";
    if !raw::is_supported(growing_pairs()) {
        // It cannot be loaded here, not even for queries.
        let path = path(&format!("{name}.tamis"));
        let error = Options::new().load_frozen::<OnceCuckooFilter<u64, Xxh3>>(path).unwrap_err();
        assert!(matches!(error, LoadError::UnsupportedGrowing), "{error:?}");
        return;
    }
    let builder = OnceCuckooFilter::<u64>::builder().like(growing_pairs()).capacity(200);
    check(name, Xxh3::with_seed(11), "", |hasher| builder.hasher(hasher).build().ok());
}

#[test]
fn files_of_counters_and_windows() {
    let builder = CountingBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    check("counting", Xxh3::with_seed(8), "", |hasher| builder.hasher(hasher).build().ok());
    check("rotating", Xxh3::with_seed(9), "", |hasher| Some(crate::common::rotating(hasher)));
}

/// A live file has no checksum of its body. It is created empty, so its bytes are those of its
/// header.
#[test]
fn live_file() {
    type Once = OnceBloomFilter<u64, Rapid>;
    let geometry: Geometry =
        OnceBloomFilter::<u64>::builder().bits(1024).probes(5).words(1).geometry().unwrap();
    let parts = Parts { geometry, capacity: 77, hasher: Rapid::with_seed(8) };
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("live");
    Live::<Once>::create_file(&new, &parts, &Options::new()).unwrap();
    let bytes = fs::read(&new).unwrap();
    if is_blessed("live.tamis", &bytes) {
        return;
    }
    assert!(bytes == golden("live.tamis"));
    assert!(Reader::new(&bytes).unwrap().is_live);
    let loaded: Once = Options::new().live(true).load(path("live.tamis")).unwrap();
    assert_eq!((loaded.capacity(), loaded.geometry()), (77, geometry));
    assert!(!loaded.contains(&1));
}

/// A filter of another system, with the parts of its file as the specification says them.
#[test]
fn file_of_another_system() {
    let options = Options::new().normalization(Normalization::new("url-v1").unwrap());
    let mut filter = Format::SparkV2.build(30, Some(0.1), Some(7)).unwrap();
    for item in 0..ITEMS as i64 {
        filter.insert(Key::I64(item)).unwrap();
    }
    let mut bytes = Vec::new();
    options.write_foreign(&*filter, &mut bytes).unwrap();
    if is_blessed("foreign.tamis", &bytes) {
        return;
    }
    assert!(bytes == golden("foreign.tamis"));
    let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    // The kind and no flags; the layout and hash algorithm 1; a key of zeros; the size; no probes
    // and words.
    assert_eq!((number(16), number(24), number(32), number(40)), (32, 32 | 1 << 32, 0, 0));
    assert_eq!((number(88), number(96), number(104), number(112)), (40, 0, 1, 0));
    // The body has one line; the format is 22, and the rest of the record is zero.
    assert_eq!((number(120), number(128), number(152), number(160)), (4096, 64, 22, 0));
    assert_eq!((&bytes[4096..4136], &bytes[4136..]), (&filter.to_bytes()[..], &[0; 24][..]));
    let again = options.load_foreign(path("foreign.tamis"), None).unwrap();
    for item in 0..2000 {
        assert_eq!(again.contains(Key::I64(item)), filter.contains(Key::I64(item)), "{item}");
    }
}

/// Every file in the directory is pinned.
#[test]
fn no_other_file() {
    for entry in fs::read_dir(path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(FILES.iter().any(|(file, _)| *file == name), "{name}");
    }
}

/// The tables of masks are a part of the format. The sums are those of the specification.
#[test]
fn the_second_reader_has_the_tables_of_the_specification() {
    let spec = include_str!("../spec/v1.md");
    for (count, table) in (1..).zip(crate::reader::tables()) {
        let sum = table.iter().fold(0_u64, |sum, mask| sum.wrapping_mul(31).wrapping_add(*mask));
        assert!(
            spec.contains(&format!("| {count} | `{sum:#018X}` |").replace("0X", "0x")),
            "{count}: {sum:#018x}"
        );
    }
}

/// The plain functions take a file without a normalization, and only such a file.
#[test]
fn a_file_with_a_normalization_needs_it() {
    type Blocked = BlockedBloomFilter<u64, Xxh3>;
    let error = Options::new().load_frozen::<Blocked>(path("blocked-1.tamis")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the items in the file have the normalization `url-v1`, and here they have no normalization"
    );
    let error = Options::new().normalization(Normalization::new("x").unwrap());
    let error = error.load_frozen::<BloomFilter<u64, Rapid>>(path("bloom.tamis")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the items in the file have no normalization, and here they have the normalization `x`"
    );
    assert!(
        Options::new().read_frozen::<BloomFilter<u64, Rapid>>(&golden("bloom.tamis")[..]).is_ok()
    );
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let bloom = BloomFilter::<u64>::builder()
        .bits(9)
        .probes(1)
        .hasher(Rapid::with_seed(0))
        .build()
        .unwrap();
    save(&bloom, &copy).unwrap();
    assert!(fs::read(copy).unwrap() == bytes_of(&bloom));
}
