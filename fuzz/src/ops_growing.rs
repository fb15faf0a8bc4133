//! Compares the filters that grow, count or forget with exact models under arbitrary operations.
//!
//! | file | filters | model |
//! |---|---|---|
//! | `chain.rs` | `ScalableBloomFilter`, `OnceScalableBloomFilter` | one filter of a fixed size per slice |
//! | `rotating.rs` | `RotatingBloomFilter` | one blocked filter per live generation, and the times of rotations |
//! | `counting.rs` | `CountingBloomFilter` | the number of copies of each hash |
//! | `in_place.rs` | `CuckooFilter` with a `max_capacity` | the number of copies of each hash |
//! | `saved.rs` | all | saves a filter to bytes and loads it |
//! | `checked.rs` | all | what each of the pairs above can do |

use arbitrary::{Arbitrary, Unstructured};

use self::chain::Chain;
use self::checked::{Checked, MOST, Sizes};
use self::counting::Counting;
use self::in_place::InPlace;
use self::rotating::Rotating;

mod chain;
mod checked;
mod counting;
mod in_place;
mod rotating;
mod saved;

#[derive(Arbitrary, Debug)]
struct Case {
    kind: Kind,
    sizes: Sizes,
    /// Hashes that many operations use.
    few: [u64; 8],
}

#[derive(Arbitrary, Debug)]
enum Kind {
    Scalable,
    OnceScalable,
    Rotating,
    Counting,
    GrowingCuckoo,
}

impl Sizes {
    fn rate(self) -> f64 {
        [0.3, 0.05, 0.01, 1e-3, 1e-5][usize::from(self.rate % 5)]
    }
}

/// One hash, or several.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Which {
    Few(u8),
    Any(u64),
    /// 2^`log` hashes derived from a number, so that a short input fills a filter. The low bits are
    /// those of `low`.
    Many {
        from: u16,
        log: u8,
        low: Option<u8>,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum What {
    Insert(Which),
    InsertBatch(Which),
    /// Inserts by the other method: through `&mut self`, or with a refresh.
    InsertOtherwise(Which),
    /// Removes items that are present.
    Remove {
        at: u16,
        log: u8,
    },
    RemoveBatch {
        at: u16,
        log: u8,
    },
    Contains(Which),
    ContainsBatch(Which),
    /// A union, a rotation, or a merge.
    Special(u16),
    Advance(u32),
    Snapshot(u8),
    SaveAndLoad,
    Clear,
}

/// Checks that no operation loses an item in the window, that no insert returns `true` twice for a
/// present item, and that no count is too low.
pub(crate) fn ops_growing(data: &[u8]) {
    let mut rest = Unstructured::new(data);
    let Ok(case) = Case::arbitrary(&mut rest) else { return };
    match case.kind {
        Kind::Scalable => run::<Chain<chain::Any>>(&case, &mut rest),
        Kind::OnceScalable => run::<Chain<chain::Once>>(&case, &mut rest),
        Kind::Rotating => run::<Rotating>(&case, &mut rest),
        Kind::Counting => run::<Counting>(&case, &mut rest),
        Kind::GrowingCuckoo => run::<InPlace>(&case, &mut rest),
    }
}

/// Reads the operations one by one, since an arbitrary `Vec` is short: it ends with probability 1/2
/// after each element.
fn run<F: Checked>(case: &Case, ops: &mut Unstructured<'_>) {
    let Some(mut filter) = F::new(case.sizes) else { return };
    let mut budget = MOST;
    while let (false, Ok(what)) = (ops.is_empty(), What::arbitrary(ops)) {
        let mut hashes = |which| -> Vec<u64> {
            let hashes = hashes_of(case, which);
            budget = budget.saturating_sub(hashes.len());
            if budget == 0 { Vec::new() } else { hashes }
        };
        match what {
            What::Insert(which) => hashes(which).into_iter().for_each(|hash| filter.insert(hash)),
            What::InsertBatch(which) => filter.insert_batch(&hashes(which)),
            What::InsertOtherwise(which) => {
                hashes(which).into_iter().for_each(|hash| filter.insert_otherwise(hash));
            }
            What::Remove { at, log } => filter.remove(at.into(), 1 << (log % 12), false),
            What::RemoveBatch { at, log } => filter.remove(at.into(), 1 << (log % 12), true),
            What::Contains(which) => hashes(which).into_iter().for_each(|hash| filter.agree(hash)),
            What::ContainsBatch(which) => {
                let hashes = hashes(which);
                let single: Vec<bool> = hashes.iter().map(|&hash| filter.contains(hash)).collect();
                assert_eq!(filter.contains_batch(&hashes), single);
            }
            What::Special(number) => filter.special(number),
            What::Advance(time) => filter.advance(time.into()),
            What::Snapshot(index) => {
                filter.snapshot(case.few[usize::from(index) % case.few.len()]);
                filter.check_all();
            }
            What::SaveAndLoad => {
                filter.save_and_load(&case.few);
                filter.check_all();
            }
            What::Clear => {
                filter.clear();
                filter.check_all();
            }
        }
        case.few.iter().for_each(|&hash| filter.agree(hash));
        filter.check();
    }
    filter.check_all();
}

fn hashes_of(case: &Case, which: Which) -> Vec<u64> {
    match which {
        Which::Few(index) => vec![case.few[usize::from(index) % case.few.len()]],
        Which::Any(hash) => vec![hash],
        Which::Many { from, log, low } => (0..1_u64 << (log % 12))
            .map(|at| mixed(u64::from(from) << 4 ^ at))
            .map(|hash| low.map_or(hash, |low| hash & !0xFF | u64::from(low)))
            .collect(),
    }
}

/// The finalizer of SplitMix64.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
