//! The types of filters that can be saved: what turns each into sizes and lines, and back. This
//! wing knows no files.
//!
//! | file | job |
//! |---|---|
//! | `saved.rs` | the traits, and the filters with one array |
//! | `chain.rs`, `slice_entry.rs` | Bloom filters that grow, and the line of a slice in the directory |
//! | `generations.rs`, `generation_entry.rs` | cuckoo filters that grow, and the line of a generation |
//! | `window.rs` | rotating filters |

mod chain;
mod generation_entry;
mod generations;
pub(crate) mod saved;
mod slice_entry;
mod window;
