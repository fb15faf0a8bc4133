//! LevelDB: single filters, and the filter block of a table.

use tamis_formats::foreign::{Error, Filter, Key, LevelDbFilter, LevelDbFilterBlock};
use tamis_vectors::{OwnedKey, Vector, vectors};

use crate::{System, key, number};

fn build(vector: &Vector) -> Result<LevelDbFilter, Error> {
    LevelDbFilter::new(vector.inserted().len() as u64, number(vector, "bits_per_key") as u32)
}

fn is_block(vector: &Vector) -> bool {
    !vector.param("container").is_null()
}

/// Returns the filter block, and the keys of the table in its order.
fn block() -> (Vec<u8>, Vec<OwnedKey>) {
    let vectors = vectors("leveldb");
    let blocks: Vec<&Vector> = vectors.iter().filter(|vector| is_block(vector)).collect();
    let [vector] = blocks[..] else { panic!("one block") };
    let mut keys = vector.inserted();
    keys.sort_by_key(|key| match key {
        OwnedKey::Bytes(bytes) => bytes.clone(),
        other => panic!("{other:?}"),
    });
    (vector.bytes(), keys)
}

#[test]
fn leveldb_filters() {
    let system = System { name: "leveldb", vectors: 14, read: LevelDbFilter::from_bytes, build };
    let filters = vectors("leveldb").into_iter().filter(|vector| !is_block(vector));
    system.check_vectors(&filters.collect::<Vec<_>>());
}

/// The lengths of the filters say how many keys each has, so that the block can be built.
#[test]
fn leveldb_filter_blocks() {
    let (bytes, keys) = block();
    let block = LevelDbFilterBlock::from_bytes(&bytes).unwrap();
    assert!(block.as_bytes() == bytes);
    let offset = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
    let offsets = offset(bytes.len() - 5);
    assert_eq!(block.filters(), (bytes.len() - 5 - offsets) / 4);

    let mut left = keys.iter();
    let mut placed = Vec::new();
    for index in 0..block.filters() {
        let at = offsets + 4 * index;
        // 10 bits per key, rounded up to bytes, and a byte with k; an empty filter has none.
        let count = 8 * (offset(at + 4) - offset(at)).saturating_sub(1) / 10;
        let stretch = 2048 * index as u64;
        placed.extend(left.by_ref().take(count).map(|owned| (stretch, key(owned))));
    }
    assert_eq!((left.count(), placed.len()), (0, keys.len()));
    let mut found_elsewhere = 0;
    for &(offset, key) in &placed {
        assert_eq!(block.contains(offset, key), Ok(true));
        assert_eq!(block.contains(offset + 2047, key), Ok(true));
        let others = (0..block.filters() as u64).map(|index| 2048 * index);
        let found = |other: &u64| block.contains(*other, key) == Ok(true);
        found_elsewhere += others.filter(|other| *other != offset).filter(found).count();
        assert_eq!(block.contains(2048 * block.filters() as u64, key), Ok(true));
    }
    let pairs = placed.len() * (block.filters() - 1);
    assert!(found_elsewhere < pairs / 20, "{found_elsewhere} of {pairs} are false positives");
    let built = LevelDbFilterBlock::new(10, placed).unwrap();
    assert!(built.as_bytes() == bytes, "built with other bytes");
}

#[test]
fn damaged_leveldb_filter_blocks_are_refused_or_answer() {
    let (bytes, _) = block();
    let exercise = |bytes: &[u8]| {
        if let Ok(block) = LevelDbFilterBlock::from_bytes(bytes) {
            for offset in (0..20_000).step_by(1024).chain([u64::MAX]) {
                block.contains(offset, Key::Text("a")).unwrap();
                assert!(matches!(block.contains(offset, Key::I64(1)), Err(Error::Key { .. })));
            }
        }
    };
    for end in 0..bytes.len() {
        exercise(&bytes[..end]);
    }
    for place in bytes.len() - 100..bytes.len() {
        for new in 0..=255 {
            let mut damaged = bytes.clone();
            damaged[place] = new;
            exercise(&damaged);
        }
    }
    let refused = LevelDbFilterBlock::new(10, [(4096, Key::Text("a")), (0, Key::Text("b"))]);
    assert!(matches!(refused, Err(Error::Size { .. })));
    assert_eq!(LevelDbFilterBlock::new(10, []).unwrap().as_bytes(), [0, 0, 0, 0, 11]);
}

#[test]
fn leveldb_filters_without_bits_or_of_any_number_of_hash_functions_work() {
    for length in 0..2 {
        let mut filter = LevelDbFilter::from_bytes(&vec![255; length]).unwrap();
        assert_eq!(filter.contains(Key::Text("a")), Ok(false));
        assert_eq!(filter.insert(Key::Text("a")), Err(Error::Full));
    }
    for k in [0, 31, 255] {
        let filter = LevelDbFilter::from_bytes(&[0, k]).unwrap();
        assert_eq!(filter.contains(Key::Text("a")), Ok(true), "{k}");
    }
    for (keys, bits_per_key) in [(1 << 31, 1), (1, 1 << 31)] {
        assert!(matches!(LevelDbFilter::new(keys, bits_per_key), Err(Error::Size { .. })));
    }
}
