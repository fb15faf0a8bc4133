//! What a call of a filter does: it sends the commands of `wire/` over `servers/`.
//!
//! | file | job |
//! |---|---|
//! | `roots.rs` | each call, as a future without a type of items |
//! | `create.rs`, `destroy.rs` | create and open a filter, delete it |
//! | `insert.rs`, `query.rs` | insert and query the items of one shard |
//! | `figures.rs`, `storage.rs` | count the bits; find the keys |
//! | `shared.rs` | what all parts of a filter share: its description, its connections, its open slices |
//! | `life.rs`, `current.rs` | whether the filter is still the one of its name, and when a client asks |
//! | `access.rs` | the keys of a name, and the way to them |

pub(crate) mod access;
pub(crate) mod create;
mod current;
pub(crate) mod destroy;
pub(crate) mod figures;
pub(crate) mod insert;
mod life;
pub(crate) mod query;
pub(crate) mod roots;
pub(crate) mod shared;
pub(crate) mod storage;
