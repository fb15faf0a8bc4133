//! The methods that the classes of filters share.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tamis::formats::Info;

use crate::bulk::{bools, for_each};
use crate::errors::{of_load, of_save};
use crate::figures::Figures;
use crate::fork;
use crate::keys::Keys;
use crate::target::{Loaded, Stored, Target, UNKNOWN};
use crate::unchecked::bytes_of;

/// A filter, and how its items are hashed.
pub(crate) struct Keyed<F> {
    pub(crate) filter: F,
    pub(crate) keys: Keys,
}

impl<F: Target> Keyed<F> {
    pub(crate) fn new(filter: F, function: Option<Py<PyAny>>) -> Self {
        let hasher = filter.hasher().clone();
        let waits = filter.waits();
        Self { filter, keys: Keys { hasher, function, waits } }
    }

    #[inline]
    pub(crate) fn add(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.filter.insert(self.keys.hash(item)?)
    }

    #[inline]
    pub(crate) fn contains(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.filter.contains(self.keys.hash(item)?)
    }

    pub(crate) fn update(&self, iterables: &Bound<'_, PyTuple>) -> PyResult<usize> {
        let mut new = 0;
        for items in iterables {
            for_each(&items, &self.keys, &mut |hashes| {
                new += self.filter.insert_counted(hashes)?;
                Ok(())
            })?;
        }
        Ok(new)
    }

    pub(crate) fn add_many<'py>(&self, items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut results = Vec::new();
        let added =
            for_each(items, &self.keys, &mut |hashes| self.filter.insert_all(hashes, &mut results));
        if let Err(error) = added {
            // The verdicts of the items that were added: nobody else gets them.
            let verdict = |result| (result != UNKNOWN).then_some(result == 1);
            let results: Vec<Option<bool>> = results.into_iter().map(verdict).collect();
            _ = error.value(items.py()).setattr("results", results);
            return Err(error);
        }
        bools(items.py(), &results)
    }

    pub(crate) fn contains_many<'py>(
        &self,
        items: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut results = Vec::new();
        for_each(items, &self.keys, &mut |hashes| self.filter.contains_all(hashes, &mut results))?;
        bools(items.py(), &results)
    }

    pub(crate) fn figures(&self, py: Python<'_>) -> PyResult<Figures> {
        fork::detach_unless(py, self.keys.waits, || self.filter.figures()).map(Figures::from)
    }
}

impl<F: Stored> Keyed<F> {
    pub(crate) fn save(&self, py: Python<'_>, path: &Path) -> PyResult<()> {
        require_not_live(py, path)?;
        fork::detach(py, || self.filter.save(path)).map_err(|error| of_save(error, Some(path)))
    }

    pub(crate) fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes =
            fork::detach(py, || self.filter.write()).map_err(|error| of_save(error, None))?;
        bytes_of(py, &bytes)
    }
}

/// Returns an error if this path names a live file. To replace it would part the processes that
/// have it open from those that come later: an item would be new in both.
fn require_not_live(py: Python<'_>, path: &Path) -> PyResult<()> {
    // To open a pipe would wait for its other end.
    let is_live = || path.is_file() && Info::open(path).is_ok_and(|info| info.is_live());
    if py.detach(is_live) {
        return Err(PyValueError::new_err(
            "the path names a live file, which processes may share: save in another one",
        ));
    }
    Ok(())
}

/// A load needs no gate: no other thread has the filter, and a child does not get it.
impl<F: Loaded> Keyed<F> {
    pub(crate) fn load(py: Python<'_>, path: &Path, function: Option<Py<PyAny>>) -> PyResult<Self> {
        let filter = py.detach(|| F::load(path)).map_err(|error| of_load(error, Some(path)))?;
        Ok(Self::new(filter, function))
    }

    pub(crate) fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        function: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let filter = py.detach(|| F::read(bytes)).map_err(|error| of_load(error, None))?;
        Ok(Self::new(filter, function))
    }
}

/// Defines the methods that every class `$name(Keyed<_>)` has.
macro_rules! queries {
    ($name:ident) => {
        // Python allocates its objects at multiples of 16 bytes. A filter that needs more is boxed.
        const _: () = assert!(align_of::<$name>() <= 16);

        #[pyo3::pymethods]
        impl $name {
            /// Add all items of the iterables. Return how many were new.
            ///
            /// (Of a `CuckooFilter`: how many copies were added. If there is no room for one, raise
            /// `tamis.Full`, and add none after it.)
            ///
            /// An iterable is a list, a generator or any other; an array of numpy or another buffer
            /// of integers or of bytes of one length; or a column of Arrow (pyarrow, polars,
            /// DuckDB, pandas). Arrays and columns are read without the interpreter lock. Bytes in
            /// numpy's `S` end before their trailing zeros: pass digests as a list or in a column
            /// of Arrow. With the function `key`, pass a column of Arrow as a list. If an item is
            /// no key, those before it have been added, and none after it; an iterator may have
            /// been read further.
            ///
            /// >>> import tamis
            /// >>> seen = tamis.BloomFilter(1000, 1e-9)
            /// >>> seen.update(["a", "b"], (n * n for n in range(10)))
            /// 12
            /// >>> seen.update([0, 1, 2, 3])
            /// 2
            #[pyo3(signature = (*iterables))]
            fn update(
                &self,
                iterables: &pyo3::Bound<'_, pyo3::types::PyTuple>,
            ) -> pyo3::PyResult<usize> {
                self.0.update(iterables)
            }

            /// Query all items of an iterable. Return a buffer of bools, one per item.
            ///
            /// `numpy.asarray` makes an array of it without a copy.
            ///
            /// >>> import tamis
            /// >>> seen = tamis.BloomFilter(1000, 1e-9)
            /// >>> seen.add("a")
            /// True
            /// >>> seen.contains_many(["a", "b"]).tolist()
            /// [True, False]
            #[pyo3(signature = (items, /))]
            fn contains_many<'py>(
                &self,
                items: &pyo3::Bound<'py, pyo3::PyAny>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                self.0.contains_many(items)
            }

            /// Scan the filter. Return its number of items, its fill and its rate.
            ///
            /// >>> import tamis
            /// >>> seen = tamis.BloomFilter(1000)
            /// >>> seen.update(range(1000)) > 980
            /// True
            /// >>> seen.figures().rate < 0.012
            /// True
            fn figures(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<crate::figures::Figures> {
                self.0.figures(py)
            }

            /// Scan the filter. Return an estimate of its number of items; of copies, the number.
            ///
            /// Raise OverflowError if the filter is too full for an estimate.
            ///
            /// >>> import tamis
            /// >>> seen = tamis.BloomFilter(1000)
            /// >>> new = seen.update(range(1000))
            /// >>> 900 < seen.approx_len() < 1100
            /// True
            fn approx_len(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<u64> {
                self.0.figures(py)?.items()
            }

            fn __sizeof__(&self) -> u64 {
                size_of::<Self>() as u64 + crate::target::Target::size_in_bytes(&self.0.filter)
            }

            fn __traverse__(
                &self,
                visit: pyo3::gc::PyVisit<'_>,
            ) -> Result<(), pyo3::gc::PyTraverseError> {
                self.0.keys.traverse(&visit)
            }
        }
    };
}

/// Defines the methods of a class `$name(Keyed<_>)` in which an item is new or not.
macro_rules! claims {
    ($name:ident) => {
        #[pyo3::pymethods]
        impl $name {
            /// Add all items of an iterable. Return a buffer of bools: which were new.
            ///
            /// `numpy.asarray` makes an array of it without a copy. Otherwise as `update`. An error
            /// has the attribute `results`: for each item that came before it True or False. Only
            /// that of a server may come later, and has None for items without an answer.
            ///
            /// >>> import tamis
            /// >>> seen = tamis.BloomFilter(1000, 1e-9)
            /// >>> seen.add_many(["a", "b", "a"]).tolist()
            /// [True, True, False]
            #[pyo3(signature = (items, /))]
            fn add_many<'py>(
                &self,
                items: &pyo3::Bound<'py, pyo3::PyAny>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                self.0.add_many(items)
            }
        }
    };
}

/// Defines the methods of a class `$name(Keyed<_>)` whose filter can be saved.
macro_rules! saves {
    ($name:ident) => {
        #[pyo3::pymethods]
        impl $name {
            /// Save the filter in a file. A file of that name is replaced when all is written.
            ///
            /// Other threads may add items meanwhile. A fork waits until the file is written.
            ///
            /// >>> import tamis, tempfile, os
            /// >>> seen = tamis.BloomFilter(1000)
            /// >>> path = os.path.join(tempfile.mkdtemp(), "seen.tamis")
            /// >>> seen.save(path)
            /// >>> tamis.open(path)
            /// BloomFilter(capacity=1000, rate=9.153e-3)
            #[pyo3(signature = (path, /))]
            fn save(&self, py: pyo3::Python<'_>, path: std::path::PathBuf) -> pyo3::PyResult<()> {
                self.0.save(py, &path)
            }

            /// Load a filter of this class from a file. `tamis.open` loads one of any class.
            ///
            /// `key` is the function that was given to the filter: a file has none.
            ///
            /// >>> import tamis, tempfile, os
            /// >>> path = os.path.join(tempfile.mkdtemp(), "seen.tamis")
            /// >>> seen = tamis.BloomFilter(1000)
            /// >>> seen.add("a")
            /// True
            /// >>> seen.save(path)
            /// >>> "a" in tamis.BloomFilter.load(path)
            /// True
            #[staticmethod]
            #[pyo3(signature = (path, /, *, key=None))]
            fn load(
                py: pyo3::Python<'_>,
                path: std::path::PathBuf,
                key: Option<pyo3::Py<pyo3::PyAny>>,
            ) -> pyo3::PyResult<Self> {
                Keyed::load(py, &path, key).map(Self)
            }

            /// Return the bytes of a file that holds the filter.
            ///
            /// Other threads may add items meanwhile. A fork waits until the bytes are there.
            ///
            /// >>> import tamis
            /// >>> len(tamis.BloomFilter(1000).to_bytes())
            /// 5632
            fn to_bytes<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyBytes>> {
                self.0.to_bytes(py)
            }

            /// Return the filter of which `to_bytes` returned these bytes.
            ///
            /// >>> import tamis
            /// >>> tamis.BloomFilter.from_bytes(tamis.BloomFilter(1000).to_bytes())
            /// BloomFilter(capacity=1000, rate=9.153e-3)
            /// >>> tamis.BloomFilter.from_bytes(b"other")  # doctest: +ELLIPSIS
            /// Traceback (most recent call last):
            /// tamis.FormatError: ...
            #[staticmethod]
            #[pyo3(signature = (data, /, key=None))]
            fn from_bytes(
                py: pyo3::Python<'_>,
                data: pyo3::pybacked::PyBackedBytes,
                key: Option<pyo3::Py<pyo3::PyAny>>,
            ) -> pyo3::PyResult<Self> {
                Keyed::from_bytes(py, &data, key).map(Self)
            }

            fn __reduce__<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<(
                pyo3::Bound<'py, pyo3::PyAny>,
                (pyo3::Bound<'py, pyo3::types::PyBytes>, Option<pyo3::Py<pyo3::PyAny>>),
            )> {
                use pyo3::types::PyAnyMethods;
                let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
                Ok((from_bytes, (self.0.to_bytes(py)?, self.0.keys.function(py))))
            }
        }
    };
}

pub(crate) use {claims, queries, saves};
