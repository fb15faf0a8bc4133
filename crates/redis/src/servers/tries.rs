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
    events: &'e Events,
}

impl<'e> Tries<'e> {
    pub(crate) const fn new(end: Instant, events: &'e Events) -> Self {
        Self { end, pause: PAUSES[0], events }
    }

    /// Waits before the next try.
    ///
    /// # Errors
    ///
    /// The reason why the last try failed, if the time is over.
    pub(crate) async fn pause(&mut self, reason: String) -> Result<(), Arc<str>> {
        let reason = reason.into();
        if Instant::now() + self.pause > self.end {
            return Err(reason);
        }
        self.events.retried(&reason, self.end);
        sleep(self.pause).await;
        self.pause = (2 * self.pause).min(PAUSES[1]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_span_is_too_long() {
        assert!(after(Duration::MAX) > Instant::now() + Duration::from_secs(1 << 31));
        assert!(after(Duration::ZERO) <= Instant::now());
    }
}
