//! What an insert or a query in a shard with epochs does next, and what a reply means for it. Knows
//! no connection.

use std::sync::Arc;

use super::Window;
use super::epochs::Epochs;
use crate::error::Error;
use crate::wire::round::count;

/// Why an insert, a query or a deletion has no end.
pub(super) const CHANGES: &str = "the shard changes its epochs again and again";

/// What a shard answers to an insert.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reply {
    /// It has another list. `None`: it has none of this filter. Nothing was stored.
    Other(Option<Epochs>),
    /// The newest epoch has ended, and the key of the next was not named. Nothing was stored.
    Ended,
    /// This slice of an epoch is listed, is not due, and is missing. Nothing was stored.
    Lost(u32),
    /// The list as it is now, whether each item was new, and how many bits of the sample of the
    /// open slice are set: 0 if they were not to be counted, `None` if they could not.
    Done(Option<Epochs>, Vec<bool>, Option<u64>),
}

/// Whether each item was new, and the ones in the sample, as in [`Reply::Done`].
pub(crate) type Verdicts = (Vec<bool>, Option<u64>);

/// The insert of items into one shard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Insert {
    epochs: Arc<Epochs>,
    /// Whether the next command may begin an epoch.
    begins: bool,
    rounds: u32,
}

impl Insert {
    /// Takes the list that is known of the shard.
    pub(crate) const fn new(epochs: Arc<Epochs>) -> Self {
        Self { epochs, begins: false, rounds: 0 }
    }

    /// Returns the list whose keys the next command names.
    pub(crate) const fn epochs(&self) -> &Arc<Epochs> {
        &self.epochs
    }

    /// Returns whether the next command also names the key of the next epoch.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] after too many rounds.
    pub(crate) fn next(&mut self) -> Result<bool, Error> {
        count(&mut self.rounds, CHANGES)?;
        Ok(self.begins)
    }

    /// Takes the reply. Returns the verdicts and the count of bits, or as an error the slice
    /// that is lost, or `None` if the next command must be sent.
    pub(crate) fn read(&mut self, reply: Reply) -> Option<Result<Verdicts, u32>> {
        match reply {
            Reply::Other(Some(epochs)) => {
                self.epochs = Arc::new(epochs);
                // In a slot that is being moved, a command that names a missing key waits.
                self.begins = false;
                None
            }
            Reply::Ended => {
                self.begins = true;
                None
            }
            Reply::Other(None) => Some(Err(0)),
            Reply::Lost(slice) => Some(Err(slice)),
            Reply::Done(epochs, new, ones) => {
                // Without a list that can be read, the next insert asks.
                if let Some(epochs) = epochs {
                    self.epochs = Arc::new(epochs);
                }
                Some(Ok((new, ones)))
            }
        }
    }
}

/// The query for items in one shard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Query {
    epochs: Arc<Epochs>,
    rounds: u32,
}

impl Query {
    /// Takes the list that is known of the shard.
    pub(crate) const fn new(epochs: Arc<Epochs>) -> Self {
        Self { epochs, rounds: 0 }
    }

    /// Returns the list whose keys are read next: after the list, and before the list and the time.
    pub(crate) const fn epochs(&self) -> &Arc<Epochs> {
        &self.epochs
    }

    /// Begins a round. Returns whether it is the first: then older bits will do.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] after too many rounds.
    pub(crate) fn next(&mut self) -> Result<bool, Error> {
        count(&mut self.rounds, CHANGES)?;
        Ok(self.rounds == 1)
    }

    /// Takes what was read, over one connection: the list before and after the keys; for each key
    /// whether it has each item, or `None` if it is missing; the time of the server in
    /// milliseconds. Returns which of the `items` items were found, or as an error the slice
    /// that is lost, or `None` if the keys must be read again.
    pub(crate) fn read(
        &mut self,
        window: Window,
        [before, after]: [Option<Epochs>; 2],
        keys: &[Option<Vec<bool>>],
        now: i64,
        items: usize,
    ) -> Option<Result<Vec<bool>, u32>> {
        // What a replica says first is checked by the master.
        let first = self.rounds == 1;
        let same = before.as_ref() == Some(&*self.epochs) && before == after;
        match after {
            None => return (!first).then_some(Err(0)),
            // The keys of another list were read, and some of them may have been dropped.
            Some(after) if !same => {
                self.epochs = Arc::new(after);
                return None;
            }
            Some(_) => {}
        }
        let mut found = vec![false; items];
        for ((epoch, slice), key) in self.epochs.keys().zip(keys) {
            if !self.epochs.is_live(epoch, window, now) {
                continue;
            }
            let Some(key) = key else { return (!first).then_some(Err(slice)) };
            found.iter_mut().zip(key).for_each(|(found, key)| *found |= key);
        }
        Some(Ok(found))
    }
}
