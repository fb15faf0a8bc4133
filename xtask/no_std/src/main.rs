//! Uses the filters without std. If a crate links std, the build fails, because both define a panic
//! handler.

#![no_std]
#![no_main]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, UnsafeCell};
use core::panic::PanicInfo;

use tamis::bloom::split_block::SplitBlockFilter;
use tamis::hash::{DefaultHashBuilder, Rapid, Xxh64};
use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};

// The C library: its startup code calls `main`.
#[link(name = "c")]
unsafe extern "C" {
    fn abort() -> !;
}

const HEAP_BYTES: usize = 1 << 20;

/// Allocates memory and never frees it.
struct Bump {
    memory: UnsafeCell<[u8; HEAP_BYTES]>,
    used: Cell<usize>,
}

// SAFETY: the program has one thread.
unsafe impl Sync for Bump {}

// SAFETY: every block starts after the end of all earlier blocks, is inside `memory`, and has the
// requested alignment.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.memory.get().cast::<u8>();
        let start = (base.addr() + self.used.get()).next_multiple_of(layout.align()) - base.addr();
        let end = start.saturating_add(layout.size());
        if end > HEAP_BYTES {
            return core::ptr::null_mut();
        }
        self.used.set(end);
        base.wrapping_add(start)
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static HEAP: Bump = Bump { memory: UnsafeCell::new([0; HEAP_BYTES]), used: Cell::new(0) };

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: `abort` may be called at any time.
    unsafe { abort() }
}

/// The prebuilt `alloc` refers to this symbol and the next one, although nothing unwinds here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: `abort` may be called at any time.
    unsafe { abort() }
}

/// Returns exit code 0 if every filter returns the right answers.
#[unsafe(no_mangle)]
extern "C" fn main(_: i32, _: *const *const u8) -> i32 {
    i32::from(!(classic() && blocked() && once() && split_block() && cuckoo() && once_cuckoo()))
}

fn classic() -> bool {
    let builder =
        tamis::bloom::Builder::<BloomFilter<str, _>>::new(DefaultHashBuilder::with_seed(1));
    let Ok(filter) = builder.capacity(1000).build() else {
        return false;
    };
    filter.insert("a") && filter.contains("a") && !filter.contains("b")
}

fn blocked() -> bool {
    let builder = tamis::bloom::Builder::<BlockedBloomFilter<u64, _>>::new(Rapid::with_seed(2));
    let Ok(filter) = builder.capacity(1000).false_positive_rate(0.001).build() else {
        return false;
    };
    filter.insert(&7) && filter.contains(&7) && !filter.contains(&8)
}

fn once() -> bool {
    let builder = tamis::bloom::Builder::<OnceBloomFilter<u64, _>>::new(Rapid::with_seed(3));
    let Ok(filter) = builder.bits(10_000).probes(6).build() else {
        return false;
    };
    filter.insert(&7) && !filter.insert(&7) && filter.contains(&7)
}

fn split_block() -> bool {
    let Ok(mut filter) = SplitBlockFilter::for_items(1000, 0.01) else {
        return false;
    };
    let hash = Xxh64::with_seed(0).hash_bytes(b"a");
    filter.insert_hash(hash) && filter.fold_to(0.01) > 1 && filter.contains_hash(hash)
}

fn cuckoo() -> bool {
    let builder = tamis::cuckoo::Builder::<CuckooFilter<u64, _>>::new(Rapid::with_seed(4));
    let Ok(filter) = builder.capacity(1000).build() else {
        return false;
    };
    let filled = (0..1000).all(|item| filter.insert(&item).is_ok());
    filled && filter.remove(&7) && filter.contains(&8) && filter.len() == 999
}

fn once_cuckoo() -> bool {
    let builder =
        tamis::cuckoo::Builder::<OnceCuckooFilter<str, _>>::new(DefaultHashBuilder::with_seed(5));
    let Ok(filter) = builder.buckets(100).slots(4).fingerprint_bits(16).build() else {
        return false;
    };
    filter.insert("a") == Ok(true) && filter.insert("a") == Ok(false) && filter.contains("a")
}
