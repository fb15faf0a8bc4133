//! The tests of the public interface, in one program, so that they are linked once and share the
//! processors.

mod api;
mod common;
mod counting;
mod many;
mod oracle;
mod rate;
mod scalable;
mod sizing;
mod split_block;
mod window;
