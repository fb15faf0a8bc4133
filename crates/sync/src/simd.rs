//! SIMD dispatch: a plain loop over arrays is compiled once for each SIMD level that the processor
//! may have.
//!
//! The code is written once, as plain Rust, and the compiler turns its loops into vector
//! instructions. The compiler must know at compile time which instructions it may use. So each
//! [`Kernel`] is inlined into several functions, each of which enables the target features of one
//! level. A [`SimdLevel`] is detected once and calls the right function.

/// A computation that is compiled for each SIMD level. Its `run`, and everything that it
/// calls, must be `#[inline(always)]`.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Kernel, SimdLevel, Vectors};
///
/// struct Double<'a>(&'a mut [u64; 32]);
///
/// impl Kernel for Double<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run(self, _: Option<Vectors>) {
///         self.0.iter_mut().for_each(|number| *number *= 2);
///     }
/// }
///
/// let mut numbers = [4; 32];
/// SimdLevel::detect().run(Double(&mut numbers));
/// assert_eq!(numbers, [8; 32]);
/// ```
pub trait Kernel {
    /// The result.
    type Output;

    /// Computes the result. `vectors` is for a kernel that uses vectors by name, and is a constant
    /// in each function. Every value must give the same result.
    fn run(self, vectors: Option<Vectors>) -> Self::Output;
}

/// A proof that the processor has vectors of 256 or of 512 bits, with operations on their bytes.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Kernel, SimdLevel, Vectors};
///
/// struct HasVectors;
///
/// impl Kernel for HasVectors {
///     type Output = bool;
///
///     #[inline(always)]
///     fn run(self, vectors: Option<Vectors>) -> bool {
///         vectors.is_some()
///     }
/// }
///
/// // The lowest level has none.
/// let levels: Vec<bool> = SimdLevel::all().iter().map(|level| level.run(HasVectors)).collect();
/// assert!(levels.iter().enumerate().all(|(number, &has)| has == (number != 0)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Vectors(Width);

/// The width of vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Width {
    #[cfg(target_arch = "x86_64")]
    Bits256,
    #[cfg(target_arch = "x86_64")]
    Bits512,
}

impl Vectors {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) const fn width(self) -> Width {
        self.0
    }
}

/// A SIMD level that the processor supports. Every level computes the same results.
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
    /// The baseline of the target architecture.
    Portable,
    /// Vectors of 256 bits, with a shift count per element.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Vectors of 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

// A level needs every feature that its function enables, see `with_avx2` and `with_avx512`. The
// crate works without std, and checks that the system saves the registers.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(
    tamis_shuttle,
    expect(clippy::disallowed_types, reason = "the crate keeps what it found in an atomic")
)]
mod found {
    cpufeatures::new!(avx2, "avx2", "bmi1", "bmi2");
    cpufeatures::new!(
        avx512, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "bmi1", "bmi2"
    );

    /// Returns whether the processor has what `with_avx2` enables, and what `with_avx512` does.
    pub(super) fn levels() -> [bool; 2] {
        [avx2::get(), avx512::get()]
    }
}

impl SimdLevel {
    /// Returns the highest level that the processor supports. It queries the processor once.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::SimdLevel::detect(), tamis_sync::SimdLevel::detect());
    /// ```
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let [avx2, avx512] = found::levels();
            if avx512 {
                return Self(Known::Avx512);
            }
            if avx2 {
                return Self(Known::Avx2);
            }
        }
        Self(Known::Portable)
    }

    /// Returns all levels that the processor supports, lowest first. For tests.
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
            #[cfg(target_arch = "x86_64")]
            SimdLevel(Known::Avx2),
            #[cfg(target_arch = "x86_64")]
            SimdLevel(Known::Avx512),
        ];
        // The levels are ordered, and each includes the ones before it.
        let highest = Self::detect();
        let count = ALL.iter().position(|&level| level == highest).map_or(1, |at| at + 1);
        &ALL[..count]
    }

    /// Runs the kernel as compiled for this level.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Known::Portable => portable(kernel),
            // SAFETY: only `detect` and `all` make this level, and `detect` found the features that
            // the function enables.
            #[cfg(target_arch = "x86_64")]
            Known::Avx2 => unsafe { with_avx2(kernel) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Known::Avx512 => unsafe { with_avx512(kernel) },
        }
    }
}

// Not inlined, as the others: so what selects between them saves no registers.
#[inline(never)]
fn portable<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(None)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Some(Vectors(Width::Bits256)))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2")]
fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Some(Vectors(Width::Bits512)))
}
