//! The errors of a filter in Redis, as the program reports them.

use tamis_redis::Error as RedisError;

use super::Address;
use crate::error::{Error, Why};
use crate::units::counted;

impl Address {
    /// The error of a filter that cannot be used, with its address.
    pub(crate) fn refused(&self, source: RedisError) -> Error {
        let advice = match source {
            RedisError::Parameters { .. } => {
                Some("give the options of the filter, or another name")
            }
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

/// Why a chunk ends: of its records without a verdict, `unknown` may be stored, `others` are not.
pub(super) fn without_verdict(unknown: u64, others: u64, source: RedisError) -> Why {
    let were = |count| if count == 1 { "was" } else { "were" };
    let stored = (unknown > 0).then(|| {
        format!("{} may be stored and {} not printed", counted(unknown, "record"), were(unknown))
    });
    let others = (others > 0).then(|| {
        let more = if unknown > 0 { " more" } else { "" };
        let records = counted(others, "record");
        format!(
            "{records}{more} {} not printed; run again with the rest of the input",
            were(others)
        )
    });
    let fate = [stored, others].into_iter().flatten().collect::<Vec<_>>().join("; ");
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
        let rest = "; run again with the rest of the input";
        for (stored, others, source, expected) in [
            (0, 1, RedisError::Replaced, format!("1 record was not printed{rest}")),
            (0, 2, RedisError::Replaced, format!("2 records were not printed{rest}")),
            (1, 0, unknown.clone(), "1 record may be stored and was not printed".to_owned()),
            (2, 0, unknown.clone(), "2 records may be stored and were not printed".to_owned()),
            (
                16,
                1984,
                unknown,
                format!(
                    "16 records may be stored and were not printed; 1,984 records more were not \
                     printed{rest}"
                ),
            ),
        ] {
            let why = without_verdict(stored, others, source);
            let Why::Remote { fate, .. } = why else { unreachable!() };
            assert_eq!(fate, expected);
        }
    }
}
