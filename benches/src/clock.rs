//! The time that this thread has run, which leaves out other programs on the same cores.

use core::time::Duration;

/// Returns the time that this thread has spent on a core.
#[cfg(target_os = "linux")]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Returns the wall time, where the system's call for thread time has no safe wrapper.
#[cfg(not(target_os = "linux"))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Returns what `work` returns, and the time that it takes.
pub(crate) fn time<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = now();
    let result = work();
    (result, now() - start)
}
