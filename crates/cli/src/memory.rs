//! How much memory the machine has to give, where it can be asked.

/// Bytes that can be allocated without swapping, or none where the system does not say.
pub(crate) fn available() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::available_in;

    #[test]
    fn reads_what_the_kernel_writes() {
        let text = "MemTotal:  24 kB\nMemFree:  12 kB\nMemAvailable:   23456 kB\n";
        assert_eq!(available_in(text), Some(23456 * 1024));
        assert_eq!(available_in("MemTotal: 24 kB\n"), None);
        assert_eq!(available_in("MemAvailable: many kB\n"), None);
    }
}
