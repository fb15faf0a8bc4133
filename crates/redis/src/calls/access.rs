//! The keys of a name, the way to them, and the end of the call: what creates, opens and deletes
//! filters needs before there is a filter.

use redis::{Cmd, Value};
use tokio::time::Instant;

use crate::error::Error;
use crate::servers::router::Router;
use crate::wire::commands;
use crate::wire::name::Name;

/// The code of the error for a command on a key of another type.
pub(crate) const WRONG_TYPE: &str = "WRONGTYPE";

#[derive(Clone, Copy)]
pub(crate) struct Access<'a> {
    pub(crate) name: &'a Name,
    pub(crate) router: &'a Router,
    /// When the call has to end. All of its commands share it.
    pub(crate) end: Instant,
}

impl Access<'_> {
    /// Sends a command that may be repeated to the slot of the descriptor and of the lives.
    pub(crate) async fn descriptor(&self, command: Cmd) -> Result<Value, Error> {
        self.router.send_one(self.name.descriptor_slot(), command, self.end).await
    }

    /// Reads the descriptor, if there is one. A key of another type is as one without text.
    pub(crate) async fn text(&self) -> Result<Option<Vec<u8>>, Error> {
        match self.descriptor(commands::get(&self.name.descriptor())).await {
            Ok(Value::BulkString(text)) => Ok(Some(text)),
            Ok(Value::Nil) => Ok(None),
            Ok(_) => Err(Error::Reply { expected: "a text" }),
            Err(Error::Refused { reason }) if reason.contains(WRONG_TYPE) => Ok(Some(Vec::new())),
            Err(error) => Err(error),
        }
    }

    /// Sends a command that may be repeated to the slot of a shard.
    pub(crate) async fn shard(&self, shard: u32, command: Cmd) -> Result<Value, Error> {
        self.router.send_one(self.name.slot(shard), command, self.end).await
    }
}
