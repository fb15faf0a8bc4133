//! The tests of the public interface, in one program, so that they are linked once and share the
//! processors.

mod common_interface;
mod panics;
