//! Finds out whether the filter that a client has opened is still the one of its name.
//!
//! A filter that is deleted and created again has other keys, so a client of the old one can harm
//! nothing. It notices when it misses a key, and otherwise when it asks, at most [`AGE`] after it asked
//! last. Until then the old filter and the new one may each have a winner.

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redis::Value;
use tokio::time::{Instant, timeout, timeout_at};

use crate::descriptor::Descriptor;
use crate::router::{Failure, Kind};
use crate::shared::{Call, Shared};
use crate::{Error, commands, scripts};

/// How long an answer counts.
const AGE: Duration = Duration::from_secs(10);

/// How long a call waits for the answer. The node of the descriptor may be down while those of the
/// shards work: then a later call asks again.
const WAIT: Duration = Duration::from_secs(1);

/// What a client knows about its filter.
pub(crate) struct Current(Mutex<Known>);

struct Known {
    /// Set once and for ever: a client does not open the next filter by itself, since what it has
    /// learned from the old one does not hold there.
    replaced: bool,
    /// When the descriptor is asked for next.
    due: Instant,
}

impl Current {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Known { replaced: false, due: Instant::now() + AGE }))
    }

    /// Returns whether this call asks. Of several, one does.
    fn is_due(&self) -> bool {
        let (mut known, now) = (self.known(), Instant::now());
        let is_due = now >= known.due && !known.replaced;
        if is_due {
            known.due = now + WAIT;
        }
        is_due
    }

    /// Records the answer.
    fn answer(&self, is_current: bool) {
        let mut known = self.known();
        known.replaced |= !is_current;
        known.due = Instant::now() + AGE;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // No code that could panic runs while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Begins a call, unless the filter has been replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Replaced`].
    pub(crate) async fn begin(&self) -> Result<Call<'_>, Error> {
        let call = self.call();
        if self.is_current.is_due() {
            // No answer in time, or an error, says nothing about the filter.
            _ = timeout(WAIT, timeout_at(call.end(), call.ask())).await;
        }
        if self.is_current.known().replaced { Err(Error::Replaced) } else { Ok(call) }
    }
}

impl Call<'_> {
    /// Returns whether the descriptor is that of this filter.
    pub(crate) async fn ask(&self) -> Result<bool, Error> {
        let command = commands::get(&self.name.descriptor());
        let slot = self.name.descriptor_slot();
        let sent = self.router.send(slot, &[command], Kind::Read, self.end()).await;
        let is_current = match sent.map_err(Failure::of_read)?.values.first() {
            Some(Value::BulkString(text)) => Descriptor::identity_of(text) == Some(self.identity()),
            Some(Value::Nil) => false,
            _ => return Err(Error::Reply { expected: "a text" }),
        };
        self.is_current.answer(is_current);
        Ok(is_current)
    }

    /// Removes a key that an insert has written, unless it is a part of the filter. The filter has been
    /// replaced, so nobody else would.
    pub(crate) async fn remove(&self, shard: u32, generation: u32) {
        let key = self.key(shard, generation);
        let command = scripts::remove(&key, self.generation(generation), self.identity());
        _ = self.send_one(shard, command, Kind::Idempotent).await;
    }
}
