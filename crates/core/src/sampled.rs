//! A figure estimated from a part of a filter, with its standard error.

use core::fmt;
use core::ops::Add;

/// A figure estimated from a sample of a filter's memory.
///
/// `value` is the estimate. `standard_error` is the standard deviation of the estimate, computed
/// from the spread within the sample. With 64 lines or more, the true figure is within two standard
/// errors of the estimate in about 19 of 20 cases.
///
/// The standard error is 0 if the whole filter was read, or if all lines read are equal, as in a
/// nearly empty filter. It is infinite if only one of several lines was read. If a few lines
/// account for most of the figure, a small sample understates the error: this happens with low
/// false-positive rates, and with a few items in a large filter. At a rate of 1e-5 a sample of 64
/// lines has the true rate within two standard errors in 16 of 20 cases, and one of 1024 lines in
/// 19.
///
/// The error covers sampling only: it compares the estimate with the same figure read from the
/// whole filter.
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
    /// Returns a figure that is not sampled: its standard error is 0.
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

    /// Applies a monotonic function to the figure.
    ///
    /// The new error comes from the slope of the function: half of its change between one standard
    /// error below `value` and one above.
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
        // An error of 0, infinity or NaN stays as it is.
        if standard_error == 0.0 || !standard_error.is_finite() {
            return Self { value: function(value), standard_error };
        }
        let (low, high) = (function(value - standard_error), function(value + standard_error));
        Self { value: function(value), standard_error: (high - low).abs() / 2.0 }
    }
}

impl Add for Sampled {
    type Output = Self;

    /// Adds two figures whose errors are independent.
    fn add(self, other: Self) -> Self {
        let (one, two) = (self.standard_error, other.standard_error);
        // The squares add up. Without this case, an infinite error would be NaN in some.
        let standard_error = if one == 0.0 { two } else { libm::sqrt(one * one + two * two) };
        Self { value: self.value + other.value, standard_error }
    }
}

/// Prints `0.0102 ± 0.0001` with a precision of 4, and `1.020e-6 ± 4.0e-8` without a precision.
impl fmt::Display for Sampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, standard_error } = self;
        match f.precision() {
            Some(precision) => write!(f, "{value:.precision$} ± {standard_error:.precision$}"),
            None => write!(f, "{value:.3e} ± {standard_error:.1e}"),
        }
    }
}

/// The mean of a sample, value by value, and the spread around it: for the crates of the filters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    count: u64,
    mean: f64,
    /// The sum of the squared deviations.
    squares: f64,
}

impl Mean {
    /// Adds a value of the sample.
    pub fn add(&mut self, value: f64) {
        // Welford's algorithm: mean and sum of squared deviations in one pass, without
        // cancellation.
        self.count += 1;
        let from_old = value - self.mean;
        self.mean += from_old / self.count as f64;
        self.squares += from_old * (value - self.mean);
    }

    /// Returns the estimate for a population of this size, from which the values were drawn without
    /// replacement. Without any value it is NaN.
    #[must_use]
    pub fn of(self, population: u64) -> Sampled {
        let Self { count, mean, squares } = self;
        let standard_error = match count {
            0 => f64::NAN,
            // The whole population was read.
            _ if count >= population => 0.0,
            // One value has no spread to estimate the error from.
            1 => f64::INFINITY,
            _ => {
                let variance = squares / (count - 1) as f64;
                // The finite-population correction: values that were read contribute no error.
                let unread = 1.0 - count as f64 / population as f64;
                libm::sqrt(variance * unread / count as f64)
            }
        };
        Sampled { value: if count == 0 { f64::NAN } else { mean }, standard_error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_error_of_its_sample() {
        let mut mean = Mean::default();
        [1.0, 2.0, 3.0].into_iter().for_each(|value| mean.add(value));
        assert_eq!(mean.of(1000).value, 2.0);
        assert!((mean.of(1000).standard_error - (1.0 / 3.0_f64).sqrt()).abs() < 0.001);
        assert_eq!(mean.of(3), Sampled::exact(2.0));
    }
}
