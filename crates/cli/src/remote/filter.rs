//! How a filter in Redis is opened.

use core::time::Duration;

use tamis_redis::{Builder, Error as RedisError, RedisBloomFilter};

use super::Address;
use super::failure::refused;
use crate::Error;

/// How long a command tries to reach a server: longer than a cluster takes to replace a master with its usual settings.
const DEADLINE: Duration = Duration::from_secs(20);

/// A filter of records in Redis.
pub(crate) type Filter = RedisBloomFilter<[u8]>;

impl Address {
    /// Returns a builder for the filter.
    pub(crate) fn builder(&self) -> Builder<[u8]> {
        RedisBloomFilter::builder(&self.server, &self.name).deadline(DEADLINE)
    }

    /// Opens the filter, which must exist.
    pub(crate) fn open(&self) -> Result<Filter, Error> {
        self.builder().open().map_err(|source| self.refused(source))
    }

    /// The error of a filter, with its address.
    pub(crate) fn refused(&self, source: RedisError) -> Error {
        refused(self, source)
    }
}
