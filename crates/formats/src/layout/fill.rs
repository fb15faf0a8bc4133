//! Reads that fill a buffer.

use std::io::{self, ErrorKind, Read};

/// Reads until the buffer is full or the input ends. Returns the number of bytes read.
pub(crate) fn fill(from: &mut dyn Read, to: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < to.len() {
        match from.read(&mut to[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
