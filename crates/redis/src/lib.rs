//! A Bloom filter of [Tamis](https://docs.rs/tamis) in Redis or Valkey: shared by any number of
//! programs on any number of machines, spread over one server or a cluster, on plain bitmaps,
//! without a module.
//!
//! | | |
//! |---|---|
//! | [`RedisBloomFilter`] | the filter, for blocking programs |
//! | [`AsyncRedisBloomFilter`] | the filter, for asynchronous programs on tokio |
//! | [`LocalFirst`], [`AsyncLocalFirst`] | a filter in this process in front of it, which answers repeated items without a round trip |
//! | [`Local`] | a copy in this process, which can be saved in a file |
//! | [`Event`] | what a filter does by itself, for a log: it waits, tries again, follows slots, grows |
//!
//! # Exactly one winner
//!
//! All bits of an item are in one key, and one `BITFIELD` command sets them and returns their old
//! values. (Two kinds of insert are scripts: those whose hash selects them to count bits, and those
//! of a filter with a window.) The server runs one command at a time, so of any number of clients
//! that insert an item, one finds a bit that was 0: its insert returns `true`, and all others
//! return `false`. (None returns `true` if the item was a false positive before, or becomes one.)
//! This holds while the filter grows: [`protocol`] has the proof. If the reply to an insert is
//! lost, that insert returns [`Error::VerdictUnknown`], and is not sent again; then *exactly one*
//! becomes *at most one*.
//!
//! # What a failure costs
//!
//! | what fails | inserts | queries |
//! |---|---|---|
//! | a connection breaks, or a reply is late | those on their way return [`Error::VerdictUnknown`] | are repeated |
//! | a connection breaks while it is idle | go on over a new one | likewise |
//! | the first connection fails for good (unknown host, wrong password) | return [`Error::Connect`] at once | likewise |
//! | no server is reached until the deadline | return [`Error::Unavailable`]; nothing is stored | likewise |
//! | a cluster moves a slot, or replaces a master | go on at the new node | likewise |
//! | a key is not found while its slot moves | wait, and return [`Error::Unavailable`] at the deadline | likewise |
//! | a master is lost with writes that no replica has | these inserts are lost: the items are new again | do not see them |
//! | a server restarts from a snapshot (RDB), or from a log without its end | what came after it is lost: these items are new again | do not see them |
//! | a key is evicted, expires, or is deleted | return [`Error::Lost`] | likewise |
//! | the descriptor, the key by which clients open the filter, is evicted, expires, or is deleted | [`Error::DescriptorLost`]; clients that have it open return [`Error::Replaced`] | likewise |
//! | the filter is deleted, or replaced by another of its name | return [`Error::Replaced`] | likewise |
//! | the bits of a push are evicted before they are added | [`Error::Incomplete`]: the push can be repeated | |
//!
//! An insert is sent again only if a server refused it, or if no byte of it was sent. A connection
//! that was silent for 1 s is asked (`PING`) before an insert, which costs one round trip. So a
//! verdict is lost in three cases only: the reply is late; the connection breaks during the round
//! trip; or it broke less than 1 s before, and the system did not report that.
//!
//! Redis confirms a write before its replicas have it. So an insert can be lost with its master,
//! unless it was confirmed by replicas ([`Builder::confirmed_by`]). A key is at risk if the server
//! may evict it: set `maxmemory-policy noeviction`, or a policy for keys that expire only.
//!
//! # A filter that forgets
//!
//! With a [`window`](Builder::window) an item is remembered for at least the span and at most a
//! third longer, and of all inserts of it within the span exactly one returns `true`. The clocks of
//! the servers decide. Such a filter needs `noeviction`. If one of its keys is lost, the shard
//! works again when the items of the key would have been forgotten.
//! [`protocol`](protocol#filters-that-forget) has the proof, what a wrong clock does, and what it
//! costs.
//!
//! # Forks
//!
//! After a `fork` the child opens its filters again. What it has copied from its parent has the
//! connections of the parent: all calls return [`Error::System`], and nothing is sent. A runtime of
//! tokio is of no use in the child, either.
//!
//! # Encryption
//!
//! Connections with encryption (`rediss://`) need the feature `tls`. The servers' certificates are
//! checked against those of the system, or of the file that `SSL_CERT_FILE` names. Certificates of
//! clients are not supported.
//!
//! # Servers
//!
//! The tests run against Redis 7.0 and Valkey 9.1: one server, and a cluster of three masters and
//! three replicas.
//!
//! A user of the server needs the keys of its filters and these commands. This one has the filter
//! `crawl`:
//!
//! ```text
//! ACL SETUSER crawler on >secret ~{crawl}* ~{crawl:*
//!     +bitcount +bitfield +bitfield_ro +bitop +del +eval +exists +expire +get +getbit
//!     +getrange +hdel +hget +hgetall +hset +hvals +persist +pexpire +set +setbit
//!     +setrange +strlen +time +unlink +wait +ping +asking +cluster|nodes +cluster|slots
//!     +readonly
//! ```
//!
//! `getbit` is for a filter with a window. `asking`, `cluster|nodes`, `cluster|slots` and
//! `readonly` are for a cluster, and `wait` for [`Builder::confirmed_by`]. An address with the
//! number of a database needs `select`. The server may refuse `client|setinfo`, with which each
//! connection begins, and `role`, by which a client recognises a Sentinel.
//!
//! # Examples
//!
//! ```no_run
//! use tamis_redis::RedisBloomFilter;
//!
//! let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl")
//!     .capacity(100_000_000)
//!     .false_positive_rate(1e-6)
//!     .open_or_create()?;
//! if seen.insert("https://example.org/")? {
//!     // This thread, on this machine, and no other is the first.
//! }
//! let links = ["https://example.org/a", "https://example.org/b"];
//! for (link, new) in links.iter().zip(seen.insert_many(links)) {
//!     match new {
//!         Ok(true) => println!("fetch {link}"),
//!         Ok(false) => {}
//!         // The reply was lost: fetch it twice rather than never.
//!         Err(tamis_redis::Error::VerdictUnknown { .. }) => println!("fetch {link}"),
//!         Err(error) => return Err(error),
//!     }
//! }
//! # Ok::<(), tamis_redis::Error>(())
//! ```

#![forbid(unsafe_code)]

mod blocking;
mod builder;
mod calls;
mod copies;
mod driver;
mod error;
mod events;
mod examples;
mod filter;
mod front;
mod lock;
mod methods;
#[cfg(test)]
mod models;
mod options;
mod process;
#[cfg(doc)]
#[doc = include_str!("protocol.md")]
#[doc = include_str!("window/window.md")]
pub mod protocol {}
#[cfg(test)]
mod scripted;
mod servers;
mod window;
mod wire;

pub use crate::blocking::RedisBloomFilter;
pub use crate::builder::{AsyncBuilder, Builder};
pub use crate::calls::storage::Storage;
pub use crate::copies::local::{Local, LocalKind};
pub use crate::error::Error;
pub use crate::events::Event;
pub use crate::filter::AsyncRedisBloomFilter;
pub use crate::front::{AsyncLocalFirst, LocalFirst};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
