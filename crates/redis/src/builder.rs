//! The builders: where the filter is, what it is, and how a client uses it.

use core::marker::PhantomData;
use core::time::Duration;

use tamis_formats::Normalization;
use tamis_hash::AnyStable;

use crate::blocking::RedisBloomFilter;
use crate::calls::shared::Confirm;
use crate::error::Error;
use crate::events::{Event, Events};
use crate::examples::{begin, dot};
use crate::filter::AsyncRedisBloomFilter;
use crate::options::Options;

/// Writes a builder, and the method of the filter that returns it. `async await`: of the filter for
/// tasks.
macro_rules! builder {
    ($name:ident of $filter:ident $(, $async:ident $await:ident)?) => {
        #[doc = concat!("Creates or opens [`", stringify!($filter), "`].")]
        ///
        /// The parameters of the filter (capacity, rate, shards, growth, hasher, normalization)
        /// count when it is created. When it is opened, those that were given must be those of the
        /// filter.
        ///
        /// # Examples
        ///
        /// ```no_run
        /// use std::time::Duration;
        ///
        #[doc = begin!($filter $(, $async $await)?)]
        /// let address = "redis://10.0.0.1:6379/";
        #[doc = concat!("let seen = ", stringify!($filter), "::<str>::builder(address, \"crawl\")")]
        ///     .or_address("redis://10.0.0.2:6379/")
        ///     .capacity(100_000_000)
        ///     .false_positive_rate(1e-6)
        ///     .confirmed_by(1, Duration::from_millis(500))
        #[doc = concat!("    .open_or_create()", dot!($($await)?), "?; // or `create`, or `open`")]
        /// # Ok(()) }
        /// ```
        #[derive(Debug)]
        #[must_use = "a builder does nothing until it creates or opens a filter"]
        pub struct $name<T: ?Sized> {
            options: Options,
            items: PhantomData<fn(&T)>,
        }

        impl<T: ?Sized> $name<T> {
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

            /// Sets the false-positive rate: 1e-4 by default. The filter exceeds it by a few per
            /// cent at most, until it stops growing, or a shard takes items while it cannot grow:
            /// its slot moves, or the user may not run scripts.
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
            #[doc = begin!($filter $(, $async $await)?)]
            /// let (address, day) = ("redis://127.0.0.1:6379/", Duration::from_secs(24 * 3600));
            #[doc = concat!("let seen = ", stringify!($filter), "::<str>::builder(address, \"mails\")")]
            ///     .capacity(10_000_000)
            ///     .window(day)
            #[doc = concat!("    .open_or_create()", dot!($($await)?), "?;")]
            #[doc = concat!("if seen.insert(\"<id@example.org>\")", dot!($($await)?), "? {")]
            ///     // The first in 24 hours.
            /// }
            /// assert_eq!(seen.window(), Some(day));
            /// # Ok(()) }
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
            /// the verdict. If the user has no right to `WAIT`, the filter is not opened
            /// ([`Error::Refused`]).
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

            /// Sets how long a server that owes replies may send nothing: 5 s by default. Then an
            /// insert that waits for its reply fails with [`Error::VerdictUnknown`].
            pub const fn timeout(mut self, timeout: Duration) -> Self {
                self.options.settings.timeout = timeout;
                self
            }

            /// Sets how long a call tries to reach a server, as long as nothing was executed: 30 s
            /// by default. A cluster replaces a master about 7 s after its `cluster-node-timeout`,
            /// which is 15 s by default.
            ///
            /// The deadline is that of the whole call, with its connections and replies. Only a
            /// call that needs longer while the servers answer, as a large batch or push does, goes
            /// on after it: until a connection has received nothing for 1 s, or a command that is
            /// sent after the deadline gets no reply for [`timeout`](Self::timeout). So if a server
            /// falls silent, each call ends at most 1 s after its deadline, or after that timeout.
            ///
            /// If the first connection fails for a reason that will not pass, such as an unknown
            /// host or a wrong password, the call returns [`Error::Connect`] at once. If the port
            /// refuses the connection, the call tries again, since the server may be starting.
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
                callback: impl Fn(&Event) + Send + Sync + 'static,
            ) -> Self {
                self.options.settings.events = Events::to(callback);
                self
            }

            /// Creates the filter.
            ///
            /// Its keys are created empty: the servers allocate the whole memory of the first
            /// slice.
            ///
            /// # Errors
            ///
            /// [`Error::Exists`] if there is a filter of this name, if another client creates one,
            /// or if there is another key `{name}`. [`Error::DescriptorLost`] if the server has
            /// lost the description of the filter. [`Error::Replaced`] if the filter was deleted
            /// meanwhile, and [`Error::Build`] if the sizes are impossible. What remains of a
            /// filter that could not be created is removed with the next one, or by
            /// [`destroy`](Self::destroy).
            pub $($async)? fn create(&self) -> Result<$filter<T>, Error> {
                $filter::make(self.options.create())$(.$await)?
            }

            /// Opens the filter, and asks for the state of each of its shards.
            ///
            /// # Errors
            ///
            /// [`Error::Missing`] if there is no filter of this name, [`Error::Parameters`] if it
            /// has other parameters than those given, [`Error::Creating`] if another client has not
            /// finished it before the deadline, and [`Error::Lost`] or [`Error::DescriptorLost`] if
            /// a part of it is gone.
            pub $($async)? fn open(&self) -> Result<$filter<T>, Error> {
                $filter::make(self.options.open(None))$(.$await)?
            }

            /// Opens the filter, or creates it if it does not exist. Of several clients that do so
            /// at the same time, one creates it.
            ///
            /// # Errors
            ///
            /// As for [`open`](Self::open) and [`create`](Self::create).
            pub $($async)? fn open_or_create(&self) -> Result<$filter<T>, Error> {
                self.open_or_create_as(self)$(.$await)?
            }

            /// Opens the filter with these parameters, or creates it with those of another builder,
            /// which may have more: a filter that exists may have any value of those.
            ///
            /// # Errors
            ///
            /// As for [`open_or_create`](Self::open_or_create).
            ///
            /// # Examples
            ///
            /// ```no_run
            #[doc = begin!($filter $(, $async $await)?)]
            /// let address = "redis://127.0.0.1:6379/";
            #[doc = concat!("let any = ", stringify!($filter), "::<str>::builder(address, \"crawl\");")]
            /// let new = any.clone().false_positive_rate(1e-6);
            #[doc = concat!("let seen = any.open_or_create_as(&new)", dot!($($await)?), "?;")]
            /// # Ok(()) }
            /// ```
            pub $($async)? fn open_or_create_as(&self, new: &Self) -> Result<$filter<T>, Error> {
                $filter::make(self.options.open(Some(&new.options)))$(.$await)?
            }

            /// Deletes the filter of this name, in any state: also one of which a part or the
            /// description is lost, or that was never finished.
            ///
            /// Clients that have it open get [`Error::Replaced`]. All keys are removed, also those
            /// that an interrupted creation or deletion has left. If the list of epochs of a
            /// window was lost, their keys stay until they expire. The key `{name}:lives`, a
            /// list of the filters of this name, is kept for a week: if a client wrote a key late
            /// and was killed before it could remove it, the next `destroy` of this name removes
            /// it.
            ///
            /// # Errors
            ///
            /// [`Error::Missing`] if there is no filter of this name. [`Error::Descriptor`] if its
            /// key is no descriptor and no filter of this name is known: nothing is removed. If a
            /// server fails meanwhile, call it again: it removes the rest.
            ///
            /// # Examples
            ///
            /// ```no_run
            #[doc = begin!($filter $(, $async $await)?)]
            /// let address = "redis://127.0.0.1:6379/";
            /// let name = "crawl";
            #[doc = concat!("let builder = ", stringify!($filter), "::<str>::builder(address, name);")]
            #[doc = concat!("builder.destroy()", dot!($($await)?), "?;")]
            /// # Ok(()) }
            /// ```
            pub $($async)? fn destroy(&self) -> Result<(), Error> {
                $filter::<T>::run(self.options.destroy())$(.$await)?
            }
        }

        impl<T: ?Sized> $filter<T> {
            /// Returns a builder for the filter `name` at an address:
            /// `redis://[user:password@]host[:port]/[database]`, `rediss://…` with encryption
            /// (feature `tls`), or `unix:///path`. Of a cluster, any node will do.
            pub fn builder(address: &str, name: &str) -> $name<T> {
                $name { options: Options::new(address, name), items: PhantomData }
            }
        }

        impl<T: ?Sized> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self { options: self.options.clone(), items: PhantomData }
            }
        }
    };
}

builder!(Builder of RedisBloomFilter);
builder!(AsyncBuilder of AsyncRedisBloomFilter, async await);
