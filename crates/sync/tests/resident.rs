//! Tests of the memory that the process really has: alone in their process, so that no other test
//! takes or frees memory meanwhile.
#![cfg(all(target_os = "linux", feature = "std", not(any(tamis_loom, tamis_shuttle))))]

use std::fs;

use tamis_sync::{LINE_BYTES, Lines};

const PAGE: usize = 4 << 10;

/// Returns the bytes of the process that have a page of their own. (A page that was only read has
/// none.)
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * PAGE
}

/// `touch` makes each page present, and no other.
#[test]
fn touched_lines_have_pages() {
    // The system counts the pages of each processor in lots.
    const ABOUT: usize = 512 << 10;
    // In small pages and in huge ones.
    for bytes in [6 << 20, 256 << 20] {
        let empty = resident();
        let lines = Lines::reserved((bytes / LINE_BYTES) as u64).unwrap();
        let before = resident();
        assert!(before.saturating_sub(empty) <= ABOUT, "{bytes}: {before}");
        // Half of it first, in portions as a growing filter touches them.
        let half = lines.len() / 2;
        (0..half).step_by(256).for_each(|first| lines.touch(first..first + 256));
        let of_half = resident().saturating_sub(before);
        assert!(of_half >= bytes / 2 - ABOUT, "{bytes}: {of_half}");
        lines.touch(half..usize::MAX);
        let of_all = resident().saturating_sub(before);
        assert!(of_all >= bytes - ABOUT, "{bytes}: {of_all}");
        // Not more than it has, but for the last huge page.
        assert!(of_all <= bytes + (4 << 20), "{bytes}: {of_all}");
    }
}
