//! Files in memory, for loaders that take a path or a mapping.

use std::fs::File;
use std::io::Write;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

/// Returns a file in memory that no process can make shorter.
pub(crate) fn memory_file(bytes: &[u8]) -> File {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("tamis", flags).expect("a file in memory"));
    file.write_all(bytes).expect("memory for the file");
    fcntl_add_seals(&file, SealFlags::SHRINK).expect("a seal");
    file
}
