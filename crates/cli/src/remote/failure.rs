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
    let (records, were) = (counted(count, "record"), if count == 1 { "was" } else { "were" });
    let fate = if may_be_stored(&source) {
        format!("{records} may be stored and {were} not printed")
    } else {
        format!("{records} {were} not printed; run again with the rest of the input")
    };
    Why::Remote { source: source.into(), fate }
}

/// Whether an item may be stored although its insert has failed.
pub(super) const fn may_be_stored(error: &RedisError) -> bool {
    matches!(error, RedisError::VerdictUnknown { .. } | RedisError::NotReplicated { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_record_is_not_many() {
        let unknown = RedisError::VerdictUnknown { reason: "x".into() };
        for (count, source, expected) in [
            (1, RedisError::Replaced, "1 record was not printed;"),
            (2, RedisError::Replaced, "2 records were not printed;"),
            (1, unknown.clone(), "1 record may be stored and was not printed"),
            (2, unknown, "2 records may be stored and were not printed"),
        ] {
            let Why::Remote { fate, .. } = without_verdict(count, source) else { unreachable!() };
            assert!(fate.starts_with(expected), "{fate}");
        }
    }
}
