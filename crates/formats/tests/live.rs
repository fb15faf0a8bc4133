//! Live filters: one file, several mappings. (Several processes are tested elsewhere.)
#![cfg(unix)]

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::thread;

use crate::common::{Blocked, Bloom, Once, bytes_of};
use tamis_bloom::{BlockedBloomFilter, BloomFilter, Geometry, OnceBloomFilter};
use tamis_core::BuildError;
use tamis_formats::{
    Info, Kind, Live, LoadError, MapFile, Normalization, Options, Parts, SaveError, SavedBloom,
    load, map, read, save,
};
use tamis_hash::Rapid;

fn parts(geometry: Geometry) -> Parts<Rapid> {
    Parts { geometry, capacity: 1000, hasher: Rapid::with_seed(7) }
}

fn once(words: u32) -> Parts<Rapid> {
    let builder = OnceBloomFilter::<u64>::builder().bits(1 << 20).probes(8).words(words);
    parts(builder.geometry().unwrap())
}

/// Opens the file for reading and writing.
fn writable(path: &Path) -> MapFile {
    // SAFETY: the tests do not make the file shorter.
    unsafe { MapFile::new(File::options().read(true).write(true).open(path).unwrap()) }
}

fn live<F: SavedBloom>(path: &Path, parts: &Parts<F::Hasher>) -> Live<F> {
    let file = Live::<F>::open_or_create_file(path, parts, &Options::new()).unwrap();
    // SAFETY: as above.
    Live::open(unsafe { MapFile::new(file) }).unwrap()
}

/// Two threads with a mapping each: exactly one insert of an item returns `true`, and both see all
/// items.
#[test]
fn exactly_one_winner_over_two_mappings() {
    const ITEMS: u64 = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claimed");
    let won = thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let claims: Live<Once> = live(&path, &once(1));
                    (0..ITEMS).filter(|item| claims.insert(item)).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let claims: Live<Once> = live(&path, &once(1));
    assert!((0..ITEMS).all(|item| claims.contains(&item)));
    // An item that nobody won was a false positive when it came.
    let mut winners: Vec<_> = won.into_iter().flatten().collect();
    let all = winners.len();
    winners.sort_unstable();
    winners.dedup();
    assert_eq!(winners.len(), all, "an item has two winners");
    assert!(all as u64 > ITEMS - ITEMS / 50, "only {all} winners");
}

#[test]
fn every_lock_free_kind() {
    let folder = tempfile::tempdir().unwrap();
    macro_rules! kinds {
        ($($name:literal, $type:ty, $kind:ident, $builder:expr;)*) => {$({
            let path = folder.path().join($name);
            let parts = parts($builder.geometry().unwrap());
            let (one, other): (Live<$type>, Live<$type>) = (live(&path, &parts), live(&path, &parts));
            (0..1000).for_each(|item| _ = one.insert(&item));
            assert!((0..1000).all(|item| other.contains(&item)));
            other.flush().unwrap();
            assert_eq!((one.info().kind(), one.info().is_live()), (Kind::$kind, true));
            assert_eq!((one.capacity(), one.geometry()), (1000, parts.geometry));
            // An ordinary file, by two ways.
            let saved = folder.path().join("saved");
            save(&*one, &saved).unwrap();
            let again: $type = load(&saved).unwrap();
            assert!((0..1000).all(|item| again.contains(&item)));
            assert!(bytes_of(&again) == bytes_of(&other.clone()));
            assert!(!Info::open(&saved).unwrap().is_live());
            // A copy of the live file, only on demand.
            assert!(matches!(load::<$type>(&path), Err(LoadError::Live)));
            assert!(matches!(Options::new().load_frozen::<$type>(&path), Err(LoadError::Live)));
            assert!(matches!(Options::new().merge_from(&again, &path), Err(LoadError::Live)));
            assert!(matches!(read::<$type>(File::open(&path).unwrap()), Err(LoadError::Live)));
            assert!(matches!(map::<$type>(crate::common::map_file(&path)), Err(LoadError::Live)));
            let options = Options::new().live(true);
            assert!(matches!(options.map::<$type>(crate::common::map_file(&path)), Err(LoadError::Live)));
            let copy: $type = options.load(&path).unwrap();
            assert!(bytes_of(&copy) == bytes_of(&again));
            options.merge_from(&again, &path).unwrap();
            // The filter stays when all mappings are gone.
            drop((one, other));
            let later: Live<$type> = Live::open(writable(&path)).unwrap();
            assert!((0..1000).all(|item| later.contains(&item)));
        })*};
    }
    kinds! {
        "classic", Bloom, Bloom, BloomFilter::<u64>::builder().bits(99_999).probes(7);
        "blocked", Blocked, BlockedBloom, BlockedBloomFilter::<u64>::builder().bits(99_999).probes(20).words(4);
        "once", Once, OnceBloom, OnceBloomFilter::<u64>::builder().bits(99_999).probes(5).words(1);
    }
}

/// A live filter has the bits that an ordinary one has.
#[test]
fn a_live_filter_has_the_bits_of_an_ordinary_one() {
    let folder = tempfile::tempdir().unwrap();
    let live: Live<Once> = live(&folder.path().join("live"), &once(1));
    let builder = OnceBloomFilter::<u64>::builder().like(live.geometry()).capacity(1000);
    let ordinary =
        crate::common::filled(builder.hasher(Rapid::with_seed(7)).build().unwrap(), 5000);
    (0..5000).for_each(|item| _ = live.insert(&item));
    assert!(bytes_of(&*live) == bytes_of(&ordinary));
}

/// The body of a live file has no checksums. A bit behind the last one that some process or a fault
/// of the disk sets does not make the saved file unreadable.
#[test]
fn a_stray_bit_of_a_live_file_is_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (path, saved) = (folder.path().join("live"), folder.path().join("saved"));
    let builder = BloomFilter::<u64>::builder().bits(99_999).probes(7);
    let live: Live<Bloom> = live(&path, &parts(builder.geometry().unwrap()));
    (0..1000).for_each(|item| _ = live.insert(&item));
    let before = bytes_of(&*live);
    let file = File::options().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, &[0xFF], fs::metadata(&path).unwrap().len() - 1)
        .unwrap();
    assert!(bytes_of(&*live) == before, "the stray bit is in a stream");
    save(&*live, &saved).unwrap();
    assert!(fs::read(&saved).unwrap() == before, "the stray bit is in the file");
    assert!(bytes_of(&live.clone()) == before, "the stray bit is in a snapshot");
    assert!(load::<Bloom>(&saved).is_ok());
}

#[test]
fn a_filter_that_needs_locks_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    for words in [2, 4, 8] {
        let error = Live::<Once>::create_file(&path, &once(words), &Options::new()).unwrap_err();
        assert!(
            matches!(error, SaveError::LiveLocks { kind: Kind::OnceBloom, words: w } if w == words)
        );
        assert!(error.to_string().contains("needs locks"), "{error}");
    }
    // The sizes of another type.
    let error = Live::<Bloom>::create_file(&path, &once(1), &Options::new()).unwrap_err();
    assert!(matches!(error, SaveError::Sizes(BuildError::Layout)), "{error}");
    let error = Live::<Blocked>::create_file(&path, &once(1), &Options::new()).unwrap_err();
    assert!(matches!(error, SaveError::Sizes(BuildError::Layout)), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_existing_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    fs::write(&path, "precious").unwrap();
    assert!(matches!(
        Live::<Once>::create_file(&path, &once(1), &Options::new()),
        Err(SaveError::Io(_))
    ));
    let error = Live::<Once>::open_or_create_file(&path, &once(1), &Options::new()).unwrap_err();
    assert!(matches!(error, SaveError::Existing(LoadError::Magic { .. })), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    // A link that leads nowhere, as a directory: it is neither there nor free.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("nothing"), &link).unwrap();
    let error = Live::<Once>::open_or_create_file(link.join(""), &once(1), &Options::new());
    assert!(matches!(error, Err(SaveError::Io(_))), "{error:?}");
    fs::remove_file(&link).unwrap();
    // To open a pipe for writing must not wait for a reader.
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [folder.path(), &pipe, Path::new("/dev/null")] {
        let error = Live::<Once>::open_or_create_file(path, &once(1), &Options::new());
        assert!(matches!(error, Err(SaveError::NotAFile)), "{}", path.display());
    }
}

#[test]
fn an_existing_filter_must_have_the_same_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    let (options, small) = (Options::new(), once(1));
    drop(live::<Once>(&path, &small));
    let open = |parts: &Parts<Rapid>, options| match Live::<Once>::open_or_create_file(
        &path, parts, options,
    ) {
        Err(SaveError::Existing(error)) => format!("{error:?}"),
        other => format!("{other:?}"),
    };
    let builder = OnceBloomFilter::<u64>::builder().bits(1 << 21).probes(8).words(1);
    assert_eq!(open(&parts(builder.geometry().unwrap()), &options), "OtherSizes");
    assert_eq!(
        open(&Parts { hasher: Rapid::with_seed(8), ..small.clone() }, &options),
        "OtherHash"
    );
    let normalization = options.normalization(Normalization::new("url-v1").unwrap());
    assert!(open(&small, &normalization).starts_with("OtherNormalization"));
    assert!(matches!(
        normalization.open_live::<Once>(writable(&path)),
        Err(LoadError::OtherNormalization { .. })
    ));
    assert!(matches!(Live::<Bloom>::open(writable(&path)), Err(LoadError::OtherKind { .. })));
    // A saved file is not live.
    let saved = folder.path().join("saved");
    save(&*live::<Once>(&path, &small), &saved).unwrap();
    assert!(matches!(Live::<Once>::open(writable(&saved)), Err(LoadError::NotLive)));
    let error = Live::<Once>::open_or_create_file(&saved, &small, &options).unwrap_err();
    assert!(matches!(error, SaveError::Existing(LoadError::NotLive)), "{error:?}");
}

/// The file has its blocks from the start, so that a full disk cannot kill a process later.
#[cfg(target_os = "linux")]
#[test]
fn the_blocks_of_a_live_file_are_allocated() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    let file = Live::<Once>::create_file(&path, &once(1), &Options::new()).unwrap();
    let metadata = file.metadata().unwrap();
    assert_eq!(metadata.len(), 4096 + (1 << 17));
    assert!(metadata.blocks() * 512 >= metadata.len(), "{} blocks", metadata.blocks());
}

#[test]
fn a_file_that_is_open_for_reading_only_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    drop(live::<Once>(&path, &once(1)));
    assert!(matches!(Live::<Once>::open(crate::common::map_file(&path)), Err(LoadError::Io(_))));
}

/// Each write goes to the end of such a file, so the header has another place than at the start.
#[test]
fn a_file_that_is_open_for_appending_is_refused_and_left_empty() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = File::options();
    options.read(true).append(true).create(true);
    let mut file = options.open(folder.path().join("live")).unwrap();
    let error = Live::<Once>::init_file(&mut file, &once(1), &Options::new()).unwrap_err();
    assert!(
        matches!(&error, SaveError::Io(error) if error.kind() == ErrorKind::InvalidInput),
        "{error:?}"
    );
    assert_eq!(file.metadata().unwrap().len(), 0);
}

/// A `memfd` that is sealed needs no unsafe code.
#[cfg(target_os = "linux")]
#[test]
fn a_sealed_memfd() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let memfd = memfd_create("tamis", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC).unwrap();
    let mut file = File::from(memfd);
    Live::<Once>::init_file(&mut file, &once(1), &Options::new()).unwrap();
    let error = Live::<Once>::init_file(&mut file, &once(1), &Options::new()).unwrap_err();
    assert!(matches!(error, SaveError::Io(_)), "{error}");
    assert!(MapFile::sealed(file.try_clone().unwrap()).is_err());
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    let open = || Live::<Once>::open(MapFile::sealed(file.try_clone().unwrap()).unwrap()).unwrap();
    let (one, other) = (open(), open());
    assert!(one.insert(&1) && !other.insert(&1));
}
