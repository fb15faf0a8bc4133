//! Loads tables from arbitrary bytes, and from a saved table that was changed. A table that loads
//! is the one that a save would write, and every change of a saved table is refused.

use std::fs;

use arbitrary::{Arbitrary, Unstructured};
use tamis::hash::{AnyStable, Rapid};
use tamis_formats::{Info, Kind, LoadError, Normalization, Options, TableParts, TableSizes};

use crate::edit::Edit;
use crate::file::table_file_of;
use crate::load_diff::verdicts;
use crate::table::{Lines, items_in, load};

#[derive(Arbitrary, Debug)]
struct Case {
    lines: u8,
    seed: u64,
    has_policy: bool,
    words: Vec<(u16, u64)>,
    edits: Vec<Edit>,
}

/// Checks one file.
pub(crate) fn load_table(data: &[u8]) {
    match data.split_first() {
        Some((0, rest)) => changed(rest),
        Some((_, _)) => arbitrary_file(&table_file_of(data)),
        None => {}
    }
}

/// Returns the bytes of the file that a save writes.
fn save(parts: &TableParts, lines: &Lines, options: &Options) -> Vec<u8> {
    // In memory, where a sync takes no time.
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let path = folder.path().join("table");
    let complete = options.prepare_table(parts, |line| lines[line as usize], &path);
    complete.and_then(|file| Ok(file.rename()?)).expect("space for the file");
    fs::read(path).expect("the file")
}

fn arbitrary_file(bytes: &[u8]) {
    let info = Info::read(bytes).ok();
    let options = Options::new()
        .normalization(info.as_ref().map_or(Normalization::NONE, Info::normalization));
    match load(bytes, &options) {
        Ok((parts, lines)) => {
            let info = info.expect("a header");
            assert_eq!((info.kind(), info.is_live()), (Kind::Table, false));
            assert!(lines.iter().all(|words| items_in(words).is_some()));
            assert!(save(&parts, &lines, &options) == bytes, "other bytes");
            // As a filter of any type it is refused.
            for error in verdicts::<crate::file::types::Cuckoo>(bytes, &options) {
                assert!(matches!(error, Some(LoadError::OtherKind { .. })), "{error:?}");
            }
        }
        Err(LoadError::OtherKind { found, .. }) => assert_ne!(found, Kind::Table),
        Err(_) => {}
    }
}

fn changed(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let sizes = TableSizes::new(64 + u64::from(case.lines)).expect("a line for each shard");
    // A capacity that follows from the number of lines.
    let capacity = 12 * sizes.lines();
    let mut lines = vec![[0; 8]; 24 + sizes.lines() as usize];
    for (place, word) in &case.words {
        let words = lines.len() * 8;
        lines.as_flattened_mut()[usize::from(*place) % words] = word >> 1;
    }
    let items = lines.iter().filter_map(items_in).map(u64::from).sum();
    let hasher = AnyStable::from(Rapid::with_seed(case.seed));
    let parts = TableParts { sizes, hasher, capacity, items };
    let normalization =
        if case.has_policy { Normalization::new("url-v1") } else { Ok(Normalization::NONE) };
    let options = Options::new().normalization(normalization.expect("a short name"));
    let original = save(&parts, &lines, &options);
    let (again, lines_again) = load(&original, &options).expect("a saved table");
    assert!(lines_again == lines && (again.items, again.capacity) == (items, capacity));
    let mut changed = original.clone();
    case.edits.iter().for_each(|edit| edit.apply(&mut changed));
    if changed != original {
        assert!(load(&changed, &options).is_err(), "a changed table loads");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the target would test refusals only.
    #[test]
    fn the_regressions_of_tables_load() {
        let plain = table_file_of(include_bytes!("../regressions/load_table/table"));
        let (parts, lines) = load(&plain, &Options::new()).expect("a table");
        assert!(parts.items > 0 && parts.capacity == 1200 && lines.len() == 151);
        let named = table_file_of(include_bytes!("../regressions/load_table/table-with-a-policy"));
        let options =
            Options::new().normalization(Normalization::new("url-v1").expect("a short name"));
        assert_eq!(load(&named, &options).expect("a table").0.items, 0);
    }
}
