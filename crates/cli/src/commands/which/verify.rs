//! `tamis which --verify`: reads the files that an index names, and finds which of them have the
//! keys.

use core::mem;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tamis::formats::FilterSet;
use tamis::formats::foreign::{self, KeyType};
use tamis::hash::AnyStable;

use crate::error::Error;
use crate::input::{Input, inputs, shown};
use crate::pipeline::{self, Chunk, Decider, Gate, Hasher, Plan, Printed, Records, Taken};
use crate::units::counted;

/// What was found in the files.
#[derive(Default)]
pub(super) struct Verified {
    /// For each key, the files that have it, in the order of the index.
    pub(super) found: Vec<Vec<usize>>,
    /// How many names were false positives.
    pub(super) wrong: u64,
    /// How many names are of files that could not be read, and did not show the key before.
    pub(super) unknown: u64,
    /// How many names would be false positives, if the keys are in no file; if no name was right.
    pub(super) expected: Option<f64>,
    /// The first file that could not be read, in the order of the index, and how many there are.
    failed: Option<(usize, Error)>,
    unread: u64,
}

/// Reads each file that `named` has for a key, once for all of its keys. `raw`: compressed files
/// are read as they are.
pub(super) fn verify(
    set: &FilterSet<[u8]>,
    keys: &[&[u8]],
    named: &[Vec<usize>],
    records: &Records,
    raw: bool,
) -> Verified {
    // The keys to find in each file.
    let mut files: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (key, named) in named.iter().enumerate() {
        named.iter().for_each(|file| files.entry(*file).or_default().push(key));
    }
    let Some(hasher) = set.hasher() else { return Verified::default() };
    let all: Vec<usize> = files.keys().copied().collect();

    let verified = Verified { found: vec![Vec::new(); keys.len()], ..Verified::default() };
    let verified = Mutex::new(verified);
    pipeline::share(files.into_iter().collect(), records, |_, (file, asked), records| {
        let search = Search::new(hasher, keys, &asked);
        let path = path_of(set.name(file).unwrap_or_default());
        let read = open(&path, raw).and_then(|input| search.read(input, records));
        let mut verified = verified.lock().unwrap_or_else(PoisonError::into_inner);
        verified.take(file, &search, read.err());
    });
    let mut verified = verified.into_inner().unwrap_or_else(PoisonError::into_inner);
    verified.found.iter_mut().for_each(|files: &mut Vec<usize>| files.sort_unstable());
    if verified.found.iter().all(Vec::is_empty) {
        verified.expected = Some(expected(set, &all) * keys.len() as f64);
    }
    verified
}

/// How many files are named for a key that is in none of them, if the rates of all are as those of
/// `some`.
fn expected(set: &FilterSet<[u8]>, some: &[usize]) -> f64 {
    let filters = some.iter().filter_map(|file| set.get(*file).ok());
    let sum: f64 = filters.map(|filter| filter.false_positive_rate()).sum();
    sum / some.len().max(1) as f64 * set.len() as f64
}

impl Verified {
    /// Adds what was found in a file.
    fn take(&mut self, file: usize, search: &Search<'_>, error: Option<Error>) {
        let found = search.found();
        let missing = found.left as u64;
        for (&key, _) in search.asked.iter().zip(&found.keys).filter(|(_, found)| **found) {
            self.found[key].push(file);
        }
        // Of a file that was not read to its end, nothing is known of the other keys.
        let Some(error) = error.filter(|_| missing > 0) else {
            self.wrong += missing;
            return;
        };
        self.unknown += missing;
        self.unread += 1;
        if self.failed.as_ref().is_none_or(|(first, _)| file < *first) {
            self.failed = Some((file, error));
        }
    }

    /// The error of the first file that could not be read, and what to say of the others.
    pub(super) fn failure(self) -> Option<(Error, Option<String>)> {
        let (_, error) = self.failed?;
        let others = self.unread - 1;
        let said = (others > 0)
            .then(|| format!("{} could not be read either", counted(others, "other file")));
        Some((error, said))
    }
}

/// The keys to find in one file. Several workers search it at once, each in its own chunk.
struct Search<'k> {
    hasher: &'k AnyStable,
    keys: &'k [&'k [u8]],
    /// The numbers of the keys.
    asked: &'k [usize],
    /// The places in `asked` of each hash.
    by_hash: HashMap<u64, Vec<usize>>,
    found: Mutex<Found>,
}

/// What was found in one file so far.
struct Found {
    /// For each place in `asked`, whether the key was found.
    keys: Vec<bool>,
    /// How many were not.
    left: usize,
}

impl<'k> Search<'k> {
    fn new(hasher: &'k AnyStable, keys: &'k [&'k [u8]], asked: &'k [usize]) -> Self {
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, key) in asked.iter().enumerate() {
            by_hash.entry(hasher.hash_bytes(keys[*key])).or_default().push(place);
        }
        let found = Mutex::new(Found { keys: vec![false; asked.len()], left: asked.len() });
        Self { hasher, keys, asked, by_hash, found }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a file until all keys are found, or to its end.
    fn read(&self, input: Input<'_>, records: &Records) -> Result<(), Error> {
        let name = input.name.to_string();
        let input = Input::new(input.name, UntilFound { reader: input.reader, search: self });
        let keys = Some(Taken { key_type: KeyType::Bytes, empty: true });
        let plan = Plan { keys, ..Plan::of(Printed::None) };
        let hasher = Hasher::Any(self.hasher.clone());
        let decider = Decider::any_order(hasher, plan, |chunk| self.search(chunk));
        let (none, gate) = (&mut io::sink(), Gate::default());
        let done = pipeline::run(vec![input], none, records, &decider, &gate, &mut ());
        done.map(drop).map_err(|error| error.of_file(&name))
    }

    /// Looks for the keys in a chunk.
    fn search(&self, chunk: &mut Chunk<'_>) {
        let (entries, keys, _) = chunk.keyed();
        let mut hits: Vec<usize> = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            // Equal hashes are rare, but the answer must be sure.
            let Some(places) = self.by_hash.get(&entry.hash) else { continue };
            let Ok(foreign::Key::Bytes(key)) = keys.get(number, KeyType::Bytes) else { continue };
            hits.extend(places.iter().filter(|&&place| self.keys[self.asked[place]] == key));
        }
        if hits.is_empty() {
            return;
        }
        let mut found = self.found();
        for place in hits {
            let is_new = !mem::replace(&mut found.keys[place], true);
            found.left -= usize::from(is_new);
        }
    }
}

/// A reader that ends when all keys are found.
struct UntilFound<'s> {
    reader: Box<dyn Read + Send + 's>,
    search: &'s Search<'s>,
}

impl Read for UntilFound<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found_all = self.search.found().left == 0;
        if found_all { Ok(0) } else { self.reader.read(buffer) }
    }
}

/// Opens a file of the index. A pipe or a device has other records than when it was indexed, or
/// waits for ever.
fn open(path: &Path, raw: bool) -> Result<Input<'static>, Error> {
    let refused = |found: String| Error::Input { name: shown(path), found };
    match path.metadata() {
        Ok(found) if !found.is_file() => {
            return Err(refused("is not a file, and cannot be verified".into()));
        }
        Err(error) if path.is_relative() => {
            let found = format!("{error}; names of an index are relative to the current directory");
            return Err(refused(found));
        }
        _ => {}
    }
    let input = inputs(vec![path.to_owned()], raw)?.list.pop();
    input.ok_or_else(|| refused("is not there".into()))
}

/// The file of a name in an index. A file called `-` is not standard input.
pub(super) fn path_of(name: &[u8]) -> PathBuf {
    #[cfg(unix)]
    let path = {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        PathBuf::from(OsStr::from_bytes(name))
    };
    #[cfg(not(unix))]
    let path = PathBuf::from(String::from_utf8_lossy(name).into_owned());
    if path.as_os_str() == "-" { Path::new(".").join(path) } else { path }
}

#[cfg(test)]
mod tests {
    use tamis::hash::Rapid;

    use super::*;
    use crate::dedup::Options;

    fn records() -> Records {
        Options::default().records()
    }

    /// Returns a block of lines whenever it is asked, and counts how often.
    struct Endless<'c>(&'c Mutex<u64>);

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let mut reads = self.0.lock().expect("no panic");
            *reads += 1;
            assert!(*reads < 1000, "it reads on");
            buffer[..4].copy_from_slice(b"a\nb\n");
            Ok(4)
        }
    }

    #[test]
    fn a_file_is_read_until_all_keys_are_found() {
        let hasher = AnyStable::from(Rapid::with_seed(0));
        let reads = Mutex::new(0);
        let search = Search::new(&hasher, &[b"b", b"c", b"a"], &[2, 0]);
        search.read(Input::new("endless", Endless(&reads)), &records()).expect("lines");
        assert_eq!((search.found().left, *reads.lock().expect("no panic")), (0, 1));
    }

    /// Two keys with one hash are different keys.
    #[test]
    fn keys_are_compared_by_their_bytes() {
        let hasher = AnyStable::from(Rapid::with_seed(0));
        let mut search = Search::new(&hasher, &[b"other", b"key"], &[0, 1]);
        // As if "other" had the hash of "key".
        search.by_hash.values_mut().for_each(|places| *places = vec![0, 1]);
        search.read(Input::new("file", &b"key\n"[..]), &records()).expect("lines");
        assert_eq!(search.found().keys, [false, true]);
    }
}
