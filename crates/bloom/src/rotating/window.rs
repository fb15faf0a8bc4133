//! The window of a rotating filter: its clock, its rotations, and what it covers.

use core::time::Duration;

use super::{RotatingBloomFilter, plan};

/// What a [`RotatingBloomFilter`] remembers, and in which parts.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::RotatingBloomFilter;
///
/// let seen = RotatingBloomFilter::<str>::builder().capacity(60_000).generations(7).build()?;
/// let window = seen.window();
/// assert_eq!((window.items, window.span, window.generations), (60_000, None, 7));
/// assert!((10_000..10_200).contains(&window.generation_capacity));
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Window {
    /// The number of new items that the filter remembers. In a window by time: the number that it
    /// is sized for.
    pub items: usize,
    /// The span of time that the filter remembers, in a window by time.
    pub span: Option<Duration>,
    /// The number of live generations. A query looks at all of them, and one more is being cleared.
    pub generations: u32,
    /// The number of items that a generation is sized for: the window divided by one less than the
    /// number of generations. In a window by items it is an upper bound, with up to 1/64 more for
    /// items that threads have not yet added to the common count.
    pub generation_capacity: u64,
}

impl<T: ?Sized, S> RotatingBloomFilter<T, S> {
    /// Takes a reading of the clock, and rotates as often as is due in a window by time. Returns
    /// the number of rotations that this call made.
    ///
    /// `now` is the time since any fixed moment, the same for all calls: for example
    /// [`Instant::elapsed`] of a start, or, for a filter that is saved, the time since 1970. The
    /// first call only sets the beginning. In a window by items it does nothing. See
    /// [Time](Self#time) for wrong readings.
    ///
    /// Call it before each insert, or from time to time: an item has the age of the newest reading
    /// before its insert. When `advance` returns, items that are older than the window by one
    /// generation or more are forgotten. If time jumps by the span and a generation, everything is
    /// forgotten. A call that has nothing to do is two loads and two comparisons. Threads may pass
    /// readings out of order.
    ///
    /// [`Instant::elapsed`]: https://doc.rust-lang.org/std/time/struct.Instant.html#method.elapsed
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use std::time::Duration;
    /// use tamis::RotatingBloomFilter;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(1000).span(minute).build()?;
    /// seen.advance(1000 * minute);
    /// assert!(seen.insert("a"));
    /// seen.advance(1001 * minute);
    /// assert!(!seen.insert("a"));
    /// seen.advance(1003 * minute);
    /// assert!(seen.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn advance(&self, now: Duration) -> u64 {
        self.array.ring.advance(plan::nanoseconds(now))
    }

    /// Rotates: begins a new generation and forgets the oldest. Returns the number of
    /// [`rotations`](Self::rotations) so far. Other threads may work concurrently.
    ///
    /// Clears what is left to clear of the oldest generation: `O(size)` if no insert has done so.
    /// In a window by time the time of the next rotation stays.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(1000).generations(3).build()?;
    /// seen.insert("a");
    /// assert_eq!(seen.rotate(), 1);
    /// assert_eq!(seen.rotate(), 2);
    /// assert!(seen.contains("a"));
    /// assert_eq!(seen.rotate(), 3);
    /// assert!(!seen.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn rotate(&self) -> u64 {
        self.array.ring.rotate()
    }

    /// Makes the next call of [`advance`](Self::advance) the first one: for a change of the clock
    /// that the program knows of. Nothing is forgotten; the current generation begins at the next
    /// reading. So a filter for which it is called in each generation forgets nothing: if it is
    /// saved and loaded often, pass the time since 1970 instead, which goes on in the next run. In
    /// a window by items it does nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use std::time::Duration;
    /// use tamis::RotatingBloomFilter;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(1000).span(minute).build()?;
    /// seen.advance(1000 * minute);
    /// seen.insert("a");
    /// seen.forget_time();
    /// assert_eq!(seen.advance(5000 * minute), 0);
    /// assert!(seen.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn forget_time(&self) {
        self.array.ring.forget_time();
    }

    /// Returns how often readings of another clock took over: see [Time](Self#time). Each time, the
    /// clock was set back, or a reading before was wrong and may have made the filter forget too
    /// early. With one monotonic clock it is 0, so a service can alert on it. It is 0 again in a
    /// clone and in a filter that was saved and loaded.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use std::time::Duration;
    /// use tamis::RotatingBloomFilter;
    ///
    /// let (minute, second) = (Duration::from_secs(60), Duration::from_secs(1));
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(1000).span(minute).build()?;
    /// seen.advance(1000 * minute);
    /// // The clock is set back by ten minutes.
    /// for number in 0..20 {
    ///     seen.advance(990 * minute + number * second);
    /// }
    /// assert_eq!(seen.clock_changes(), 1);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn clock_changes(&self) -> u64 {
        self.array.ring.clock_changes()
    }

    /// Forgets the time, and every item whose insert happens before the call, while other threads
    /// may insert and query. An item that is inserted concurrently may be forgotten, too.
    /// `O(size)`: it rotates once per live generation.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<str>::with_capacity(1000)?;
    /// seen.insert("a");
    /// seen.clear();
    /// assert!(!seen.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn clear(&self) {
        for _ in 0..self.array.ring.plan().generations {
            self.rotate();
        }
        self.forget_time();
    }

    /// Returns the number of rotations so far. It never falls.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<str>::with_capacity(1000)?;
    /// assert_eq!(seen.rotations(), 0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn rotations(&self) -> u64 {
        self.array.ring.state().rotations()
    }

    /// Returns what the filter remembers, and in which parts.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use std::time::Duration;
    /// use tamis::RotatingBloomFilter;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(1000).span(hour).build()?;
    /// assert_eq!(seen.window().span, Some(hour));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn window(&self) -> Window {
        let plan = self.array.ring.plan();
        Window {
            items: self.capacity,
            span: self.span,
            generations: plan.generations,
            generation_capacity: plan.sized_for(),
        }
    }
}
