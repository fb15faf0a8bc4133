//! The time that is left for a call, and the pauses between its tries.

use core::time::Duration;
use std::sync::Arc;

use tokio::time::{Instant, sleep};

use crate::events::Events;

/// The first pause before a command is sent again, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// A time that nobody waits for, but that can be added to: 100 years.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Returns the time after a span, which may be of any length.
pub(crate) fn after(span: Duration) -> Instant {
    Instant::now() + span.min(NEVER)
}

/// The time that is left for a command, and the next pause.
pub(crate) struct Tries<'e> {
    end: Instant,
    pause: Duration,
    /// Why the last try failed.
    reason: Option<Arc<str>>,
    events: &'e Events,
}

impl<'e> Tries<'e> {
    pub(crate) const fn new(end: Instant, events: &'e Events) -> Self {
        Self { end, pause: PAUSES[0], reason: None, events }
    }

    /// Waits before the next try.
    ///
    /// # Errors
    ///
    /// If the time is over: the reason of the last try that was not cut short.
    pub(crate) async fn pause(&mut self, reason: String) -> Result<(), Arc<str>> {
        let now = Instant::now();
        // Of a try that the end has cut short, nothing is known but that.
        let last = self.reason.take().filter(|_| now >= self.end);
        let reason = last.unwrap_or_else(|| reason.into());
        if now + self.pause > self.end {
            return Err(reason);
        }
        self.events.retried(&reason, self.end);
        self.reason = Some(reason);
        sleep(self.pause).await;
        self.pause = (2 * self.pause).min(PAUSES[1]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server says why it cannot serve, and then does not answer until the end.
    #[test]
    fn a_try_that_is_cut_short_gives_no_reason() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            let events = Events::default();
            let end = after(Duration::from_secs(1));
            let mut tries = Tries::new(end, &events);
            for reason in ["LOADING", "CLUSTERDOWN"] {
                tries.pause(reason.into()).await.unwrap();
            }
            tokio::time::sleep_until(end).await;
            assert_eq!(&*tries.pause("no reply".into()).await.unwrap_err(), "CLUSTERDOWN");
            // This is the only reason.
            let mut tries = Tries::new(end, &events);
            assert_eq!(&*tries.pause("no reply".into()).await.unwrap_err(), "no reply");
        });
    }

    #[test]
    fn no_span_is_too_long() {
        assert!(after(Duration::MAX) > Instant::now() + Duration::from_secs(1 << 31));
        assert!(after(Duration::ZERO) <= Instant::now());
    }
}
