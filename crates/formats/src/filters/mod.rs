//! The types of filters that can be saved: what turns each into sizes and lines, and back. This
//! wing knows no files.
//!
//! | file | job |
//! |---|---|
//! | `saved.rs` | the traits, and the filters with one array |
//! | `chain.rs`, `slice_entry.rs` | Bloom filters that grow, and the line of a slice in the directory |
//! | `cuckoo_chain.rs`, `cuckoo_slice_entry.rs` | cuckoo filters that grow, and the line of a slice |
//! | `window.rs` | rotating filters |

mod chain;
mod cuckoo_chain;
mod cuckoo_slice_entry;
pub(crate) mod saved;
mod slice_entry;
mod window;
