//! The builders: where the filter is, what it is, and how a client uses it.

use core::marker::PhantomData;
use core::time::Duration;

use tamis_formats::Normalization;
use tamis_hash::AnyStable;

use crate::calls::shared::Confirm;
use crate::error::Error;
use crate::filter::AsyncRedisBloomFilter;
use crate::options::Options;

macro_rules! builder {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[must_use = "a builder does nothing until it creates or opens a filter"]
        pub struct $name<T: ?Sized> {
            options: Options,
            items: PhantomData<fn(&T)>,
        }

        impl<T: ?Sized> $name<T> {
            pub(crate) fn new(address: &str, name: &str) -> Self {
                Self { options: Options::new(address, name), items: PhantomData }
            }

            /// Adds the address of another node of the same cluster, for the case that the first
            /// does not answer.
            pub fn or_address(mut self, address: &str) -> Self {
                self.options.addresses.0.push(address.to_owned());
                self
            }

            /// Sets the number of distinct items of the first slice, or of all in a fixed
            /// filter. One million by default.
            pub const fn capacity(mut self, items: u64) -> Self {
                self.options.capacity = Some(items);
                self
            }

            /// Sets the false-positive rate that the filter stays below: 1e-4 by default.
            ///
            /// Hashes of 64 bits allow no rate below about 1e-19 times the number of items. A
            /// filter stops growing where its next slice would need a lower one: after 4 slices, or
            /// 15 times its capacity, at a rate of 1e-11 and a capacity of 10^6. From there on its
            /// rate rises: `figures` reports it. A filter that could not grow at all is an error
            /// ([`Error::Build`]), unless it is [`fixed`](Self::fixed).
            pub const fn false_positive_rate(mut self, rate: f64) -> Self {
                self.options.rate = Some(rate);
                self
            }

            /// Sets the number of shards: 1 to 65,536. By default a power of two, at least 16, so
            /// that a shard of the first slice has at most 8 MiB. It cannot be changed later,
            /// and is the largest number of nodes that can share the filter. A filter stops growing
            /// where the next slice of a shard would exceed 512 MiB: one that is to become
            /// much larger than its first capacity needs more shards. One that could not grow at
            /// all is an error ([`Error::Build`]), unless it is [`fixed`](Self::fixed).
            pub const fn shards(mut self, shards: u32) -> Self {
                self.options.shards = Some(shards);
                self
            }

            /// Makes a filter that does not grow. It takes fewer bits per item, and its
            /// false-positive rate rises when it gets more items than its capacity.
            pub const fn fixed(mut self) -> Self {
                self.options.grows = Some(false);
                self
            }

            /// Makes a filter that forgets: it remembers each item for at least this span, and at
            /// most a third longer. Of any number of inserts of an item within the span, **exactly
            /// one** returns `true`; a repeat does not refresh the item. One second to ten years; a
            /// part of a millisecond counts as a whole one.
            ///
            /// The [`capacity`](Self::capacity) is then the number of distinct items in a span. The
            /// filter has four *epochs*, each made for a third of the capacity; new items go into
            /// the newest. The servers' clocks decide when one ends; those of clients do not
            /// matter. A burst makes an epoch grow; in a [`fixed`](Self::fixed) filter it raises
            /// the rate until it is forgotten.
            ///
            /// An insert is a script: it takes about three times as much of the server's time per
            /// item as without a window (14 µs, measured), and one that carries 64 items blocks the
            /// server for a millisecond. A client needs round trips that are much shorter than a
            /// third of the span. Such a filter has no local copies ([`Error::Window`]). Its bits
            /// are in keys that expire, so set `maxmemory-policy noeviction`: `volatile-*` policies
            /// evict them.
            ///
            /// [`protocol`](crate::protocol#filters-that-forget) says what wrong clocks do.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// use std::time::Duration;
            ///
            /// use tamis_redis::RedisBloomFilter;
            ///
            /// let day = Duration::from_secs(24 * 3600);
            /// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "mails")
            ///     .capacity(10_000_000)
            ///     .window(day)
            ///     .open_or_create()?;
            /// if seen.insert("<id@example.org>")? {
            ///     // The first in 24 hours.
            /// }
            /// assert_eq!(seen.window(), Some(day));
            /// # Ok::<(), tamis_redis::Error>(())
            /// ```
            pub const fn window(mut self, span: Duration) -> Self {
                self.options.window = Some(span);
                self
            }

            /// Sets the hash algorithm and its seed. By default XXH3 with a random seed. The seed
            /// is in the descriptor, so other clients need not know it.
            pub fn hasher(mut self, hasher: impl Into<AnyStable>) -> Self {
                self.options.hasher = Some(hasher.into());
                self
            }

            /// Sets the name of the normal form that items have before they are hashed.
            pub const fn normalization(mut self, normalization: Normalization) -> Self {
                self.options.normalization = Some(normalization);
                self
            }

            /// Lets each insert wait until `replicas` replicas have it, for at most `wait`, by
            /// `WAIT`. If fewer confirm in time, the insert returns [`Error::NotReplicated`] with
            /// the verdict.
            ///
            /// Of one filter, at most 32 calls wait at the same time, each over connections of its
            /// own, since the server blocks a connection that waits. The wait is rounded up to
            /// milliseconds, and comes on top of the [`deadline`](Self::deadline).
            ///
            /// A confirmed insert survives the loss of the master if one of the replicas that
            /// confirmed takes its place. The confirmation is about what the call wrote. An insert
            /// that returns `false` may have written nothing, and does not say whether the replicas
            /// have the item: its winner knows. `WAIT` does not make a replica that is behind lose
            /// the election, nor does it write to a disk.
            pub const fn confirmed_by(mut self, replicas: u32, wait: Duration) -> Self {
                self.options.confirm = Some(Confirm { replicas, wait });
                self
            }

            /// Lets queries go to replicas, if a cluster has any. Their bits may be older than
            /// those of the master: a query may not see the last inserts. A replica that does not
            /// answer within a tenth of the [`timeout`](Self::timeout) is left alone for 10 s, and
            /// the master answers.
            pub const fn read_from_replicas(mut self) -> Self {
                self.options.settings.replicas_read = true;
                self
            }

            /// Sets how long a reply may take: 5 s by default. An insert without a reply in this
            /// time fails with [`Error::VerdictUnknown`].
            pub const fn timeout(mut self, timeout: Duration) -> Self {
                self.options.settings.timeout = timeout;
                self
            }

            /// Sets how long a call tries to reach a server, as long as nothing was executed: 30 s
            /// by default. A cluster replaces a master about 7 s after its `cluster-node-timeout`,
            /// which is 15 s by default.
            ///
            /// The deadline is that of the whole call, with its connections and replies. Only a
            /// call that needs longer while all servers answer, as a large push does, goes on after
            /// it: until a command gets no reply for [`timeout`](Self::timeout).
            ///
            /// The first connection does not wait for what no waiting heals: [`Error::Connect`]. A
            /// refused connection is waited for, since the server may be starting.
            pub const fn deadline(mut self, deadline: Duration) -> Self {
                self.options.settings.deadline = deadline;
                self
            }

            /// Sets a function that receives each event that no result of a call reports: what
            /// it waits for, what is sent again, which slots move, and how it grows. A later call
            /// replaces it.
            ///
            /// It runs in the call that it is about, which goes on when it returns. It must not
            /// block, nor use the filter: a call of the blocking filter inside it would wait for
            /// ever. No lock of the filter is held while it runs.
            pub fn on_event(
                mut self,
                callback: impl Fn(&$crate::events::Event) + Send + Sync + 'static,
            ) -> Self {
                self.options.settings.events = $crate::events::Events::to(callback);
                self
            }
        }

        impl<T: ?Sized> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self { options: self.options.clone(), items: PhantomData }
            }
        }
    };
}
pub(crate) use builder;

builder! {
    /// Creates or opens an [`AsyncRedisBloomFilter`].
    ///
    /// The parameters of the filter (capacity, rate, shards, growth, hasher, normalization) count
    /// when it is created. When it is opened, those that were given must be those of the filter.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use tamis_redis::AsyncRedisBloomFilter;
    ///
    /// # async fn example() -> Result<(), tamis_redis::Error> {
    /// let builder = AsyncRedisBloomFilter::<str>::builder("redis://10.0.0.1:6379/", "crawl")
    ///     .or_address("redis://10.0.0.2:6379/")
    ///     .capacity(100_000_000)
    ///     .false_positive_rate(1e-6)
    ///     .shards(64)
    ///     .confirmed_by(1, Duration::from_millis(500))
    ///     .deadline(Duration::from_secs(60));
    /// let seen = builder.open_or_create().await?; // or `create`, or `open`
    /// # Ok(())
    /// # }
    /// ```
    AsyncBuilder
}

impl<T: ?Sized> AsyncRedisBloomFilter<T> {
    /// Returns a builder for the filter `name` at an address, as
    /// [`RedisBloomFilter::builder`](crate::RedisBloomFilter::builder) does.
    pub fn builder(address: &str, name: &str) -> AsyncBuilder<T> {
        AsyncBuilder::new(address, name)
    }
}

impl<T: ?Sized> AsyncBuilder<T> {
    /// Creates the filter, as [`Builder::create`](crate::Builder::create) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn create(&self) -> Result<AsyncRedisBloomFilter<T>, Error> {
        self.options.create().await
    }

    /// Opens the filter, as [`Builder::open`](crate::Builder::open) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn open(&self) -> Result<AsyncRedisBloomFilter<T>, Error> {
        self.options.open().await
    }

    /// Opens the filter, or creates it if it does not exist, as
    /// [`Builder::open_or_create`](crate::Builder::open_or_create) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn open_or_create(&self) -> Result<AsyncRedisBloomFilter<T>, Error> {
        self.options.open_or_create().await
    }

    /// Deletes the filter, as [`Builder::destroy`](crate::Builder::destroy) does.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn destroy(&self) -> Result<(), Error> {
        self.options.destroy().await
    }
}
