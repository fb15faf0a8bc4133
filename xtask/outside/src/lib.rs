//! Includes the examples of the documentation, which `cargo xtask outside` writes as one item each.

#[cfg(doctest)]
include!(env!("TAMIS_EXAMPLES"));
