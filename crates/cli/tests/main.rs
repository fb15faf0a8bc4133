//! The tests of the public interface, in one program, so that they are linked once and share the
//! processors.

mod access;
mod addresses;
mod answers;
mod any_chunk;
mod common;
mod csv;
mod dedup;
mod failures;
mod files;
mod filters;
mod golden_table;
mod header;
mod index;
mod index_add;
mod keys;
mod locks;
mod lost;
mod manners;
mod memory;
#[cfg(target_os = "linux")]
mod memory_limits;
mod new;
#[cfg(not(feature = "redis"))]
mod no_redis;
mod other;
mod output;
mod overfull;
mod packed;
#[cfg(target_os = "linux")]
mod pipes;
#[cfg(all(unix, feature = "redis"))]
mod redis;
mod repeated;
mod safety;
#[cfg(target_os = "linux")]
mod signals;
mod verify;
