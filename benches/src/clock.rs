//! The time that this thread or this process has run, which leaves out other programs on the same
//! cores.

use core::time::Duration;

/// Returns the time that this thread, or all of this process, has spent on cores.
#[cfg(target_os = "linux")]
fn now(process: bool) -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time =
        clock_gettime(if process { ClockId::ProcessCPUTime } else { ClockId::ThreadCPUTime });
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Returns the wall time, where the system's call has no safe wrapper.
#[cfg(not(target_os = "linux"))]
fn now(_process: bool) -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Returns the time of this process.
#[cfg(feature = "report")]
pub(crate) fn process() -> Duration {
    now(true)
}

/// Returns what `work` returns, and the time of this thread that it takes.
pub(crate) fn time<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = now(false);
    let result = work();
    (result, now(false) - start)
}
