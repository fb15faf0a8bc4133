//! The end of an operation that cannot return an error when an allocation fails.

use core::alloc::Layout;

use crate::line::LINE_BYTES;

/// Handles a failed allocation of `bytes` bytes as std's collections do: calls
/// [`handle_alloc_error`](alloc::alloc::handle_alloc_error). For operations that return no error,
/// such as `clone`.
///
/// # Examples
///
/// ```no_run
/// use tamis_sync::{Lines, out_of_memory};
///
/// let lines = Lines::zeroed(1000).unwrap_or_else(|_| out_of_memory(64_000));
/// ```
pub fn out_of_memory(bytes: u64) -> ! {
    // A size that no layout can have is reported as another one: the process ends either way.
    let bytes = usize::try_from(bytes).unwrap_or(isize::MAX as usize);
    let layout = Layout::from_size_align(bytes, LINE_BYTES);
    alloc::alloc::handle_alloc_error(layout.unwrap_or(Layout::new::<u64>()))
}
