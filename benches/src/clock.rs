//! The time that this thread has run: what other programs do on the same cores is left out.

use core::time::Duration;

/// The time on a core since some moment.
#[cfg(target_os = "linux")]
#[must_use]
pub fn now() -> Duration {
    read(rustix::time::ClockId::ThreadCPUTime)
}

/// The time on cores of all threads of the process together, since some moment.
#[cfg(target_os = "linux")]
#[must_use]
pub fn of_process() -> Duration {
    read(rustix::time::ClockId::ProcessCPUTime)
}

#[cfg(target_os = "linux")]
fn read(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
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

/// The time on the wall, likewise.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn of_process() -> Duration {
    now()
}
