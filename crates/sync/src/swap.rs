//! A value that one thread replaces while others use it: no thread waits, and the old value is
//! freed when no thread can use it any more.

use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, take};
use core::ops::Deref;
use core::sync::atomic::Ordering;

use crossbeam_epoch::{self as epoch, Atomic, Guard, Owned};

#[cfg(all(test, tamis_loom))]
mod models;

/// The attempts of [`Swap::replace`] to free the old value before it returns. The first marks it
/// with the current epoch of the process, and each of the two others advances the epoch by one if
/// no pin of an older epoch is in the way. A value two epochs old is free.
const ATTEMPTS: u32 = 3;

/// A value that can be replaced while other threads use it.
///
/// A thread [`pin`](Self::pin)s the value for a short time, for one operation or one batch, and
/// uses it through the [`Pinned`]. [`replace`](Self::replace) puts another value in its place.
/// Neither waits for other threads.
///
/// # What a pin sees
///
/// * A pin gives access to one value, the same until it is dropped.
/// * If a call of `replace` *happens before* a pin (it returned on this thread, or on a thread that
///   has since been joined, has sent a message or has released a mutex), the pin sees the new value
///   or a later one.
/// * A pin that was taken before the replacement still sees the old value. **What its thread writes
///   then goes to the old value, and later pins do not see it.** A pin taken *concurrently with*
///   the replacement sees either value.
/// * Replacements have one order, the same for all threads, and no thread sees them go back.
///
/// # When the old value is dropped
///
/// The old value is dropped when no pin can see it any more, never earlier. If no thread holds a
/// pin during `replace`, this is normally before `replace` returns. Otherwise it is later, during a
/// call of `replace` or `pin` (one in 128) of *any* thread: such a pin takes the time that it takes
/// to free a value.
///
/// A pin that is held for long delays no other thread. It only delays freeing: each value that is
/// replaced meanwhile, in any `Swap` of the process, keeps its memory. So `n` replacements during
/// one pin keep `n` old values. Drop a pin before you block, sleep or wait. If a pin is leaked
/// ([`mem::forget`](core::mem::forget)), no old value is ever dropped.
///
/// The epochs are those of the crate `crossbeam-epoch`, which all its users in the process share.
/// The last old values may never be dropped if the program ends.
///
/// Needs the feature `std`.
///
/// # Examples
///
/// ```
/// use std::thread;
///
/// use tamis_sync::Swap;
///
/// let limits = Swap::new(vec![1, 2]);
/// thread::scope(|scope| {
///     scope.spawn(|| assert!([2, 3].contains(&limits.pin().len())));
///     limits.replace(vec![1, 2, 3]);
/// });
/// assert_eq!(*limits.pin(), [1, 2, 3]);
/// ```
pub struct Swap<T> {
    /// Never null, but for a moment in `into_inner` and `drop`.
    current: Atomic<T>,
}

impl<T> Swap<T> {
    /// Creates a `Swap` with its first value.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Swap;
    /// assert_eq!(*Swap::new(1).pin(), 1);
    /// ```
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { current: Atomic::new(value) }
    }

    /// Gives access to the current value until the [`Pinned`] is dropped. Never waits for another
    /// thread. One pin in 128 of a thread also looks for old values that can be dropped.
    ///
    /// A pin inside another pin of the same thread is cheaper, and sees the current value, too.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Swap;
    ///
    /// let swap = Swap::new("old");
    /// let before = swap.pin();
    /// swap.replace("new");
    /// assert_eq!((*before, *swap.pin()), ("old", "new"));
    /// ```
    #[inline]
    pub fn pin(&self) -> Pinned<'_, T> {
        // First pin, then load: what is replaced from now on is not freed before `guard` is
        // dropped.
        let guard = epoch::pin();
        // ORDERING: Acquire, pairs with the swap in `replace`: what the replacing thread wrote into
        // the value is visible. If a call of `replace` happened before, coherence makes this load
        // return its value or a later one.
        let value = self.current.load(Ordering::Acquire, &guard).as_raw();
        Pinned { value, _guard: guard, swap: PhantomData }
    }

    /// Replaces the value. Pins that are taken after this returned see the new value.
    ///
    /// Waits for no pin. The old value is dropped when no pin can see it any more, perhaps later
    /// and on another thread: see [the type](Self#when-the-old-value-is-dropped).
    ///
    /// Drop your own pin before you call this, or the old value stays until you do. The pin in
    /// `swap.replace(f(&swap.pin()))` lives until the end of the statement: bind the result of `f`
    /// in a statement of its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Swap;
    ///
    /// let swap = Swap::new(vec![1]);
    /// let longer = [&swap.pin()[..], &[2]].concat();
    /// swap.replace(longer);
    /// assert_eq!(*swap.pin(), [1, 2]);
    /// ```
    pub fn replace(&self, new: T)
    where
        T: Send + 'static,
    {
        // Allocate before the pin.
        let new = Owned::new(new);
        let guard = epoch::pin();
        // ORDERING: AcqRel. Release pairs with the load in `pin`: what this thread wrote into the
        // new value is visible there. Acquire pairs with the swap that published the old value: its
        // contents are visible where it is dropped.
        let old = self.current.swap(new, Ordering::AcqRel, &guard);
        // SAFETY: the swap took `old` out of `current`, and each value is put there once; so this
        // call alone frees it, and pins from now on do not find it. Pins that found it are guards
        // of the same collector, which runs the destructor after they are dropped. It may do so on
        // another thread and at any time: `T` is `Send` and `'static`.
        unsafe { guard.defer_destroy(old) };
        // Without this the old value would wait in a bag of this thread, together with up to 63
        // others.
        guard.flush();
        drop(guard);
        // Try to free it now. If another pin is in the way, a later replacement or pin frees it.
        for _ in 1..ATTEMPTS {
            epoch::pin().flush();
        }
    }

    /// Returns exclusive access to the value.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Swap;
    ///
    /// let mut swap = Swap::new(vec![1]);
    /// swap.get_mut().push(2);
    /// assert_eq!(*swap.pin(), [1, 2]);
    /// ```
    #[must_use]
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self` proves that no other thread uses `current`, so no guard is needed.
        let guard = unsafe { epoch::unprotected() };
        // ORDERING: Relaxed: all replacements happened before this thread got exclusive access.
        let mut value = self.current.load(Ordering::Relaxed, guard);
        // SAFETY: `current` holds a valid value. A `Pinned` borrows `self`, so there is none now,
        // and none as long as the result borrows `self` exclusively.
        unsafe { value.deref_mut() }
    }

    /// Returns the value. Values that were replaced earlier may not have been dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Swap;
    ///
    /// let swap = Swap::new("old".to_owned());
    /// swap.replace("new".to_owned());
    /// assert_eq!(swap.into_inner(), "new");
    /// ```
    #[must_use]
    pub fn into_inner(self) -> T {
        // Without `drop`, which would find no value.
        let mut this = ManuallyDrop::new(self);
        *this.take_current().into_box()
    }

    /// Takes the value out, and leaves a null pointer: for a `Swap` that is not used afterwards.
    fn take_current(&mut self) -> Owned<T> {
        // SAFETY: `current` holds a value that only it owns. A `Pinned` borrows `self`, so there is
        // none now.
        unsafe { take(&mut self.current).into_owned() }
    }
}

/// Drops the value at once: no pin can exist any more.
impl<T> Drop for Swap<T> {
    fn drop(&mut self) {
        drop(self.take_current());
    }
}

/// Prints the current value.
impl<T: fmt::Debug> fmt::Debug for Swap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Swap").field(&*self.pin()).finish()
    }
}

/// Access to the value of a [`Swap`] at the time of [`Swap::pin`].
///
/// The value is not dropped before this is. Hold it for a short time: see [the
/// costs](Swap#when-the-old-value-is-dropped). It cannot be sent to another thread; so it cannot be
/// held across an `await` of a task that may change threads.
///
/// # Examples
///
/// ```
/// use tamis_sync::Swap;
///
/// let swap = Swap::new([1, 2]);
/// // One pin for several operations on the same value.
/// let pinned = swap.pin();
/// assert_eq!(pinned[0] + pinned[1], 3);
/// ```
///
/// It stays on its thread:
///
/// ```compile_fail
/// let swap = tamis_sync::Swap::new(1);
/// let pinned = swap.pin();
/// std::thread::scope(|scope| {
///     scope.spawn(|| drop(pinned));
/// });
/// ```
#[must_use = "the value is pinned only as long as this lives"]
pub struct Pinned<'s, T> {
    value: *const T,
    /// Keeps the value alive.
    _guard: Guard,
    swap: PhantomData<&'s Swap<T>>,
}

impl<T> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `pin` loaded the pointer under this guard, from a `Swap` that `self` still
        // borrows. Either the value is still the current one, which only the `Swap` frees, or it
        // was replaced after the pin, and the guard delays its destructor. Nobody has exclusive
        // access to a value that was put in a `Swap`, but by `&mut` of the `Swap`.
        unsafe { &*self.value }
    }
}

/// Prints the value.
impl<T: fmt::Debug> fmt::Debug for Pinned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(tamis_loom)))]
mod tests {
    use alloc::sync::Arc;
    use core::sync::atomic::AtomicU64;
    use std::thread;
    use std::time::Instant;

    use super::*;

    /// The numbers of values that were created and dropped.
    #[derive(Default)]
    struct Counts {
        created: AtomicU64,
        dropped: AtomicU64,
    }

    impl Counts {
        fn dropped(&self) -> u64 {
            // ORDERING: SeqCst: a test.
            self.dropped.load(Ordering::SeqCst)
        }

        /// Asserts that every value was dropped, and none twice, after the epoch has advanced.
        /// Other tests of this process may hold pins for a moment.
        fn assert_each_dropped_once(&self) {
            // ORDERING: SeqCst: a test.
            let created = self.created.load(Ordering::SeqCst);
            let start = Instant::now();
            while self.dropped() < created && start.elapsed().as_secs() < 20 {
                epoch::pin().flush();
                thread::yield_now();
            }
            assert_eq!(self.dropped(), created, "every value is dropped exactly once");
        }
    }

    /// A value that counts its drop, and that shows whether it was dropped.
    struct Value {
        number: u64,
        check: AtomicU64,
        counts: Arc<Counts>,
    }

    impl Value {
        fn new(number: u64, counts: &Arc<Counts>) -> Self {
            // ORDERING: SeqCst: a test.
            counts.created.fetch_add(1, Ordering::SeqCst);
            Self { number, check: AtomicU64::new(!number), counts: Arc::clone(counts) }
        }

        fn is_alive(&self) -> bool {
            // ORDERING: SeqCst: a test.
            self.check.load(Ordering::SeqCst) == !self.number
        }
    }

    impl Drop for Value {
        fn drop(&mut self) {
            assert!(self.is_alive(), "a value was dropped twice");
            // ORDERING: SeqCst: a test.
            self.check.store(self.number, Ordering::SeqCst);
            self.counts.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_pin_keeps_its_value_and_later_pins_see_the_new_one() {
        let counts = Arc::new(Counts::default());
        let swap = Swap::new(Value::new(0, &counts));
        let first = swap.pin();
        for number in 1..=200 {
            swap.replace(Value::new(number, &counts));
            assert_eq!(swap.pin().number, number);
        }
        // 200 replacements try to free 600 times, and none may free what `first` can see.
        assert!(first.is_alive() && first.number == 0);
        assert_eq!(counts.dropped(), 0, "a held pin keeps all values that are replaced meanwhile");
        drop(first);
        drop(swap);
        counts.assert_each_dropped_once();
    }

    #[test]
    fn a_pin_of_another_thread_keeps_its_value_and_delays_no_replacement() {
        let counts = Arc::new(Counts::default());
        let swap = Swap::new(Value::new(0, &counts));
        let (pinned, wait) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                let first = swap.pin();
                pinned.wait();
                wait.wait();
                assert!(first.is_alive() && first.number == 0);
                assert_eq!(counts.dropped(), 0);
                assert_eq!(swap.pin().number, 100);
            });
            pinned.wait();
            for number in 1..=100 {
                swap.replace(Value::new(number, &counts));
            }
            wait.wait();
        });
        drop(swap);
        counts.assert_each_dropped_once();
    }

    /// If `replace` left old values in the bag of its thread, the last one would always be there.
    #[test]
    fn without_pins_the_old_value_is_dropped_by_the_replacement() {
        let counts = Arc::new(Counts::default());
        let swap = Swap::new(Value::new(0, &counts));
        let start = Instant::now();
        // Other tests of this process may hold a pin now: try again.
        for replacements in 1.. {
            swap.replace(Value::new(replacements, &counts));
            if counts.dropped() == replacements {
                break;
            }
            assert!(start.elapsed().as_secs() < 20, "the old value stays after a replacement");
            thread::yield_now();
        }
    }

    #[test]
    fn the_value_can_be_changed_and_taken_out_with_exclusive_access() {
        let counts = Arc::new(Counts::default());
        let mut swap = Swap::new(Value::new(0, &counts));
        swap.replace(Value::new(1, &counts));
        swap.get_mut().number = 2;
        *swap.get_mut().check.get_mut() = !2;
        let value = swap.into_inner();
        assert!(value.number == 2 && value.is_alive());
        assert!(counts.dropped() < 2);
        drop(value);
        counts.assert_each_dropped_once();
    }

    #[test]
    fn the_current_value_is_dropped_with_the_swap() {
        let counts = Arc::new(Counts::default());
        drop(Swap::new(Value::new(0, &counts)));
        assert_eq!(counts.dropped(), 1);
    }

    /// Four threads pin while one replaces. A pin sees a value that is at least as new as every
    /// replacement that happened before, and no newer than the last one that has begun.
    #[test]
    fn racing_pins_see_no_value_that_was_replaced_before() {
        const REPLACEMENTS: u64 = 2000;
        let counts = Arc::new(Counts::default());
        let swap = Swap::new(Value::new(0, &counts));
        let (begun, ended) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut last = 0;
                    while last < REPLACEMENTS {
                        // ORDERING: Acquire, pairs with the store below: the replacement happened
                        // before the pin.
                        let at_least = ended.load(Ordering::Acquire);
                        let pinned = swap.pin();
                        assert!(pinned.number >= at_least.max(last), "a pin saw an old value");
                        assert!(pinned.is_alive(), "a pinned value was dropped");
                        // ORDERING: Acquire. The pin read from the replacement, which the store to
                        // `begun` precedes.
                        assert!(pinned.number <= begun.load(Ordering::Acquire));
                        last = pinned.number;
                        if last % 16 == 0 {
                            // Let replacements run while the value is pinned.
                            thread::yield_now();
                            assert!(pinned.is_alive(), "a pinned value was dropped");
                        }
                    }
                });
            }
            for number in 1..=REPLACEMENTS {
                // ORDERING: Release, both: they publish that the replacement has begun, and that it
                // has ended.
                begun.store(number, Ordering::Release);
                swap.replace(Value::new(number, &counts));
                ended.store(number, Ordering::Release);
            }
        });
        drop(swap);
        counts.assert_each_dropped_once();
    }

    /// Several threads replace: each value is dropped once, whoever replaced it.
    #[test]
    fn racing_replacements_drop_each_value_once() {
        let counts = Arc::new(Counts::default());
        let swap = Swap::new(Value::new(0, &counts));
        thread::scope(|scope| {
            for thread in 0..4 {
                let (swap, counts) = (&swap, &counts);
                scope.spawn(move || {
                    for round in 0..500 {
                        swap.replace(Value::new(thread * 1000 + round, counts));
                        assert!(swap.pin().is_alive(), "a pinned value was dropped");
                    }
                });
            }
        });
        drop(swap);
        counts.assert_each_dropped_once();
    }

    #[test]
    fn debug_prints_the_current_value() {
        let swap = Swap::new(1);
        swap.replace(2);
        assert_eq!(std::format!("{swap:?} {:?}", swap.pin()), "Swap(2) 2");
    }
}
