//! Blocks of hashes, and what is done with each of them.

use pyo3::prelude::*;

/// The hashes of a block: 32 KiB, which stay in the L1 cache.
pub(crate) const BLOCK: usize = 4096;

/// What is done with each block of hashes, with or without the interpreter lock.
pub(crate) type Run<'r> = dyn FnMut(&[u64]) -> PyResult<()> + Send + 'r;

/// The hashes that wait for their block to be full.
pub(crate) struct Block(pub(crate) Vec<u64>);

impl Block {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(BLOCK))
    }

    /// Hashes items, and runs each block.
    #[inline]
    pub(crate) fn extend<T>(
        &mut self,
        mut items: impl Iterator<Item = T>,
        hash: impl Fn(T) -> u64,
        run: &mut Run<'_>,
    ) -> PyResult<()> {
        loop {
            self.0.extend(items.by_ref().take(BLOCK).map(&hash));
            let is_last = self.0.len() < BLOCK;
            self.finish(run)?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Runs what is left.
    pub(crate) fn finish(&mut self, run: &mut Run<'_>) -> PyResult<()> {
        let result = run(&self.0);
        self.0.clear();
        result
    }
}

/// Evaluates an expression with the hasher, of a concrete type if it is the usual one: that takes
/// no branch per item.
macro_rules! with_hasher {
    ($any:expr, $hasher:ident => $run:expr) => {{
        let any: &tamis::hash::AnyStable = $any;
        match tamis::hash::Rapid::from_key(any.algorithm(), any.key()) {
            Some(rapid) => {
                let $hasher = &rapid;
                $run
            }
            None => {
                let $hasher = any;
                $run
            }
        }
    }};
}

pub(crate) use with_hasher;
