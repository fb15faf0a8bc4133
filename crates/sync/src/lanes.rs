//! Fields of a few bits each, packed into 128 bits, that are compared with a number all at once, in
//! a vector of 512 bits.

use crate::simd::Wide;

/// The number of bits of a vector.
const BITS: u32 = 512;

/// The number of words of 64 bits in a vector.
const WORDS: usize = BITS as usize / 64;

/// The bit of the shift that leaves nothing of a number: see [`Lanes::with_constant`].
const NOTHING: u64 = 64;

/// Where the fields in 128 bits are, and what each is compared with. There are 16 lanes of 32 bits,
/// or 8 of 64. Lane `n` is that of field `n`.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Kernel, Lanes, SimdLevel, Wide};
///
/// /// Fields of 20 bits from bit 0 and from bit 20, and two bits that must be 3.
/// static LANES: Lanes<16> = Lanes::EMPTY.with(0, 0, 20).with(1, 20, 20).with_constant(15, 126, 2, 3);
///
/// struct Find(u128, u64);
///
/// impl Kernel for Find {
///     type Output = u16;
///
///     #[inline(always)]
///     fn run(self, wide: Option<Wide>) -> u16 {
///         LANES.equal(wide, self.0, self.1)
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
pub struct Lanes<const COUNT: usize> {
    /// The numbers of the bytes of each lane, lowest first. From 128 up there is none: the byte is
    /// 0.
    bytes: Vector<COUNT>,
    /// The bit of the lane at which its field begins.
    shifts: Vector<COUNT>,
    /// What the lane must have besides the number.
    constants: Vector<COUNT>,
    /// The bits of the field.
    masks: Vector<COUNT>,
}

/// The bits of a number in each lane.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Vector<const COUNT: usize>([u64; WORDS]);

impl<const COUNT: usize> Vector<COUNT> {
    /// The number of bits of a lane.
    const WIDTH: u32 = {
        assert!(COUNT == 8 || COUNT == 16, "lanes have 32 or 64 bits");
        BITS / COUNT as u32
    };

    /// All ones in a lane.
    const ONES: u64 = u64::MAX >> (64 - Self::WIDTH);

    /// The same number in all lanes.
    const fn all(number: u64) -> Self {
        let (mut all, mut lane) = (Self([0; WORDS]), 0);
        while lane < COUNT {
            all = all.with(lane, number);
            lane += 1;
        }
        all
    }

    /// Returns the number of the word of a lane, and the first bit of the lane in it.
    const fn place(lane: usize) -> (usize, u32) {
        let bit = lane as u32 * Self::WIDTH;
        (bit as usize / 64, bit % 64)
    }

    const fn with(mut self, lane: usize, number: u64) -> Self {
        let (word, bit) = Self::place(lane);
        self.0[word] = self.0[word] & !(Self::ONES << bit) | (number & Self::ONES) << bit;
        self
    }

    const fn get(&self, lane: usize) -> u64 {
        let (word, bit) = Self::place(lane);
        self.0[word] >> bit & Self::ONES
    }
}

impl<const COUNT: usize> Lanes<COUNT> {
    /// The largest number of bits of a field, wherever it begins: the field begins in the lowest
    /// byte of its lane.
    pub const MAX_WIDTH: u32 = Vector::<COUNT>::WIDTH - 7;

    /// No field: no lane is equal to anything.
    pub const EMPTY: Self = Self {
        bytes: Vector::all(u64::MAX),
        shifts: Vector::all(NOTHING),
        constants: Vector::all(1),
        masks: Vector::all(1),
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
        lanes.shifts = lanes.shifts.with(lane, at as u64 % 8);
        lanes
    }

    /// Adds a field that is compared with a constant.
    ///
    /// # Panics
    ///
    /// As [`with`](Self::with).
    #[must_use]
    pub const fn with_constant(mut self, lane: usize, at: u32, width: u32, value: u64) -> Self {
        assert!(width != 0 && width <= Self::MAX_WIDTH && at + width <= 128, "no such field");
        let (first, mask) = (at as u64 / 8, (1 << width) - 1);
        let (mut bytes, mut byte) = (0, Vector::<COUNT>::WIDTH as u64 / 8);
        while byte > 0 {
            byte -= 1;
            let number = if first + byte < 16 { first + byte } else { u8::MAX as u64 };
            bytes = bytes << 8 | number;
        }
        self.bytes = self.bytes.with(lane, bytes);
        self.shifts = self.shifts.with(lane, NOTHING);
        self.constants = self.constants.with(lane, (value & mask) << (at % 8));
        self.masks = self.masks.with(lane, mask << (at % 8));
        self
    }

    /// Returns a bit for each lane whose field is equal. Of the number, only the bits of the field
    /// count. With a `Wide` it takes seven instructions.
    #[inline(always)]
    #[must_use]
    pub fn equal(&self, wide: Option<Wide>, packed: u128, number: u64) -> u16 {
        match wide {
            Some(wide) => imp::equal(self, wide, packed, number),
            None => self.equal_one_by_one(packed, number),
        }
    }

    fn equal_one_by_one(&self, packed: u128, number: u64) -> u16 {
        let packed = packed.to_le_bytes();
        let is_equal = |lane| {
            let bytes = self.bytes.get(lane).to_le_bytes();
            let bytes = bytes.map(|at| packed.get(usize::from(at)).copied().unwrap_or(0));
            let wanted = number.checked_shl(self.shifts.get(lane) as u32).unwrap_or(0);
            let differences = u64::from_le_bytes(bytes) ^ wanted ^ self.constants.get(lane);
            differences & self.masks.get(lane) == 0
        };
        (0..COUNT).rev().fold(0, |bits, lane| bits << 1 | u16::from(is_equal(lane)))
    }
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use core::arch::x86_64::{
        __m128i, __m512i, _mm512_broadcast_i32x4, _mm512_set1_epi32, _mm512_set1_epi64,
        _mm512_shuffle_epi8, _mm512_sllv_epi32, _mm512_sllv_epi64, _mm512_ternarylogic_epi32,
        _mm512_testn_epi32_mask, _mm512_testn_epi64_mask,
    };

    use super::{Lanes, Vector, WORDS, Wide};

    #[inline(always)]
    pub(super) fn equal<const COUNT: usize>(
        lanes: &Lanes<COUNT>,
        _: Wide,
        packed: u128,
        number: u64,
    ) -> u16 {
        // SAFETY: a `Wide` exists only where the processor has the features that the function
        // enables.
        unsafe { equal_with(lanes, packed, number) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn vector<const COUNT: usize>(lanes: &Vector<COUNT>) -> __m512i {
        // SAFETY: both types have 512 bits and accept any bits.
        unsafe { core::mem::transmute::<[u64; WORDS], __m512i>(lanes.0) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn equal_with<const COUNT: usize>(lanes: &Lanes<COUNT>, packed: u128, number: u64) -> u16 {
        let (bytes, shifts) = (vector(&lanes.bytes), vector(&lanes.shifts));
        let (constants, masks) = (vector(&lanes.constants), vector(&lanes.masks));
        // SAFETY: both types have 128 bits and accept any bits.
        let packed = unsafe { core::mem::transmute::<u128, __m128i>(packed) };
        let are_words = COUNT == WORDS;
        // 1. Take the bytes of each lane from the 16 bytes.
        let fields = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(packed), bytes);
        // 2. Shift the number to where the field of each lane begins.
        let wanted = if are_words {
            _mm512_sllv_epi64(_mm512_set1_epi64(number.cast_signed()), shifts)
        } else {
            _mm512_sllv_epi32(_mm512_set1_epi32((number as u32).cast_signed()), shifts)
        };
        // 3. The exclusive or of three: the table of its results is 0x96.
        let differences = _mm512_ternarylogic_epi32::<0x96>(fields, wanted, constants);
        if are_words {
            _mm512_testn_epi64_mask(differences, masks).into()
        } else {
            _mm512_testn_epi32_mask(differences, masks)
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod imp {
    use super::{Lanes, Wide};

    #[inline(always)]
    pub(super) fn equal<const COUNT: usize>(
        lanes: &Lanes<COUNT>,
        _: Wide,
        packed: u128,
        number: u64,
    ) -> u16 {
        lanes.equal_one_by_one(packed, number)
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use super::*;
    use crate::simd::{Kernel, SimdLevel};

    struct Equal<'l, const COUNT: usize>(&'l Lanes<COUNT>, u128, u64);

    impl<const COUNT: usize> Kernel for Equal<'_, COUNT> {
        type Output = u16;

        #[inline(always)]
        fn run(self, wide: Option<Wide>) -> u16 {
            self.0.equal(wide, self.1, self.2)
        }
    }

    /// Compares with a field that is extracted from the 128 bits, at every place and width, at
    /// every SIMD level.
    fn fields_are_equal_where_they_are_equal<const COUNT: usize>() {
        let (mut random, last) = (1_u128, COUNT - 1);
        for width in 1..=Lanes::<COUNT>::MAX_WIDTH {
            for at in 0..=128 - width {
                random = random.wrapping_mul(0xDA94_2042_E4DD_58B5).rotate_left(64) | 1 << at;
                let mask = (1 << width) - 1;
                let field = (random >> at) as u64 & mask;
                let lane = (at + width) as usize % last;
                let lanes = |value| {
                    let lanes = Lanes::<COUNT>::EMPTY.with(lane, at, width);
                    lanes.with_constant(last, at, width, value)
                };
                // The last two differ in a bit of the field, and in one above it.
                for number in [field, field ^ 1, field ^ 1 << (width - 1), field | 1 << width] {
                    let is_equal = u16::from(number & mask == field) << lane;
                    for &level in SimdLevel::all() {
                        let right = level.run(Equal(&lanes(field), random, number));
                        assert_eq!(right, is_equal | 1 << last, "{at} {width} {number}");
                        let wrong = level.run(Equal(&lanes(field ^ mask), random, number));
                        assert_eq!(wrong, is_equal, "{at} {width} {number}");
                    }
                }
            }
        }
    }

    #[test]
    fn fields_of_lanes_of_32_bits_are_equal_where_they_are_equal() {
        fields_are_equal_where_they_are_equal::<16>();
    }

    #[test]
    fn fields_of_lanes_of_64_bits_are_equal_where_they_are_equal() {
        fields_are_equal_where_they_are_equal::<8>();
    }

    #[test]
    fn a_lane_without_a_field_is_never_equal() {
        for packed in [0, u128::MAX, 1] {
            for number in [0, 1, u64::MAX] {
                for &level in SimdLevel::all() {
                    assert_eq!(level.run(Equal::<16>(&Lanes::EMPTY, packed, number)), 0);
                    assert_eq!(level.run(Equal::<8>(&Lanes::EMPTY, packed, number)), 0);
                }
            }
        }
    }
}
