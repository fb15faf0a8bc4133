//! The errors of a filter in Redis, as the program reports them.

use tamis_redis::Error as RedisError;

use super::Address;
use crate::error::{Error, Why};
use crate::units::counted;

impl Address {
    /// The error of a filter that cannot be used, with its address.
    pub(crate) fn refused(&self, source: RedisError) -> Error {
        let advice = match source {
            RedisError::Parameters { .. } => Some("omit the option, or give another name"),
            RedisError::Missing => Some("'tamis new' creates one"),
            RedisError::DescriptorLost => Some("'tamis delete' removes what is left of it"),
            _ => None,
        };
        let code = exit_code(&source);
        Error::Remote { name: self.to_string(), source: source.into(), advice, code }
    }
}

/// The exit code: 1 if a server failed, 2 if the filter is another one than was asked for.
const fn exit_code(source: &RedisError) -> u8 {
    match source {
        RedisError::Unavailable { .. }
        | RedisError::VerdictUnknown { .. }
        | RedisError::NotReplicated { .. }
        | RedisError::Creating
        | RedisError::Alloc { .. }
        | RedisError::Lost { .. }
        | RedisError::DescriptorLost
        | RedisError::Replaced
        | RedisError::Refused { .. }
        | RedisError::Reply { .. }
        | RedisError::System { .. } => 1,
        _ => 2,
    }
}

/// Why a chunk ends: `count` of its records have no verdict.
pub(super) fn without_verdict(count: u64, source: RedisError) -> Why {
    let records = counted(count, "record");
    let fate = if may_be_stored(&source) {
        format!("{records} may be stored and were not printed")
    } else {
        format!("{records} were not printed; run again with the rest of the input")
    };
    Why::Remote { source: source.into(), fate }
}

/// Whether an item may be stored although its insert has failed.
pub(super) const fn may_be_stored(error: &RedisError) -> bool {
    matches!(error, RedisError::VerdictUnknown { .. } | RedisError::NotReplicated { .. })
}
