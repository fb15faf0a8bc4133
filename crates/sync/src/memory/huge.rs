//! Memory directly from the system, in huge pages, on Linux.

use core::ptr::NonNull;
use std::thread;

use memmap2::{Advice, MmapMut, MmapOptions};

use crate::line::{LINE_BYTES, Line};

const SMALL_PAGE: usize = 1 << 12;
const HUGE_PAGE: usize = 1 << 21;

/// The least number of lines that is mapped: four huge pages. A core's own cache and TLB cover most
/// of a smaller filter.
pub(super) const MIN: usize = 4 * HUGE_PAGE / LINE_BYTES;

/// Lines per touching thread: touching fewer would not pay for starting a thread.
const LINES_PER_THREAD: usize = (1 << 26) / LINE_BYTES;

/// The most threads that touch: more would not zero memory faster.
const MAX_THREADS: usize = 8;

/// Maps `count` lines of zeros, and touches none of them. At least [`MIN`] lines are aligned to a
/// huge page, and in huge pages.
///
/// Of lines that are written little by little, `written` of them soon, the first are in small
/// pages: up to [`MIN`], if fewer are written. The first write would take a whole huge page. They
/// are address space only, which may exceed the memory that the system has.
pub(super) fn reserved(count: usize, written: usize) -> Option<(NonNull<Line>, MmapMut)> {
    let bytes = count.checked_mul(LINE_BYTES)?;
    let mut options = MmapOptions::new();
    if written < count {
        options.no_reserve_swap();
    }
    let small = if written < count.min(MIN) { MIN * LINE_BYTES } else { 0 };
    if count < MIN {
        let mut mapping = options.len(bytes).map_anon().ok()?;
        // Where the system gives huge pages to all memory, too. An error is no failure.
        if small != 0 {
            let _ = mapping.advise(Advice::NoHugePage);
        }
        return Some((NonNull::from(&mut mapping[..]).cast(), mapping));
    }
    // Whole huge pages, and one more: the system aligns a mapping to a small page only.
    let mapped = bytes.checked_next_multiple_of(HUGE_PAGE)?.checked_add(HUGE_PAGE)?;
    let mut mapping = options.len(mapped).map_anon().ok()?;
    // Skip to the first huge page, and ask for huge pages from there on, before anything is
    // touched. If the system has none, small pages serve as well: an error is no failure.
    let start = mapping.as_ptr().align_offset(HUGE_PAGE);
    let huge = bytes.next_multiple_of(HUGE_PAGE) - small;
    let _ = mapping.advise_range(Advice::HugePage, start + small, huge);
    if small != 0 {
        let _ = mapping.advise_range(Advice::NoHugePage, 0, start + small);
    }
    let lines = NonNull::from(&mut mapping[start..start + bytes]).cast();
    Some((lines, mapping))
}

/// Writes to every page of the memory, in parallel where it is large. The first write to a page
/// makes the system zero and place it.
pub(super) fn touch(memory: &mut [Line]) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = (memory.len() / LINES_PER_THREAD).clamp(1, cores.min(MAX_THREADS));
    // One chunk per thread, in whole huge pages, so that no two threads write to one page.
    let chunk_size = memory.len().div_ceil(threads).next_multiple_of(HUGE_PAGE / LINE_BYTES);
    thread::scope(|scope| {
        let mut chunks = memory.chunks_mut(chunk_size);
        // This thread touches the first chunk itself, while the others run.
        let own = chunks.next();
        for chunk in chunks {
            // If no thread can be started, the system places the pages at their first use.
            let _ = thread::Builder::new().spawn_scoped(scope, || touch_chunk(chunk));
        }
        own.into_iter().for_each(touch_chunk);
    });
}

fn touch_chunk(chunk: &mut [Line]) {
    // One write per small page: the system may not have given huge ones.
    for line in chunk.iter_mut().step_by(SMALL_PAGE / LINE_BYTES) {
        // SAFETY: the pointer comes from a mutable reference. The write is volatile because the
        // compiler could otherwise remove it: it knows that the memory is zero already.
        unsafe { core::ptr::from_mut(line).cast::<u8>().write_volatile(0) };
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::Ordering;
    use std::fs;
    use std::string::String;

    use super::*;
    use crate::memory::Memory;
    use crate::word::Word;

    /// Returns how many bytes of the process are in huge pages, if the system reports it.
    fn in_huge_pages() -> Option<usize> {
        let rollup = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
        Some(line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok()? << 10)
    }

    /// Checks the pages only if the system has transparent huge pages enabled.
    #[test]
    fn a_large_mapping_is_in_huge_pages() {
        let setting = "/sys/kernel/mm/transparent_hugepage/enabled";
        let enabled = fs::read_to_string(setting).unwrap_or_else(|_| String::from("[never]"));
        let before = in_huge_pages();
        let memory = Memory::zeroed(64 * HUGE_PAGE / LINE_BYTES).unwrap();
        assert_eq!(memory.as_ptr() as usize % HUGE_PAGE, 0);
        // ORDERING: Relaxed, there is one thread.
        let is_zero = |word: &Word| word.load(Ordering::Relaxed) == 0;
        assert!(memory.iter().flat_map(|line| &line.words).all(is_zero));
        if let (false, Some(before)) = (enabled.contains("[never]"), before) {
            // At least one more: free memory may be too fragmented for all of them.
            assert!(in_huge_pages() > Some(before), "the mapping has no huge page");
        }
    }

    /// Unless the system promises no more memory than it has, or the process has a limit.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_reservation_may_exceed_the_memory() {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let is_free = read("/proc/self/limits")
            .lines()
            .any(|line| line.starts_with("Max address space") && line.contains("unlimited"));
        let meminfo = read("/proc/meminfo");
        // The lines are in KiB.
        let size = |name| {
            let line = meminfo.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok());
            kib.unwrap_or(0_usize) << 10
        };
        let all = size("MemTotal:") + size("SwapTotal:");
        if is_free && read("/proc/sys/vm/overcommit_memory").trim() == "0" && all > 0 {
            assert!(reserved(2 * all / LINE_BYTES, MIN).is_some(), "twice {all} bytes");
        }
    }

    /// Returns which pages the program has asked for, for the memory of a line: huge ones ("hg"),
    /// small ones ("nh"), or none in particular. `None` if the system does not report it.
    fn advice(line: &Line) -> Option<&'static str> {
        let address = core::ptr::from_ref(line) as usize;
        let mappings = fs::read_to_string("/proc/self/smaps").ok()?;
        let mut is_here = false;
        for line in mappings.lines() {
            let mut words = line.split(' ');
            let first = words.next()?;
            let number = |digits| usize::from_str_radix(digits, 16).ok();
            let ends = first.split_once('-').map(|(start, end)| (number(start), number(end)));
            if let Some((Some(start), Some(end))) = ends {
                is_here = (start..end).contains(&address);
            } else if is_here && first == "VmFlags:" {
                let flag = words.find_map(|flag| ["hg", "nh"].into_iter().find(|&it| it == flag));
                return Some(flag.unwrap_or_default());
            }
        }
        None
    }

    /// The first line that is written of a table that grows does not take a huge page.
    #[test]
    fn the_first_lines_of_a_table_that_grows_are_in_small_pages() {
        const LARGE: usize = 8 * MIN;
        const SMALL: usize = MIN - 1;
        // A system without huge pages takes no advice.
        let all = Memory::reserved(LARGE).unwrap();
        if advice(&all[0]) != Some("hg") {
            return;
        }
        for (count, written, first, last) in [
            (LARGE, 1, "nh", "hg"),
            (LARGE, MIN - 1, "nh", "hg"),
            (LARGE, MIN, "hg", "hg"),
            (LARGE, LARGE, "hg", "hg"),
            (SMALL, 1, "nh", "nh"),
            // All of it is written: the system may choose.
            (SMALL, SMALL, "", ""),
        ] {
            let memory = Memory::growing(count, written).unwrap();
            for line in [0, MIN / 2, MIN - 2] {
                assert_eq!(advice(&memory[line]), Some(first), "{count} {written} {line}");
            }
            for line in [MIN, count - 1].into_iter().filter(|&line| line < count) {
                assert_eq!(advice(&memory[line]), Some(last), "{count} {written} {line}");
            }
        }
    }
}
