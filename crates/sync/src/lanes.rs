//! Fields of a few bits each, packed into numbers of 128 bits, that are compared all at once, in
//! vectors of 256 or 512 bits.

mod packing;
#[cfg(target_arch = "x86_64")]
mod vector;

pub use self::packing::Packing;
use self::packing::TAG_BIT;
use crate::simd::Vectors;

/// Constants that compare the fields of two numbers, each of which is packed in one of two ways. A
/// field takes a lane of 32 or of 64 bits.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Kernel, Lanes, Packing, SimdLevel, Vectors};
///
/// /// Five fields of 20 bits, or six.
/// static LANES: Lanes<32> = Lanes::new([
///     Packing { count: 5, width: 20, tag: 1 },
///     Packing { count: 6, width: 20, tag: 2 },
/// ]);
///
/// struct Find([(u128, u64, bool); 2]);
///
/// impl Kernel for Find {
///     type Output = Option<bool>;
///
///     #[inline(always)]
///     fn run(self, vectors: Option<Vectors>) -> Option<bool> {
///         LANES.find(vectors, self.0)
///     }
/// }
///
/// let (five, six) = (1 << 126 | 7 << 20, 2 << 126 | 1_000_000 << 100);
/// for level in SimdLevel::all() {
///     let find = |wanted| level.run(Find([(five, wanted, false), (six, wanted, true)]));
///     assert_eq!([7, 1_000_000, 9].map(find), [Some(true), Some(true), Some(false)]);
///     // A tag is not the expected one.
///     assert_eq!(level.run(Find([(five, 7, true), (six, 7, true)])), None);
/// }
/// ```
#[derive(Debug)]
pub struct Lanes<const WIDTH: u32> {
    packings: [Packing; 2],
    #[cfg(target_arch = "x86_64")]
    constants: vector::Constants<WIDTH>,
}

impl<const WIDTH: u32> Lanes<WIDTH> {
    /// The largest number of bits of a field, wherever it begins: the field begins in the lowest
    /// byte of its lane.
    pub const MAX_WIDTH: u32 = {
        assert!(WIDTH == 32 || WIDTH == 64, "lanes have 32 or 64 bits");
        WIDTH - 7
    };

    /// The largest number of fields.
    pub const MAX_COUNT: u32 = 384 / WIDTH;

    /// Computes the constants. The type has an example.
    ///
    /// # Panics
    ///
    /// If there is no field or more than [`MAX_COUNT`](Self::MAX_COUNT), if fields are empty, wider
    /// than [`MAX_WIDTH`](Self::MAX_WIDTH), or overlap the tag, or if a tag has more than two bits.
    #[must_use]
    pub const fn new(packings: [Packing; 2]) -> Self {
        let [one, other] = packings;
        one.check(Self::MAX_COUNT, Self::MAX_WIDTH);
        other.check(Self::MAX_COUNT, Self::MAX_WIDTH);
        Self {
            packings,
            #[cfg(target_arch = "x86_64")]
            constants: vector::Constants::new(packings),
        }
    }

    /// Returns whether a field of one of two numbers holds what is wanted, or `None` if a tag is
    /// not the expected one. An element of `numbers` has a number, what is wanted in its fields,
    /// and whether the number has the second packing. What is wanted must fit into a field.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, vectors: Option<Vectors>, numbers: [(u128, u64, bool); 2]) -> Option<bool> {
        debug_assert!(numbers.iter().all(|&(_, wanted, is_second)| {
            wanted >> self.packings[usize::from(is_second)].width == 0
        }));
        #[cfg(target_arch = "x86_64")]
        if let Some(vectors) = vectors {
            return self.constants.find(vectors, numbers);
        }
        let _ = vectors;
        self.find_one_by_one(numbers)
    }

    fn find_one_by_one(&self, numbers: [(u128, u64, bool); 2]) -> Option<bool> {
        let find = |(number, wanted, is_second)| {
            let Packing { count, width, tag } = self.packings[usize::from(is_second)];
            let field = |at| (number >> (at * width)) as u64 & ((1 << width) - 1);
            (number >> TAG_BIT == u128::from(tag)).then(|| (0..count).any(|at| field(at) == wanted))
        };
        let [one, other] = numbers.map(find);
        Some(one? | other?)
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use std::panic;

    use super::*;
    use crate::simd::{Kernel, SimdLevel};

    struct Find<'l, const WIDTH: u32>(&'l Lanes<WIDTH>, [(u128, u64, bool); 2]);

    impl<const WIDTH: u32> Kernel for Find<'_, WIDTH> {
        type Output = Option<bool>;

        #[inline(always)]
        fn run(self, vectors: Option<Vectors>) -> Option<bool> {
            self.0.find(vectors, self.1)
        }
    }

    /// Returns what a query of one number has to return, from the digits of the number.
    fn expected(number: u128, wanted: u64, packing: Packing) -> Option<bool> {
        let digits = format!("{number:0128b}");
        let (tag, fields) = digits.split_at(2);
        let width = packing.width as usize;
        let mut fields = fields.as_bytes().rchunks_exact(width).take(packing.count as usize);
        let wanted = format!("{wanted:0width$b}");
        (tag == format!("{:02b}", packing.tag))
            .then(|| fields.any(|held| held == wanted.as_bytes()))
    }

    /// For every count and width that fit, beside another packing: looks for fields of random
    /// numbers, and for what differs from a field in one bit, at every SIMD level. One tag of four
    /// is a random one.
    fn fields_are_found_where_they_are<const WIDTH: u32>() {
        let (mut state, mut cases) = (1_u128, [0; 3]);
        let mut random = || {
            state = state.wrapping_mul(0xDA94_2042_E4DD_58B5).rotate_left(64) | 1;
            state
        };
        for count in 1..=Lanes::<WIDTH>::MAX_COUNT {
            for width in 1..=Lanes::<WIDTH>::MAX_WIDTH.min(TAG_BIT / count) {
                let other = Packing { count: 3, width: width / 2 + 1, tag: 2 };
                let packings = [Packing { count, width, tag: 1 }, other];
                let lanes = Lanes::<WIDTH>::new(packings);
                for case in 0..16 * count {
                    let numbers = [(); 2].map(|()| {
                        let choice = (random() >> 64) as u32;
                        let is_second = choice & 1 != 0;
                        let Packing { count, width, tag } = packings[usize::from(is_second)];
                        let tag = if choice >> 1 & 3 == 0 { choice >> 3 & 3 } else { tag };
                        let number = random() << 2 >> 2 | u128::from(tag) << TAG_BIT;
                        let field = (number >> (case % count * width)) as u64 & ((1 << width) - 1);
                        let is_equal = choice >> 5 & 7 == 0;
                        let changed = if is_equal { 0 } else { 1 << ((choice >> 8) % width) };
                        (number, field ^ changed, is_second)
                    });
                    let [one, other] = numbers.map(|(number, wanted, is_second)| {
                        expected(number, wanted, packings[usize::from(is_second)])
                    });
                    let right = one.and_then(|one| other.map(|other| one | other));
                    cases[right.map_or(2, usize::from)] += 1;
                    for &level in SimdLevel::all() {
                        let answer = level.run(Find(&lanes, numbers));
                        assert_eq!(answer, right, "{packings:?} {level:?} {numbers:x?}");
                    }
                    #[cfg(target_arch = "x86_64")]
                    {
                        let answer = lanes.constants.find_lane_by_lane(numbers);
                        assert_eq!(answer, right, "{packings:?} {numbers:x?}");
                    }
                }
            }
        }
        assert!(cases.iter().all(|&cases| cases > 1000), "{cases:?}");
    }

    #[test]
    fn a_packing_that_does_not_fit_is_refused() {
        let right = Packing { count: 5, width: 20, tag: 1 };
        let fits = |packings| panic::catch_unwind(|| Lanes::<32>::new(packings)).is_ok();
        let at_most = [(12, 10, 3), (5, 25, 0), (7, 18, 1)];
        let too_much = [(0, 20, 1), (13, 9, 1), (5, 0, 1), (4, 26, 1), (8, 16, 1), (5, 20, 4)];
        for (cases, expected) in [(&at_most[..], true), (&too_much[..], false)] {
            for &(count, width, tag) in cases {
                let packing = Packing { count, width, tag };
                assert_eq!(fits([packing, right]), expected, "{packing:?}");
                assert_eq!(fits([right, packing]), expected, "{packing:?}");
            }
        }
    }

    #[test]
    fn fields_in_lanes_of_32_bits_are_found_where_they_are() {
        fields_are_found_where_they_are::<32>();
    }

    #[test]
    fn fields_in_lanes_of_64_bits_are_found_where_they_are() {
        fields_are_found_where_they_are::<64>();
    }
}
