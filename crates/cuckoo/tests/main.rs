//! The tests of the public interface, in one program, so that they are linked once and share the
//! processors.

mod api;
mod common;
mod growing;
mod load;
mod many;
mod oracle;
mod rate;
mod raw;

mod sizing;
