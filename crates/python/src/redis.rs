//! `RedisBloomFilter`: a filter in Redis or Valkey that machines share.

use std::process;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyString;
use tamis::Figures;
use tamis::hash::AnyStable;
use tamis_redis::{Builder, Error, RedisBloomFilter as Remote};

use crate::class::{Keyed, claims, queries};
use crate::errors::of_redis;
use crate::keys::{Count, hasher_of_seed};
use crate::rotating::span_of;
use crate::target::{Target, UNKNOWN};

/// A filter that is connected, and the process that connected it.
struct Connected {
    filter: Remote<[u8]>,
    process: u32,
}

/// The filter, which a child process connects anew.
pub(crate) struct Server {
    connected: Mutex<Connected>,
    /// Opens the filter again.
    builder: Builder<[u8]>,
    hasher: AnyStable,
    url: String,
    deadline: Option<f64>,
}

impl Server {
    fn new(
        filter: Remote<[u8]>,
        builder: Builder<[u8]>,
        url: String,
        deadline: Option<f64>,
    ) -> Self {
        let hasher = filter.hasher().clone();
        let connected = Mutex::new(Connected { filter, process: process::id() });
        Self { connected, builder, hasher, url, deadline }
    }

    /// Returns the filter, connected by this process.
    fn filter(&self, py: Python<'_>) -> PyResult<Remote<[u8]>> {
        let connected = self.connected.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if connected.process == process::id() {
            return Ok(connected.filter.clone());
        }
        drop(connected);
        let filter = py.detach(|| self.builder.open()).map_err(of_redis)?;
        let mut connected =
            self.connected.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        // A filter that was created since under this name does not have the items of this one.
        if !connected.filter.is_same(&filter) {
            return Err(of_redis(Error::Replaced));
        }
        *connected = Connected { filter: filter.clone(), process: process::id() };
        Ok(filter)
    }

    /// Calls the server without the interpreter lock.
    fn call<R: Send>(
        &self,
        call: impl FnOnce(&Remote<[u8]>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        Python::attach(|py| {
            let filter = self.filter(py)?;
            py.detach(|| call(&filter)).map_err(of_redis)
        })
    }
}

impl Target for Server {
    fn hasher(&self) -> &AnyStable {
        &self.hasher
    }

    fn insert(&self, hash: u64) -> PyResult<bool> {
        self.call(|filter| filter.insert_hash(hash))
    }

    fn contains(&self, hash: u64) -> PyResult<bool> {
        self.call(|filter| filter.contains_hash(hash))
    }

    fn insert_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()> {
        let inserted = match self.call(|filter| Ok(filter.insert_hashes(hashes))) {
            Ok(inserted) => inserted,
            Err(error) => {
                results.resize(results.len() + hashes.len(), UNKNOWN);
                return Err(error);
            }
        };
        let mut first = Ok(());
        for inserted in inserted {
            match inserted {
                Ok(is_new) => results.push(is_new.into()),
                Err(error) => {
                    results.push(UNKNOWN);
                    first = first.and(Err(error));
                }
            }
        }
        first.map_err(of_redis)
    }

    fn contains_all(&self, hashes: &[u64], results: &mut Vec<u8>) -> PyResult<()> {
        let hits = self.call(|filter| filter.contains_hashes(hashes))?;
        results.extend(hits.into_iter().map(u8::from));
        Ok(())
    }

    fn figures(&self) -> PyResult<Figures> {
        self.call(Remote::figures)
    }

    fn waits(&self) -> bool {
        true
    }

    fn size_in_bytes(&self) -> u64 {
        0
    }
}

/// A set of items in Redis or Valkey that any number of machines use at once.
///
/// The URL ends in the name of the filter: `redis://user:password@host:6379/0#name`, `rediss://`
/// with encryption, or `unix:///path#name`. With a `capacity` the filter is created if it does not
/// exist; without one it must exist. It grows, unless `grows=False`. With a `window` it forgets
/// items after that number of seconds.
///
/// `rate` is 1e-4 if it is not given.
///
/// Of all clients that add a new item, exactly one gets True. Each call takes a round trip, without
/// the interpreter lock. It tries for `deadline` seconds (30 by default) to reach a server, and
/// then raises `tamis.RedisError`. `update` and the other bulk methods send 4,096 items at a time.
/// Ctrl-C takes effect only when the call ends, or in a bulk method after the current 4,096 items.
///
/// An `add` without a reply within 5 seconds raises, too. Its item may be stored, and then nobody
/// has got True for it: treat the item as new if it must not be missed. If a bulk method raises, a
/// part of its items is stored.
///
/// A pickle has the URL, with its password.
#[pyclass(frozen, module = "tamis")]
pub(crate) struct RedisBloomFilter(Keyed<Server>);

queries!(RedisBloomFilter);
claims!(RedisBloomFilter);

#[pymethods]
impl RedisBloomFilter {
    #[new]
    #[pyo3(signature = (
        url, capacity=None, rate=None, *, window=None, grows=true, shards=None, seed=None,
        deadline=None, key=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn new(
        py: Python<'_>,
        url: String,
        capacity: Option<Count>,
        rate: Option<f64>,
        window: Option<f64>,
        grows: bool,
        shards: Option<u32>,
        seed: Option<&Bound<'_, PyAny>>,
        deadline: Option<f64>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let opener = builder(py, &url, deadline)?;
        let Some(Count(capacity)) = capacity else {
            if rate.is_some() || window.is_some() || !grows || shards.is_some() || seed.is_some() {
                return Err(PyValueError::new_err(
                    "rate, window, grows, shards and seed need a capacity; without one, a filter \
                     that exists is opened",
                ));
            }
            return Self::_open(py, url, deadline, key);
        };
        let mut creator = opener.clone().capacity(capacity as u64);
        if let Some(rate) = rate {
            creator = creator.false_positive_rate(rate);
        }
        if let Some(seconds) = window {
            creator = creator.window(span_of("window", seconds)?);
        }
        if !grows {
            creator = creator.fixed();
        }
        if let Some(shards) = shards {
            creator = creator.shards(shards);
        }
        // With a random seed, a filter that exists has the seed of the client that made it.
        let is_random = seed.is_some_and(|seed| seed.is_instance_of::<PyString>());
        let opened = creator.clone();
        if seed.is_some() {
            creator = creator.hasher(hasher_of_seed(seed)?);
        }
        let filter = py.detach(|| match creator.open_or_create() {
            Err(Error::Parameters { field: "seed", .. }) if is_random => opened.open(),
            other => other,
        });
        let filter = filter.map_err(of_redis)?;
        Ok(Self(Keyed::new(Server::new(filter, opener, url, deadline), key)))
    }

    fn __contains__(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.0.contains(item)
    }

    /// Add an item. Return True if it is new.
    ///
    /// Of any number of clients that add a new item at the same time, exactly one gets True. An
    /// item that is a false positive is not new.
    #[pyo3(signature = (item, /))]
    fn add(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.0.add(item)
    }

    /// The number of distinct items that the filter was made for; with a window, of a window.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.0.filter.filter(py)?.capacity())
    }

    /// The false-positive rate that the filter was made for.
    #[getter]
    fn rate(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.0.filter.filter(py)?.requested_rate())
    }

    /// The seconds for which an item is remembered at least, or None: for ever.
    #[getter]
    fn window(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.0.filter.filter(py)?.window().map(|span| span.as_secs_f64()))
    }

    /// Delete the filter of a URL from its servers.
    #[staticmethod]
    #[pyo3(signature = (url, /, *, deadline=None))]
    fn destroy(py: Python<'_>, url: &str, deadline: Option<f64>) -> PyResult<()> {
        let builder = builder(py, url, deadline)?;
        py.detach(|| builder.destroy()).map_err(of_redis)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Arguments<'_>)> {
        let open = py.get_type::<Self>().getattr("_open")?;
        let Server { url, deadline, .. } = &self.0.filter;
        Ok((open, (url, *deadline, self.0.keys.function(py))))
    }

    /// Open a filter that exists: what unpickling calls.
    #[staticmethod]
    fn _open(
        py: Python<'_>,
        url: String,
        deadline: Option<f64>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let builder = builder(py, &url, deadline)?;
        let filter = py.detach(|| builder.open()).map_err(of_redis)?;
        Ok(Self(Keyed::new(Server::new(filter, builder, url, deadline), key)))
    }

    /// Shows the name only: the URL may have a password.
    fn __repr__(&self) -> String {
        let name = self.0.filter.url.split_once('#').map_or("", |(_, name)| name);
        format!("RedisBloomFilter(name={name:?})")
    }
}

/// The arguments of `_open`.
type Arguments<'a> = (&'a str, Option<f64>, Option<Py<PyAny>>);

/// Returns the builder for `redis://host:port/#name`. An error does not show the URL, which may
/// have a password.
fn builder(py: Python<'_>, url: &str, deadline: Option<f64>) -> PyResult<Builder<[u8]>> {
    let wrong = || {
        PyValueError::new_err(
            "the URL must end in the name of the filter, as redis://localhost:6379/#seen; '#', '@' \
             and '%' elsewhere are written as %23, %40 and %25",
        )
    };
    let (address, name) = url.split_once('#').ok_or_else(wrong)?;
    // The end of a password that is not encoded.
    if name.is_empty() || name.contains(['#', '@']) {
        return Err(wrong());
    }
    let unquote = py.import("urllib.parse")?.getattr("unquote")?;
    let name: String = unquote.call1((name, "utf-8", "strict"))?.extract()?;
    let mut builder = Remote::<[u8]>::builder(address, &name);
    if let Some(seconds) = deadline {
        builder = builder.deadline(span_of("deadline", seconds)?);
    }
    Ok(builder)
}
