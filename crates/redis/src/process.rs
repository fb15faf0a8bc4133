//! A value of the process that made it. A child that was forked has a copy of it, and leaves it
//! alone: with its connections it would read replies of its parent.

use core::mem::forget;
use core::ops::Deref;
use std::process;

/// The value. In a child it is not dropped: that would end what the parent uses.
#[derive(Debug)]
pub(crate) struct OwnProcess<T> {
    /// There until it is taken.
    value: Option<T>,
    /// The number of the process that made it.
    process: u32,
}

impl<T> OwnProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), process: process::id() }
    }

    /// Returns whether this process made the value.
    pub(crate) fn is_own(&self) -> bool {
        self.process == process::id()
    }

    /// Takes the value, before this is dropped. Nothing in a child.
    pub(crate) fn take(&mut self) -> Option<T> {
        if self.is_own() { self.value.take() } else { None }
    }

    /// Makes it that of another process.
    #[cfg(test)]
    pub(crate) const fn give_away(&mut self) {
        self.process = !self.process;
    }
}

impl<T> Deref for OwnProcess<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let Some(value) = &self.value else { unreachable!("it is taken only at the end") };
        value
    }
}

impl<T> Drop for OwnProcess<T> {
    fn drop(&mut self) {
        if !self.is_own() {
            forget(self.value.take());
        }
    }
}
