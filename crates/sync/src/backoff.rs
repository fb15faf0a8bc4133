//! Waiting for a lock that is held for nanoseconds: spin, then let others run.

/// Rounds of spinning before the thread offers its core to others. The lock is held for a few
/// stores, so waiting longer than 2^6 pauses means that its holder is not running.
const SPIN_ROUNDS: u32 = 6;

/// How long one has waited; each [`wait`](Self::wait) waits longer than the last.
///
/// # Examples
///
/// ```
/// let mut backoff = tamis_sync::Backoff::default();
/// for _ in 0..10 {
///     backoff.wait();
/// }
/// ```
#[derive(Debug, Default)]
pub struct Backoff {
    round: u32,
}

impl Backoff {
    /// Waits a little: at first by spinning, later by yielding the core (with feature `std`).
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Backoff::default().wait();
    /// ```
    #[cfg(not(any(tamis_loom, tamis_shuttle)))]
    pub fn wait(&mut self) {
        if self.round <= SPIN_ROUNDS {
            for _ in 0..1_u32 << self.round {
                core::hint::spin_loop();
            }
            self.round += 1;
        } else {
            #[cfg(feature = "std")]
            crate::thread::yield_now();
            #[cfg(not(feature = "std"))]
            core::hint::spin_loop();
        }
    }

    /// Lets the model run another thread: it must be told, or it never ends.
    #[cfg(any(tamis_loom, tamis_shuttle))]
    pub fn wait(&mut self) {
        self.round = (self.round + 1).min(SPIN_ROUNDS);
        crate::thread::yield_now();
    }
}
