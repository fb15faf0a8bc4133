//! How a filter in Redis is opened, and what is said while a server does not answer.

use tamis_redis::{Builder, Event, RedisBloomFilter};

use super::Address;
use crate::args::ServerArgs;
use crate::error::Error;
use crate::screen;

/// A filter of records in Redis.
pub(crate) type Filter = RedisBloomFilter<[u8]>;

impl Address {
    /// Returns a builder for the filter. Unless `quiet`, a line says what the program waits for,
    /// and until when.
    pub(crate) fn builder(&self, server: &ServerArgs, quiet: bool) -> Builder<[u8]> {
        let mut builder = RedisBloomFilter::builder(&self.server, &self.name);
        if let Some(deadline) = server.deadline() {
            builder = builder.deadline(deadline);
        }
        if quiet {
            return builder;
        }
        let address = self.to_string();
        builder.on_event(move |event| {
            if let Event::Waiting { reason, left } = event {
                let left = left.as_secs_f64().ceil();
                screen::say(&format!("{address}: {reason}; waiting, for at most {left} s more"));
            }
        })
    }

    /// Opens the filter, which must exist.
    pub(crate) fn open(&self, server: &ServerArgs, quiet: bool) -> Result<Filter, Error> {
        self.builder(server, quiet).open().map_err(|source| self.refused(source))
    }
}
