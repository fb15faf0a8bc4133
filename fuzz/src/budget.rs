//! An allocator that refuses a thread more than its budget: so a loader that trusts a number of its
//! input is found.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

/// The allocator of every program that has this library.
#[global_allocator]
static ALLOCATOR: Budgeted = Budgeted;

/// The memory that a thread may allocate, in bytes. Every allocation beyond it fails.
#[derive(Clone, Copy)]
pub(crate) enum Budget {
    None,
    /// At once.
    Total(usize),
    /// In one allocation.
    Each(usize),
}

thread_local! {
    /// What is left of the budget of the thread.
    static LEFT: Cell<Budget> = const { Cell::new(Budget::None) };
}

/// Runs a function within a budget.
pub(crate) fn within<R>(budget: Budget, run: impl FnOnce() -> R) -> R {
    /// Ends the budget, after a panic too.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            LEFT.set(Budget::None);
        }
    }
    let _end = End;
    LEFT.set(budget);
    run()
}

struct Budgeted;

/// Takes memory from the budget. Returns whether it suffices.
fn take(bytes: usize) -> bool {
    match LEFT.get() {
        Budget::None => true,
        Budget::Each(most) => bytes <= most,
        Budget::Total(left) => {
            let rest = left.checked_sub(bytes);
            LEFT.set(Budget::Total(rest.unwrap_or(left)));
            rest.is_some()
        }
    }
}

/// Returns memory to the budget.
fn give(bytes: usize) {
    if let Budget::Total(left) = LEFT.get() {
        LEFT.set(Budget::Total(left.saturating_add(bytes)));
    }
}

// SAFETY: `System` is an allocator, and every call is passed on to it with its arguments, or fails.
// The cell of a thread neither allocates nor has a destructor.
unsafe impl GlobalAlloc for Budgeted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promises are those that `System` needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return ptr::null_mut();
        }
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give(layout.size());
        // SAFETY: `System` allocated the memory, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While the bytes are copied, both are there.
        if !take(size) {
            return ptr::null_mut();
        }
        give(layout.size());
        // SAFETY: as in `dealloc`; the caller promises that the size is right.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, within};

    fn reserve(bytes: usize) -> bool {
        Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
    }

    #[test]
    fn a_total_is_the_most_that_a_thread_has_at_once() {
        let budget = Budget::Total(1000);
        assert!(within(budget, || reserve(1000) && reserve(1000) && !reserve(1001)));
        // A vector that grows needs its old memory and its new memory.
        let grow = |to: usize| {
            let mut bytes = Vec::<u8>::new();
            bytes.try_reserve_exact(400).is_ok() && {
                bytes.resize(400, 1);
                bytes.try_reserve_exact(to - 400).is_ok()
            }
        };
        assert!(within(budget, || grow(600) && !grow(601)));
        assert!(reserve(1 << 20));
    }

    #[test]
    fn each_allocation_has_a_limit_of_its_own() {
        let both = || (vec![0_u8; 1000], reserve(1000), reserve(1001));
        let (_, first, second) = within(Budget::Each(1000), both);
        assert_eq!((first, second), (true, false));
    }
}
