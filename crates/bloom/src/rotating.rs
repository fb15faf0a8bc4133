//! The rotating filter: remembers the last items or the last span of time, and claims each item
//! once.

use core::borrow::Borrow;
use core::marker::PhantomData;
use core::time::Duration;

use tamis_core::{AsItem, Hashed as _};
use tamis_hash::{DefaultHashBuilder, HashItem};
use tamis_sync::run_batches;

use crate::geometry::Geometry;

pub(crate) mod array;
pub(crate) mod builder;
mod clock;
mod figures;
#[cfg(all(test, tamis_loom))]
mod models;
pub(crate) mod plan;
pub(crate) mod raw;
pub(crate) mod state;
#[cfg(all(test, not(tamis_loom)))]
mod tests;
mod time;
mod traits;
mod window;

use self::array::{Insert, Rotating};
pub use self::window::Window;

#[doc = include_str!("rotating/protocol.md")]
pub(crate) mod protocol {}

/// A concurrent filter over a **window**: the last items, or the items of the last span of time.
/// Its `insert` is a test-and-set within the window: **exactly one** of any number of inserts of an
/// item returns `true`.
///
/// Use it to drop duplicate events: of all threads that see an event within the window, one gets
/// it. Querying a filter first and inserting then gives some events to two threads; this type gives
/// them to one, also while it forgets.
///
/// # The window
///
/// The filter has several [generations](crate::RotatingBuilder::generations) of equal size. New
/// items go into the current one. A **rotation** begins a new generation and forgets the oldest.
///
/// * A window **by items** (the default) covers the last [`capacity`](Self::capacity) new items.
///   The filter rotates when the current generation is full.
/// * A window **by time** ([`span`](crate::RotatingBuilder::span)) covers the items of the last
///   span. It rotates when [`advance`](Self::advance) brings a time at which that is due. The
///   filter reads no clock.
///
/// In a window by items the age of an item counts from a moment during its insert. In a window by
/// time it counts from the newest reading of the clock before its insert. An item is forgotten at
/// the latest one generation after the window. (A generation by items has its share of the
/// capacity, rounded up, and up to 2 % more. So a window of 7 items in 7 generations forgets an
/// item after at most 14 new ones.)
///
/// # What is certain
///
/// * An insert that returned `true` is found for the whole window, unless you call
///   [`rotate`](Self::rotate) or [`clear`](Self::clear), or pass a wrong time to
///   [`advance`](Self::advance).
/// * So is every [`insert_or_refresh`](Self::insert_or_refresh), whatever it returned.
/// * An [`insert`](Self::insert) that returned `false` stored nothing. Either the item was in the
///   window: it does not become younger. Or it was a false positive: then `contains` may return
///   `false` as soon as one of the items that caused it is forgotten. An insert of an absent item
///   is a false positive with a probability of at most the
///   [`false_positive_rate`](Self::false_positive_rate).
///
/// If every insert must be found, use `insert_or_refresh`. In a window by items each item that it
/// stores counts as new, also a repeat: the window then covers fewer distinct items.
///
/// # Time
///
/// Pass readings of **one monotonic clock** to [`advance`](Self::advance), never the time of an
/// event. A wrong reading has these effects (a *generation* is `span / (generations − 1)`, rounded
/// up):
///
/// * A single reading below the newest changes nothing, however old it is: a thread may be late.
/// * If the clock is set back, time stands still. The filter follows the lower clock after four
///   different readings of it that advance by one generation in all, with no reading above the
///   newest in between. Nothing is forgotten then. (A clock that is set back by less than two
///   generations may reach its former time first.) An item stays for at most two generations
///   longer, plus the time of four readings.
/// * A reading that is too high forgets items too early. If it is higher than the newest by the
///   span and a generation, it forgets all of them. Then the readings of the true clock take over,
///   as above. A repetition of the same high reading moves the time by less than a generation. A
///   lower reading that is still too high counts as a new wrong reading.
/// * If two clocks are read in turn, the filter follows the higher one, as long as that clock
///   advances. After the lower one has taken over, the filter follows the lower one in the same
///   way.
///
/// [`clock_changes`](Self::clock_changes) counts how often other readings took over. It is 0 with
/// one monotonic clock, unless four readings in a row are late by more than a generation.
///
/// # Bursts
///
/// Each generation is sized for its share of the [`capacity`](Self::capacity). A window by items
/// rotates when a generation is full. A flood of distinct items moves it, as all new items do, and
/// [`rotations`](Self::rotations) shows that. In a window by time a burst may fill one generation
/// beyond its share. No item is forgotten earlier, but the false-positive rate grows.
/// [`saturation`](Self::saturation) is that of the fullest generation, so it exceeds 1 before the
/// expected rate exceeds the request. (The rate of a filter for a few thousand items scatters
/// around the expected one; [`false_positive_rate`](Self::false_positive_rate) returns that of the
/// contents.) If you expect bursts, pass as capacity the largest number of new items per
/// generation, times `generations − 1`.
///
/// ```
/// # use tamis_bloom as tamis;
/// use std::time::Duration;
/// use tamis::RotatingBloomFilter;
///
/// let hour = Duration::from_secs(3600);
/// let seen = RotatingBloomFilter::<u64>::builder().capacity(6000).span(hour).build()?;
/// // One generation of the six that make the window gets a third of the capacity.
/// seen.insert_many_with(0..2000, |_, _| ());
/// assert!((1.8..2.1).contains(&seen.saturation()));
/// # Ok::<(), tamis::BuildError>(())
/// ```
///
/// # Exactly one
///
/// Of concurrent inserts of an item, exactly one returns `true`, and no insert returns `true` again
/// while the item is in the window. None does if the item is a false positive, or becomes one
/// during the race: that happens at the [`false_positive_rate`](Self::false_positive_rate). When
/// the filter has forgotten an item, it is new again.
///
/// # Threads
///
/// Queries and inserts of present items take no lock and never wait. An insert of a new item locks
/// one of up to 256 stripes, selected by its hash, for a few loads and atomic operations. Inserts
/// clear the oldest generation in small portions ahead of the rotation. An insert that finds the
/// generation full waits until it has rotated, which is usually a few stores. No lock is held while
/// code of the user runs. Fork only while no thread writes: see [locks](crate#locks).
///
/// # Size and rate
///
/// The false-positive rate holds with all live generations full. They hold up to `G / (G − 1)`
/// times the window, and one spare generation is being cleared: with 7 generations the array is 4/3
/// of what the window needs, and each generation's rate is a seventh. At 1 %, 1e-4 and 1e-6 that is
/// 21, 39 and 69 bits per item of the window. A request above 30 % is treated as 30 %: false
/// positives are not stored, so the window would move too slowly, or not at all.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::RotatingBloomFilter;
///
/// // Events of the last 10,000.
/// let builder = RotatingBloomFilter::<str>::builder().capacity(10_000);
/// let seen = builder.false_positive_rate(1e-10).build()?;
/// let first = std::thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| seen.insert("event 1"))).collect();
///     threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>()
/// });
/// assert_eq!(first, 1);
/// for number in 0..20_000 {
///     seen.insert(&format!("other {number}"));
/// }
/// assert!(seen.rotations() > 0);
/// assert!(seen.insert("event 1"), "it is new again");
/// # Ok::<(), tamis::BuildError>(())
/// ```
///
/// A window of five minutes:
///
/// ```
/// # use tamis_bloom as tamis;
/// use std::time::{Duration, Instant};
/// use tamis::RotatingBloomFilter;
///
/// let seen = RotatingBloomFilter::<str>::builder()
///     .capacity(1_000_000)
///     .span(Duration::from_secs(300))
///     .false_positive_rate(1e-4)
///     .build()?;
/// let start = Instant::now();
/// for event in ["a", "b", "a"] {
///     seen.advance(start.elapsed());
///     if seen.insert(event) {
///         println!("{event} is new");
///     }
/// }
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct RotatingBloomFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) array: Rotating,
    pub(crate) geometry: Geometry,
    pub(crate) span: Option<Duration>,
    pub(crate) capacity: usize,
    pub(crate) hasher: S,
    /// No item is stored: the filter is `Send` and `Sync` whatever `T` is.
    pub(crate) item: PhantomData<fn(&T)>,
}

impl<T: ?Sized, S> RotatingBloomFilter<T, S> {
    /// Inserts an item. Returns `true` if the item is new in the window; no other insert of the
    /// item returns `true` while it is in the window.
    ///
    /// Of concurrent inserts of a new item **exactly one** returns `true`, or none, if the item was
    /// a false positive or becomes one during the race. A `false` does not make the item younger,
    /// and does not synchronize with the thread that inserted the item: its other writes may be
    /// invisible.
    ///
    /// A present item is found by loads alone. A new item locks its stripe for a few loads and
    /// atomic operations. If the current generation is full, the insert rotates before it returns,
    /// or waits for the thread that does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<String>::with_capacity(10)?;
    /// assert!(seen.insert("a"));
    /// assert!(!seen.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        // The user's code runs in `hash_item`, before anything is locked.
        self.insert_hash(self.hasher.hash_item(item))
    }

    /// Inserts an item, and makes it young if it is present: it stays for a whole window from now.
    /// Returns `true` if the item is new in the window, as [`insert`](Self::insert).
    ///
    /// Writes the item into the current generation unless it is there: so every item is found for a
    /// whole window, also a false positive. In a window by items each write counts as a new item.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let builder = RotatingBloomFilter::<str>::builder().capacity(1000).generations(2);
    /// let seen = builder.false_positive_rate(1e-10).build()?;
    /// assert!(seen.insert_or_refresh("a") && seen.insert("b"));
    /// seen.rotate();
    /// assert!(!seen.insert_or_refresh("a") && !seen.insert("b"));
    /// seen.rotate();
    /// assert!(seen.contains("a") && !seen.contains("b"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_or_refresh<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.insert_or_refresh_hash(self.hasher.hash_item(item))
    }

    /// Inserts or refreshes an item by its hash, as [`insert_or_refresh`](Self::insert_or_refresh)
    /// does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(1000).build()?;
    /// assert!(seen.insert_or_refresh_hash(0x9E37_79B9_7F4A_7C15));
    /// assert!(seen.by_hash().contains(0x9E37_79B9_7F4A_7C15));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_or_refresh_hash(&self, hash: u64) -> bool {
        self.array.insert(hash, true)
    }

    /// Inserts or refreshes many items, owned or borrowed. Calls `on_result` in order, with each
    /// item's index and what [`insert_or_refresh`](Self::insert_or_refresh) would have returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let builder = RotatingBloomFilter::<u64>::builder().capacity(1000);
    /// let seen = builder.false_positive_rate(1e-10).build()?;
    /// seen.insert_or_refresh_many_with(0..10, |_number, is_new| assert!(is_new));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_or_refresh_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        run_batches(Insert { array: &self.array, refresh: true }, self.hashes(items), on_result);
    }

    /// Returns the sizes of one generation: those of a blocked filter.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::RotatingBloomFilter;
    /// let seen = RotatingBloomFilter::<str>::builder().capacity(60_000).generations(7).build()?;
    /// assert!(seen.geometry().false_positive_rate_at(10_000) <= 0.01 / 7.0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }
}
