//! Writers of sets: what they refuse, what an error leaves, and that the path has the old set or
//! the new one.

use std::fs;
use std::io::{self, ErrorKind, Write};

use crate::sets::{blocked, cuckoo, open_all, right, small};
use tamis_formats::{
    FilterSet, LoadError, Normalization, Options, SetError, SetInfo, SetSaveError, SetStream,
    SetWriter,
};

#[test]
fn a_file_has_the_bytes_of_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let mut set = SetWriter::create(&path).unwrap();
    set.add("one", &blocked(1)).unwrap();
    set.add("two", &cuckoo(1)).unwrap();
    set.finish().unwrap();
    assert!(fs::read(&path).unwrap() == small());
    let set = open_all(&path).unwrap();
    (0..crate::sets::ITEMS).for_each(|item| {
        let found = set.which(&item).unwrap();
        assert!(right(item).iter().all(|filter| found.contains(filter)));
    });
}

#[test]
fn names_have_any_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let names: Vec<Vec<u8>> =
        vec![b"".to_vec(), b"\0".to_vec(), b"\n\xff/".to_vec(), vec![b'a'; 65_535], b"a".to_vec()];
    let mut set = SetWriter::create(&path).unwrap();
    names.iter().for_each(|name| set.add(name, &blocked(1)).unwrap());
    set.finish().unwrap();
    let info = SetInfo::open(&path).unwrap();
    assert!(info.names().eq(names.iter().map(Vec::as_slice)));
    names.iter().enumerate().for_each(|(i, name)| assert_eq!(info.position(name), Some(i)));
}

#[test]
fn what_a_set_refuses_leaves_it_as_before() {
    let mut set = SetStream::new(Vec::new());
    set.add("one", &blocked(1)).unwrap();
    let error = set.add("one", &cuckoo(1)).unwrap_err();
    assert!(matches!(&error, SetSaveError::DuplicateName { name } if name == b"one"), "{error:?}");
    let error = set.add("two", &cuckoo(2)).unwrap_err();
    assert!(matches!(error, SetSaveError::OtherHash), "{error:?}");
    let error = set.add([0; 65_536], &cuckoo(1)).unwrap_err();
    assert!(matches!(error, SetSaveError::LongName { len: 65_536 }), "{error:?}");
    set.add("two", &cuckoo(1)).unwrap();
    assert!(set.finish().unwrap() == small());
}

/// A writer that returns an error after the given number of bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = bytes.len().min(self.0);
        self.0 -= written;
        if written == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(written) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn after_an_error_of_the_stream_nothing_follows() {
    let full = |result: Result<(), SetSaveError>| match result {
        Err(SetSaveError::Save(tamis_formats::SaveError::Io(error))) => {
            assert_eq!(error.kind(), ErrorKind::StorageFull);
        }
        other => panic!("{other:?}"),
    };
    let len = small().len();
    for room in (0..len).step_by(37).chain([1, 255, 256, 4096, 8191, 8192, 16383, len - 1]) {
        let mut set = SetStream::new(Full(room));
        let added = set.add("one", &blocked(1)).and_then(|()| set.add("two", &cuckoo(1)));
        if room >= 16384 {
            added.unwrap();
            full(set.finish().map(drop));
            continue;
        }
        full(added);
        if room % 8192 == 0 {
            // Nothing of the filter was written.
            continue;
        }
        assert!(matches!(set.add("three", &cuckoo(1)), Err(SetSaveError::Broken)), "{room}");
        assert!(matches!(set.finish(), Err(SetSaveError::Broken)), "{room}");
    }
}

#[test]
fn the_path_has_the_old_set_until_the_new_one_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    SetWriter::<u64>::create(&path).unwrap().finish().unwrap();
    let old = fs::read(&path).unwrap();
    assert_eq!(old.len(), 64);

    // A writer that is dropped leaves nothing.
    let mut set = SetWriter::create(&path).unwrap();
    set.add("one", &blocked(1)).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    drop(set);
    assert!(fs::read(&path).unwrap() == old);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    // An open set keeps the old filters.
    let before = FilterSet::<u64>::open(&path, 0).unwrap();
    let mut set = SetWriter::create(&path).unwrap();
    set.add("one", &blocked(1)).unwrap();
    assert!(fs::read(&path).unwrap() == old);
    set.finish().unwrap();
    assert!(before.which(&1).unwrap().is_empty());
    assert_eq!(FilterSet::<u64>::open(&path, 0).unwrap().which(&1).unwrap(), [0]);
    assert!(SetWriter::<u64>::create(folder.path()).is_err(), "a folder is replaced");
}

#[test]
fn a_normalization_is_that_of_every_filter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let normalization = Normalization::new("lower-case").unwrap();
    let mut set = Options::new().normalization(normalization).create_set(&path).unwrap();
    set.add("one", &blocked(1)).unwrap();
    set.add("two", &cuckoo(1)).unwrap();
    set.finish().unwrap();
    let info = SetInfo::open(&path).unwrap();
    assert_eq!(
        (info.normalization(), info.info(1).unwrap().normalization()),
        (normalization, normalization)
    );
}

/// A set that is extended has the bytes of one that was written in one go, and so has one from
/// which a filter was left out.
#[test]
fn copied_filters_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let mut set = SetWriter::create(&path).unwrap();
    set.add("one", &blocked(1)).unwrap();
    set.finish().unwrap();
    let only_one = fs::read(&path).unwrap();

    // The set that is copied is the one that is replaced.
    let old = SetInfo::open(&path).unwrap();
    let mut set = SetWriter::create(&path).unwrap();
    set.copy_from(&old, 0).unwrap();
    set.add("two", &cuckoo(1)).unwrap();
    assert!(fs::read(&path).unwrap() == only_one);
    set.finish().unwrap();
    assert!(fs::read(&path).unwrap() == small());

    let old = SetInfo::open(&path).unwrap();
    let mut set = SetStream::<u64, _>::new(Vec::new());
    set.copy_from(&old, 0).unwrap();
    assert!(set.finish().unwrap() == only_one);
    let mut set = SetStream::<u64, _>::new(Vec::new());
    (0..2).for_each(|filter| set.copy_from(&old, filter).unwrap());
    assert!(set.finish().unwrap() == small());
}

#[test]
fn a_copy_that_is_refused_leaves_the_set_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    fs::write(&path, small()).unwrap();
    let old = SetInfo::open(&path).unwrap();
    let mut set = SetStream::<u64, _>::new(Vec::new());
    set.copy_from(&old, 0).unwrap();
    let error = set.copy_from(&old, 0).unwrap_err();
    assert!(matches!(&error, SetSaveError::DuplicateName { name } if name == b"one"), "{error:?}");
    let error = set.copy_from(&old, 2).unwrap_err();
    let none = SetError::NoFilter { filter: 2, len: 2 };
    assert!(matches!(&error, SetSaveError::Copy(SetError::NoFilter { .. })), "{error:?}");
    assert_eq!(error.to_string(), none.to_string());
    set.copy_from(&old, 1).unwrap();
    assert!(set.finish().unwrap() == small());

    // Another seed, before or after the copy.
    let mut set = SetStream::new(Vec::new());
    set.add("two", &cuckoo(2)).unwrap();
    let error = set.copy_from(&old, 0).unwrap_err();
    assert!(matches!(error, SetSaveError::OtherHash), "{error:?}");
    let mut set = SetStream::new(Vec::new());
    set.copy_from(&old, 0).unwrap();
    assert!(matches!(set.add("two", &cuckoo(2)), Err(SetSaveError::OtherHash)));

    // Another normalization.
    let normalization = Normalization::new("lower-case").unwrap();
    let mut set = Options::new().normalization(normalization).set_stream::<u64, _>(Vec::new());
    match set.copy_from(&old, 1) {
        Err(SetSaveError::Copy(SetError::Filter {
            filter: 1,
            error: LoadError::OtherNormalization { found, expected },
            ..
        })) => assert_eq!((found, expected), (Normalization::NONE, normalization)),
        other => panic!("{other:?}"),
    }
    assert!(set.finish().unwrap() == empty());
}

/// Returns the bytes of a set without a filter.
fn empty() -> Vec<u8> {
    SetStream::<u64, _>::new(Vec::new()).finish().unwrap()
}

/// Every byte of a filter is checked before the first one is copied, and so are the zeros after it.
#[test]
fn a_damaged_filter_is_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let bytes = small();
    let mut copied = 0;
    for at in (0..16384).step_by(61).chain([8191, 8192, 16383]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        // The header of filter 0 is checked when the set is opened.
        let Ok(old) = SetInfo::open(&path) else { continue };
        let damaged = at / 8192;
        let mut set = SetStream::<u64, _>::new(Vec::new());
        let error = set.copy_from(&old, damaged).unwrap_err();
        assert!(matches!(error, SetSaveError::Copy(_)), "{at}: {error:?}");
        // The set is as before.
        let mut other = SetStream::<u64, _>::new(Vec::new());
        for set in [&mut set, &mut other] {
            set.copy_from(&old, 1 - damaged).unwrap();
        }
        assert!(set.finish().unwrap() == other.finish().unwrap(), "{at}");
        copied += 1;
    }
    assert!(copied > 100, "{copied}");
    // A file that is cut after it was opened.
    fs::write(&path, &bytes).unwrap();
    let old = SetInfo::open(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4100).unwrap();
    let mut set = SetStream::<u64, _>::new(Vec::new());
    assert!(matches!(set.copy_from(&old, 0), Err(SetSaveError::Copy(_))));
    assert!(set.finish().unwrap() == empty());
}

#[test]
fn an_error_in_the_middle_of_a_copy_ends_the_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    fs::write(&path, small()).unwrap();
    let old = SetInfo::open(&path).unwrap();
    for room in [1, 256, 4096, 5000, 8191] {
        let mut set = SetStream::<u64, _>::new(Full(room));
        assert!(matches!(set.copy_from(&old, 0), Err(SetSaveError::Save(_))), "{room}");
        assert!(matches!(set.copy_from(&old, 0), Err(SetSaveError::Broken)), "{room}");
        assert!(matches!(set.finish(), Err(SetSaveError::Broken)), "{room}");
    }
}
