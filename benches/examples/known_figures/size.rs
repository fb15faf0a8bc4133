//! How much is measured: all of it, or so much that a test can run it.

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// What the published cases have.
    Full,
    /// A fraction of the items and queries.
    Quick,
}

impl Size {
    /// Returns `full`, or a fraction of it.
    pub(crate) const fn of(self, full: u64, fraction: u64) -> u64 {
        match self {
            Self::Full => full,
            Self::Quick => full / fraction,
        }
    }
}
