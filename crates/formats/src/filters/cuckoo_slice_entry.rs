//! The line of a directory for a slice of a cuckoo filter that grows.

use tamis_core::BuildError;
use tamis_cuckoo as cuckoo;
use tamis_cuckoo::raw::scalable::{self, Plan};

use crate::error::LoadError;
use crate::layout::directory::{Entry, require_of_entry};
use crate::layout::header::Header;
use crate::layout::line_bytes::Words;
use crate::sizes::geometry::Geometry;

/// What the directory says about one slice.
#[derive(Clone, Copy, Debug)]
pub struct CuckooSlice {
    pub(crate) plan: Plan,
    pub(crate) number: u32,
    pub(crate) geometry: cuckoo::Geometry,
    pub(crate) copies: u64,
}

impl Entry for CuckooSlice {
    const LINES: &'static str = "lines of the slices";

    fn of_words(header: &Header, number: u32, words: Words) -> Result<Self, LoadError> {
        let Geometry::CuckooChain(sizes) = header.geometry else {
            return Err(LoadError::Sizes(BuildError::Layout));
        };
        let plan = sizes.plan();
        let [buckets, shape, copies, ..] = words;
        require_of_entry(number, "number of buckets", buckets, plan.buckets() << number)?;
        let (slots, fingerprint_bits) = (shape as u32, (shape >> 32) as u32);
        let geometry = plan
            .geometry(number, slots, fingerprint_bits)
            .map_err(|error| LoadError::DirectorySizes { entry: number, error })?;
        if !cuckoo::raw::is_supported(geometry) {
            return Err(LoadError::UnsupportedSlice { slots, fingerprint_bits });
        }
        Ok(Self { plan, number, geometry, copies })
    }

    fn to_words(&self) -> Words {
        let geometry = self.geometry;
        let shape = u64::from(geometry.fingerprint_bits()) << 32 | u64::from(geometry.slots());
        [geometry.buckets(), shape, self.copies, 0, 0, 0, 0, 0]
    }

    fn lines(&self) -> u64 {
        cuckoo::raw::lines(self.geometry)
    }

    fn items_in(&self, first: u64, lines: impl Iterator<Item = Words>) -> Result<u64, u64> {
        scalable::lines_len(self.plan, self.number, self.geometry, first, lines)
    }

    fn check_items(&self, found: u64) -> Result<(), LoadError> {
        require_of_entry(self.number, "number of copies", self.copies, found)
    }
}
