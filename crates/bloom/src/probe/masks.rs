//! Masks of one to eight bits of a word: for each number of bits a table of 256 masks, each at 64
//! rotations.
//!
//! A mask of `n` bits is an entry of the table for `n`, rotated left. Its bits are therefore
//! distinct, and it takes one load to compute. With probability [`SAME`] two items have the same
//! entry at the same rotation; the sizing accounts for that.
//!
//! Entry `i` has eight distinct bits; its mask of `n` bits has the first `n` of them. The bits are
//! drawn, entry after entry, from the top six bits of the states of Knuth's generator, `x =
//! 6364136223846793005 · x + 1442695040888963407`. A bit that the entry already has is skipped.
//!
//! MEASURED: compared with five bits computed one by one, hits take 0.65 of the time in 0.14 MiB
//! and 0.78 in 144 MiB, inserts 0.93 and 0.84 (item by item, Emerald Rapids). Tables of 512 or 1024
//! masks would save 0.4 or 0.7 % of the bits at a rate of 1 %, and take two or four times the space
//! in L1.

/// Bits that pick a mask from a table.
const LOG_MASKS: u32 = 8;

/// Masks in a table.
pub(crate) const MASKS: usize = 1 << LOG_MASKS;

/// Bits that pick a mask and rotate it.
pub(super) const MASK_BITS: u32 = LOG_MASKS + 6;

/// Largest number of bits in a mask. (The largest that the sizing was seen to choose is five.)
pub(crate) const MAX_PROBES_PER_WORD: u32 = 8;

/// The probability that two masks of one table are the same entry at the same rotation.
pub(crate) const SAME: f64 = 1.0 / (64 * MASKS) as f64;

/// Masks of one number of bits.
pub(crate) type Masks = [u64; MASKS];

/// Returns the table of masks of `probes` bits.
#[inline(always)]
pub(crate) const fn masks(probes: u32) -> &'static Masks {
    debug_assert!(1 <= probes && probes <= MAX_PROBES_PER_WORD);
    // The remainder changes nothing, and saves a bounds check.
    &TABLES[((probes - 1) % MAX_PROBES_PER_WORD) as usize]
}

/// Returns the mask from a table that the top bits of `bits` pick.
#[inline(always)]
pub(super) const fn mask(masks: &Masks, bits: u64) -> u64 {
    let mask = masks[(bits >> (64 - LOG_MASKS)) as usize];
    mask.rotate_left((bits >> (64 - MASK_BITS)) as u32 % 64)
}

/// The tables, by the number of bits less one. Of the first 800 seeds this one gives the rates
/// closest to those of random masks: within 0.06 % for every number of bits (`sizing::line` tests
/// for a thousandth).
static TABLES: [Masks; MAX_PROBES_PER_WORD as usize] = tables(605);

/// Draws the tables from a seed.
const fn tables(seed: u64) -> [Masks; MAX_PROBES_PER_WORD as usize] {
    let mut tables = [[0; MASKS]; MAX_PROBES_PER_WORD as usize];
    let (mut state, mut entry) = (seed, 0);
    while entry < MASKS {
        let (mut mask, mut probes) = (0_u64, 0);
        while probes < tables.len() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let bit = 1 << (state >> 58);
            if mask & bit == 0 {
                mask |= bit;
                tables[probes][entry] = mask;
                probes += 1;
            }
        }
        entry += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums come from a program in another language, written from the description: no change of
    /// the layout goes unnoticed.
    #[test]
    fn the_tables_are_pinned() {
        let sums = [
            0x930C_3C9A_1971_8468,
            0x84D8_4A33_E222_B1F6,
            0x1228_9BCA_2BDE_ECF3,
            0xCABD_DB00_5562_09F2,
            0x4BBC_64CA_A0D5_3EC0,
            0x1267_237D_FFB4_D7E6,
            0x61BB_C7AC_0A9A_A122,
            0x066A_85C9_AE28_918B,
        ];
        for (probes, sum) in (1..).zip(sums) {
            let masks = masks(probes);
            assert!(masks.iter().all(|mask| mask.count_ones() == probes));
            let fold = |sum: u64, mask: &u64| sum.wrapping_mul(31).wrapping_add(*mask);
            assert_eq!(masks.iter().fold(0, fold), sum, "{probes}");
        }
    }
}
