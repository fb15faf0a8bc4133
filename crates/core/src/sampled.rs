//! A figure read from a part of a filter, with its standard error.

use core::fmt;

/// A figure estimated from a sample of a filter's memory.
///
/// `value` is the estimate. `standard_error` is the standard deviation of the estimate, computed from the spread
/// within the sample: from 64 lines on, the true figure lies within two of them in about 19 cases of 20. It is 0 where the
/// whole filter was read, and where all lines read are alike, as in a nearly empty filter; it is infinite where a single
/// line was read of several. Where few lines account for most of the figure, as with false-positive rates below 1e-6 or
/// with a handful of items in a large filter, a small sample understates its error.
///
/// The error is that of sampling alone, against the same figure read from the whole filter.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::Sampled;
///
/// let rate = Sampled { value: 0.0102, standard_error: 0.0001 };
/// assert_eq!(format!("{rate:.4}"), "0.0102 ± 0.0001");
/// assert_eq!(rate.to_string(), "1.020e-2 ± 1.0e-4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// The estimate.
    pub value: f64,
    /// The standard deviation of the estimate.
    pub standard_error: f64,
}

impl Sampled {
    /// A figure that is not sampled: its standard error is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::Sampled;
    /// assert_eq!(Sampled::exact(0.5).standard_error, 0.0);
    /// ```
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { value, standard_error: 0.0 }
    }

    /// The mean of a population of `population` values, from a sample of them drawn without replacement.
    ///
    /// An empty sample gives NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::Sampled;
    ///
    /// let sampled = Sampled::mean([1.0, 2.0, 3.0], 1000);
    /// assert_eq!(sampled.value, 2.0);
    /// assert!((sampled.standard_error - (1.0 / 3.0_f64).sqrt()).abs() < 0.001);
    /// assert_eq!(Sampled::mean([1.0, 2.0, 3.0], 3), Sampled::exact(2.0));
    /// ```
    #[must_use]
    pub fn mean(sample: impl IntoIterator<Item = f64>, population: u64) -> Self {
        // Welford's algorithm: one pass, no cancellation.
        let (mut count, mut mean, mut squares) = (0_u64, 0.0, 0.0);
        for value in sample {
            count += 1;
            let from_old = value - mean;
            mean += from_old / count as f64;
            squares += from_old * (value - mean);
        }
        let standard_error = match count {
            0 => f64::NAN,
            _ if count >= population => 0.0,
            1 => f64::INFINITY,
            _ => {
                let variance = squares / (count - 1) as f64;
                // The finite-population correction: what was read has no error.
                let unread = 1.0 - count as f64 / population as f64;
                libm::sqrt(variance * unread / count as f64)
            }
        };
        Self { value: if count == 0 { f64::NAN } else { mean }, standard_error }
    }

    /// The figure under a monotonic function, its error by the function's slope between the ends of the interval of
    /// one standard error on each side.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::Sampled;
    ///
    /// let side = Sampled { value: 10.0, standard_error: 0.1 };
    /// let area = side.map(|side| side * side);
    /// assert_eq!(area.value, 100.0);
    /// assert!((area.standard_error - 2.0).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn map(self, function: impl Fn(f64) -> f64) -> Self {
        let Self { value, standard_error } = self;
        if standard_error == 0.0 || !standard_error.is_finite() {
            return Self { value: function(value), standard_error };
        }
        let (low, high) = (function(value - standard_error), function(value + standard_error));
        Self { value: function(value), standard_error: (high - low).abs() / 2.0 }
    }
}

/// As `0.0102 ± 0.0001` with a precision of 4, and as `1.020e-6 ± 4.0e-8` without one.
impl fmt::Display for Sampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, standard_error } = self;
        match f.precision() {
            Some(precision) => write!(f, "{value:.precision$} ± {standard_error:.precision$}"),
            None => write!(f, "{value:.3e} ± {standard_error:.1e}"),
        }
    }
}
