//! The tests of the public interface, in one program, so that they are linked once and share the
//! processors.

#[cfg(unix)]
mod access;
mod bad_input;
#[path = "common/bytes.rs"]
mod bytes;
mod common;
mod foreign;
mod golden;
mod growing;
mod live;
mod mutations;
mod paths;
mod reader;
mod round_trips;
mod second_reader;
#[cfg(feature = "serde")]
mod serde;
mod set;
mod set_bad_input;
mod set_golden;
mod set_save;
mod sets;
mod verdicts;
