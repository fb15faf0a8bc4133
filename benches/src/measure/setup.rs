//! How much is measured.

use core::error::Error;
use std::path::PathBuf;
use std::thread::available_parallelism;

/// What a measurement returns.
pub type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How much is measured, and of which program.
#[derive(Debug)]
pub struct Setup {
    /// Whether only to check that all works: smaller filters, fewer runs.
    pub quick: bool,
    /// Whether also to let filters grow to 100 million items.
    pub long: bool,
    /// The program `tamis`.
    pub program: Option<PathBuf>,
}

impl Setup {
    /// Returns the least number of operations in a run, so that the clock's own time and short
    /// disturbances do not count.
    pub(super) fn least(&self) -> u64 {
        if self.quick { 200_000 } else { 2_000_000 }
    }

    /// Returns how often a filter of this size is filled. Filling a large one takes most of the
    /// time.
    pub(super) fn passes(&self, items: u64) -> usize {
        match items {
            _ if self.quick => 1,
            ..5_000_000 => 5,
            5_000_000..30_000_000 => 3,
            _ => 1,
        }
    }

    /// Returns those of these sizes that are measured.
    pub(super) fn sizes(&self, items: &[u64]) -> Vec<u64> {
        items.iter().copied().filter(|&items| !self.quick || items <= 1_000_000).collect()
    }
}

pub(super) fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// Returns the numbers of threads to measure, as far as there are cores for them.
pub(super) fn thread_counts() -> Vec<u64> {
    [1, 2, 4, 8, 16].into_iter().filter(|&count| count <= cores()).collect()
}
