//! Straight loops over arrays, compiled once for each width of vectors that the processor may have.
//!
//! The code is written once, as plain Rust; the compiler turns its loops into vector instructions, for
//! which it must know at compile time that they are there. So a [`Loop`] is inlined into functions that
//! assume more and more of the processor, and a [`SimdLevel`], made once, knows which of them it may call.

/// Work to be compiled for each width: its `run` is to be `#[inline(always)]`, with all that it calls.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Loop, SimdLevel};
///
/// struct Double<'a>(&'a mut [u64; 32]);
///
/// impl Loop for Double<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run(self) {
///         self.0.iter_mut().for_each(|number| *number *= 2);
///     }
/// }
///
/// let mut numbers = [4; 32];
/// SimdLevel::detect().run(Double(&mut numbers));
/// assert_eq!(numbers, [8; 32]);
/// ```
pub trait Loop {
    /// What it finds.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// The widest vectors of the processor that the program runs on. Every width gives the same results.
///
/// # Examples
///
/// ```
/// use tamis_sync::SimdLevel;
///
/// assert!(SimdLevel::all().contains(&SimdLevel::detect()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimdLevel(Known);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// What every processor of this architecture has.
    Portable,
    /// 256 bits, with shifts by numbers of their own.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2,
    /// 512 bits.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
}

impl SimdLevel {
    /// The widest that there is here. Without feature `std`, which is needed to ask the processor, the
    /// one that all have.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::SimdLevel::detect(), tamis_sync::SimdLevel::detect());
    /// ```
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        {
            use std::is_x86_feature_detected as has;
            let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2");
            if avx2 && has!("avx512f") && has!("avx512dq") {
                return Self(Known::Avx512);
            }
            if avx2 {
                return Self(Known::Avx2);
            }
        }
        Self(Known::Portable)
    }

    /// All that there are here, for tests: the narrowest first.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!tamis_sync::SimdLevel::all().is_empty());
    /// ```
    #[must_use]
    pub fn all() -> &'static [Self] {
        const ALL: &[SimdLevel] = &[
            SimdLevel(Known::Portable),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            SimdLevel(Known::Avx2),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            SimdLevel(Known::Avx512),
        ];
        let widest = Self::detect();
        let count = ALL.iter().position(|&level| level == widest).map_or(1, |at| at + 1);
        &ALL[..count]
    }

    /// Does the work, with vectors of this width.
    ///
    /// # Examples
    ///
    /// See [`Loop`].
    #[inline]
    pub fn run<L: Loop>(self, work: L) -> L::Output {
        match self.0 {
            Known::Portable => work.run(),
            // SAFETY: `detect` made this width, and found the features that the function assumes.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Known::Avx2 => unsafe { with_avx2(work) },
            // SAFETY: likewise.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Known::Avx512 => unsafe { with_avx512(work) },
        }
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn with_avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx512f,avx512dq,avx2,bmi1,bmi2")]
fn with_avx512<L: Loop>(work: L) -> L::Output {
    work.run()
}
