//! What a client knows about its filter: whether it is still the one of its name, and when it asks
//! again.

use core::time::Duration;
use std::sync::Mutex;

use tokio::time::Instant;

use crate::lock::lock;

/// How long an answer counts.
const AGE: Duration = Duration::from_secs(10);

/// How long a call waits for the answer. The node of the descriptor may be down while those of the
/// shards work: then a later call asks again.
pub(crate) const WAIT: Duration = Duration::from_secs(1);

/// What a client knows about its filter.
pub(crate) struct Current(Mutex<Known>);

struct Known {
    /// Set once and for ever: a client does not open the next filter by itself, since what it has
    /// learned from the old one does not hold there.
    replaced: bool,
    /// When the descriptor is asked for next.
    due: Instant,
}

impl Current {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Known { replaced: false, due: Instant::now() + AGE }))
    }

    /// Returns whether this call asks. Of several, one does. If it gets no answer, the next asks
    /// after the same time, so that calls do not wait one after another for a node that is down.
    pub(crate) fn is_due(&self) -> bool {
        let (mut known, now) = (lock(&self.0), Instant::now());
        let is_due = now >= known.due && !known.replaced;
        if is_due {
            known.due = now + AGE;
        }
        is_due
    }

    /// Records the answer.
    pub(crate) fn answer(&self, is_current: bool) {
        let mut known = lock(&self.0);
        known.replaced |= !is_current;
        known.due = Instant::now() + AGE;
    }

    pub(crate) fn is_replaced(&self) -> bool {
        lock(&self.0).replaced
    }
}
