//! The types of filters that can be saved: what turns each into sizes and lines, and back. This
//! wing knows no files.
//!
//! | file | job |
//! |---|---|
//! | `saved.rs` | the traits, and the Bloom filters with one array |
//! | `cuckoo.rs` | cuckoo filters, of a fixed size and those that grow |
//! | `chain.rs` | Bloom filters that grow |
//! | `window.rs` | rotating filters |

mod chain;
mod cuckoo;
pub(crate) mod saved;
mod window;
