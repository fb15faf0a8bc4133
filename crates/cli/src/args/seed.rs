//! The option for the seed of a filter that a command builds.

use clap::Args;

use super::values::seed;
use crate::pipeline::Seed;

// Not a doc comment: clap would print it as the description of the command.
// The seed of a filter that a command builds.
#[allow(missing_docs, reason = "see above")]
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct SeedArgs {
    /// The seed of the hash, which is saved with the filter: a number, or 'random' (a keyed hash
    /// with a random key) for records chosen by an attacker
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed)]
    pub(crate) seed: Seed,
}
