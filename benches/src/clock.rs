//! The time that this thread has run: what other programs do on the same cores is left out.

use core::time::Duration;

/// The time on a core since some moment.
#[cfg(target_os = "linux")]
#[must_use]
pub fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The time on the wall, where the system's call for the other has no safe wrapper.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
