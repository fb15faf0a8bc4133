//! What can go wrong, and what is then true of the filter.

use core::time::Duration;
use std::sync::Arc;

use tamis_core::BuildError;

/// The reason why an operation on a filter in Redis failed.
///
/// Each variant states what is true of the item: nothing is stored, or it is unknown whether
/// something is.
///
/// # Examples
///
/// ```
/// use tamis_redis::{Error, RedisBloomFilter};
///
/// // No server listens there.
/// let builder = RedisBloomFilter::<str>::builder("redis://127.0.0.1:1/", "crawl");
/// let error = builder.deadline(std::time::Duration::ZERO).open().unwrap_err();
/// assert!(matches!(error, Error::Unavailable { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address of a server is not a valid URL such as `redis://127.0.0.1:6379/`.
    #[error("the address is not valid: {reason}")]
    Address {
        /// What is wrong with it.
        reason: Arc<str>,
    },
    /// The first connection failed for a reason that does not pass by waiting: no such host, a
    /// wrong password, no such database, encryption on one side only, or a Sentinel. Nothing was
    /// stored. After the first connection, a call that fails for such a reason tries again until
    /// its deadline, since hosts and servers that are replaced come back.
    #[error("cannot connect: {reason}")]
    Connect {
        /// What is wrong.
        reason: Arc<str>,
    },
    /// The name of the filter is empty, longer than 200 bytes, or contains a brace or a control
    /// character: the keys of a shard could not be hashed by one part of them.
    #[error("the name of a filter has 1 to 200 bytes, and no brace or control character")]
    Name,
    /// The number of shards is 0 or above 65,536.
    #[error("a filter has 1 to 65,536 shards, not {shards}")]
    Shards {
        /// The number given.
        shards: u32,
    },
    /// The sizes are impossible. A slice of a shard ends at 512 MiB: a larger filter, or one that
    /// is to grow, needs more shards.
    #[error("{}", message(.0))]
    Build(#[from] BuildError),
    /// The server has no filter of this name.
    #[error("the server has no filter of this name")]
    Missing,
    /// The server has a filter of this name already.
    #[error("the server has a filter of this name already")]
    Exists,
    /// Another client is creating the filter, or was killed while it did. Wait, or use
    /// `open_or_create`, which takes the place of a client that was killed.
    #[error("another client is creating the filter, or was killed while it did")]
    Creating,
    /// The description of the filter is not valid. Nothing was changed.
    #[error("the description of the filter is not valid: {found}")]
    Descriptor {
        /// What is wrong with it.
        found: Arc<str>,
    },
    /// The description of the filter is gone: evicted, expired, or deleted without `destroy`. Its
    /// bits may be there, and no client can open it. Nothing was changed: `destroy` removes what is
    /// left, and then the filter can be created and filled again.
    #[error(
        "the description of the filter is gone (evicted, expired, or deleted by hand), and no client \
         can open the filter without it; delete the filter and build it again"
    )]
    DescriptorLost,
    /// The filter has other parameters than those that the builder was given.
    #[error("the filter has another {field}: found {found}, expected {expected}")]
    Parameters {
        /// The parameter.
        field: &'static str,
        /// Its value in the server.
        found: Arc<str>,
        /// The value that the builder was given.
        expected: Arc<str>,
    },
    /// A part of the filter is gone from the server: evicted, expired, deleted, or lost by a
    /// restart without persistence. Items of this shard may have been lost. Nothing was stored.
    ///
    /// A filter with a window heals: the shard works again when the items that are lost would have
    /// been forgotten, unless its list of epochs is gone.
    #[error(
        "slice {slice} of shard {shard} is gone (evicted, expired, deleted, or lost by a restart), \
         and its items with it; delete the filter and build it again (one with a window heals by \
         itself, unless the key of its epochs is gone)"
    )]
    Lost {
        /// The number of the shard.
        shard: u32,
        /// The slice whose bits are missing; with a window, that of an epoch.
        slice: u32,
    },
    /// The filter was deleted since this client opened it, or replaced by another of the same name;
    /// or the server has lost its descriptor, as by a restart without persistence. Nothing was
    /// stored, and this client stores nothing any more: open the filter again.
    ///
    /// Other clients of the old filter notice at most 10 seconds later, at their next call. Until
    /// then an item may be new to the old filter and to the new one.
    #[error(
        "the filter was deleted or replaced since it was opened; nothing was stored; open it again"
    )]
    Replaced,
    /// Bits that were pushed were evicted, or deleted, before they were added to this shard. No
    /// item of this shard was added. The push can be repeated.
    #[error(
        "bits on their way to shard {shard} were evicted or deleted, and none of them was added; \
         repeat the push"
    )]
    Incomplete {
        /// The number of the shard.
        shard: u32,
    },
    /// No server could be reached, or none accepted commands, until the deadline of the call
    /// (`deadline` of the builder). Nothing was stored, and the operation can be repeated.
    #[error("the server is not available, and nothing was stored: {reason}")]
    Unavailable {
        /// The reason why the last attempt failed.
        reason: Arc<str>,
    },
    /// The insert was sent, and its reply was lost, or a part of the filter was lost while it ran.
    /// The item may be in the filter or not. If it is, perhaps nobody got `true` for it. The insert
    /// is not repeated: the repetition might find its own bits and return `false`.
    ///
    /// When a filter is created: it may be there, ready or not. When one is pushed: a part may be
    /// added.
    #[error("the verdict is unknown, and the item may be stored or not: {reason}")]
    VerdictUnknown {
        /// Why the verdict is unknown.
        reason: Arc<str>,
    },
    /// The insert has a verdict, but fewer replicas than requested have confirmed it in time. The
    /// item is stored in the master. If the master fails now, the item may be lost.
    #[error(
        "stored in the master, but confirmed by only {replicas} replicas (the item was {})",
        if *.new { "new" } else { "not new" }
    )]
    NotReplicated {
        /// The verdict: whether this insert was the first of the item.
        new: bool,
        /// The number of replicas that confirmed.
        replicas: u32,
    },
    /// The server refused a command. Nothing was stored. A deletion may be partial.
    #[error("the server refused the command: {reason}")]
    Refused {
        /// The message of the server.
        reason: Arc<str>,
    },
    /// The server's reply is not one that the command can have.
    #[error("the reply of the server is not valid: expected {expected}")]
    Reply {
        /// What was expected.
        expected: &'static str,
    },
    /// The local filter does not fit this one: another hash, seed, normal form or geometry. Nothing
    /// was stored.
    #[error("the local filter has another {field}")]
    Mismatch {
        /// What differs.
        field: &'static str,
    },
    /// The span of a filter that forgets is below one second or above ten years.
    #[error("a filter can remember for one second to ten years, not for {span:?}")]
    Span {
        /// The span given.
        span: Duration,
    },
    /// The filter forgets (it has a window), and this operation is for filters that do not: a copy
    /// would remember what the filter has forgotten. Nothing was sent.
    #[error(
        "the filter forgets items after some time; it cannot be copied, added to, or put behind a \
         local filter"
    )]
    Window,
    /// There is no memory for a local copy of the filter.
    #[error("cannot allocate {bytes} bytes")]
    Alloc {
        /// Bytes requested.
        bytes: u64,
    },
    /// The system provided no thread or no random numbers, or this process was forked after it had
    /// opened the filter.
    #[error("{reason}")]
    System {
        /// The error of the system.
        reason: Arc<str>,
    },
}

impl Error {
    /// Returns the error of an item that was not sent, after this error of another one.
    pub(crate) fn not_sent(&self) -> Self {
        match self {
            Self::VerdictUnknown { reason } => Self::Unavailable { reason: reason.clone() },
            Self::NotReplicated { .. } => Self::Unavailable { reason: self.to_string().into() },
            other => other.clone(),
        }
    }
}

/// Returns the message of an error of sizes, for a filter in shards.
fn message(error: &BuildError) -> String {
    match error {
        BuildError::TooLarge => String::from(
            "a slice of a shard would exceed 512 MiB: give a smaller capacity, or more shards to the \
             builder. A filter that grows has room for two slices",
        ),
        error => error.to_string(),
    }
}
