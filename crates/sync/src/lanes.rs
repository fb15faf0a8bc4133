//! Fields of a few bits each, packed into 128 bits, that are compared with a number all at once, in
//! a vector of 512 bits.

use core::array;

use crate::simd::Wide;

/// The number of fields that are compared at once.
const COUNT: usize = 16;

/// The bit of the shift that leaves nothing of a number: see [`Lanes::with_constant`].
const NOTHING: u32 = 32;

/// Where the fields in 128 bits are, and what each is compared with. Lane `n` of 16 is that of
/// field `n`.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Kernel, Lanes, SimdLevel, Wide};
///
/// /// Fields of 20 bits from bit 0 and from bit 20, and two bits that must be 3.
/// static LANES: Lanes = Lanes::EMPTY.with(0, 0, 20).with(1, 20, 20).with_constant(15, 126, 2, 3);
///
/// struct Find(u128, u32);
///
/// impl Kernel for Find {
///     type Output = u16;
///
///     fn run(self) -> u16 {
///         LANES.equal(self.0, self.1)
///     }
///
///     #[inline(always)]
///     fn run_wide(self, wide: Wide) -> u16 {
///         LANES.equal_wide(wide, self.0, self.1)
///     }
/// }
///
/// let packed = 3 << 126 | 7 << 20 | 1_000_000;
/// for level in SimdLevel::all() {
///     assert_eq!(level.run(Find(packed, 7)), 1 << 15 | 1 << 1);
///     assert_eq!(level.run(Find(packed & !(1 << 127), 1_000_000)), 1);
/// }
/// ```
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lanes {
    /// The numbers of the four bytes of each lane, lowest first. From 128 up there is none: the
    /// byte is 0.
    bytes: [u32; COUNT],
    /// The bit of the lane at which its field begins.
    shifts: [u32; COUNT],
    /// What the lane must have besides the number.
    constants: [u32; COUNT],
    /// The bits of the field.
    masks: [u32; COUNT],
}

impl Lanes {
    /// The largest number of bits of a field, wherever it begins: a lane has 32, and its field
    /// begins in its lowest byte.
    pub const MAX_WIDTH: u32 = 25;

    /// No field: no lane is equal to anything.
    pub const EMPTY: Self = Self {
        bytes: [u32::MAX; COUNT],
        shifts: [NOTHING; COUNT],
        constants: [1; COUNT],
        masks: [1; COUNT],
    };

    /// Adds a field of `width` bits from bit `at`, which is compared with the number.
    ///
    /// # Panics
    ///
    /// If there is no such lane, or the field is empty, leaves the 128 bits, or is wider than
    /// [`MAX_WIDTH`](Self::MAX_WIDTH).
    #[must_use]
    pub const fn with(self, lane: usize, at: u32, width: u32) -> Self {
        let mut lanes = self.with_constant(lane, at, width, 0);
        lanes.shifts[lane] = at % 8;
        lanes
    }

    /// Adds a field that is compared with a constant.
    ///
    /// # Panics
    ///
    /// As [`with`](Self::with).
    #[must_use]
    pub const fn with_constant(mut self, lane: usize, at: u32, width: u32, value: u32) -> Self {
        assert!(width != 0 && width <= Self::MAX_WIDTH && at + width <= 128, "no such field");
        let (first, mask) = (at / 8, (1 << width) - 1);
        let (mut bytes, mut byte) = ([u8::MAX; 4], 0);
        while byte < 4 && first + byte < 16 {
            bytes[byte as usize] = (first + byte) as u8;
            byte += 1;
        }
        self.bytes[lane] = u32::from_le_bytes(bytes);
        self.shifts[lane] = NOTHING;
        self.constants[lane] = (value & mask) << (at % 8);
        self.masks[lane] = mask << (at % 8);
        self
    }

    /// Returns a bit for each lane whose field is equal. Of the number, only the bits of the field
    /// count.
    #[must_use]
    pub fn equal(&self, packed: u128, number: u32) -> u16 {
        let packed = packed.to_le_bytes();
        let lanes: [bool; COUNT] = array::from_fn(|lane| {
            let bytes = self.bytes[lane].to_le_bytes();
            let bytes = bytes.map(|at| packed.get(usize::from(at)).copied().unwrap_or(0));
            let wanted = number.checked_shl(self.shifts[lane]).unwrap_or(0) ^ self.constants[lane];
            (u32::from_le_bytes(bytes) ^ wanted) & self.masks[lane] == 0
        });
        lanes.iter().rev().fold(0, |bits, &is_equal| bits << 1 | u16::from(is_equal))
    }

    /// As [`equal`](Self::equal), in six instructions.
    #[inline(always)]
    #[must_use]
    pub fn equal_wide(&self, wide: Wide, packed: u128, number: u32) -> u16 {
        imp::equal(self, wide, packed, number)
    }
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use core::arch::x86_64::{
        __m128i, __m512i, _mm512_broadcast_i32x4, _mm512_set1_epi32, _mm512_shuffle_epi8,
        _mm512_sllv_epi32, _mm512_ternarylogic_epi32, _mm512_testn_epi32_mask,
    };

    use super::{COUNT, Lanes, Wide};

    #[inline(always)]
    pub(super) fn equal(lanes: &Lanes, _: Wide, packed: u128, number: u32) -> u16 {
        // SAFETY: a `Wide` exists only where the processor has the features that the function
        // enables.
        unsafe { equal_with(lanes, packed, number) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn vector(lanes: &[u32; COUNT]) -> __m512i {
        // SAFETY: both types have 512 bits and accept any bits.
        unsafe { core::mem::transmute::<[u32; COUNT], __m512i>(*lanes) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn equal_with(lanes: &Lanes, packed: u128, number: u32) -> u16 {
        let (bytes, shifts) = (vector(&lanes.bytes), vector(&lanes.shifts));
        let (constants, masks) = (vector(&lanes.constants), vector(&lanes.masks));
        // SAFETY: both types have 128 bits and accept any bits.
        let packed = unsafe { core::mem::transmute::<u128, __m128i>(packed) };
        // 1. Take the bytes of each lane from the 16 bytes.
        let fields = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(packed), bytes);
        // 2. Shift the number to where the field of each lane begins.
        let wanted = _mm512_sllv_epi32(_mm512_set1_epi32(number.cast_signed()), shifts);
        // 3. The exclusive or of three: the table of its results is 0x96.
        let differences = _mm512_ternarylogic_epi32::<0x96>(fields, wanted, constants);
        _mm512_testn_epi32_mask(differences, masks)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod imp {
    use super::{COUNT, Lanes, Wide};

    #[inline(always)]
    pub(super) fn equal(lanes: &Lanes, _: Wide, packed: u128, number: u32) -> u16 {
        lanes.equal(packed, number)
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use super::*;
    use crate::simd::{Kernel, SimdLevel};

    struct Equal<'l>(&'l Lanes, u128, u32);

    impl Kernel for Equal<'_> {
        type Output = u16;

        fn run(self) -> u16 {
            self.0.equal(self.1, self.2)
        }

        #[inline(always)]
        fn run_wide(self, wide: Wide) -> u16 {
            self.0.equal_wide(wide, self.1, self.2)
        }
    }

    /// Compares with a field that is extracted from the 128 bits, at every place and width, at
    /// every SIMD level.
    #[test]
    fn fields_are_equal_where_they_are_equal() {
        let mut random = 1_u128;
        for width in 1..=Lanes::MAX_WIDTH {
            for at in 0..=128 - width {
                random = random.wrapping_mul(0xDA94_2042_E4DD_58B5).rotate_left(64) | 1 << at;
                let mask = (1 << width) - 1;
                let field = (random >> at) as u32 & mask;
                let lane = (at + width) as usize % 15;
                let lanes =
                    |value| Lanes::EMPTY.with(lane, at, width).with_constant(15, at, width, value);
                // The last two differ in a bit of the field, and in one above it.
                for number in [field, field ^ 1, field ^ 1 << (width - 1), field | 1 << width] {
                    let is_equal = u16::from(number & mask == field) << lane;
                    for &level in SimdLevel::all() {
                        let right = level.run(Equal(&lanes(field), random, number));
                        assert_eq!(right, is_equal | 1 << 15, "{at} {width} {number}");
                        let wrong = level.run(Equal(&lanes(field ^ mask), random, number));
                        assert_eq!(wrong, is_equal, "{at} {width} {number}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_lane_without_a_field_is_never_equal() {
        for packed in [0, u128::MAX, 1] {
            for number in [0, 1, u32::MAX] {
                for &level in SimdLevel::all() {
                    assert_eq!(level.run(Equal(&Lanes::EMPTY, packed, number)), 0);
                }
            }
        }
    }
}
