//! Takes arbitrary bytes for a split-block filter: what is no filter is refused, and every query of
//! a view returns the answer of the specification.

use tamis::bloom::split_block::{SplitBlockFilter, View};

/// The bytes in front of the filter: where it begins in memory, the number of hashes, a divisor.
const HEAD: usize = 3;

pub(crate) fn split_block(data: &[u8]) {
    let Some((&[shift, count, divisor], rest)) = data.split_first_chunk::<HEAD>() else { return };
    let hashes = rest.len().min(8 * usize::from(count)) / 8;
    let (hashes, bytes) = rest.split_at(8 * hashes);
    let (hashes, _) = hashes.as_chunks();
    let hashes: Vec<u64> = hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
    let moved = [&vec![0; usize::from(shift % 64)][..], bytes].concat();
    let bytes = &moved[usize::from(shift % 64)..];
    let Ok(view) = View::new(bytes) else {
        assert!(bytes.is_empty() || !bytes.len().is_multiple_of(32));
        assert!(SplitBlockFilter::from_bytes(bytes).is_err());
        return;
    };
    assert_eq!(view.as_bytes(), bytes);
    assert!((0.0..=1.0).contains(&view.false_positive_rate()) && view.len_estimate() >= 0.0);

    let mut bitmap = vec![0xff; hashes.len().div_ceil(8)];
    let mut hits = view.contains_hashes(&hashes, &mut bitmap).expect("a bit for each hash");
    view.contains_hashes_with(&hashes, |number, hit| {
        let hash = hashes[number];
        assert_eq!(hit, contains(bytes, hash));
        assert_eq!(hit, view.contains_hash(hash));
        assert_eq!(hit, bitmap[number / 8] >> (number % 8) & 1 == 1);
        hits -= usize::from(hit);
    });
    assert_eq!(hits, 0);

    // Folding loses no hash, by any divisor.
    let mut filter = SplitBlockFilter::from_bytes(bytes).expect("a filter as before");
    filter.insert_hashes(&hashes);
    let blocks = bytes.len() as u64 / 32;
    assert_eq!(
        filter.fold(divisor.into()).is_ok(),
        divisor > 0 && blocks.is_multiple_of(divisor.into())
    );
    let factor = filter.fold_to(f64::from(divisor) / 255.0);
    assert!(factor == 1 || filter.false_positive_rate() <= f64::from(divisor) / 255.0);
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
}

/// The specification, bit by bit.
fn contains(bytes: &[u8], hash: u64) -> bool {
    let salts: [u32; 8] = [
        0x47b6_137b,
        0x4497_4d91,
        0x8824_ad5b,
        0xa2b7_289d,
        0x7054_95c7,
        0x2df1_424b,
        0x9efc_4947,
        0x5c6b_fb31,
    ];
    let block = (u128::from(hash >> 32) * (bytes.len() as u128 / 32)) >> 32;
    (0..).zip(salts).all(|(word, salt)| {
        let bit =
            256 * block as usize + 32 * word + ((hash as u32).wrapping_mul(salt) >> 27) as usize;
        bytes[bit / 8] >> (bit % 8) & 1 == 1
    })
}
