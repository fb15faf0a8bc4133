//! `open`, which loads any saved filter; and `SavedFilter`, the class of those that only Rust
//! programs and `tamis` make.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use tamis::formats::{Info, Kind, LoadError, Options};
use tamis::hash::AnyStable;
use tamis::{
    BlockedBloomFilter, BloomFilter as Classic, CountingBloomFilter, OnceBloomFilter,
    OnceCuckooFilter, OnceScalableBloomFilter, ScalableBloomFilter as Scalable,
};

use crate::bloom::BloomFilter;
use crate::class::{Keyed, claims, queries, saves};
use crate::cuckoo::CuckooFilter;
use crate::errors::of_load;
use crate::foreign::ForeignFilter;
use crate::rotating::RotatingBloomFilter;
use crate::scalable::ScalableBloomFilter;
use crate::shared::SharedBloomFilter;
use crate::single::{ADD, one_by_one};
use crate::target::{Around, Loaded, Stored};

/// A filter of a type that the file says.
pub(crate) struct OfKind {
    filter: Box<dyn Stored>,
    kind: Kind,
}

impl OfKind {
    /// Loads a filter by a function for each type.
    fn of(kind: Kind, from: From<'_>) -> Result<Self, LoadError> {
        let filter = match kind {
            Kind::Bloom => from.load::<Classic<[u8], AnyStable>>()?,
            Kind::BlockedBloom => from.load::<BlockedBloomFilter<[u8], AnyStable>>()?,
            Kind::CountingBloom => from.load::<CountingBloomFilter<[u8], AnyStable>>()?,
            Kind::OnceCuckoo => from.load::<OnceCuckooFilter<[u8], AnyStable>>()?,
            Kind::ScalableBloom => from.load::<Scalable<[u8], AnyStable>>()?,
            Kind::OnceScalableBloom => from.load::<OnceScalableBloomFilter<[u8], AnyStable>>()?,
            // The error for a file of another kind, and what has a class of its own.
            _ => from.load::<OnceBloomFilter<[u8], AnyStable>>()?,
        };
        Ok(Self { filter, kind })
    }
}

/// Where a saved filter is.
#[derive(Clone, Copy)]
enum From<'f> {
    Path(&'f Path),
    Bytes(&'f [u8]),
}

impl From<'_> {
    fn load<F: Loaded + 'static>(self) -> Result<Box<dyn Stored>, LoadError> {
        Ok(match self {
            Self::Path(path) => Box::new(F::load(path)?),
            Self::Bytes(bytes) => Box::new(F::read(bytes)?),
        })
    }
}

impl Around for OfKind {
    type Inner = dyn Stored;

    fn inner(&self) -> &Self::Inner {
        &*self.filter
    }
}

impl Loaded for OfKind {
    fn load(path: &Path) -> Result<Self, LoadError> {
        Self::of(Info::open(path)?.kind(), From::Path(path))
    }

    fn read(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::of(Info::read(bytes)?.kind(), From::Bytes(bytes))
    }
}

/// A saved filter of a type that has no class of its own: `kind` says which.
///
/// If threads add a new item at the same time, at least one gets True; in a `OnceCuckooFilter`
/// exactly one. A `CountingBloomFilter` gets a copy by each `add`.
#[pyclass(frozen, module = "tamis")]
pub(crate) struct SavedFilter(Keyed<OfKind>);

one_by_one!(SavedFilter, OfKind, ADD);
queries!(SavedFilter);
claims!(SavedFilter);
saves!(SavedFilter);

#[pymethods]
impl SavedFilter {
    /// The type of the filter in Rust.
    #[getter]
    fn kind(&self) -> String {
        self.0.filter.kind.to_string()
    }

    /// The number of items that the filter was built for.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.filter.capacity()
    }

    fn __repr__(&self) -> String {
        format!("SavedFilter(kind={:?}, capacity={})", self.kind(), self.capacity())
    }
}

/// Open any saved filter: the class of the result follows from the file.
///
/// A live file is opened as a `SharedBloomFilter`, and a filter of another system as a
/// `ForeignFilter`.
///
/// >>> import tamis, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "jobs.tamis")
/// >>> tamis.CuckooFilter(1000).save(path)
/// >>> tamis.open(path)
/// CuckooFilter(capacity=1000)
#[pyfunction]
#[pyo3(signature = (path, /, *, key=None))]
pub(crate) fn open(
    py: Python<'_>,
    path: PathBuf,
    key: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyAny>> {
    let info = py.detach(|| Info::open(&path)).map_err(|error| of_load(error, Some(&path)))?;
    Ok(match info.kind() {
        Kind::OnceBloom if info.is_live() => {
            Bound::new(py, SharedBloomFilter::open(&path, key)?)?.into_any()
        }
        Kind::OnceBloom => Bound::new(py, BloomFilter(Keyed::load(py, &path, key)?))?.into_any(),
        Kind::Cuckoo => Bound::new(py, CuckooFilter(Keyed::load(py, &path, key)?))?.into_any(),
        Kind::RotatingBloom => {
            Bound::new(py, RotatingBloomFilter(Keyed::load(py, &path, key)?))?.into_any()
        }
        Kind::OnceScalableBloom => {
            Bound::new(py, ScalableBloomFilter(Keyed::load(py, &path, key)?))?.into_any()
        }
        Kind::Foreign => {
            let filter = py.detach(|| Options::new().load_foreign(&path, None));
            let filter = filter.map_err(|error| of_load(error, Some(&path)))?;
            Bound::new(py, ForeignFilter::new(filter, key))?.into_any()
        }
        _ => Bound::new(py, SavedFilter(Keyed::load(py, &path, key)?))?.into_any(),
    })
}
