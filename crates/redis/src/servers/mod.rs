//! The way to the servers: from an address to a reply. This directory knows no filter.
//!
//! | file | job |
//! |---|---|
//! | `sending.rs` | sends commands to the node that has a slot, and repeats none that may have been executed |
//! | `settled.rs` | finds out whether a key that seems to be missing is lost |
//! | `router.rs` | knows which node has which slot |
//! | `slots.rs` | the reply of a cluster about its slots |
//! | `nodes.rs` | the connections to the nodes |
//! | `connection.rs` | one connection |
//! | `watched.rs` | counts the bytes that are written: the proof that a command was not sent |
//! | `stream.rs` | opens byte streams: TCP, TLS, Unix sockets |
//! | `address.rs` | reads the addresses of servers, and hides what is secret in them |
//! | `tries.rs` | the time that is left for a call |

pub(crate) mod address;
pub(crate) mod connection;
pub(crate) mod nodes;
pub(crate) mod router;
pub(crate) mod sending;
pub(crate) mod settled;
pub(crate) mod slots;
pub(crate) mod stream;
pub(crate) mod tries;
mod watched;
