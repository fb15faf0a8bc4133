//! How much memory is available, where the system reports it.
//!
//! Three things limit it: the machine, the control groups of the process, and the limits of the
//! process itself. The system ends a process that goes beyond its group, and refuses the
//! allocations of one that goes beyond its own limits.

use std::fs;
use std::io::{self, ErrorKind};

use memmap2::MmapMut;

use crate::error::Error;
use crate::units::bytes;

mod group;
mod process;

/// What is kept free of the memory that the limits of a process leave: for all that is small, whose
/// allocation cannot be an error. MEASURED: `tamis info` takes 0.5 MiB of address space besides the
/// filter, compared with 0.1 MiB per thread of a run besides its chunk and its stack (any machine).
const SPARE: u64 = 2 << 20;

/// What a thread needs: its stack, and some space.
const THREAD: u64 = 3 << 20;

/// Returns an error if this number of bytes is not available for a filter that is built.
pub(crate) fn check(needed: u64) -> Result<(), Error> {
    match available() {
        Some(available) if needed > available => {
            Err(Error::Memory { needed, available: Some(available) })
        }
        _ => Ok(()),
    }
}

/// Returns an error if this number of bytes is not available for what is in a file.
pub(crate) fn check_for(name: &str, needed: u64) -> Result<(), Error> {
    match available() {
        Some(available) if needed > available => {
            Err(Error::Short { name: name.into(), needed, available: Some(available) })
        }
        _ => Ok(()),
    }
}

/// Says what is missing, in words, if this number of bytes is not available.
pub(crate) fn lack(needed: u64) -> Option<String> {
    let available = available().filter(|&available| needed > available)?;
    Some(format!("needs {}, but {} are available", bytes(needed), bytes(available)))
}

/// Returns an error if the limits of the process do not leave enough for a run with this number of
/// threads besides its workers.
pub(crate) fn check_run(threads: u64) -> Result<(), Error> {
    let needed = SPARE + threads * THREAD;
    match process::left() {
        Some(left) if needed > left => {
            Err(Error::Short { name: "this run".into(), needed, available: Some(left) })
        }
        _ => Ok(()),
    }
}

/// The error for a run that needs this number of bytes more.
pub(crate) fn short(needed: usize) -> io::Error {
    let text = format!("out of memory: the run needs {} more", bytes(needed as u64));
    io::Error::new(ErrorKind::OutOfMemory, text)
}

/// Whether the limits of the process leave so little that no more should be begun. Without limits
/// this takes less than a microsecond.
pub(crate) fn is_short() -> bool {
    process::left().is_some_and(|left| left < SPARE)
}

/// What the limits of the process leave besides what is kept free, or `None` without limits.
pub(crate) fn left() -> Option<u64> {
    process::left().map(|left| left.saturating_sub(SPARE))
}

/// Takes what the limits of the process leave, but for a part, until the result is dropped. A
/// thread that starts meanwhile shares the heap of the others: where glibc can, it reserves 64 MiB
/// of address space for each thread, which a filter would then lack.
pub(crate) fn shared_heap() -> Option<MmapMut> {
    const PART: u64 = 32 << 20;
    let taken = process::left()?.checked_sub(PART).filter(|&taken| taken > 0)?;
    MmapMut::map_anon(usize::try_from(taken).ok()?).ok()
}

/// Whether there is memory for one more thread.
pub(crate) fn has_thread() -> bool {
    process::left().is_none_or(|left| left >= SPARE + THREAD)
}

/// The number of bytes that can be allocated without swapping, or `None` if the system does not
/// report it: the least that the machine has, less a sixteenth for everything else, that the
/// control groups leave, and that the process may take.
pub(crate) fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available_in(&text));
    let machine = machine.map(|available| available - available / 16);
    let limits = [group::left(), process::left()].into_iter().flatten();
    machine.into_iter().chain(limits.map(|left| left.saturating_sub(SPARE))).min()
}

/// The bytes available, from the text of `/proc/meminfo`.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::available_in;

    #[test]
    fn meminfo_is_parsed() {
        let text = "MemTotal:  24 kB\nMemFree:  12 kB\nMemAvailable:   23456 kB\n";
        assert_eq!(available_in(text), Some(23456 * 1024));
        assert_eq!(available_in("MemTotal: 24 kB\n"), None);
        assert_eq!(available_in("MemAvailable: many kB\n"), None);
    }
}
