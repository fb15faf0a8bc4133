//! What is stored and sent: keys, commands, scripts, and what their replies mean. This directory
//! knows no connection.
//!
//! | file | job |
//! |---|---|
//! | `round.rs` | what an insert or a query does next, and what a reply means for it |
//! | `search.rs` | the search for the open slice of a shard |
//! | `commands.rs`, `scripts.rs` | what is sent |
//! | `descriptor.rs` | what a client must know about a filter, as JSON in one key |
//! | `lives.rs` | the identities that filters of one name have had, and their keys |
//! | `name.rs` | the keys of a filter, and the hash slots of its shards |
//! | `tag.rs` | the tag at the end of each key |
//! | `sizes.rs` | which bits an item has in each slice |

pub(crate) mod commands;
pub(crate) mod descriptor;
#[cfg(test)]
mod hostile;
pub(crate) mod lives;
pub(crate) mod name;
pub(crate) mod round;
pub(crate) mod scripts;
pub(crate) mod search;
pub(crate) mod sizes;
pub(crate) mod tag;
