//! The tests of the public interface, in one program, so that they are linked once and share the processors.

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
mod keys;
mod lost;
mod manners;
mod memory;
mod new;
mod other;
mod output;
#[cfg(unix)]
mod redis;
mod repeated;
