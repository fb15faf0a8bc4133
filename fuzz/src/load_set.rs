//! Opens sets of filters from arbitrary bytes, and from a set that was changed: loaded and mapped
//! filters have one verdict, and a set whose filters all load has the bytes that a second encoder
//! gives it.

use std::os::fd::AsRawFd;

use arbitrary::{Arbitrary, Unstructured};
use tamis::hash::{AnyStable, HashItem, Rapid};
use tamis::{
    BlockedBloomFilter, BloomFilter, CuckooFilter, Hashed as _, OnceCuckooFilter, Verdict as _,
};
use tamis_formats::{FilterSet, MapFile, Normalization, Options, SetError, SetInfo, SetStream};
use twox_hash::XxHash3_64;

use crate::edit::Edit;
use crate::memory_file::memory_file;
use crate::parts::Parts;

const PAGE: usize = 4096;
const TRAILER: usize = 64;
/// The memory that the filters of a set may take.
const BUDGET: u64 = 1 << 16;

#[derive(Arbitrary, Debug)]
struct Case {
    filters: Vec<Filter>,
    seed: u64,
    has_policy: bool,
    edits: Vec<Edit>,
    /// Changes of the index and the trailer, whose place counts from the end.
    late_edits: Vec<(u16, u8)>,
    /// Makes the checksums of the index and of the trailer right, so that other checks see the
    /// changes.
    repairs: bool,
}

#[derive(Arbitrary, Debug)]
struct Filter {
    kind: u8,
    size: u8,
    items: u8,
    name: Vec<u8>,
}

/// Checks one set.
pub(crate) fn load_set(data: &[u8]) {
    match data.split_first() {
        Some((0, rest)) => _ = check(rest, &Options::new()),
        Some((1, rest)) => _ = check(&with_checksums(rest), &Options::new()),
        Some((_, rest)) => changed(rest),
        None => {}
    }
}

fn changed(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let normalization =
        if case.has_policy { Normalization::new("url-v1") } else { Ok(Normalization::NONE) };
    let options = Options::new().normalization(normalization.expect("a short name"));
    let mut set: SetStream<[u8], _> = options.set_stream(Vec::new());
    let hasher = || AnyStable::from(Rapid::with_seed(case.seed));
    // The number of items of each filter that was added.
    let mut added = Vec::new();
    for filter in case.filters.iter().take(8) {
        let size = 1 + u64::from(filter.size % 16);
        macro_rules! add {
            ($name:ident, $($sizes:tt)*) => {{
                let builder = $name::<[u8]>::builder().$($sizes)*.hasher(hasher());
                let built = builder.build().expect("a small filter");
                let items = (0..filter.items)
                    .filter(|item| built.insert_hash(built.hasher().hash_item(&[*item][..])).verdict().is_ok())
                    .collect::<Vec<u8>>();
                set.add(&filter.name, &built).map(|()| items)
            }};
        }
        let result = match filter.kind % 4 {
            0 => add!(BloomFilter, bits(100 * size).probes(5)),
            1 => add!(BlockedBloomFilter, bits(512 * size).probes(5)),
            2 => add!(CuckooFilter, buckets(2 * size).slots(4).fingerprint_bits(16)),
            _ => add!(OnceCuckooFilter, buckets(2 * size).slots(5).fingerprint_bits(12)),
        };
        // A name is there already, or too long.
        added.extend(result);
    }
    let original = set.finish().expect("memory is no error");
    let mut changed = original.clone();
    case.edits.iter().for_each(|edit| edit.apply(&mut changed));
    for (at, byte) in &case.late_edits {
        let len = changed.len();
        if let Some(byte_there) =
            len.checked_sub(1 + usize::from(*at)).and_then(|at| changed.get_mut(at))
        {
            *byte_there = *byte;
        }
    }
    if case.repairs {
        changed = with_checksums(&changed);
    }
    let is_right = check(&changed, &options);
    assert!(is_right || changed != original, "a valid set is refused");
    assert!(!is_right || changed == original || case.repairs, "a changed set is taken");
    if changed == original {
        let set = open(&changed, &options).expect("a valid set");
        for item in 0..=u8::MAX {
            let found = set.which(&[item][..]).expect("a valid set");
            for (number, items) in
                added.iter().enumerate().filter(|(_, items)| items.contains(&item))
            {
                assert!(found.contains(&number), "item {item} of {items:?} is lost");
            }
        }
    }
}

fn open(bytes: &[u8], options: &Options) -> Result<FilterSet<[u8]>, SetError> {
    let file = memory_file(bytes);
    options.open_set(format!("/proc/self/fd/{}", file.as_raw_fd()), BUDGET)
}

/// Opens a set and uses all of its filters, loaded and mapped. Returns whether every byte of it is
/// right.
fn check(bytes: &[u8], options: &Options) -> bool {
    let file = memory_file(bytes);
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let info = SetInfo::open(&path);
    let loaded = options.open_set::<[u8]>(&path, BUDGET);
    let mapped = options.map_set::<[u8]>(MapFile::sealed(file).expect("a seal"), BUDGET);
    let text = |error: Option<&SetError>| format!("{error:?}");
    assert_eq!(text(loaded.as_ref().err()), text(mapped.as_ref().err()));
    let (Ok(loaded), Ok(mapped)) = (loaded, mapped) else { return false };
    let info = info.expect("a set that opens has a description");
    let mut is_right = true;
    let mut filters = Vec::new();
    let mut start = 0;
    for number in 0..loaded.len() {
        let one = loaded.get(number);
        // A mapping checks the header only: all checks have the verdict of a load.
        let other = mapped.get(number).and_then(|other| mapped.verify(number).map(|()| other));
        assert_eq!(text(one.as_ref().err()), text(other.as_ref().err()), "filter {number}");
        let (Ok(one), Ok(other)) = (one, other) else {
            is_right = false;
            continue;
        };
        for item in 0..=u8::MAX {
            assert_eq!(one.contains(&[item][..]), other.contains(&[item][..]));
        }
        let len = one.info().file_len() as usize;
        if is_right {
            filters.push((info.name(number).expect("a name").to_vec(), &bytes[start..start + len]));
        }
        start += len.next_multiple_of(PAGE);
    }
    assert!(loaded.cached_bytes() <= BUDGET && mapped.cached_bytes() <= BUDGET);
    assert_eq!(loaded.which(&b"a"[..]).is_ok(), is_right);
    if is_right {
        assert!(Parts::of(&filters).bytes() == bytes, "another encoder writes other bytes");
    }
    is_right
}

/// Makes the magic, the version and the checksums of the index and of the trailer right, as far as
/// there is an index.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let Some(start) = bytes.len().checked_sub(TRAILER) else { return bytes };
    let number = |at: usize| {
        u64::from_le_bytes(core::array::from_fn(|byte| bytes[start + at + byte])) as usize
    };
    let (offset, len) = (number(24), number(32));
    let index = offset.checked_add(len).and_then(|end| bytes.get(offset..end));
    let index = XxHash3_64::oneshot(index.unwrap_or_default());
    let trailer = &mut bytes[start..];
    trailer[..8].copy_from_slice(b"\x89TAMSET\n");
    trailer[8..16].copy_from_slice(&[1, 0, 0, 0, TRAILER as u8, 0, 0, 0]);
    trailer[40..48].copy_from_slice(&index.to_le_bytes());
    let sum = XxHash3_64::oneshot(&trailer[..56]);
    trailer[56..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the target would test refusals only.
    #[test]
    fn the_regression_of_a_set_opens() {
        let set = include_bytes!("../regressions/load_set/of-u64-as-it-is");
        assert!(check(&set[1..], &Options::new()));
        assert!(check(&with_checksums(&set[1..]), &Options::new()));
        let changed = include_bytes!("../regressions/load_set/checksums-made-right");
        assert!(!check(&with_checksums(&changed[1..]), &Options::new()));
    }
}
