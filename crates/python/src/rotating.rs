//! `RotatingBloomFilter`: the items of a window.

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tamis::RotatingBloomFilter as Rotating;
use tamis::bloom::{RotatingBuilder, Window};
use tamis::formats::LoadError;
use tamis::hash::AnyStable;
use tamis_bloom::raw;

use crate::class::{Keyed, claims, queries, saves};
use crate::errors::of_build;
use crate::keys::{Count, hasher_of_seed};
use crate::single::{ADD, one_by_one};
use crate::target::{Around, Loaded, Stored};

/// The first reading of the clock of all filters, and the time since 1970 that it had then.
static START: LazyLock<(Instant, Duration)> = LazyLock::new(|| {
    (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
});

/// Returns the time since 1970. It means the same to the process that loads a filter, and within a
/// process nobody sets it.
fn now() -> Duration {
    let (start, time) = *START;
    time + start.elapsed()
}

/// A time in 2001, before all readings of [`now`] but those of a clock that is not set.
const LONG_AGO: Duration = Duration::from_secs(1_000_000_000);

/// A filter that reads the clock at each call, if its window is one of time.
pub(crate) struct Timed {
    filter: Rotating<[u8], AnyStable>,
    has_span: bool,
}

impl Timed {
    fn new(filter: Rotating<[u8], AnyStable>) -> Self {
        let Window { span, generations, .. } = filter.window();
        let has_span = span.is_some();
        // If the clock of a saved filter was another one, or was set back since, its current
        // generation begins now.
        let length = span.unwrap_or_default() / (generations - 1);
        let is_other = |due| due < LONG_AGO || due > now() + length + Duration::from_nanos(1);
        if raw::rotation(&filter).due.is_some_and(is_other) {
            filter.forget_time();
        }
        let timed = Self { filter, has_span };
        timed.inner();
        timed
    }
}

impl Around for Timed {
    type Inner = Rotating<[u8], AnyStable>;

    /// Returns the filter, after what is due now was forgotten.
    #[inline]
    fn inner(&self) -> &Self::Inner {
        if self.has_span {
            self.filter.advance(now());
        }
        &self.filter
    }
}

impl Loaded for Timed {
    fn load(path: &Path) -> Result<Self, LoadError> {
        <Rotating<[u8], AnyStable> as Loaded>::load(path).map(Self::new)
    }

    fn read(bytes: &[u8]) -> Result<Self, LoadError> {
        <Rotating<[u8], AnyStable> as Loaded>::read(bytes).map(Self::new)
    }
}

/// The items of a window: the last `capacity` distinct items, or those of the last `span` seconds.
///
/// An item for which `add` returned True is found for the whole window, and is forgotten at most a
/// sixth and 2 % of the window later. A repeat does not make it stay longer: see `add_or_refresh`.
/// With a span, `capacity` is the number of distinct items of a span, and they must come evenly: if
/// all of them come in a burst, more absent items are found than `rate` says. For bursts, give six
/// times the largest number of items of a sixth of the span. The time passes for a filter that is
/// saved or pickled, too, by the clock of the system: a load forgets what is due then.
///
/// >>> import tamis
/// >>> recent = tamis.RotatingBloomFilter(1000, span=3600.0)
/// >>> recent.add("event 1"), recent.add("event 1")
/// (True, False)
#[pyclass(frozen, module = "tamis")]
pub(crate) struct RotatingBloomFilter(pub(crate) Keyed<Box<Timed>>);

one_by_one!(RotatingBloomFilter, Box<Timed>, ADD);
queries!(RotatingBloomFilter);
claims!(RotatingBloomFilter);
saves!(RotatingBloomFilter);

#[pymethods]
impl RotatingBloomFilter {
    #[new]
    #[pyo3(
        signature = (capacity, span=None, rate=0.01, *, seed=None, key=None),
        text_signature = "(capacity, span=None, rate=0.01, *, seed=0, key=None)"
    )]
    fn new(
        py: Python<'_>,
        capacity: Count,
        span: Option<f64>,
        rate: f64,
        seed: Option<&Bound<'_, PyAny>>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let builder = RotatingBuilder::<[u8], _>::new(hasher_of_seed(seed)?);
        let mut builder = builder.capacity(capacity.0).false_positive_rate(rate);
        if let Some(seconds) = span {
            builder = builder.span(span_of("span", seconds)?);
        }
        let filter = py.detach(|| builder.build()).map_err(of_build)?;
        Ok(Self(Keyed::new(Box::new(Timed::new(filter)), key)))
    }

    /// The number of distinct items of a window.
    #[getter]
    fn capacity(&self) -> usize {
        Stored::capacity(&self.0.filter)
    }

    /// Add an item, or make it stay for the whole window from now on. Return True if it is new.
    #[pyo3(signature = (item, /))]
    fn add_or_refresh(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (hash, timed) = (self.0.keys.hash(item)?, &*self.0.filter);
        Ok(timed.inner().insert_or_refresh_hash(hash))
    }

    /// Remove all items.
    fn clear(&self, py: Python<'_>) {
        crate::fork::detach(py, || self.0.filter.filter.clear());
    }

    fn __repr__(&self) -> String {
        format!("RotatingBloomFilter(capacity={})", self.capacity())
    }
}

/// Returns a span in seconds, which is the argument `name`.
pub(crate) fn span_of(name: &str, seconds: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(span) if !span.is_zero() => Ok(span),
        _ => Err(PyValueError::new_err(format!(
            "{name} must be a number of seconds above 0 and below 2**64, not {seconds}"
        ))),
    }
}
