//! `SharedBloomFilter`: a filter in a file that processes share.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tamis::bloom::Builder;
use tamis::formats::{Live, Options, Parts, SaveError};
use tamis::hash::{AnyStable, ItemHasher, StableHasher};

use crate::bloom::Once;
use crate::class::{Keyed, claims, queries};
use crate::errors::{of_build, of_load, of_save, of_system};
use crate::keys::{Count, hasher_of_seed};
use crate::single::{ADD, one_by_one};
use crate::target::Around;
use crate::unchecked;

/// The lowest rate: below, a filter with one word per item takes several times the memory.
pub(crate) const LOWEST_RATE: f64 = 1e-5;

/// The filter in its file.
pub(crate) struct Mapped {
    filter: Live<Once>,
    path: PathBuf,
}

impl Mapped {
    fn open(path: PathBuf) -> PyResult<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|error| of_system(error, Some(&path)))?;
        let filter =
            Live::open(unchecked::map_file(file)).map_err(|error| of_load(error, Some(&path)))?;
        Ok(Self { filter, path })
    }

    /// Opens the file, or creates it, whichever of several processes is first.
    fn open_or_create(path: PathBuf, parts: &Parts<AnyStable>) -> PyResult<Self> {
        if !path.exists() {
            match Live::<Once>::create_file(&path, parts, &Options::new()) {
                Err(SaveError::Io(error)) if error.kind() == ErrorKind::AlreadyExists => {}
                created => _ = created.map_err(|error| of_save(error, Some(&path)))?,
            }
        }
        Self::open(path)
    }
}

impl Around for Mapped {
    type Inner = Once;

    #[inline]
    fn inner(&self) -> &Once {
        &self.filter
    }
}

/// The arguments of `_open`.
type Arguments<'a> = (&'a Path, Option<Py<PyAny>>);

/// A set of items in a file that any number of processes use at once.
///
/// Of all threads and processes that add a new item, exactly one gets True, also if others are
/// killed. The processes must share the memory of one machine. A pickle has the path, so a filter
/// can be passed to `multiprocessing`, however it starts its processes.
///
/// The first process creates the file; others open it, with the same arguments or with the path
/// alone. Nobody may make the file shorter: that kills the processes that use it. Nobody may delete
/// or replace it, either: those processes go on with the old file, and later ones get another
/// filter, so an item is new in both.
///
/// All bits of an item are in one word, so that a killed process leaves no lock. This takes more
/// `bits` than a `BloomFilter` below 1 %, and rates below 1e-5 are refused.
///
/// >>> import tamis, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "seen.tamis")
/// >>> seen = tamis.SharedBloomFilter(path, 1000, 0.001)
/// >>> seen.add("a")
/// True
/// >>> tamis.SharedBloomFilter(path).add("a")
/// False
#[pyclass(frozen, module = "tamis")]
pub(crate) struct SharedBloomFilter(Keyed<Mapped>);

one_by_one!(SharedBloomFilter, Mapped, ADD);
queries!(SharedBloomFilter);
claims!(SharedBloomFilter);

#[pymethods]
impl SharedBloomFilter {
    #[new]
    #[pyo3(
        signature = (path, capacity=None, rate=None, *, seed=None, key=None),
        text_signature = "(path, capacity=None, rate=None, *, seed=0, key=None)"
    )]
    fn new(
        path: PathBuf,
        capacity: Option<Count>,
        rate: Option<f64>,
        seed: Option<&Bound<'_, PyAny>>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        // Another process of another directory may open it.
        let path = std::path::absolute(path)?;
        let Some(Count(capacity)) = capacity else {
            if rate.is_some() || seed.is_some() {
                return Err(PyValueError::new_err("rate and seed need a capacity"));
            }
            return Ok(Self(Keyed::new(Mapped::open(path)?, key)));
        };
        let rate = rate.unwrap_or(0.01);
        if rate < LOWEST_RATE {
            return Err(PyValueError::new_err(format!(
                "the rate of a shared filter must be at least {LOWEST_RATE:e}: all bits of an item \
                 are in one word, which takes too much memory below"
            )));
        }
        let hasher = hasher_of_seed(seed)?;
        let builder = Builder::<Once>::new(hasher.clone());
        let builder = builder.capacity(capacity).false_positive_rate(rate).words(1);
        let geometry = builder.geometry().map_err(of_build)?;
        let parts = Parts { geometry, capacity: capacity.max(1), hasher };
        let filter = Mapped::open_or_create(path, &parts)?;
        if filter.filter.geometry() != geometry {
            return Err(PyValueError::new_err(
                "the file has a filter of another size: open it with its capacity and rate, or with \
                 none",
            ));
        }
        // With a random seed, the file has the seed of the process that made it, also a random one.
        let is_random = seed.is_some_and(|seed| seed.is_instance_of::<PyString>());
        let found = filter.filter.hasher();
        let is_same = if is_random {
            found.algorithm() == parts.hasher.algorithm()
        } else {
            found.hash_probe() == parts.hasher.hash_probe()
        };
        if !is_same {
            return Err(PyValueError::new_err(
                "the file has a filter of another seed: open it with its `seed=`",
            ));
        }
        Ok(Self(Keyed::new(filter, key)))
    }

    /// The path of the file.
    #[getter]
    fn path(&self) -> &Path {
        &self.0.filter.path
    }

    /// The number of distinct items that the filter was built for.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.filter.filter.capacity()
    }

    /// The false-positive rate once `capacity` items are in the filter.
    #[getter]
    fn rate(&self) -> f64 {
        let filter = &self.0.filter.filter;
        filter.geometry().false_positive_rate_at(filter.capacity())
    }

    /// The number of bits of the filter.
    #[getter]
    fn bits(&self) -> u64 {
        self.0.filter.filter.geometry().bits()
    }

    /// Save the filter in another file, which `BloomFilter.load` reads.
    #[pyo3(signature = (path, /))]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.0.save(py, &path)
    }

    /// Wait until all changes are on the disk. Only a crash of the system needs it.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let flushed = py.detach(|| self.0.filter.filter.flush());
        flushed.map_err(|error| of_system(error, Some(self.path())))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Arguments<'_>)> {
        let open = py.get_type::<Self>().getattr("_open")?;
        Ok((open, (self.path(), self.0.keys.function(py))))
    }

    /// Open the file of a filter: what unpickling calls.
    #[staticmethod]
    fn _open(path: PathBuf, key: Option<Py<PyAny>>) -> PyResult<Self> {
        Ok(Self(Keyed::new(Mapped::open(path)?, key)))
    }

    fn __repr__(&self) -> String {
        let path = self.path().display().to_string();
        format!(
            "SharedBloomFilter({path:?}, capacity={}, rate={:.3e})",
            self.capacity(),
            self.rate()
        )
    }
}

impl SharedBloomFilter {
    /// Opens a file whose header says that processes share it.
    pub(crate) fn open(path: &Path, key: Option<Py<PyAny>>) -> PyResult<Self> {
        Self::_open(std::path::absolute(path)?, key)
    }
}
