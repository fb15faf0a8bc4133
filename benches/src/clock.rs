//! The time that this thread or this process has run, which leaves out other programs on the same
//! cores.

use core::time::Duration;
#[cfg(target_os = "linux")]
use rustix::time::{ClockId, clock_gettime};

/// Returns the time that this thread has spent on a core.
#[cfg(target_os = "linux")]
fn now() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// Returns the time that all threads of this process have spent on cores.
#[cfg(all(target_os = "linux", feature = "report"))]
pub(crate) fn process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

#[cfg(target_os = "linux")]
fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Returns the wall time, where the system's call for thread time has no safe wrapper.
#[cfg(not(target_os = "linux"))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Returns the wall time, likewise.
#[cfg(all(not(target_os = "linux"), feature = "report"))]
pub(crate) fn process() -> Duration {
    now()
}

/// Returns what `work` returns, and the time that it takes.
pub(crate) fn time<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = now();
    let result = work();
    (result, now() - start)
}
