//! The sizes of a filter: from the numbers of a header, with all checks, and back. This wing knows
//! no bytes.
//!
//! | file | job |
//! |---|---|
//! | `numbers.rs` | the numbers, and the checks of single ones |
//! | `geometry.rs` | the sizes of any filter |
//! | `chain.rs`, `window.rs` | those of filters with several arrays |
//! | `growing.rs` | those of cuckoo filters that grow in place |
//! | `foreign.rs`, `table.rs` | those of a filter of another system, and of the program's table |

pub(crate) mod chain;
pub(crate) mod foreign;
pub(crate) mod geometry;
pub(crate) mod growing;
pub(crate) mod numbers;
pub(crate) mod table;
pub(crate) mod window;
