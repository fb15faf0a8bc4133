//! Finds out whether the filter that a client has opened is still the one of its name.
//!
//! A filter that is deleted and created again has other keys, so a client of the old one can harm
//! nothing. It notices when it misses a key, and otherwise when it asks, at most ten seconds after
//! it asked last. Until then the old filter and the new one may each have a winner.

use redis::Value;
use tokio::time::{timeout, timeout_at};

use crate::calls::access::WRONG_TYPE;
use crate::calls::current::WAIT;
use crate::calls::shared::{Call, Shared};
use crate::error::Error;
use crate::servers::router::{Failure, Kind};
use crate::wire::descriptor::Descriptor;
use crate::wire::{commands, scripts};

const FORKED: &str =
    "this process was forked after it had opened the filter: open it again in this process";

impl Shared {
    /// Begins a call, unless the filter has been replaced, or this process is a forked one.
    ///
    /// # Errors
    ///
    /// [`Error::Replaced`], [`Error::System`].
    pub(crate) async fn begin(&self) -> Result<Call<'_>, Error> {
        // Before anything waits: the runtime, too, is that of the other process.
        if !self.router.is_own() {
            return Err(Error::System { reason: FORKED.into() });
        }
        let call = self.call();
        if self.is_current.is_due() {
            // No answer in time, or an error, says nothing about the filter. The connection may be
            // dead without a word: the next call makes another.
            if timeout(WAIT, timeout_at(call.end(), call.ask())).await.is_err() {
                self.router.renew(self.name.descriptor_slot());
            }
        }
        if self.is_current.is_replaced() { Err(Error::Replaced) } else { Ok(call) }
    }
}

impl Call<'_> {
    /// Returns whether the descriptor is that of this filter.
    pub(crate) async fn ask(&self) -> Result<bool, Error> {
        let command = commands::get(&self.name.descriptor());
        let slot = self.name.descriptor_slot();
        let sent = self.router.send(slot, &[command], Kind::Read, self.end()).await;
        let is_current = match sent {
            // A key of another type is no descriptor.
            Err(Failure::Refused(reason)) if reason.contains(WRONG_TYPE) => false,
            Err(failure) => return Err(failure.of_read()),
            Ok(replies) => match replies.values.first() {
                Some(Value::BulkString(text)) => {
                    Descriptor::identity_of(text) == Some(self.identity())
                }
                Some(Value::Nil) => false,
                _ => return Err(Error::Reply { expected: "a text" }),
            },
        };
        self.is_current.answer(is_current);
        Ok(is_current)
    }

    /// Removes a key that an insert has written, unless it is a part of the filter. The filter has
    /// been replaced, so nobody else would.
    pub(crate) async fn remove(&self, shard: u32, slice: u32) {
        let key = self.key(shard, slice);
        let command = scripts::remove(&key, self.slice(slice), self.identity());
        _ = self.send_one(shard, command, Kind::Idempotent).await;
    }
}
