//! Filters that forget: the span of time that they remember, and the epochs that follow from it.
//! Pure arithmetic.

mod create;
mod epochs;
mod insert;
mod known;
mod query;
mod round;
mod scripts;

use core::time::Duration;

use serde::{Deserialize, Serialize};
use tamis_core::BuildError;

pub(crate) use self::create::{create_shard, delete_shard, open_shard};
#[cfg(test)]
pub(crate) use self::epochs::{Epoch, Epochs};
pub(crate) use self::insert::insert;
pub(crate) use self::known::Known;
pub(crate) use self::query::{find, live_keys};
#[cfg(test)]
pub(crate) use self::round::{Insert, Query, Reply};
use crate::error::Error;
use crate::wire::sizes::{Sizes, of_filter};

/// The epochs that are remembered at the same time.
///
/// An insert reads all of them, and an item may stay for `1 / (EPOCHS − 1)` of the span longer than
/// asked, which takes as much more memory. With 4, that is a third; with 7 it would be a sixth, for
/// 3 more reads.
pub(crate) const EPOCHS: u32 = 4;

/// The shortest span, in milliseconds. An epoch must last for more than a few round trips: each of
/// them changes the keys of a shard, and an insert has to know these.
const SHORTEST_MS: u128 = 1000;

/// The longest span, in milliseconds: ten years. A server counts the time until a key expires in 64
/// bits.
const LONGEST_MS: u128 = 10 * 366 * 24 * 3600 * 1000;

/// How long the keys of an epoch stay at least after it is forgotten, in milliseconds: the most by
/// which the clock of a replica may be behind that of its master, so that no key has expired there
/// that is still to be remembered.
const LEAST_MARGIN_MS: u64 = 60_000;

/// What a filter remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Window {
    /// How long each item is remembered at least, in milliseconds.
    span: u64,
    /// The distinct items in a span.
    capacity: u64,
}

impl Window {
    /// Takes a span and the number of distinct items in it. A part of a millisecond counts as a
    /// whole one.
    pub(crate) fn new(span: Duration, capacity: u64) -> Result<Self, Error> {
        let milliseconds = span.as_nanos().div_ceil(1_000_000);
        if !(SHORTEST_MS..=LONGEST_MS).contains(&milliseconds) {
            return Err(Error::Span { span });
        }
        Ok(Self { span: milliseconds as u64, capacity: capacity.max(1) })
    }

    /// Checks what a descriptor says.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        Self::new(self.span(), self.capacity)
    }

    pub(crate) const fn span(self) -> Duration {
        Duration::from_millis(self.span)
    }

    pub(crate) const fn capacity(self) -> u64 {
        self.capacity
    }

    /// Returns for how long new items go into an epoch, in milliseconds.
    pub(crate) const fn epoch(self) -> u64 {
        self.span.div_ceil(EPOCHS as u64 - 1)
    }

    /// Returns how long after its start an epoch is remembered, in milliseconds.
    pub(crate) const fn life(self) -> u64 {
        EPOCHS as u64 * self.epoch()
    }

    /// Returns how long after the start of an epoch its keys are there, in milliseconds.
    pub(crate) fn kept(self) -> u64 {
        self.life() + self.epoch().max(LEAST_MARGIN_MS)
    }

    /// Returns the sizes of each epoch of a filter with this rate. The rates of the epochs add up
    /// to it.
    pub(crate) fn sizes(self, rate: f64, grows: bool, shards: Option<u32>) -> Result<Sizes, Error> {
        // Written so that NaN is an error, too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate }.into());
        }
        let capacity = self.capacity.div_ceil(u64::from(EPOCHS) - 1);
        let each = rate / f64::from(EPOCHS);
        Sizes::new(capacity, each, grows, shards).map_err(|error| match error {
            Error::Build(error) => of_filter(error, rate, each).into(),
            error => error,
        })
    }

    /// Returns the rate of a filter whose epochs have this rate. The division by a power of two
    /// loses nothing.
    pub(crate) fn rate(epoch: f64) -> f64 {
        epoch * f64::from(EPOCHS)
    }

    /// For the model: a window of any span.
    #[cfg(test)]
    pub(crate) const fn of_millis(span: u64) -> Self {
        Self { span, capacity: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_stays_for_the_span_and_at_most_a_third_longer() {
        for span in [1000, 1001, 3000, 86_400_000, LONGEST_MS as u64] {
            let window = Window::new(Duration::from_millis(span), 10).unwrap();
            // Inserted at the end of an epoch, and at its start.
            assert!(window.life() - window.epoch() >= span);
            assert!(window.life() < span * 4 / 3 + 4);
            assert!(window.kept() >= window.life() + 60_000);
        }
    }

    #[test]
    fn impossible_windows_are_refused() {
        let new = |span| Window::new(span, 10);
        for span in [Duration::ZERO, Duration::from_nanos(998_999_999), Duration::MAX] {
            assert_eq!(new(span), Err(Error::Span { span }));
        }
        assert_eq!(new(Duration::from_nanos(1_000_000_001)).unwrap().span, 1001);
        let window = new(Duration::from_secs(60)).unwrap();
        for rate in [0.0, 1.0, 2.0, f64::NAN] {
            assert!(matches!(window.sizes(rate, true, None), Err(Error::Build(_))), "{rate}");
        }
    }

    /// The rates of full epochs add up to the request.
    #[test]
    fn the_rates_of_epochs_stay_below_the_request() {
        let window = Window::new(Duration::from_secs(60), 3 << 20).unwrap();
        for rate in [0.1, 1e-4] {
            let sizes = window.sizes(rate, false, None).unwrap();
            assert_eq!(sizes.capacity(), 1 << 20);
            assert_eq!(Window::rate(sizes.rate), rate);
            let epoch = sizes.slice(0).geometry.false_positive_rate_at(1 << 20);
            assert!(4.0 * epoch <= rate, "{epoch:e}");
        }
    }
}
