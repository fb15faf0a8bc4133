//! How much memory is available, where the system reports it.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::units::bytes;

/// Returns an error if this number of bytes is not available.
pub(crate) fn check(needed: u64) -> Result<(), Error> {
    match available() {
        Some(available) if needed > available => Err(Error::Memory { needed, available }),
        _ => Ok(()),
    }
}

/// Says what is missing, in words, if this number of bytes is not available.
pub(crate) fn lack(needed: u64) -> Option<String> {
    let available = available().filter(|&available| needed > available)?;
    Some(format!("needs {}, but this machine has {} free", bytes(needed), bytes(available)))
}

/// The number of bytes that can be allocated without swapping, or `None` if the system does not report it. It is the
/// smaller of what the machine has and what the control group may still take, less a sixteenth for everything else.
pub(crate) fn available() -> Option<u64> {
    let machine = available_in(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group = left_in_group().unwrap_or(u64::MAX);
    let available = machine.min(group);
    Some(available - available / 16)
}

/// What is left of the memory limit of this process's control group (version 2), if it has one.
fn left_in_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Path::new("/sys/fs/cgroup").join(group);
    let number = |name| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    // Without a limit the file contains "max", which is not a number.
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
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
