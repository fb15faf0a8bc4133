//! The comparison of fields in vectors of 256 and of 512 bits.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_cvtsi64_si128, _mm256_and_si256, _mm256_cmpeq_epi32,
    _mm256_cmpeq_epi64, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_m128i,
    _mm256_shuffle_epi8, _mm256_shuffle_epi32, _mm256_srlv_epi32, _mm256_srlv_epi64,
    _mm256_testz_si256, _mm256_unpacklo_epi64, _mm256_xor_si256, _mm512_broadcast_i32x4,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_sllv_epi32,
    _mm512_sllv_epi64, _mm512_ternarylogic_epi32, _mm512_testn_epi32_mask, _mm512_testn_epi64_mask,
};
use core::array;

use super::packing::{Packing, TAG_BIT};
use crate::simd::{Vectors, Width};

/// The shift that leaves nothing of a number.
const NOTHING: u64 = 64;

/// A vector of 256 or 512 bits, in words of 64 bits.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Vector<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Vector<WORDS> {
    /// The same number in all lanes of this width.
    const fn all(width: u32, number: u64) -> Self {
        let (mut all, mut lane) = (Self([0; WORDS]), 0);
        while lane < 64 * WORDS as u32 / width {
            all = all.with(width, lane, number);
            lane += 1;
        }
        all
    }

    /// Sets a lane of this width.
    const fn with(mut self, width: u32, lane: u32, number: u64) -> Self {
        let (word, bit) = ((lane * width / 64) as usize, lane * width % 64);
        let ones = u64::MAX >> (64 - width);
        self.0[word] = self.0[word] & !(ones << bit) | (number & ones) << bit;
        self
    }
}

/// Returns the numbers of the bytes of a lane of this width, lowest first, for a field that begins
/// at a bit. From 16 up there is none: the lane gets a byte of 0, above its field.
const fn bytes(width: u32, at: u32) -> u64 {
    let (mut bytes, mut byte) = (0, width / 8);
    while byte > 0 {
        byte -= 1;
        let number = at / 8 + byte;
        bytes = bytes << 8 | if number < 16 { number as u64 } else { 0xFF };
    }
    bytes
}

/// Constants for two numbers, each of which has one of two packings.
#[derive(Debug)]
pub(super) struct Constants<const WIDTH: u32> {
    /// By the packing of a number.
    whole: [Whole; 2],
    /// The first index is the packing of the second number, the next one that of the first number.
    halves: [[Halves; 2]; 2],
}

/// Constants for one number in a vector of 512 bits. The last lane is that of the tag. The lanes
/// behind the fields are empty.
#[derive(Debug)]
#[repr(C, align(64))]
struct Whole {
    /// The numbers of the bytes of each lane.
    bytes: Vector<8>,
    /// The bit of the lane at which its field begins.
    shifts: Vector<8>,
    /// What the lane must have besides what is wanted.
    constants: Vector<8>,
    /// The bits of the field.
    masks: Vector<8>,
}

impl Whole {
    const fn new(packing: Packing, width: u32) -> Self {
        // An empty lane differs in one bit.
        let mut whole = Self {
            bytes: Vector::all(width, u64::MAX),
            shifts: Vector::all(width, NOTHING),
            constants: Vector::all(width, 1),
            masks: Vector::all(width, 1),
        };
        let mut lane = 0;
        while lane < packing.count {
            let at = lane * packing.width;
            whole = whole.with(width, lane, [at, packing.width], 0);
            whole.shifts = whole.shifts.with(width, lane, at as u64 % 8);
            lane += 1;
        }
        whole.with(width, 512 / width - 1, [TAG_BIT, 2], packing.tag as u64)
    }

    /// Sets a lane to a field of `len` bits from bit `at`, which must have a value.
    const fn with(mut self, width: u32, lane: u32, [at, len]: [u32; 2], value: u64) -> Self {
        self.bytes = self.bytes.with(width, lane, bytes(width, at));
        self.constants = self.constants.with(width, lane, value << (at % 8));
        self.masks = self.masks.with(width, lane, ((1 << len) - 1) << (at % 8));
        self
    }
}

/// The number of vectors of 256 bits.
const HALVES: usize = 3;

/// Constants for two numbers in vectors of 256 bits, whose lower halves have lanes of the first
/// number.
#[derive(Debug)]
#[repr(C, align(64))]
struct Halves {
    /// The numbers of the bytes of each lane. A lane behind the fields has the first field again.
    bytes: [Vector<4>; HALVES],
    /// The bit of the lane at which its field begins.
    shifts: [Vector<4>; HALVES],
    /// The bits of a field that was shifted.
    masks: Vector<4>,
    /// The tags, in their place.
    tags: Vector<4>,
}

impl Halves {
    const fn new(packings: [Packing; 2], width: u32) -> Self {
        let zero = Vector::all(64, 0);
        let (bytes, shifts) = ([zero; HALVES], [zero; HALVES]);
        let mut halves = Self { bytes, shifts, masks: zero, tags: zero };
        let (lanes, mut at) = (128 / width, 0);
        while at < 2 * HALVES as u32 * lanes {
            let (which, field) = (at % 2, at / 2);
            let packing = packings[which as usize];
            let (vector, lane) = ((field / lanes) as usize, which * lanes + field % lanes);
            let bit = if field < packing.count { field * packing.width } else { 0 };
            halves.bytes[vector] = halves.bytes[vector].with(width, lane, self::bytes(width, bit));
            halves.shifts[vector] = halves.shifts[vector].with(width, lane, bit as u64 % 8);
            halves.masks = halves.masks.with(width, lane, (1 << packing.width) - 1);
            halves.tags.0[2 * which as usize + 1] = (packing.tag as u64) << (TAG_BIT - 64);
            at += 1;
        }
        halves
    }
}

impl<const WIDTH: u32> Constants<WIDTH> {
    pub(super) const fn new([one, other]: [Packing; 2]) -> Self {
        Self {
            whole: [Whole::new(one, WIDTH), Whole::new(other, WIDTH)],
            halves: [
                [Halves::new([one, one], WIDTH), Halves::new([other, one], WIDTH)],
                [Halves::new([one, other], WIDTH), Halves::new([other, other], WIDTH)],
            ],
        }
    }

    /// Looks into two numbers. An element has a number, what is wanted in its fields, and whether
    /// the number has the second packing.
    #[inline(always)]
    pub(super) fn find(&self, vectors: Vectors, numbers: [(u128, u64, bool); 2]) -> Option<bool> {
        match vectors.width() {
            Width::Bits256 => {
                let [(one, wanted, is_second), (other, other_wanted, is_other_second)] = numbers;
                let halves = &self.halves[usize::from(is_other_second)][usize::from(is_second)];
                // SAFETY: vectors of this width exist only where the processor has the features
                // that the function enables.
                unsafe { find_in_halves::<WIDTH>(halves, [one, other], [wanted, other_wanted]) }
            }
            // SAFETY: likewise.
            Width::Bits512 => unsafe { find_in_whole::<WIDTH>(&self.whole, numbers) },
        }
    }
}

/// Looks into two numbers, each in a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn find_in_whole<const WIDTH: u32>(
    whole: &[Whole; 2],
    numbers: [(u128, u64, bool); 2],
) -> Option<bool> {
    let [(one, wanted, is_second), (other, other_wanted, is_other_second)] = numbers;
    let one = equal::<WIDTH>(&whole[usize::from(is_second)], one, wanted);
    let other = equal::<WIDTH>(&whole[usize::from(is_other_second)], other, other_wanted);
    sum::<WIDTH>(one, other)
}

/// Returns what the results of two numbers in whole vectors say.
#[inline(always)]
fn sum<const WIDTH: u32>(one: u16, other: u16) -> Option<bool> {
    // If both tags are the expected ones, the sum is `tagged` or more. Otherwise it is less,
    // because the empty lane takes the carry of the fields. The rest of the sum is above 0 if a
    // field is equal. The compiler would compute an AND of both in vectors, in more instructions.
    let (sum, tagged) = (u32::from(one) + u32::from(other), 1 << (512 / WIDTH));
    (sum >= tagged).then_some(sum > tagged)
}

/// Returns a bit for each lane whose field is equal, in seven instructions.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal<const WIDTH: u32>(whole: &Whole, number: u128, wanted: u64) -> u16 {
    let load = |vector: &Vector<8>| {
        // SAFETY: both types have 512 bits and accept any bits.
        unsafe { core::mem::transmute::<[u64; 8], __m512i>(vector.0) }
    };
    let (bytes, shifts) = (load(&whole.bytes), load(&whole.shifts));
    let (constants, masks) = (load(&whole.constants), load(&whole.masks));
    // 1. Take the bytes of each lane from the 16 bytes.
    let fields = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(in_vector(number)), bytes);
    // 2. Shift what is wanted to where the field of each lane begins.
    let wanted = if WIDTH == 64 {
        _mm512_sllv_epi64(_mm512_set1_epi64(wanted.cast_signed()), shifts)
    } else {
        _mm512_sllv_epi32(_mm512_set1_epi32((wanted as u32).cast_signed()), shifts)
    };
    // 3. The exclusive or of three: the table of its results is 0x96.
    let differences = _mm512_ternarylogic_epi32::<0x96>(fields, wanted, constants);
    if WIDTH == 64 {
        _mm512_testn_epi64_mask(differences, masks).into()
    } else {
        _mm512_testn_epi32_mask(differences, masks)
    }
}

/// Looks into two numbers, the halves of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn find_in_halves<const WIDTH: u32>(
    halves: &Halves,
    [number, other]: [u128; 2],
    wanted: [u64; 2],
) -> Option<bool> {
    static TAGS: Vector<4> = Vector([0, 3 << (TAG_BIT - 64), 0, 3 << (TAG_BIT - 64)]);
    let load = |vector: &Vector<4>| {
        // SAFETY: both types have 256 bits and accept any bits.
        unsafe { core::mem::transmute::<[u64; 4], __m256i>(vector.0) }
    };
    // 1. Compare the tags of both.
    let numbers = _mm256_set_m128i(in_vector(other), in_vector(number));
    let differences = _mm256_xor_si256(numbers, load(&halves.tags));
    if _mm256_testz_si256(differences, load(&TAGS)) == 0 {
        return None;
    }
    // 2. Put what is wanted into all lanes.
    let [wanted, other] = wanted.map(|wanted| _mm_cvtsi64_si128(wanted.cast_signed()));
    let wanted = _mm256_set_m128i(other, wanted);
    let wanted = if WIDTH == 64 {
        _mm256_unpacklo_epi64(wanted, wanted)
    } else {
        _mm256_shuffle_epi32::<0>(wanted)
    };
    // 3. Take the bytes of each lane from its half, shift the field to its lowest bit, and compare.
    let masks = load(&halves.masks);
    let [one, two, three] = array::from_fn(|at| {
        let (bytes, shifts) = (load(&halves.bytes[at]), load(&halves.shifts[at]));
        let lanes = _mm256_shuffle_epi8(numbers, bytes);
        if WIDTH == 64 {
            let fields = _mm256_and_si256(_mm256_srlv_epi64(lanes, shifts), masks);
            _mm256_cmpeq_epi64(fields, wanted)
        } else {
            let fields = _mm256_and_si256(_mm256_srlv_epi32(lanes, shifts), masks);
            _mm256_cmpeq_epi32(fields, wanted)
        }
    });
    let equal = _mm256_or_si256(_mm256_or_si256(one, two), three);
    Some(_mm256_movemask_epi8(equal) != 0)
}

#[inline(always)]
fn in_vector(number: u128) -> __m128i {
    // SAFETY: both types have 128 bits and accept any bits.
    unsafe { core::mem::transmute::<u128, __m128i>(number) }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
impl<const WIDTH: u32> Constants<WIDTH> {
    /// Looks into two numbers as [`find_in_whole`] does, lane by lane: for processors without
    /// vectors of 512 bits.
    pub(super) fn find_lane_by_lane(&self, numbers: [(u128, u64, bool); 2]) -> Option<bool> {
        let [one, other] = numbers.map(|(number, wanted, is_second)| {
            let whole = &self.whole[usize::from(is_second)];
            let is_equal = |lane: u32| {
                let (word, bit) = ((lane * WIDTH / 64) as usize, lane * WIDTH % 64);
                let of = |vector: &Vector<8>| vector.0[word] >> bit & u64::MAX >> (64 - WIDTH);
                let bytes = of(&whole.bytes).to_le_bytes();
                let bytes = bytes.map(|at| number.to_le_bytes().get(usize::from(at)).copied());
                let field = u64::from_le_bytes(bytes.map(Option::unwrap_or_default));
                let wanted = wanted.checked_shl(of(&whole.shifts) as u32).unwrap_or(0);
                (field ^ wanted ^ of(&whole.constants)) & of(&whole.masks) == 0
            };
            (0..512 / WIDTH).rev().fold(0, |bits, lane| bits << 1 | u16::from(is_equal(lane)))
        });
        sum::<WIDTH>(one, other)
    }
}
