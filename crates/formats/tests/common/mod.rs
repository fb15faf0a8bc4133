//! What several tests need: filters with items, their bytes, and the answers of every loader.

#![allow(dead_code, reason = "each test uses a part")]

use std::fs::File;
use std::path::Path;

use tamis_bloom::raw::{Growth, Rotation, SliceSizes};
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, OnceScalableBloomFilter,
    RotatingBloomFilter, ScalableBloomFilter,
};
use tamis_cuckoo::raw::{self, Lines, growing};
use tamis_cuckoo::{self as cuckoo, CuckooFilter, OnceCuckooFilter};
use tamis_formats::{Kind, LoadError, MapFile, Mapped, Options, Saved, load, read, write};
use tamis_hash::{AnyStable, HashItem, Rapid, StableHasher};

pub(crate) type Bloom = BloomFilter<u64, Rapid>;
pub(crate) type Blocked = BlockedBloomFilter<u64, Rapid>;
pub(crate) type Once = OnceBloomFilter<u64, Rapid>;
pub(crate) type Cuckoo = CuckooFilter<u64, Rapid>;
pub(crate) type OnceCuckoo = OnceCuckooFilter<u64, Rapid>;
pub(crate) type Scalable = ScalableBloomFilter<u64, Rapid>;
pub(crate) type OnceScalable = OnceScalableBloomFilter<u64, Rapid>;
pub(crate) type Counting = CountingBloomFilter<u64, Rapid>;
pub(crate) type Rotating = RotatingBloomFilter<u64, Rapid>;

/// A type of filter that can be saved, and mapped or not.
pub(crate) trait Ways: Saved {
    /// Maps a file and checks all of it, if its filter can be mapped.
    fn mapped(options: &Options, file: MapFile) -> Option<Result<Mapped<Self>, LoadError>>;
}

macro_rules! ways {
    ($($name:ident)*, |$options:ident, $file:ident| $mapped:expr) => {$(
        impl<T: ?Sized, S: StableHasher + HashItem<T>> Ways for $name<T, S> {
            fn mapped($options: &Options, $file: MapFile) -> Option<Result<Mapped<Self>, LoadError>> {
                $mapped
            }
        }
    )*};
}

ways!(BloomFilter BlockedBloomFilter OnceBloomFilter CuckooFilter OnceCuckooFilter, |options, file| {
    match options.map(file) {
        Err(LoadError::NotInPlace { .. }) => None,
        mapped => Some(mapped.and_then(|mapped| mapped.verify().map(|()| mapped))),
    }
});
ways!(ScalableBloomFilter OnceScalableBloomFilter CountingBloomFilter RotatingBloomFilter,
    |_options, _file| None);

/// Returns the bytes that a stream of the filter has.
pub(crate) fn bytes_of<F: Saved>(filter: &F) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(filter, &mut bytes).unwrap();
    bytes
}

/// Reads a filter of the same type from the bytes of this one.
pub(crate) fn read_again<F: Saved>(filter: &F) -> F {
    read(&bytes_of(filter)[..]).unwrap()
}

/// A hasher that is chosen at run time. A round trip with it is compiled once per kind of filter.
pub(crate) fn any_rapid(seed: u64) -> AnyStable {
    Rapid::with_seed(seed).into()
}

/// Inserts the numbers from 0 to `items`, as far as they fit.
pub(crate) fn filled<F: Saved>(filter: F, items: u64) -> F
where
    F::Hasher: HashItem<u64>,
{
    for item in 0..items {
        let _ = filter.insert_hash(filter.hasher().hash_item(&item));
    }
    filter
}

/// Returns a small filter of each kind. The once filter has a lock in each line.
pub(crate) fn small_bloom() -> Bloom {
    let builder = BloomFilter::<u64>::builder().bits(999).probes(7);
    filled(builder.hasher(Rapid::with_seed(1)).build().unwrap(), 50)
}

pub(crate) fn small_blocked() -> Blocked {
    let builder = BlockedBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    filled(builder.hasher(Rapid::with_seed(2)).build().unwrap(), 50)
}

pub(crate) fn small_once() -> Once {
    let builder = OnceBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    filled(builder.hasher(Rapid::with_seed(3)).build().unwrap(), 50)
}

pub(crate) fn small_cuckoo() -> Cuckoo {
    let builder = CuckooFilter::<u64>::builder().buckets(10).slots(5).fingerprint_bits(12);
    filled(builder.hasher(Rapid::with_seed(4)).build().unwrap(), 30)
}

pub(crate) fn small_once_cuckoo() -> OnceCuckoo {
    let builder = OnceCuckooFilter::<u64>::builder().buckets(14).slots(4).fingerprint_bits(16);
    filled(builder.hasher(Rapid::with_seed(5)).build().unwrap(), 30)
}

/// Makes an empty slice with this number of items, the first or the second of a filter of unequal
/// layouts.
fn slice(once: bool, number: usize, items: u64) -> (SliceSizes, Lines) {
    let (bits, probes, words, capacity) = [(512, 4, 1, 30), (1024, 6, 2, 60)][number];
    let geometry = if once {
        let builder = OnceBloomFilter::<u64>::builder().bits(bits).probes(probes);
        builder.words(2 * words).geometry()
    } else {
        let builder = BlockedBloomFilter::<u64>::builder().bits(bits).probes(probes);
        builder.words(words).geometry()
    };
    let geometry = geometry.unwrap();
    let lines = Lines::zeroed(tamis_bloom::raw::lines(geometry)).unwrap();
    (SliceSizes { geometry, capacity, items }, lines)
}

macro_rules! two_slices {
    ($($function:ident $name:ident $once:literal)*) => {$(
        /// Returns a filter of two slices of unequal layouts. The first has the numbers from 0 to
        /// 20.
        pub(crate) fn $function<S: StableHasher + HashItem<u64>>(hasher: S) -> $name<u64, S> {
            use tamis_bloom::raw;
            let growth = Growth {
                first_capacity: 30,
                rate: 0.05,
                max_size_in_bytes: 1 << 20,
                max_capacity: None,
            };
            let one: $name<u64, S> =
                raw::from_slices(growth, hasher.clone(), [slice($once, 0, 0)]).unwrap();
            (0..20).for_each(|item| assert!(one.insert(&item) || one.contains(&item)));
            let (sizes, mut lines) = slice($once, 0, raw::slices(&one)[0].items);
            for (line, to) in (0..).zip(lines.iter_mut()) {
                let words = raw::read_slice_line(&one, 0, line);
                to.words.iter_mut().zip(words).for_each(|(to, bits)| to.update(|to| *to = bits));
            }
            raw::from_slices(growth, hasher, [(sizes, lines), slice($once, 1, 0)]).unwrap()
        }
    )*};
}

two_slices! {
    scalable_bloom ScalableBloomFilter false
    once_scalable_bloom OnceScalableBloomFilter true
}

/// Returns a filter of three generations and a spare one, of which each has 20 items.
pub(crate) fn rotating<S>(hasher: S) -> RotatingBloomFilter<u64, S> {
    let builder = BlockedBloomFilter::<u64>::builder().bits(512).probes(4).words(2);
    let geometry = builder.geometry().unwrap();
    let lines = Lines::zeroed(tamis_bloom::raw::rotating_lines(geometry, 3)).unwrap();
    let rotation = Rotation::new(40, None, 3);
    tamis_bloom::raw::rotating_from_lines(geometry, rotation, hasher, lines).unwrap()
}

/// Returns the sizes of a small filter that grows. With 30 or 40 items, some of its buckets are
/// split, and those have another shape than the others. The buckets have 64 bits.
pub(crate) fn growing_words() -> cuckoo::Geometry {
    growing::geometry(16, 21, 4, 64).unwrap()
}

/// As [`growing_words`], with buckets of 128 bits.
pub(crate) fn growing_pairs() -> cuckoo::Geometry {
    growing::geometry(24, 32, 5, 128).unwrap()
}

pub(crate) fn small_scalable() -> Scalable {
    filled(scalable_bloom(Rapid::with_seed(7)), 30)
}

pub(crate) fn small_once_scalable() -> OnceScalable {
    filled(once_scalable_bloom(Rapid::with_seed(8)), 30)
}

pub(crate) fn small_counting() -> Counting {
    let builder = CountingBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    filled(builder.hasher(Rapid::with_seed(9)).build().unwrap(), 50)
}

pub(crate) fn small_rotating() -> Rotating {
    filled(rotating(Rapid::with_seed(10)), 30)
}

pub(crate) fn small_growing_cuckoo() -> Cuckoo {
    let builder = CuckooFilter::<u64>::builder().like(growing_words()).capacity(200);
    filled(builder.hasher(Rapid::with_seed(6)).build().unwrap(), 30)
}

/// As [`small_growing_cuckoo`], with buckets of 128 bits where the processor has them.
pub(crate) fn small_growing_once() -> OnceCuckoo {
    let pairs = growing_pairs();
    let geometry = if raw::is_supported(pairs) { pairs } else { growing_words() };
    let builder = OnceCuckooFilter::<u64>::builder().like(geometry).capacity(200);
    filled(builder.hasher(Rapid::with_seed(11)).build().unwrap(), 40)
}

/// Maps a file.
pub(crate) fn map_file(path: &Path) -> MapFile {
    // SAFETY: the tests do not make a mapped file shorter.
    unsafe { MapFile::new(File::open(path).unwrap()) }
}

/// A small file, and what its loaders do: as values, so that a test of the files of all kinds is
/// compiled once.
pub(crate) struct Small {
    pub(crate) bytes: Vec<u8>,
    pub(crate) verdicts: fn(&Path, &[u8]) -> [String; 3],
    /// Loads a file, also a live one, and returns the bytes that its filter has.
    pub(crate) again: fn(&Path) -> Result<Vec<u8>, LoadError>,
}

impl Small {
    pub(crate) fn of<F: Ways>(filter: &F) -> Self {
        let again = |path: &Path| Ok(bytes_of(&Options::new().live(true).load::<F>(path)?));
        Self { bytes: bytes_of(filter), verdicts: verdicts::<F>, again }
    }
}

/// Returns the verdict of each loader on a file: what `Debug` prints of the error, or an empty
/// text. Where a type cannot be mapped, the last verdict is that of a load for queries.
pub(crate) fn verdicts<F: Ways>(path: &Path, bytes: &[u8]) -> [String; 3] {
    let text = |error: LoadError| format!("{error:?}");
    #[cfg(feature = "serde")]
    {
        use serde::de::value::{BytesDeserializer, Error};
        // serde has the text of the error of a load.
        let of_bytes = Options::new().deserialize::<F, _>(BytesDeserializer::<Error>::new(bytes));
        let (of_bytes, loaded) = (of_bytes.err(), load::<F>(path).err());
        assert_eq!(
            of_bytes.map(|error| error.to_string()),
            loaded.map(|error| error.to_string()),
            "by serde, and by a load"
        );
    }
    [
        load::<F>(path).err().map_or_else(String::new, text),
        read::<F>(bytes).err().map_or_else(String::new, text),
        match F::mapped(&Options::new(), map_file(path)) {
            Some(mapped) => mapped.err().map_or_else(String::new, text),
            None => Options::new().load_frozen::<F>(path).err().map_or_else(String::new, text),
        },
    ]
}

/// Saves the filter and reads it back in every way. All have the same answers, and the same bytes
/// when saved again.
pub(crate) fn check_round_trip<F: Ways>(filter: &F)
where
    F::Hasher: HashItem<u64>,
{
    check_answers(filter, &bytes_of(filter), &Options::new());
}

/// As [`check_round_trip`], with bytes that are given.
pub(crate) fn check_answers<F: Ways>(filter: &F, bytes: &[u8], options: &Options)
where
    F::Hasher: HashItem<u64>,
{
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter");
    options.save(filter, &path).unwrap();
    assert!(std::fs::read(&path).unwrap() == bytes, "a file has other bytes than a stream");
    assert_eq!(bytes.len() as u64, tamis_formats::encoded_len(filter));

    // Items that are in the filter, and items that are not.
    let hashes: Vec<u64> = (0..3000).map(|item| filter.hasher().hash_item(&item)).collect();
    let answers: Vec<bool> = hashes.iter().map(|hash| filter.contains_hash(*hash)).collect();
    let check = |how: &str, contains: &dyn Fn(u64) -> bool| {
        let same = hashes.iter().zip(&answers).all(|(hash, answer)| contains(*hash) == *answer);
        assert!(same, "{how} gives other answers");
    };

    let mut all: Vec<(&str, F)> =
        vec![("load", options.load(&path).unwrap()), ("read", options.read(bytes).unwrap())];
    all.extend(by_serde(filter, bytes, options));
    for (how, again) in all {
        check(how, &|hash| again.contains_hash(hash));
        let mut again_bytes = Vec::new();
        options.write(&again, &mut again_bytes).unwrap();
        assert!(again_bytes == bytes, "{how}: other bytes when written again");
        let again_path = folder.path().join("again");
        options.save(&again, &again_path).unwrap();
        assert!(
            std::fs::read(&again_path).unwrap() == bytes,
            "{how}: other bytes when saved again"
        );
        assert_eq!(again.capacity(), filter.capacity());
        // A slice that is prepared ahead is not saved.
        let is_ahead = matches!(F::KIND, Kind::ScalableBloom | Kind::OnceScalableBloom)
            && again.size_in_bytes() < filter.size_in_bytes();
        assert!(is_ahead || again.size_in_bytes() == filter.size_in_bytes());
        assert_eq!(again.figures().items.value, filter.figures().items.value);
        let (one, other) = (again.hasher(), filter.hasher());
        assert_eq!((one.algorithm(), one.key()), (other.algorithm(), other.key()));
        assert_eq!(one.hash_item(&7), other.hash_item(&7));
    }
    let frozen = options.load_frozen::<F>(&path).unwrap();
    check("load_frozen", &|hash| frozen.contains_hash(hash));
    let frozen = options.read_frozen::<F>(bytes).unwrap();
    check("read_frozen", &|hash| frozen.contains_hash(hash));
    if let Some(mapped) = F::mapped(options, map_file(&path)) {
        let mapped = mapped.unwrap();
        check("map", &|hash| mapped.contains_hash(hash));
        let mut several = Vec::new();
        mapped.contains_hashes(hashes.iter().copied(), |_, hit| several.push(hit));
        assert!(several == answers, "map gives other answers to many");
    }
    // The options are those of the file, so that the plain functions refuse a file with a
    // normalization.
    if *options == Options::new() {
        assert!(
            Options::new().load_frozen::<F>(&path).is_ok()
                && Options::new().read_frozen::<F>(bytes).is_ok()
        );
    }
}

/// Loads the filter through serde, from its bytes and from what a text format has.
#[cfg(feature = "serde")]
fn by_serde<F: Saved>(filter: &F, bytes: &[u8], options: &Options) -> Vec<(&'static str, F)> {
    use serde::de::value::{BytesDeserializer, Error};
    let of_bytes = options.deserialize(BytesDeserializer::<Error>::new(bytes));
    let mut all = vec![("serde, from bytes", of_bytes.unwrap())];
    // The text of a large filter takes long.
    if bytes.len() < 1 << 15 {
        let mut json = Vec::new();
        options.serialize(filter, &mut serde_json::Serializer::new(&mut json)).unwrap();
        let mut of_text = serde_json::Deserializer::from_slice(&json);
        all.push(("serde, from JSON", options.deserialize(&mut of_text).unwrap()));
    }
    all
}

#[cfg(not(feature = "serde"))]
fn by_serde<F: Saved>(_: &F, _: &[u8], _: &Options) -> Vec<(&'static str, F)> {
    Vec::new()
}
