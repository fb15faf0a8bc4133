//! An append-only list that threads read while others append to it.

use alloc::boxed::Box;
use core::fmt;
use core::ptr;
#[cfg(not(any(tamis_loom, tamis_shuttle)))]
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering;

#[cfg(tamis_loom)]
use loom::sync::atomic::AtomicPtr;
#[cfg(tamis_shuttle)]
use shuttle::sync::atomic::AtomicPtr;

use crate::word::Word;

#[cfg(all(test, tamis_loom))]
mod models;

/// An append-only list of at least one and at most [`MAX`](Self::MAX) values. A value is never
/// moved, and is dropped with the list.
///
/// To append takes two steps. [`set`](Self::set) stores the next value; from then on
/// [`get`](Self::get) returns it, so that several threads can prepare it together.
/// [`publish`](Self::publish) makes it part of the list.
///
/// # Memory order
///
/// A thread that sees a value, by any method, sees everything that the thread which set it wrote
/// before. A thread that sees the value in the list also sees everything that the thread which
/// published it wrote, or saw, before.
///
/// # Examples
///
/// ```
/// use tamis_sync::Slots;
///
/// let slots = Slots::new("a");
/// assert!(slots.set(1, "b").is_ok());
/// assert_eq!((slots.len(), slots.get(1)), (1, Some(&"b")));
/// assert!(slots.publish(2));
/// assert_eq!(slots.iter().copied().collect::<String>(), "ab");
/// ```
pub struct Slots<T> {
    /// Null, or a box that `drop` takes back. A pointer changes once, from null.
    slots: [AtomicPtr<T>; LIMIT],
    /// The number of published values. All of them are set.
    published: Word,
    /// Sends and shares what a box of the value would.
    owned: core::marker::PhantomData<Box<T>>,
}

/// The model checker pays for every atomic in every execution.
const LIMIT: usize = if cfg!(tamis_loom) { 3 } else { 64 };

// SAFETY: a list owns its values, as a `Box` does.
unsafe impl<T: Send> Send for Slots<T> {}

// SAFETY: a shared list gives out shared references to its values (`T: Sync`), and drops values
// that another thread has set (`T: Send`).
unsafe impl<T: Send + Sync> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// The largest number of values.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Slots::<u8>::MAX, 64);
    /// ```
    pub const MAX: usize = LIMIT;

    /// Creates a list of one value.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Slots::new(7).iter().count(), 1);
    /// ```
    #[must_use]
    pub fn new(first: T) -> Self {
        let mut first = Some(first);
        let slots = core::array::from_fn(|_| {
            AtomicPtr::new(
                first.take().map_or(ptr::null_mut(), |first| Box::into_raw(Box::new(first))),
            )
        });
        Self { slots, published: Word::new(1), owned: core::marker::PhantomData }
    }

    /// Returns the number of published values.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Slots::new(7).len(), 1);
    /// ```
    #[expect(clippy::len_without_is_empty, reason = "a list is never empty")]
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // ORDERING: Acquire pairs with the Release of `publish`.
        self.published.load(Ordering::Acquire) as usize
    }

    /// Returns the value with this number, if it is set.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Slots::new(7).get(1), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        // ORDERING: Acquire pairs with the Release of `set`.
        let value = self.slots.get(index)?.load(Ordering::Acquire);
        // SAFETY: a pointer that is not null comes from `Box::into_raw` in `new` or `set`. It stays
        // until the list is dropped, and until then nothing has exclusive access to its value but
        // `iter_mut`, which has it to the list.
        unsafe { value.as_ref() }
    }

    /// Sets the value with this number, unless it is set.
    ///
    /// # Errors
    ///
    /// The value, if another was set before, or the list has no place with this number.
    ///
    /// # Examples
    ///
    /// ```
    /// let slots = tamis_sync::Slots::new(7);
    /// assert_eq!(slots.set(1, 8), Ok(&8));
    /// assert_eq!(slots.set(1, 9), Err(9));
    /// ```
    pub fn set(&self, index: usize, value: T) -> Result<&T, T> {
        let Some(slot) = self.slots.get(index) else { return Err(value) };
        let value = Box::into_raw(Box::new(value));
        // ORDERING: Release pairs with the Acquire of `get`: a thread that sees the pointer sees
        // the value. A failure returns the pointer of another thread, which is not used.
        match slot.compare_exchange(ptr::null_mut(), value, Ordering::Release, Ordering::Relaxed) {
            // SAFETY: as in `get`.
            Ok(_) => Ok(unsafe { &*value }),
            // SAFETY: the pointer comes from `Box::into_raw` above, and no other thread has seen
            // it.
            Err(_) => Err(*unsafe { Box::from_raw(value) }),
        }
    }

    /// Publishes the next value, so that the list has `len` of them. Returns whether this call did
    /// it: `false` if the list does not have `len - 1` values now, or the next one is not set.
    ///
    /// # Examples
    ///
    /// ```
    /// let slots = tamis_sync::Slots::new(7);
    /// assert!(!slots.publish(2), "not set");
    /// assert!(slots.set(1, 8).is_ok() && slots.publish(2) && !slots.publish(2));
    /// ```
    #[cfg_attr(
        tamis_loom,
        expect(clippy::must_use_candidate, reason = "mostly called for its effect")
    )]
    pub fn publish(&self, len: usize) -> bool {
        let Some(before) = len.checked_sub(1) else { return false };
        // ORDERING: Release pairs with the Acquire of `len`. It includes the Acquire of `get` here:
        // a reader of the list sees the value, even if another thread has set it.
        self.get(before).is_some()
            && self
                .published
                .try_update(Ordering::Release, |now| (now == before as u64).then_some(len as u64))
                .is_ok()
    }

    /// Returns the published values, oldest first. What is published later is not among them.
    ///
    /// # Examples
    ///
    /// ```
    /// let slots = tamis_sync::Slots::new(7);
    /// assert_eq!(slots.iter().next_back(), Some(&7));
    /// ```
    #[inline]
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator + Clone {
        (0..self.len()).map(|index| match self.get(index) {
            Some(value) => value,
            None => unreachable!("a published value is set"),
        })
    }

    /// Returns all values that are set, published or not, for exclusive access.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut slots = tamis_sync::Slots::new(7);
    /// slots.iter_mut().for_each(|value| *value += 1);
    /// assert_eq!(slots.get(0), Some(&8));
    /// ```
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        // ORDERING: Acquire, as in `get`. (`&mut self` orders every write before; a model's atomic
        // has no `get_mut`.)
        let values = self.slots.iter_mut().map(|slot| slot.load(Ordering::Acquire));
        // SAFETY: as in `get`. `&mut self` proves that there is no other reference to a value, and
        // no pointer is twice in the list.
        values.filter_map(|value| unsafe { value.as_mut() })
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        for slot in &self.slots {
            // ORDERING: Acquire, as in `iter_mut`.
            let value = slot.load(Ordering::Acquire);
            if !value.is_null() {
                // SAFETY: the pointer comes from `Box::into_raw`, it is in the list once, and no
                // reference to its value outlives the list.
                drop(unsafe { Box::from_raw(value) });
            }
        }
    }
}

/// Prints the published values.
impl<T: fmt::Debug> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use super::*;

    /// Each value is dropped once: those in the list with the list, those that were refused at
    /// once.
    #[test]
    fn values_are_dropped_once() {
        let value = Arc::new(());
        let slots = Slots::new(Arc::clone(&value));
        assert!(slots.set(1, Arc::clone(&value)).is_ok());
        assert!(slots.set(1, Arc::clone(&value)).is_err(), "it is set");
        assert!(slots.set(Slots::<u8>::MAX, Arc::clone(&value)).is_err(), "there is no such place");
        assert_eq!(Arc::strong_count(&value), 3);
        drop(slots);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn values_are_published_in_order() {
        let slots = Slots::new(0);
        assert!(slots.set(2, 2).is_ok());
        assert!(!slots.publish(3) && !slots.publish(2) && !slots.publish(0) && !slots.publish(1));
        assert!(slots.set(1, 1).is_ok());
        assert!(slots.publish(2) && slots.publish(3) && !slots.publish(3));
        assert_eq!(slots.iter().rev().copied().collect::<Vec<_>>(), [2, 1, 0]);
    }

    /// Of all threads that set and publish the same places, one each does it, and all see a list in
    /// order.
    #[test]
    fn racing_threads_append_each_place_once() {
        const THREADS: usize = 4;
        let slots = Slots::new((0, 0));
        let done: Vec<(usize, usize)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let slots = &slots;
                    scope.spawn(move || {
                        let (mut set, mut published) = (0, 0);
                        for index in 1..Slots::<u8>::MAX {
                            set += usize::from(slots.set(index, (index, thread)).is_ok());
                            published += usize::from(slots.publish(index + 1));
                            assert!(slots.iter().enumerate().all(|(at, value)| value.0 == at));
                            assert!(slots.len() > index, "this thread or another has published it");
                        }
                        (set, published)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let all = Slots::<u8>::MAX - 1;
        assert_eq!(done.iter().map(|done| done.0).sum::<usize>(), all);
        assert_eq!(done.iter().map(|done| done.1).sum::<usize>(), all);
    }
}
