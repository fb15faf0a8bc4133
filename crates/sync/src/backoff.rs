//! Exponential backoff for a lock that is held for nanoseconds: spin first, then yield the core.

/// The last round that spins: it makes 2^6 pauses. A holder keeps the lock for a few stores, so if
/// the lock is still taken after that round, the holder is probably not running.
const LAST_SPIN_ROUND: u32 = 6;

/// A wait in growing steps: each call of [`wait`](Self::wait) spins twice as long as the last, and
/// later calls yield.
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
    /// Waits for one round: the first rounds spin, the later ones yield the core (with feature
    /// `std`).
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Backoff::default().wait();
    /// ```
    #[cfg(not(any(tamis_loom, tamis_shuttle)))]
    pub fn wait(&mut self) {
        if self.round <= LAST_SPIN_ROUND {
            // 1, 2, 4, …, 64 pauses: the lock may come free at any moment, and a pause costs less
            // than a system call.
            for _ in 0..1_u32 << self.round {
                core::hint::spin_loop();
            }
            self.round += 1;
        } else {
            // The holder probably waits for a core: give it this one. Without `std` there is no
            // scheduler to call.
            #[cfg(feature = "std")]
            crate::thread::yield_now();
            #[cfg(not(feature = "std"))]
            core::hint::spin_loop();
        }
    }

    /// Waits for a thread that has stopped: sleeps for a millisecond (with feature `std`). The
    /// system may take tens of milliseconds until it runs a thread again, and a yield returns at
    /// once if no thread waits for this core.
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Backoff::default().sleep();
    /// ```
    #[cfg(not(any(tamis_loom, tamis_shuttle)))]
    pub fn sleep(&mut self) {
        #[cfg(feature = "std")]
        std::thread::sleep(core::time::Duration::from_millis(1));
        #[cfg(not(feature = "std"))]
        self.wait();
    }

    /// Lets the model run another thread.
    #[cfg(any(tamis_loom, tamis_shuttle))]
    pub fn sleep(&mut self) {
        self.wait();
    }

    /// Lets the model run another thread. Without this call a spinning model would never end.
    #[cfg(any(tamis_loom, tamis_shuttle))]
    pub fn wait(&mut self) {
        self.round = (self.round + 1).min(LAST_SPIN_ROUND);
        crate::thread::yield_now();
    }
}
