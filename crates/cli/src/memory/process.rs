//! What the limits of this process leave: of its address space (`ulimit -v`) and of its data
//! (`ulimit -d`).

/// The bytes that may still be allocated, or `None` without a limit.
#[cfg(unix)]
pub(super) fn left() -> Option<u64> {
    use std::fs;

    use rustix::param::page_size;
    use rustix::process::{Resource, getrlimit};

    let [space, data] = [Resource::As, Resource::Data].map(|limit| getrlimit(limit).current);
    // Most processes have neither limit, and nothing is read.
    if space.is_none() && data.is_none() {
        return None;
    }
    let used = used_in(&fs::read_to_string("/proc/self/statm").ok()?, page_size() as u64)?;
    let limits = [space, data].into_iter().zip(used);
    limits.filter_map(|(limit, used)| Some(limit?.saturating_sub(used))).min()
}

/// Elsewhere there are no such limits.
#[cfg(not(unix))]
pub(super) fn left() -> Option<u64> {
    None
}

/// The bytes of address space and of data in use, from the text of `/proc/self/statm`: seven
/// numbers of pages, of which the first is the address space, and the sixth the data with the
/// stack.
#[cfg(unix)]
fn used_in(statm: &str, page: u64) -> Option<[u64; 2]> {
    let numbers: Vec<u64> = statm.split_whitespace().map_while(|word| word.parse().ok()).collect();
    Some([numbers.first()?.checked_mul(page)?, numbers.get(5)?.checked_mul(page)?])
}

#[cfg(all(test, unix))]
mod tests {
    use super::used_in;

    #[test]
    fn statm_is_parsed() {
        assert_eq!(used_in("1000 300 200 9 0 70 0\n", 4096), Some([4_096_000, 286_720]));
        assert_eq!(used_in("1000 300\n", 4096), None);
        assert_eq!(used_in("", 4096), None);
    }
}
