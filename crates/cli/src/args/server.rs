//! The options for filters in servers.

use core::time::Duration;

use clap::Args;

use super::values::duration;
use crate::error::Error;

/// The longest deadline that is passed on: a clock ends somewhere.
#[cfg(feature = "redis")]
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

// Not a doc comment: clap would print it as the description of the command.
// How a filter in a server is reached.
#[allow(missing_docs, reason = "see above")]
#[derive(Args, Clone, Debug)]
pub(crate) struct ServerArgs {
    /// How long each call tries to reach the server of a filter in Redis, such as 10s or 5min
    /// [default: 30s, in which a cluster with its usual settings replaces a failed master]. After a
    /// second a line says what the run waits for. The option --quiet, where there is one, omits it
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    deadline: Option<Duration>,
}

impl ServerArgs {
    /// How long a server is tried, if that was said.
    #[cfg(feature = "redis")]
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.min(LONGEST))
    }

    /// Returns an error if an option is given that has no meaning for a file.
    pub(crate) fn require_none(&self) -> Result<(), Error> {
        let unneeded = "--deadline is for a filter in Redis: omit it";
        self.deadline.map_or(Ok(()), |_| Err(Error::Usage(unneeded.into())))
    }
}
