//! The examples of the documentation, each an item that `cargo xtask outside` has written.

#[cfg(doctest)]
include!(env!("TAMIS_EXAMPLES"));
