//! What a filter does by itself, for a program that wants to log it: it waits, tries again, follows
//! a slot, and grows.

use core::fmt;
use core::pin::pin;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use tokio::time::{Instant, timeout};

use crate::error::Error;
use crate::lock::lock;

/// How long a command may take before the filter says that it waits.
const SILENCE: Duration = Duration::from_secs(1);

/// What happened in a filter that no result of a call reports.
///
/// # Examples
///
/// ```no_run
/// use tamis_redis::{Event, RedisBloomFilter};
///
/// let seen = RedisBloomFilter::<str>::builder("redis://127.0.0.1:6379/", "crawl")
///     .on_event(|event| match event {
///         // There may be thousands of them while a server is away.
///         Event::Retried { .. } => {}
///         event => eprintln!("crawl: {event}"),
///     })
///     .open_or_create()?;
/// # Ok::<(), tamis_redis::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A call has waited for a second, for a server or for its reply. This comes once per wait:
    /// again only after no call waits any more.
    Waiting {
        /// Why the last try failed, or that there is no reply yet.
        reason: Arc<str>,
        /// The time that the call has left until its deadline.
        left: Duration,
    },
    /// A command was not executed, or only reads, and is sent again after a pause.
    Retried {
        /// Why it was not executed, or has no reply.
        reason: Arc<str>,
        /// The time that the call has left until its deadline.
        left: Duration,
    },
    /// A cluster has moved a slot, and this client has learnt where.
    Moved {
        /// The number of the slot.
        slot: u16,
        /// The node that has it now: host and port.
        to: Arc<str>,
    },
    /// The nodes could not be asked which of them has which slots. What was known before is used.
    MapFailed {
        /// Why the last node gave no answer.
        reason: Arc<str>,
    },
    /// A shard was full, and this client has created its next slice.
    Grown {
        /// The number of the shard.
        shard: u32,
        /// The number of the slice, from 0 for the first.
        slice: u32,
    },
    /// An item that counts was inserted, and the shard could not be counted, or not be grown: this
    /// user may not run scripts, a slot moves, or the server has no room. No item is concerned: a
    /// later insert tries again, and until then a full slice becomes fuller than it was made
    /// for.
    GrowthFailed {
        /// The number of the shard.
        shard: u32,
        /// The number of the open slice.
        slice: u32,
        /// The reason.
        error: Error,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { reason, left } => {
                write!(f, "waiting, for at most {} s more: {reason}", left.as_secs())
            }
            Self::Retried { reason, left } => {
                write!(f, "trying again, for at most {} s more: {reason}", left.as_secs())
            }
            Self::Moved { slot, to } => write!(f, "slot {slot} has moved to {to}"),
            Self::MapFailed { reason } => {
                write!(f, "no node says which of them has which slots: {reason}")
            }
            Self::Grown { shard, slice } => {
                write!(f, "shard {shard} has grown: slice {slice} is created")
            }
            Self::GrowthFailed { shard, slice, error } => write!(
                f,
                "shard {shard} can neither be counted nor grow now (slice {slice}): {error}"
            ),
        }
    }
}

/// Where the events of a filter go. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Events(Option<Arc<Observed>>);

/// A callback, and the wait that it has heard of.
struct Observed {
    callback: Box<dyn Fn(&Event) + Send + Sync>,
    /// Never locked while the callback runs.
    wait: Mutex<Wait>,
}

/// The wait of a filter: of all its calls together.
#[derive(Default)]
struct Wait {
    /// The commands that wait.
    commands: usize,
    /// Why a command was last tried again, and when.
    reason: Option<(Instant, Arc<str>)>,
}

impl Events {
    pub(crate) fn to(callback: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        let callback = Box::new(callback);
        Self(Some(Arc::new(Observed { callback, wait: Mutex::default() })))
    }

    /// Passes an event to the callback, if there is one. No lock may be held.
    pub(crate) fn raise(&self, event: impl FnOnce() -> Event) {
        if let Some(observed) = &self.0 {
            (observed.callback)(&event());
        }
    }

    /// Reports that a command is sent again.
    pub(crate) fn retried(&self, reason: &Arc<str>, end: Instant) {
        let Some(observed) = &self.0 else { return };
        lock(&observed.wait).reason = Some((Instant::now(), Arc::clone(reason)));
        let left = end.saturating_duration_since(Instant::now());
        self.raise(|| Event::Retried { reason: Arc::clone(reason), left });
    }

    /// Waits for a command whose call ends at `end`, and reports it if that takes long.
    pub(crate) async fn watched<T>(&self, end: Instant, sent: impl Future<Output = T>) -> T {
        let Some(observed) = &self.0 else { return sent.await };
        let start = Instant::now();
        let mut sent = pin!(sent);
        if let Ok(done) = timeout(SILENCE, sent.as_mut()).await {
            return done;
        }
        // Of the commands that wait together, the first reports it.
        let (_waiting, is_first, reason) = observed.begin();
        let reason = reason.filter(|(when, _)| *when >= start);
        if is_first {
            let reason = reason.map_or_else(|| "there is no reply yet".into(), |(_, text)| text);
            let left = end.saturating_duration_since(Instant::now());
            self.raise(|| Event::Waiting { reason, left });
        }
        sent.await
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Events(a callback)" } else { "Events(none)" })
    }
}

impl Observed {
    /// Begins the wait of a command. Returns also whether no other waits, and why a command was
    /// last tried again.
    fn begin(&self) -> (Waiting<'_>, bool, Option<(Instant, Arc<str>)>) {
        let mut wait = lock(&self.wait);
        wait.commands += 1;
        (Waiting(self), wait.commands == 1, wait.reason.clone())
    }
}

/// A command that waits, until this is dropped.
struct Waiting<'o>(&'o Observed);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(&self.0.wait).commands -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::future::join_all;

    use super::*;
    use crate::blocking::RedisBloomFilter;

    /// Many commands that wait at once are one wait; the next one is another. A callback may use
    /// the filter's builder.
    #[test]
    fn a_wait_is_reported_once() {
        // No real time passes: the clock jumps to what is awaited.
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        let (sender, events) = mpsc::channel();
        let to = Events::to(move |event| sender.send(event.clone()).unwrap());
        let (ended, end) = tokio::sync::watch::channel(false);
        runtime.block_on(async {
            let until = Instant::now() + Duration::from_secs(3600);
            let release = async {
                tokio::time::sleep(SILENCE / 2).await;
                to.retried(&"refused".into(), until);
                tokio::time::sleep(2 * SILENCE).await;
                ended.send(true).unwrap();
            };
            let wait = || async {
                _ = end.clone().wait_for(|ended| *ended).await;
            };
            let commands = join_all((0..100).map(|_| to.watched(until, wait())));
            futures_util::future::join(commands, release).await;
            // What is quick is no wait.
            to.watched(until, async {}).await;
            // A future that is dropped waits no more.
            _ = timeout(2 * SILENCE, to.watched(until, core::future::pending::<()>())).await;
            _ = timeout(2 * SILENCE, to.watched(until, core::future::pending::<()>())).await;
        });
        drop(to);
        let reasons: Vec<String> = events
            .iter()
            .map(|event| match event {
                Event::Waiting { reason, left } if left > SILENCE => format!("waiting: {reason}"),
                Event::Retried { reason, .. } => format!("retried: {reason}"),
                other => other.to_string(),
            })
            .collect();
        let none = "waiting: there is no reply yet";
        assert_eq!(reasons, ["retried: refused", "waiting: refused", none, none]);
    }

    /// The events of a server that is not there.
    #[test]
    fn a_connection_that_is_refused_is_reported() {
        let (sender, events) = mpsc::channel();
        let builder = RedisBloomFilter::<str>::builder("redis://127.0.0.1:1/", "seen")
            .deadline(3 * SILENCE)
            .on_event(move |event| sender.send(event.clone()).unwrap());
        let error = builder.open().unwrap_err();
        drop(builder);
        let events: Vec<Event> = events.iter().collect();
        let waits = events.iter().filter(|event| matches!(event, Event::Waiting { .. })).count();
        assert!(events.len() > 3 && waits == 1, "{events:?}");
        let Error::Unavailable { reason } = error else { panic!("{error}") };
        assert!(events.iter().all(|event| event.to_string().contains(&*reason)), "{events:?}");
    }
}
